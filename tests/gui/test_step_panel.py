"""The step card: what a person reads on it, and what clicks and keys do."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from tapeviz.analysis.focus import Focus, move
from tapeviz.analysis.steps import step_card
from tapeviz.gui.session import Session
from tapeviz.gui.stepper.panel import EMPTY, StepPanel
from tapeviz.gui.theme import DARK, LIGHT, PROJECTOR, Theme, apply
from tapeviz.gui.window import MainWindow
from tests.recording.synthetic import make_recording


@pytest.fixture
def panel(qtbot: QtBot, trained: Session) -> StepPanel:
    panel = StepPanel(trained)
    qtbot.addWidget(panel)
    panel.resize(448, 800)
    panel.show()
    return panel


def test_the_card_says_what_is_undone_and_by_which_rule(panel: StepPanel) -> None:
    card = panel.card
    assert card.title.text().startswith("matmul")
    assert card.pill.text() == "Step 7 of 16"
    assert card.undone.text() == "undoes operation 10"
    assert card.link.text() == "train.py:12"
    assert card.iteration.text() == "iteration 2"
    assert r"\bar{Y}" in card.rule.latex
    assert card.shapes.text() == "[6,8] += [6,3] · [3,8]"


def test_matrices_and_the_reason_of_an_element_agree_with_the_recording(panel: StepPanel, trained: Session) -> None:
    recording, focus = trained.recording, trained.focus
    assert recording is not None
    assert focus.pass_ is not None
    assert focus.step is not None
    value = step_card(recording, focus.pass_, focus.step).contributions[0].target.value
    assert value is not None
    row, column = np.unravel_index(np.argmax(abs(value)), value.shape)
    assert panel.card.why_title.text().startswith(f"Why is element [{row},{column}] ")
    assert panel.card.why_text.text().count("·") == 3   # three terms of a dot product
    assert panel.card.operands.operator == "·"


def test_a_click_chooses_an_element_everywhere(qtbot: QtBot, panel: StepPanel, trained: Session) -> None:
    matrix = panel.card.contribution.matrix
    centre = matrix.centre_of((2, 0))
    assert centre is not None
    qtbot.mouseClick(matrix, Qt.MouseButton.LeftButton, pos=centre.toPoint())
    assert trained.focus.element == (2, 0)
    assert panel.card.why_title.text().startswith("Why is element [2,0] ")
    qtbot.keyClick(matrix, Qt.Key.Key_Down)
    assert trained.focus.element == (3, 0)
    assert trained.focus.step == 6
    assert panel.card.accumulated.matrix.accessibleDescription().startswith("element [3, 0]")


def test_another_argument_is_chosen_by_its_button_and_kept_while_stepping(
        qtbot: QtBot, panel: StepPanel, trained: Session) -> None:
    buttons = {b.text(): b for b in panel.card.arguments.buttons}
    qtbot.mouseClick(buttons["W4"], Qt.MouseButton.LeftButton)
    assert panel.card.list_title.text() == "Contributions to W4 (norms)"
    assert panel.card.shapes.text() == "[8,3] += [8,6] · [6,3]"
    assert trained.focus.step == 6
    trained.set_focus(step=5)
    assert panel.card.pill.text() == "Step 6 of 16"
    trained.set_focus(step=6)
    assert panel.card.list_title.text() == "Contributions to W4 (norms)"


def test_the_chip_of_another_result_leads_to_it(qtbot: QtBot, panel: StepPanel) -> None:
    chip = panel.card.chips[0]
    assert "W4" in chip.accessibleName()
    assert chip.isVisible()
    qtbot.mouseClick(chip, Qt.MouseButton.LeftButton)
    assert panel.card.list_title.text() == "Contributions to W4 (norms)"


def test_two_contributions_into_one_tensor(qtbot: QtBot, panel: StepPanel, trained: Session) -> None:
    trained.set_focus(step=2)      # d * d: the same tensor twice
    said = panel.card.list.texts()
    assert len(said) == 3
    assert said[0].startswith("1 multiply line 22 + ")
    assert "cancelled" in said[2]
    assert panel.card.accumulated.words.text() == "accumulated, 2 of 2"
    assert panel.card.arguments.names == ["subtract 13 (1)", "subtract 13 (2)"]
    chooser = panel.card.arguments.list
    assert chooser.isVisible()      # the names are too long for buttons
    qtbot.keyClick(chooser, Qt.Key.Key_Down)
    assert chooser.currentText() == "subtract 13 (2)"
    assert panel.card.list.texts()[1].startswith("2 multiply")


def test_a_row_of_the_contributions_goes_to_its_step(qtbot: QtBot, panel: StepPanel, trained: Session) -> None:
    with qtbot.waitSignal(panel.card.list.step_chosen) as caught:
        qtbot.mouseClick(panel.card.list, Qt.MouseButton.LeftButton, pos=QPoint(40, 8))
    assert caught.args == [6]
    panel.card.list.setFocus()
    with qtbot.waitSignal(panel.card.list.step_chosen):
        qtbot.keyClick(panel.card.list, Qt.Key.Key_Return)


def test_the_link_names_file_and_line(qtbot: QtBot, panel: StepPanel) -> None:
    with qtbot.waitSignal(panel.go_to) as caught:
        qtbot.mouseClick(panel.card.link, Qt.MouseButton.LeftButton)
    assert caught.args is not None
    assert str(caught.args[0]).endswith("train.py")
    assert caught.args[1] == 12


@pytest.mark.parametrize("width", [320, 352, 448])
@pytest.mark.parametrize("theme", [DARK, LIGHT, PROJECTOR, DARK.scaled(1.5)], ids=lambda t: f"{t.name}{t.scale}")
def test_nothing_is_cut_off_at_any_width(
        qtbot: QtBot, panel: StepPanel, trained: Session, width: int, theme: Theme) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    apply(theme, app)
    trained.set_theme(theme)
    panel.resize(width, 620)
    for step in (1, 2, 5, 6):
        trained.set_focus(step=step)
        QApplication.processEvents()
        scroll = panel.findChildren(QScrollArea)[0]
        assert panel.card.width() <= scroll.viewport().width()
        for child in panel.card.findChildren(QWidget):
            if child.isVisible():
                right = child.mapTo(panel.card, QPoint(child.width(), 0)).x()
                assert right <= panel.card.width() + 1, (child, child.accessibleName(), step)
        for matrix in (panel.card.incoming.matrix, panel.card.contribution.matrix):
            assert matrix.height() >= matrix.heightForWidth(matrix.width())


def test_without_elements_it_says_so_and_keeps_the_norms(qtbot: QtBot, dark: Theme, tmp_path: Path) -> None:
    session = Session(dark)
    session.open(make_recording(tmp_path / "bare.tapeviz", iterations=3, values=False))
    session.set_focus(iteration=1, step=6)
    panel = StepPanel(session)
    qtbot.addWidget(panel)
    panel.show()
    assert panel.card.missing.isVisible()
    assert "not captured" in panel.card.missing.note
    assert not panel.card.nearest.isVisible()      # there is none
    assert not panel.card.contribution.isVisible()
    assert panel.card.list.texts()[0].startswith("1 matmul line 12 + ")
    session.close()


def test_a_captured_iteration_is_offered(qtbot: QtBot, panel: StepPanel) -> None:
    panel.card.offer_nearest(3)
    assert panel.card.nearest.text() == "Go to iteration 3, the nearest captured"
    with qtbot.waitSignal(panel.card.nearest_wanted):
        panel.card.nearest.click()


def test_an_operation_that_is_not_undone_is_explained(panel: StepPanel, trained: Session) -> None:
    recording = trained.recording
    assert recording is not None
    focuses = [move(recording, Focus(), op=op) for op in recording.ops_of(2)]
    forward = next(f for f in focuses if f.step is None)
    trained.set_focus(op=forward.op)
    assert not panel.card.isVisible()
    assert panel.forward.isVisible()
    assert panel.forward.sentence.text().endswith(".")
    assert panel.forward.place.text().startswith("operation ")


def test_empty_window(qtbot: QtBot, dark: Theme) -> None:
    panel = StepPanel(Session(dark))
    qtbot.addWidget(panel)
    panel.show()
    assert panel.empty.isVisible()
    assert panel.empty.text() == EMPTY


def test_a_hidden_panel_waits_until_it_is_shown(qtbot: QtBot, trained: Session) -> None:
    panel = StepPanel(trained)
    qtbot.addWidget(panel)
    trained.set_focus(step=3)
    assert panel.card.pill.text() == "Step 7 of 16"
    panel.show()
    assert panel.card.pill.text() == "Step 4 of 16"


def test_a_closed_panel_is_freed(qtbot: QtBot, trained: Session) -> None:
    panel = StepPanel(trained)
    gone = weakref.ref(panel)
    panel.deleteLater()
    QApplication.sendPostedEvents(None, 52)   # DeferredDelete
    del panel
    gc.collect()
    assert gone() is None


def test_in_the_window_the_link_shows_the_line(qtbot: QtBot, window: MainWindow, trained: Session) -> None:
    window.workbench.show_perspective("step")
    panel = window.workbench.panel("step")
    assert isinstance(panel, StepPanel)
    qtbot.mouseClick(panel.card.link, Qt.MouseButton.LeftButton)
    assert "source" in window.workbench.visible_panels()
