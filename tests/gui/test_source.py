"""The source editor: colours, gutter, choosing lines, editing and saving."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from tapeviz.gui.session import Session
from tapeviz.gui.source.editor import Editor
from tapeviz.gui.source.highlighter import PythonHighlighter
from tapeviz.gui.source.panel import SourcePanel, write_text
from tapeviz.gui.theme import DARK, LIGHT


def colours(text: str) -> list[list[tuple[str, str]]]:
    """(word, token) of every coloured stretch, by line."""
    document = QTextDocument(text)
    highlighter = PythonHighlighter(document, DARK)
    highlighter.rehighlight()
    names = {DARK.keyword: "keyword", DARK.string: "string", DARK.number: "number", DARK.function: "function",
             DARK.comment: "comment"}
    lines = []
    block = document.begin()
    while block.isValid():
        lines.append([(block.text()[f.start:f.start + f.length], names[f.format.foreground().color().name()])
                      for f in block.layout().formats()])
        block = block.next()
    return lines


@pytest.mark.parametrize(("line", "expected"), [
    ("for i in range(3):", [("for", "keyword"), ("in", "keyword"), ("range", "function"), ("3", "number")]),
    ("x = 'a # b'  # c", [("'a # b'", "string"), ("# c", "comment")]),
    ("format_for = information", []),
    ("y = 1.5e-3 + .5 + 0x1F + x2", [("1.5e-3", "number"), (".5", "number"), ("0x1F", "number")]),
    (r"s = f'a\'b' + rb'c'", [(r"f'a\'b'", "string"), ("rb'c'", "string")]),
    ("@decorated", [("@decorated", "function")]),
    ("a.for_each(b)", [("for_each", "function")]),
    ("match = 3", [("3", "number")]),
])
def test_one_line(qapp, line: str, expected: list[tuple[str, str]]) -> None:
    assert colours(line) == [expected]


def test_triple_quotes_span_lines(qapp) -> None:
    lines = colours('x = """one\ntwo # three\n""" + 4\nreturn')
    assert lines == [[('"""one', "string")], [("two # three", "string")], [('"""', "string"), ("4", "number")],
                     [("return", "keyword")]]
    assert colours("'''a''' 'b'")[0] == [("'''a'''", "string"), ("'b'", "string")]
    assert colours('"""a\\""" b"""') == [[('"""a\\""" b"""', "string")]]


@pytest.fixture
def panel(known: None, opened: Session, qtbot: QtBot) -> SourcePanel:
    panel = SourcePanel(opened)
    qtbot.addWidget(panel)
    panel.resize(520, 400)
    panel.show()
    return panel


def shown(panel: SourcePanel) -> Editor:
    editor = panel.tabs.currentWidget()
    assert isinstance(editor, Editor)
    return editor


def y_of(editor: Editor, line: int) -> int:
    block = editor.document().findBlockByNumber(line - 1)
    return int(editor.blockBoundingGeometry(block).translated(editor.contentOffset()).center().y())


def test_the_recorded_text_with_its_marks(panel: SourcePanel, opened: Session) -> None:
    editor = shown(panel)
    assert opened.recording is not None
    assert editor.text() == opened.recording.sources[0].text
    assert editor.isReadOnly(), "the file of a synthetic recording is not here"
    assert panel.note.isVisible()
    assert opened.focus.op is not None
    assert editor.marks.current == opened.recording.op_line(opened.focus.op)[1]
    assert editor.marks.lines
    assert all(info.executed > 0 for info in editor.marks.lines.values())
    assert {f.line for f in opened.findings} == set(editor.marks.findings)
    assert editor.marks.findings[opened.findings[0].line].severity == "error"


def test_a_click_in_the_gutter_goes_through_the_operations_of_a_line(panel: SourcePanel, opened: Session,
                                                                     qtbot: QtBot) -> None:
    editor = shown(panel)
    line, info = max(editor.marks.lines.items(), key=lambda item: item[1].executed)
    editor.reveal(line)
    for op in (*info.ops, info.ops[0]):
        qtbot.mouseClick(editor.gutter, Qt.MouseButton.LeftButton, pos=QPoint(20, y_of(editor, line)))
        assert opened.focus.op == op
    assert editor.marks.current == line


def test_a_click_in_the_text_does_the_same(panel: SourcePanel, opened: Session, qtbot: QtBot) -> None:
    editor = shown(panel)
    line, info = next(iter(editor.marks.lines.items()))
    editor.reveal(line)
    qtbot.mouseClick(editor.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(60, y_of(editor, line)))
    assert opened.focus.op in info.ops


def test_the_focused_line_is_in_sight(panel: SourcePanel, opened: Session) -> None:
    panel.resize(520, 140)
    for step in range(6):
        opened.set_focus(step=step)
        editor = shown(panel)
        assert editor.marks.current is not None
        assert 0 <= y_of(editor, editor.marks.current) <= editor.viewport().height()


def test_edit_save_and_undo(session: Session, qtbot: QtBot, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_bytes(b"x = 1\r\ny = 2\r\n")
    panel = SourcePanel(session)
    qtbot.addWidget(panel)
    panel.show()
    session.open_script(script)
    editor = shown(panel)
    assert not editor.isReadOnly()
    qtbot.keyClicks(editor, "z = 0")
    assert panel.tabs.tabText(0) == "train.py •"
    assert panel.save()
    assert script.read_bytes() == b"z = 0x = 1\r\ny = 2\r\n", "the line ends are those of the file"
    assert panel.tabs.tabText(0) == "train.py"
    assert not editor.marks_valid
    editor.undo()
    assert editor.marks_valid


def test_a_file_that_cannot_be_written_keeps_its_text(session: Session, qtbot: QtBot, tmp_path: Path,
                                                      monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "train.py"
    script.write_text("x = 1\n")
    panel = SourcePanel(session)
    qtbot.addWidget(panel)
    panel.show()
    session.open_script(script)
    qtbot.keyClicks(shown(panel), "!")

    def full(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    assert not panel.save()
    assert script.read_text() == "x = 1\n"
    assert "No space left" in panel.note_label.text()
    assert list(tmp_path.iterdir()) == [script], "no half-written file stays"
    assert shown(panel).document().isModified()


def test_unsaved_edits_are_asked_about(session: Session, qtbot: QtBot, tmp_path: Path,
                                       monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "train.py"
    script.write_text("x = 1\n")
    panel = SourcePanel(session)
    qtbot.addWidget(panel)
    session.open_script(script)
    assert panel.may_close()
    shown(panel).insertPlainText("#")
    answers = iter((QMessageBox.StandardButton.Cancel, QMessageBox.StandardButton.Save))
    monkeypatch.setattr(QMessageBox, "question", lambda *_: next(answers))
    assert not panel.may_close()
    assert panel.may_close()
    assert script.read_text() == "#x = 1\n"


def test_the_theme_recolours(panel: SourcePanel, opened: Session) -> None:
    opened.set_theme(LIGHT)
    formats = shown(panel).document().findBlockByNumber(1).layout().formats()
    assert formats[0].format.foreground().color().name() == LIGHT.keyword


def test_write_text_keeps_the_rights_of_the_file(tmp_path: Path) -> None:
    script = tmp_path / "run.py"
    script.write_text("a\n")
    script.chmod(0o755)
    write_text(script, "b\n")
    assert script.read_text() == "b\n"
    assert script.stat().st_mode & 0o777 == 0o755
