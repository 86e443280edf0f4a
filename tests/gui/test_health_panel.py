"""The health map: true colours, glyphs, choosing cells, growth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from tapeviz.analysis.magnitude import OK, Special, ratio_bins
from tapeviz.analysis.series import HealthMap
from tapeviz.gui.health.legend import legend_lines
from tapeviz.gui.health.panel import EMPTY, HealthPanel
from tapeviz.gui.health.rows import rows_of
from tapeviz.gui.health.view import HealthView
from tapeviz.gui.session import Session
from tapeviz.gui.theme import DARK, LIGHT
from tests.recording.synthetic import make_recording


def pixels(widget: QWidget) -> np.ndarray:
    """What the widget shows as an array of 0xrrggbb."""
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    flat = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), -1)
    return flat[:, : image.width()] & 0xFFFFFF


def health_map(rows: int, iterations: int, **specials: tuple[int, int, int]) -> HealthMap:
    """Norms that fall by a decade per row around the median; `specials`: NAN=(row, first, last + 1), ..."""
    l2 = np.tile(10.0 ** (rows // 2 - np.arange(rows))[:, None], (1, iterations))
    state = np.zeros(l2.shape, np.uint8)
    for name, (row, a, b) in specials.items():
        state[row, a:b] = Special[name].value
    median = np.ones(iterations)
    bins = ratio_bins(l2, median)
    return HealthMap(tuple(range(rows)), tuple(f"W{rows - i}" for i in range(rows)), ("[8,8]",) * rows,
                     np.arange(iterations), np.where(state == OK, l2, np.nan), state, bins, median)


def view_of(qtbot: QtBot, health: HealthMap, width: int = 900, height: int = 460, absolute: bool = False) -> HealthView:
    view = HealthView(DARK)
    qtbot.addWidget(view)
    view.resize(width, height)
    view.set_rows(rows_of(health, absolute))
    view.show()
    return view


def cell(view: HealthView, row: int, iteration: int) -> tuple[float, float]:
    """Middle of a cell."""
    g = view.geometry_now()
    return g.x_of(iteration) + g.per / 2, g.row_top(row) + g.row / 2


def test_cells_have_the_colour_of_their_decade(qtbot: QtBot) -> None:
    view = view_of(qtbot, health_map(9, 60))
    shown = pixels(view)
    for row in range(9):
        x, y = cell(view, row, 30)
        assert shown[round(y), round(x)] == int(DARK.bins[8 - row][1:], 16)


@pytest.mark.parametrize("name", ["NAN", "POSINF", "NEGINF", "ZERO", "UNDERFLOW", "NONE", "NOT_CAPTURED"])
def test_special_values_are_patterns_of_their_own(qtbot: QtBot, name: str) -> None:
    view = view_of(qtbot, health_map(3, 60, **{name: (1, 20, 30)}))
    g = view.geometry_now()
    shown = pixels(view)
    patch = shown[g.row_top(1) + 2: g.row_top(2) - 1, int(g.x_of(20)) + 1: int(g.x_of(30)) - 1]
    colours = {f"#{c:06x}" for c in np.unique(patch).tolist()}
    assert not colours & set(DARK.bins)
    assert ("#000000" in colours) == (name in ("NAN", "POSINF", "NEGINF"))
    if name != "NOT_CAPTURED":
        assert len(colours) >= 2
    beside = shown[g.row_top(1) + g.row // 2, int(g.x_of(35))]
    assert f"#{beside:06x}" in DARK.bins


def test_one_nan_of_a_hundred_thousand_iterations_is_visible(qtbot: QtBot) -> None:
    view = view_of(qtbot, health_map(5, 100_000, NAN=(2, 61_803, 61_804)))
    g = view.geometry_now()
    line = pixels(view)[g.row_top(2) + g.row // 2, g.left: g.left + g.width]
    black = np.flatnonzero(line == 0)
    assert 2 <= len(black) <= 3
    assert abs(black[0] - 61_803 * g.per) <= 2


def test_one_exploding_iteration_of_a_hundred_thousand_is_visible(qtbot: QtBot) -> None:
    health = health_map(5, 100_000)
    health.bins[2, 31_415] = 4
    view = view_of(qtbot, health)
    g = view.geometry_now()
    column = round(g.x_of(31_415))
    strip = pixels(view)[g.row_top(2) + 2: g.row_top(3) - 2, column - 2: column + 3]
    assert int(DARK.bins[8][1:], 16) in strip


def test_many_rows_scroll_and_keep_their_least_height(qtbot: QtBot) -> None:
    view = view_of(qtbot, health_map(200, 40), height=400)
    g = view.geometry_now()
    assert g.row == 6
    assert g.overflow > 0
    assert view._bar.isVisible()
    view.set_cursor(180, 3)
    after = view.geometry_now()
    assert after.top <= after.row_top(180) < after.top + after.height


def test_zoom_shows_a_part_about_the_cursor_and_fit_shows_all(qtbot: QtBot) -> None:
    view = view_of(qtbot, health_map(4, 1000))
    view.set_cursor(0, 700)
    view.zoom_in()
    view.zoom_in()
    first, last = view.span
    assert last - first == 250
    assert first <= 700 < last
    view.fit()
    assert view.span == (0, 1000)


def test_absolute_mode_has_its_own_colours(qtbot: QtBot) -> None:
    view = view_of(qtbot, health_map(3, 30), absolute=True)
    x, y = cell(view, 1, 10)
    assert f"#{pixels(view)[round(y), round(x)]:06x}" in DARK.absolute_bins


def test_a_click_sets_iteration_and_variable(qtbot: QtBot, opened: Session) -> None:
    panel = HealthPanel(opened)
    qtbot.addWidget(panel)
    panel.resize(900, 480)
    panel.show()
    x, y = cell(panel.view, 1, 4)
    QTest.mouseClick(panel.view, Qt.MouseButton.LeftButton, pos=QPoint(round(x), round(y)))
    assert opened.focus.iteration == 4
    assert opened.recording is not None
    tensor = opened.focus.tensor
    assert tensor is not None
    assert int(opened.recording.tensors[tensor]["variable"]) == panel.view.rows.variables[1]
    assert panel.view._row == 1
    assert "iteration 4" in panel._readout.whole


def test_arrow_keys_move_the_cell(qtbot: QtBot, opened: Session) -> None:
    panel = HealthPanel(opened)
    qtbot.addWidget(panel)
    panel.show()
    panel.view.cell_chosen.emit(2, 5)
    QTest.keyClick(panel.view, Qt.Key.Key_Right)
    assert opened.focus.iteration == 6
    QTest.keyClick(panel.view, Qt.Key.Key_Up)
    assert (panel.view._row, opened.focus.iteration) == (1, 6)


def test_the_cursor_moves_with_the_focus(qtbot: QtBot, opened: Session) -> None:
    panel = HealthPanel(opened)
    qtbot.addWidget(panel)
    panel.resize(900, 480)
    panel.show()
    opened.set_focus(iteration=2)
    g = panel.view.geometry_now()
    before = pixels(panel.view)
    opened.set_focus(iteration=9)
    after = pixels(panel.view)
    accent = int(DARK.accent[1:], 16)
    old, new = round(g.x_of(2)), round(g.x_of(9))
    assert accent in before[g.top - 4: g.top, old - 2: old + 8]
    assert accent not in after[g.top - 4: g.top, old - 2: old + 8]
    assert accent in after[g.top - 4: g.top, new - 2: new + 8]


def test_words_in_the_tooltip(qtbot: QtBot) -> None:
    view = view_of(qtbot, health_map(3, 30, NAN=(1, 4, 6)))
    x, y = cell(view, 1, 5)
    assert view.tip_at(QPoint(round(x), round(y))) == "W2, iteration 5: NaN"
    x, y = cell(view, 0, 5)
    assert view.tip_at(QPoint(round(x), round(y))) == "W3, iteration 5: 1.0e1, 1.0 decades above the median"


def test_an_iteration_that_comes_is_added_at_the_right(qtbot: QtBot) -> None:
    view = view_of(qtbot, health_map(4, 20))
    per = view.geometry_now().per
    left = pixels(view)[:, : int(view.geometry_now().x_of(18))]
    view.set_rows(rows_of(health_map(4, 21), False))
    g = view.geometry_now()
    assert g.per == per
    assert view.span == (0, 21)
    shown = pixels(view)
    rows = slice(g.top + 2, g.axis - 2)
    np.testing.assert_array_equal(shown[rows, g.left: left.shape[1]], left[rows, g.left:])


def test_themes_repaint(qtbot: QtBot, opened: Session) -> None:
    panel = HealthPanel(opened)
    qtbot.addWidget(panel)
    panel.show()
    assert pixels(panel.view)[2, 2] == int(DARK.surface[1:], 16)
    opened.set_theme(LIGHT)
    assert pixels(panel.view)[2, 2] == int(LIGHT.surface[1:], 16)


def test_without_gradients_a_sentence_says_so(qtbot: QtBot, session: Session) -> None:
    panel = HealthPanel(session)
    qtbot.addWidget(panel)
    panel.show()
    assert not panel.view.isVisible()
    assert panel.empty.text() == EMPTY
    session.open_script(Path("train.py"))
    assert "Run (F5)" in panel.empty.text()
    assert "train.py" in panel.empty.text()


def test_a_gradient_that_is_none_is_drawn_as_such(qtbot: QtBot, session: Session, tmp_path: Path) -> None:
    assert session.open(make_recording(tmp_path / "none.tapeviz", iterations=6, layers=2, none_result=True))
    panel = HealthPanel(session)
    qtbot.addWidget(panel)
    panel.show()
    row = panel.view.rows.names.index("unused")
    assert panel.view.rows.value_text(row, 3) == "None"


@pytest.mark.parametrize(("width", "lines"), [(900, 1), (560, 2), (330, 3)])
def test_the_special_tiles_take_the_lines_they_need(width: int, lines: int) -> None:
    assert legend_lines(width, 460, DARK) == lines
    assert legend_lines(width, 150, DARK) == 1      # no room below: the rows come first
