"""The table of operations: model, choosing both ways, filter, order, growth without moving what one reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from tapeviz.analysis.oplist import op_rows
from tapeviz.gui.oplist.model import CHIP, COLUMNS, WORD, OperationsModel
from tapeviz.gui.oplist.panel import OperationsPanel
from tapeviz.gui.session import Session


@pytest.fixture
def panel(opened: Session, qtbot: QtBot) -> OperationsPanel:
    panel = OperationsPanel(opened)
    qtbot.addWidget(panel)
    panel.resize(900, 240)
    panel.show()
    return panel


def texts(panel: OperationsPanel, title: str) -> list[str]:
    column = next(i for i, c in enumerate(COLUMNS) if c.title == title)
    return [panel.model.index(row, column).data() for row in range(panel.model.rowCount())]


def test_the_model_is_one(opened: Session, qtmodeltester: ModelTester) -> None:
    assert opened.recording is not None
    rows = op_rows(opened.recording, 3)
    model = OperationsModel()
    model.show(rows, np.arange(len(rows)), None)
    qtmodeltester.check(model)
    model.show(rows, np.arange(len(rows))[::-2], 4)
    qtmodeltester.check(model)


def test_a_row_says_what_the_recording_says(panel: OperationsPanel, opened: Session) -> None:
    recording = opened.recording
    assert recording is not None
    ops = recording.ops_of(opened.focus.iteration)
    assert texts(panel, "#") == [str(i + 1) for i in range(len(ops))]
    assert texts(panel, "Op") == [recording.op_name(op) for op in ops]
    assert texts(panel, "Source")[0] == f"train.py:{recording.op_line(ops[0])[1]}"
    assert "e" in texts(panel, "value norm")[0]
    assert panel.model.index(0, CHIP).data()


def test_choosing_a_row_focuses_its_operation_and_back(panel: OperationsPanel, opened: Session, qtbot: QtBot) -> None:
    row = panel.table.rowAt(40)
    spot = panel.table.visualRect(panel.model.index(row, 2)).center()
    qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert opened.focus.op == panel.model.op_at(row)
    qtbot.keyClick(panel.table, Qt.Key.Key_Down)
    assert opened.focus.op == panel.model.op_at(row + 1)
    opened.set_focus(step=0)
    assert panel.model.op_at(panel.table.currentIndex().row()) == opened.focus.op


def test_another_iteration_shows_its_operations(panel: OperationsPanel, opened: Session) -> None:
    opened.set_focus(iteration=2)
    assert opened.recording is not None
    assert panel.model.op_at(0) == opened.recording.ops_of(2).start
    panel.span.button(1).click()
    assert panel.model.rowCount() == len(opened.recording.ops)
    assert panel.model.op_at(panel.table.currentIndex().row()) == opened.focus.op


def test_the_filter_narrows_and_says_when_nothing_is_left(panel: OperationsPanel, qtbot: QtBot) -> None:
    total = panel.model.rowCount()
    panel.start_search()
    qtbot.keyClicks(panel.filter, "matmul")
    assert set(texts(panel, "Op")) == {"matmul"}
    assert panel.count.text() == f"{panel.model.rowCount()} of {total}"
    qtbot.keyClicks(panel.filter, "xyz")
    assert panel.model.rowCount() == 0
    assert panel.empty.isVisible()
    assert "matmulxyz" in panel.empty.text()
    qtbot.keyClick(panel.filter, Qt.Key.Key_Escape)
    assert panel.model.rowCount() == total


def test_columns_sort_up_down_and_back(panel: OperationsPanel) -> None:
    before = texts(panel, "#")
    step = next(i for i, c in enumerate(COLUMNS) if c.title == "Step")
    panel.table.horizontalHeader().sectionClicked.emit(step)
    steps = [int(text) for text in texts(panel, "Step") if text]
    assert steps == sorted(steps)
    panel.table.horizontalHeader().sectionClicked.emit(step)
    steps = [int(text) for text in texts(panel, "Step") if text]
    assert steps == sorted(steps, reverse=True)
    panel.table.horizontalHeader().sectionClicked.emit(step)
    assert texts(panel, "#") == before


def test_while_stepping_what_is_not_reached_is_pending(panel: OperationsPanel, opened: Session) -> None:
    panel.set_stepping(True)
    opened.set_focus(step=1)
    assert panel.model.headerData(WORD, Qt.Orientation.Horizontal) == "State"
    states = texts(panel, "Health")
    assert states.count("current") == 1
    assert states.count("done") == 1
    assert "pending" in states
    assert panel.model.index(states.index("pending"), CHIP).data() == ""
    panel.set_stepping(False)
    assert panel.model.headerData(WORD, Qt.Orientation.Horizontal) == "Health"


def test_growth_moves_nothing(panel: OperationsPanel, opened: Session, qtbot: QtBot) -> None:
    recording = opened.recording
    assert recording is not None
    whole = op_rows(recording, None)
    panel.model.show(whole, np.arange(len(whole) - 60), None)
    bar = panel.table.verticalScrollBar()
    bar.setValue(7)
    with qtbot.waitSignal(panel.model.rowsInserted, timeout=500):
        assert panel.model.show(whole, np.arange(len(whole)), None)
    assert bar.value() == 7


def test_nothing_open(session: Session, qtbot: QtBot, tmp_path: Path) -> None:
    panel = OperationsPanel(session)
    qtbot.addWidget(panel)
    panel.show()
    assert panel.empty.isVisible()
    assert "Run a script" in panel.empty.text()
