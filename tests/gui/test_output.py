"""The output panel: what was printed, in its colours, and where; the line the script waits for."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from tapeviz.gui.output.panel import OutputPanel
from tapeviz.gui.session import Session
from tapeviz.recording.writer import Writer
from tests.gui.conftest import settle


@pytest.fixture
def panel(session: Session, qtbot: QtBot) -> OutputPanel:
    panel = OutputPanel(session)
    qtbot.addWidget(panel)
    panel.resize(700, 200)
    panel.show()
    return panel


def write(path: Path, *events: tuple[str, dict[str, object]]) -> Path:
    writer = Writer(path, {"script": "a.py"})
    for kind, data in events:
        writer.event(kind, data)
    writer.close("finished")
    return path


def test_lines_and_their_colours(panel: OutputPanel, session: Session, tmp_path: Path) -> None:
    session.open(write(
        tmp_path / "a.tapeviz", ("stdout", {"text": "step 0: "}), ("stdout", {"text": "loss 1.0\n"}),
        ("pause", {"reason": "user"}), ("warning", {"category": "RuntimeWarning", "message": "overflow"}),
        ("exception", {"type": "ValueError", "message": "no", "frames": [
            {"file": "a.py", "line": 3, "function": "f", "code": "raise ValueError('no')"}]})))
    assert panel.view.toPlainText().splitlines() == [
        "step 0: loss 1.0", "RuntimeWarning: overflow", '  File "a.py", line 3, in f', "    raise ValueError('no')",
        "ValueError: no"]
    colours = [panel.view.document().findBlockByNumber(line).begin().fragment().charFormat().foreground().color().name()
               for line in (0, 1, 4)]
    assert colours == [session.theme.text, session.theme.warning, session.theme.error]


def test_a_click_goes_to_where_it_was_printed(panel: OutputPanel, opened: Session, qtbot: QtBot) -> None:
    lines = panel.view.toPlainText().splitlines()
    assert len(lines) >= 4
    op = panel.view.op_at(2)
    assert op is not None
    block = panel.view.document().findBlockByNumber(2)
    spot = panel.view.blockBoundingGeometry(block).translated(panel.view.contentOffset()).center().toPoint()
    qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(8, spot.y()))
    assert opened.focus.op == op


def test_a_reader_who_scrolled_up_stays(panel: OutputPanel, session: Session, tmp_path: Path) -> None:
    writer = Writer(tmp_path / "a.tapeviz", {"script": "a.py"})
    for i in range(80):
        writer.event("stdout", {"text": f"line {i}\n"})
    writer.flush()
    session.open(tmp_path / "a.tapeviz")
    bar = panel.view.verticalScrollBar()
    assert bar.value() == bar.maximum()
    bar.setValue(5)
    writer.event("stdout", {"text": "one more\n"})
    writer.close("finished")
    settle(session)
    assert "one more" in panel.view.toPlainText()
    assert bar.value() == 5


def test_the_script_waits_for_a_line(panel: OutputPanel, session: Session, qtbot: QtBot) -> None:
    class Listener:
        state = "running"
        said = ""

        def send_input(self, text: str) -> None:
            self.said += text

        def stop(self) -> None:
            self.state = "stopped"

        def wait(self, timeout: float) -> bool:
            return True

    listener = Listener()
    session.worker = listener  # type: ignore[assignment]  # plays the part of a Worker that reads a line
    assert not panel.input_row.isVisible()
    session.input_wanted.emit()
    assert panel.input_row.isVisible()
    panel.hide()
    panel.show()        # as another tab and back
    assert panel.focusWidget() is panel.input
    qtbot.keyClicks(panel.input, "Ada")
    qtbot.keyClick(panel.input, Qt.Key.Key_Return)
    assert listener.said == "Ada\n"
    assert not panel.input_row.isVisible()
    assert panel.view.toPlainText() == "Ada\n"


def test_nothing_printed(panel: OutputPanel, session: Session, tmp_path: Path) -> None:
    session.open(write(tmp_path / "a.tapeviz"))
    assert panel.empty.isVisible()
    assert not panel.view.isVisible()
