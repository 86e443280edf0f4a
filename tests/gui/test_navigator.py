"""The navigator: variables in network order with the health of their gradients, bound to the focus both ways."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QModelIndex, Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from tapeviz.analysis.structure import structure_rows
from tapeviz.gui.navigator.panel import EMPTY, NavigatorPanel
from tapeviz.gui.navigator.rows import StructureModel, leaves_a_name
from tapeviz.gui.session import Session
from tapeviz.gui.stagebar import EmptyState
from tapeviz.gui.theme import Theme


@pytest.fixture
def panel(qtbot: QtBot, trained: Session) -> NavigatorPanel:
    panel = NavigatorPanel(trained)
    qtbot.addWidget(panel)
    panel.resize(192, 400)
    panel.show()
    return panel


def _click(qtbot: QtBot, panel: NavigatorPanel, name: str) -> None:
    row = next(i for i, r in enumerate(panel.model.rows) if r.name == name)
    rect = panel.list.visualRect(panel.model.index(row))
    qtbot.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())


def _tensor_name(session: Session) -> str:
    assert session.recording is not None
    assert session.focus.tensor is not None
    return session.recording.tensor_name(session.focus.tensor)


def test_rows_go_from_the_loss_to_the_input(panel: NavigatorPanel) -> None:
    names = [row.name for row in panel.model.rows]
    assert names.index("W4") < names.index("W1")
    assert names[-1] == "loss"
    assert panel.script.text() == "train.py"
    index = panel.model.index(names.index("W1"))
    assert "gradient norm" in index.data(Qt.ItemDataRole.AccessibleTextRole)


def test_a_click_looks_at_the_variable(qtbot: QtBot, panel: NavigatorPanel, trained: Session) -> None:
    _click(qtbot, panel, "W2")
    assert _tensor_name(trained) == "W2"
    assert trained.focus.iteration == 2
    qtbot.keyClick(panel.list, Qt.Key.Key_Down)
    assert _tensor_name(trained) != "W2"


def test_the_loss_is_the_target_of_the_pass(qtbot: QtBot, panel: NavigatorPanel, trained: Session) -> None:
    _click(qtbot, panel, "loss")
    assert trained.recording is not None
    assert trained.focus.pass_ is not None
    assert trained.focus.tensor == trained.recording.passes["target"][trained.focus.pass_]


def test_the_focus_selects_its_row(panel: NavigatorPanel, trained: Session) -> None:
    assert trained.recording is not None
    assert trained.focus.op is not None
    weights = trained.recording.op_inputs(trained.focus.op)[1]
    trained.set_focus(step=6, tensor=weights)
    assert panel.list.currentIndex().data() == "W4"
    trained.set_focus(step=4)
    assert panel.list.currentIndex() == QModelIndex()


def test_the_selection_follows_the_variable_through_the_iterations(
        qtbot: QtBot, panel: NavigatorPanel, trained: Session) -> None:
    _click(qtbot, panel, "W3")
    trained.set_focus(iteration=3)
    assert panel.list.currentIndex().data() == "W3"


def test_nothing_open(qtbot: QtBot, session: Session) -> None:
    panel = NavigatorPanel(session)
    qtbot.addWidget(panel)
    panel.show()
    assert [e.text() for e in panel.findChildren(EmptyState) if e.isVisible()] == [EMPTY]


def test_the_model_keeps_qts_rules(qtmodeltester: ModelTester, trained: Session) -> None:
    assert trained.recording is not None
    model = StructureModel()
    model.show_rows(structure_rows(trained.recording, 1))
    qtmodeltester.check(model)
    model.show_rows(structure_rows(trained.recording, 2))
    assert model.rowCount() == 9


def test_a_name_goes_before_its_sparkline(dark: Theme) -> None:
    font = dark.ui_font(12)
    assert leaves_a_name(40, "W1", font)
    assert not leaves_a_name(40, "decoder/kernel", font)
    assert leaves_a_name(100, "decoder/attention/kernel", font), "enough of it to be told apart"
