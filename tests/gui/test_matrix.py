"""The matrix on the step card: what a person sees of it, and choosing elements by mouse and keys."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from tapeviz.gui.stepper.matrix import MatrixView
from tapeviz.gui.theme import DARK, load_fonts


def _view(qtbot: QtBot, value: np.ndarray, width: int = 420) -> MatrixView:
    load_fonts()
    view = MatrixView(74, interactive=True)
    qtbot.addWidget(view)
    view.show_value("contribution", value, "", DARK)
    view.resize(width, view.heightForWidth(width))
    view.show()
    return view


def test_a_small_matrix_is_shown_in_full(qtbot: QtBot) -> None:
    view = _view(qtbot, np.array([[0.5, -0.25], [-0.0, 2.0]]))
    assert view.shown_texts() == [["0.50", "−0.25"], ["0.00", "2.00"]]
    assert view.note == ""


def test_a_large_matrix_is_shown_by_its_corners_with_statistics(qtbot: QtBot) -> None:
    view = _view(qtbot, np.arange(10_000.0).reshape(100, 100))
    texts = view.shown_texts()
    assert [row[2] for row in texts].count("…") == len(texts)
    assert texts[0][0] == "0"
    assert texts[-1][-1] == "9999"
    assert len(texts) == 5
    assert "min 0" in view.note
    assert "max 1.0e4" in view.note
    assert "norm" in view.note


def test_a_chosen_element_of_a_large_matrix_is_always_visible(qtbot: QtBot) -> None:
    view = _view(qtbot, np.arange(10_000.0).reshape(100, 100))
    view.mark((50, 60))
    assert view.text_of((50, 60)) == "5060"


@pytest.mark.parametrize("width", [120, 200, 296, 420])
def test_no_cell_is_cut_off_at_any_width(qtbot: QtBot, width: int) -> None:
    view = _view(qtbot, np.random.default_rng(1).normal(size=(4, 8)) * 1e-9, width)
    grid = view._laid_out()
    assert grid is not None
    assert grid.left + grid.width() + 2 * DARK.px(8) <= width or len(grid.columns) <= 3


@pytest.mark.parametrize("shape", [(), (3,), (20,), (1, 1), (0, 3), (2, 3, 4), (2, 2, 3, 4)])
def test_every_rank_can_be_drawn(qtbot: QtBot, shape: tuple[int, ...]) -> None:
    view = _view(qtbot, np.ones(shape))
    view.grab()
    if np.prod(shape):
        texts = view.shown_texts()
        assert {t for row in texts for t in row} <= {"1.00", "…"}
        assert len(texts[0]) >= (shape[-1] if shape and shape[-1] <= 8 else 1)


def test_a_click_chooses_an_element(qtbot: QtBot) -> None:
    view = _view(qtbot, np.arange(6.0).reshape(2, 3))
    centre = view.centre_of((1, 2))
    assert centre is not None
    with qtbot.waitSignal(view.chosen) as caught:
        qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=centre.toPoint())
    assert caught.args == [(1, 2)]


def test_a_click_beside_the_numbers_chooses_nothing(qtbot: QtBot) -> None:
    view = _view(qtbot, np.arange(6.0).reshape(2, 3))
    with qtbot.assertNotEmitted(view.chosen):
        qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPoint(view.width() - 2, 2))


def test_arrow_keys_move_and_stop_at_the_border(qtbot: QtBot) -> None:
    view = _view(qtbot, np.arange(6.0).reshape(2, 3))
    view.chosen.connect(view.mark)
    view.mark((0, 0))
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Down):
        qtbot.keyClick(view, key)
    assert view.accessibleDescription() == "element [1, 2]: 5.00"


def test_elements_of_higher_ranks_keep_their_plane(qtbot: QtBot) -> None:
    view = _view(qtbot, np.arange(24.0).reshape(2, 3, 4))
    view.mark((1, 0, 0), lead=(1,))
    centre = view.centre_of((1, 2, 3))
    assert centre is not None
    assert view.element_at(centre) == (1, 2, 3)
    assert view.text_of((1, 2, 3)) == "23.0"


def test_nan_and_infinity_are_glyphs_not_numbers(qtbot: QtBot) -> None:
    view = _view(qtbot, np.array([[np.nan, np.inf], [-np.inf, 1.0]]))
    image = view.grab().toImage()
    for element in ((0, 0), (0, 1), (1, 0)):
        centre = view.centre_of(element)
        assert centre is not None
        x, y = int(centre.x()), int(centre.y())
        black = [image.pixelColor(x + dx, y + 6).name() for dx in (-15, 15)]
        assert black == ["#000000", "#000000"], element


def test_a_missing_value_says_why(qtbot: QtBot) -> None:
    load_fonts()
    view = MatrixView(74)
    qtbot.addWidget(view)
    view.show_value("incoming", None, "Not captured: this run recorded at level stats.", DARK)
    view.resize(300, view.heightForWidth(300))
    assert view.height() >= 40
    assert "Not captured" in view.accessibleName()
    view.grab()
