"""The source panel: the files of the run as tabs, each with its gutter; choosing a line chooses its operation."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMessageBox, QPushButton, QTabWidget, QVBoxLayout, QWidget

from tapeviz.analysis.source import source_lines
from tapeviz.gui.painting import guarded
from tapeviz.gui.session import Session
from tapeviz.gui.source.editor import Editor, Mark, Marks, unified

_WORSE = ("error", "warning", "info")


class SourcePanel(QWidget):
    """Shows the text that ran; it can be edited where it is still the text of the file."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._stale = True
        self._shown_op: int | None = None
        self._stepping = False
        self.setAccessibleName("Source")
        self.setProperty("role", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.tabBar().setExpanding(False)
        self.tabs.currentChanged.connect(self._tab_shown)
        self.note = QWidget()
        self.note_label = QLabel()
        self.note_label.setProperty("role", "muted")
        self.note_button = QPushButton("Edit the file as it is now")
        self.note_button.setProperty("kind", "text")
        self.note_button.clicked.connect(self._show_file_of_now)
        row = QHBoxLayout(self.note)
        row.setContentsMargins(12, 4, 8, 4)
        row.addWidget(self.note_label, 1)
        row.addWidget(self.note_button)
        self.empty = QLabel("Open a script to see its source.")
        self.empty.setProperty("role", "empty")
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for widget in (self.note, self.tabs, self.empty):
            column.addWidget(widget)
        session.recording_changed.connect(self._load)
        session.grew.connect(self._refresh)
        session.focus_changed.connect(self._refresh)
        session.findings_changed.connect(self._refresh)
        session.theme_changed.connect(self._dress)
        self._load()

    # --- files ---------------------------------------------------------------------------------

    def editors(self) -> list[Editor]:
        return [editor for i in range(self.tabs.count()) if isinstance(editor := self.tabs.widget(i), Editor)]

    def editor_of(self, path: str) -> Editor | None:
        return next((editor for editor in self.editors() if _same(editor.path, path)), None)

    def _texts(self) -> dict[str, str]:
        """Path and text of every file to show, the script first."""
        session = self._session
        texts: dict[str, str] = {}
        script = str(session.script) if session.script is not None else ""
        for source in session.recording.sources if session.recording is not None else ():
            texts[source.path] = source.text
        own = next((path for path in texts if _same(path, script)), script)
        if own and own not in texts:
            text = _read(own)
            if text is not None:
                texts[own] = text
        return {path: texts[path] for path in sorted(texts, key=lambda path: (path != own, path))}

    def _load(self) -> None:
        """Bring the tabs in line with the files; an editor whose text is the same stays as it is."""
        texts = self._texts()
        for editor in self.editors():
            text = texts.get(editor.path)
            if text is None or unified(text) != editor.recorded:
                self.tabs.removeTab(self.tabs.indexOf(editor))
                editor.deleteLater()
        for index, (path, text) in enumerate(texts.items()):
            if self.editor_of(path) is None:
                editor = Editor(path, text, self._session.theme)
                editor.line_clicked.connect(self._line_clicked)
                editor.document().modificationChanged.connect(self._name_tabs)
                self.tabs.insertTab(index, editor, Path(path).name)
        for editor in self.editors():
            now = _read(editor.path)
            editor.setReadOnly(now is None or unified(now) not in (editor.recorded, editor.text()))
        self.tabs.setVisible(bool(texts))
        self.empty.setVisible(not texts)
        self._name_tabs()
        self._refresh()

    def _name_tabs(self, _: object = None) -> None:
        for index, editor in enumerate(self.editors()):
            dot = " •" if editor.document().isModified() else ""
            self.tabs.setTabText(index, Path(editor.path).name + dot)
            self.tabs.setTabToolTip(index, editor.path)
        self._show_note()

    def _show_note(self) -> None:
        editor = self.tabs.currentWidget()
        text = ""
        there = False
        if isinstance(editor, Editor):
            there = Path(editor.path).exists()
            if editor.isReadOnly():
                text = ("The file has changed since this run: this is the text that ran." if there
                        else "The file is not here any more: this is the text that ran.")
            elif not editor.marks_valid and self._session.recording is not None:
                text = "Edited: run again to see counts and gradients."
        self.note_label.setText(text)
        self.note_button.setVisible(there and isinstance(editor, Editor) and editor.isReadOnly())
        self.note.setVisible(bool(text))

    def _show_file_of_now(self) -> None:
        editor = self.tabs.currentWidget()
        if not isinstance(editor, Editor):
            return
        text = _read(editor.path)
        if text is not None:
            editor.setReadOnly(False)
            editor.selectAll()
            editor.insertPlainText(text)      # one step that Undo takes back
            editor.go_to(1)
            self._show_note()

    def save(self) -> bool:
        """Write the file of the shown tab; False if that failed (and was said)."""
        editor = self.tabs.currentWidget()
        return not isinstance(editor, Editor) or self._write(editor)

    def save_all(self) -> bool:
        """Write every edited file, before it is run."""
        return all(self._write(editor) for editor in self.editors() if editor.document().isModified())

    def may_close(self) -> bool:
        """Ask what to do with edits that are not saved."""
        edited = [editor for editor in self.editors() if editor.document().isModified()]
        if not edited:
            return True
        names = ", ".join(Path(editor.path).name for editor in edited)
        buttons = QMessageBox.StandardButton
        answer = QMessageBox.question(self, "Save the script?", f"{names}: there are changes that are not saved.",
                                      buttons.Save | buttons.Discard | buttons.Cancel, buttons.Save)
        return answer == buttons.Discard or (answer == buttons.Save and self.save_all())

    def _write(self, editor: Editor) -> bool:
        if not editor.document().isModified():
            return True
        try:
            write_text(Path(editor.path), editor.text())
        except OSError as error:
            self.note_label.setText(f"Not saved: {error.strerror or error}: {editor.path}")
            self.note.show()
            return False
        editor.document().setModified(False)
        return True

    def set_stepping(self, stepping: bool) -> None:
        """While one steps, lines that the pass has not reached yet have a dashed swatch."""
        if stepping != self._stepping:
            self._stepping = stepping
            self._refresh()

    # --- focus ---------------------------------------------------------------------------------

    def show_line(self, file: str, line: int) -> None:
        """Put the cursor on a line, because the user asked for it."""
        editor = self.editor_of(file)
        if editor is not None:
            self.tabs.setCurrentWidget(editor)
            editor.go_to(line)

    def _line_clicked(self, line: int) -> None:
        """The first operation of the line; clicking again goes to the next one of the same line."""
        editor = self.tabs.currentWidget()
        if not isinstance(editor, Editor) or not editor.marks_valid:
            return
        info = editor.marks.lines.get(line)
        if info is None or not info.ops:
            return
        op = self._session.focus.op
        place = info.ops.index(op) + 1 if op in info.ops else 0
        self._session.set_focus(op=int(info.ops[place % len(info.ops)]))

    def _tab_shown(self, _: int) -> None:
        self._show_note()
        self._refresh()

    def _refresh(self, _: object = None) -> None:
        """New marks for the shown file; files appear while a script runs, as it imports them."""
        recording = self._session.recording
        if recording is None:
            return
        if not self.isVisible():
            self._stale = True
            return
        self._stale = False
        if any(self.editor_of(source.path) is None for source in recording.sources):
            self._load()
            return
        focus = self._session.focus
        where = recording.op_line(focus.op)[0] if focus.op is not None and focus.op < len(recording.ops) else ""
        shown = self.editor_of(where)
        if shown is not None and shown is not self.tabs.currentWidget() and self._moved(focus.op):
            self.tabs.setCurrentWidget(shown)
        editor = self.tabs.currentWidget()
        if isinstance(editor, Editor):
            editor.set_marks(self._marks_of(editor))

    def _moved(self, op: int | None) -> bool:
        """Whether the focused operation is another than at the last call: only then another tab may come up."""
        before, self._shown_op = self._shown_op, op
        return before != op

    def _marks_of(self, editor: Editor) -> Marks:
        session = self._session
        recording = session.recording
        source = next((s.id for s in recording.sources if s.path == editor.path), None) if recording else None
        if recording is None or source is None:
            return Marks()
        focus = session.focus
        lines = source_lines(recording, source, focus.iteration, pass_=focus.pass_,
                             step=focus.step if self._stepping else None, op=focus.op)
        return Marks(lines.lines, self._finding_marks(editor.path), lines.current)

    def _finding_marks(self, path: str) -> dict[int, Mark]:
        marks: dict[int, Mark] = {}
        for finding in self._session.findings:
            if finding.line and finding.file and _same(finding.file, path):
                old = marks.get(finding.line)
                if old is None or _WORSE.index(finding.severity) < _WORSE.index(old.severity):
                    marks[finding.line] = Mark(finding.severity, f"{finding.severity}: {finding.title}")
        return marks

    def _dress(self, _: object = None) -> None:
        for editor in self.editors():
            editor.set_theme(self._session.theme)

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._refresh()


def write_text(path: Path, text: str) -> None:
    """Replace a file in one step, so that a full disk leaves the old text; its line ends stay as they were."""
    if path.exists() and b"\r\n" in path.read_bytes():
        text = text.replace("\n", "\r\n")
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        if path.exists():
            os.chmod(name, path.stat().st_mode)
        os.replace(name, path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def _read(path: str) -> str | None:
    try:
        return Path(path).read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _same(one: str, other: str) -> bool:
    return bool(one) and bool(other) and (one == other or os.path.realpath(one) == os.path.realpath(other))
