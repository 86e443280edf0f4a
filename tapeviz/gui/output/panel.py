"""The output panel: what the script printed, its warnings and errors, and the line it waits for."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QShowEvent, QTextCharFormat
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from tapeviz.gui.output.view import OutputView
from tapeviz.gui.painting import guarded
from tapeviz.gui.session import Session
from tapeviz.gui.theme import Theme
from tapeviz.recording.rows import Event
from tapeviz.recording.schema import NONE

_MOST_LINES = 20_000        # older lines leave the view; the recording keeps them


class OutputPanel(QWidget):
    """Grows at its end; a reader who has scrolled up stays where he is."""

    answered = Signal()         # the line that the script waited for has been sent

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._shown = 0
        self.setAccessibleName("Output")
        self.setProperty("role", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.view = OutputView()
        self.view.document().setMaximumBlockCount(_MOST_LINES)
        self.view.op_chosen.connect(self._choose)
        self.empty = QLabel("The script has printed nothing.")
        self.empty.setProperty("role", "empty")
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.input_row = QWidget()
        self.input = QLineEdit()
        self.input.setAccessibleName("Input for the script")
        self.input.setPlaceholderText("The script waits for a line: type it and press Enter")
        self.input.returnPressed.connect(self._send)
        row = QHBoxLayout(self.input_row)
        row.setContentsMargins(8, 4, 8, 6)
        row.addWidget(self.input)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.empty, 1)
        column.addWidget(self.view, 1)
        column.addWidget(self.input_row)
        session.recording_changed.connect(self._restart)
        session.grew.connect(self._append_new)
        session.theme_changed.connect(self._dress)
        session.input_wanted.connect(self._ask)
        session.worker_changed.connect(self._worker_changed)
        self.input_row.hide()
        self._dress()

    def _restart(self) -> None:
        self._shown = 0
        self.view.forget()
        self._append_new()

    def _append_new(self) -> None:
        recording = self._session.recording
        events = recording.events if recording is not None else []
        theme = self._session.theme
        for event in events[self._shown:]:
            text, kind = text_of(event)
            if text:
                op = event.op if event.op != NONE else None
                self.view.append_text(text, _format(kind, theme), op)
        self._shown = len(events)
        written = self.view.blockCount() > 1 or bool(self.view.toPlainText())
        self.view.setVisible(written)
        self.empty.setVisible(not written)

    def _dress(self, _: object = None) -> None:
        """Colours are part of the text: it is written again."""
        theme = self._session.theme
        font = theme.mono_font(12)
        self.view.setStyleSheet(f'font-family: "{font.family()}"; font-size: {theme.px(12)}px;')
        self._restart()

    def _choose(self, op: int) -> None:
        recording = self._session.recording
        if recording is not None and len(recording.ops):
            # What is printed before the first operation of an iteration belongs to the last one that ran.
            self._session.set_focus(op=min(op, len(recording.ops) - 1))

    # --- input ---------------------------------------------------------------------------------

    def _ask(self) -> None:
        self.view.show()
        self.empty.hide()
        self.input_row.show()

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self.input_row.isHidden():       # who comes here while the script waits comes to type
            self.input.setFocus(Qt.FocusReason.OtherFocusReason)

    def _send(self) -> None:
        worker = self._session.worker
        if worker is not None:
            text = self.input.text()
            worker.send_input(text + "\n")
            self.view.append_text(text + "\n", _format("input", self._session.theme), None)
        self.input.clear()
        self.input_row.hide()
        self.answered.emit()

    def _worker_changed(self, state: str) -> None:
        if state not in ("running", "paused"):
            self.input_row.hide()


def text_of(event: Event) -> tuple[str, str]:
    """What an event adds to the output, and in which colour; "" for events that print nothing."""
    data = event.data
    if event.kind in ("stdout", "stderr"):
        return str(data.get("text", "")), event.kind
    if event.kind == "warning":
        return f"{data.get('category', 'Warning')}: {data.get('message', '')}\n", "warning"
    if event.kind == "exception":
        return _exception_text(data), "error"
    return "", ""


def _exception_text(data: dict[str, object]) -> str:
    lines = []
    frames = data.get("frames")
    for frame in frames if isinstance(frames, list) else []:
        lines.append(f'  File "{frame.get("file")}", line {frame.get("line")}, in {frame.get("function")}')
        if frame.get("code"):
            lines.append(f"    {frame['code']}")
    lines.append(f"{data.get('type', 'Exception')}: {data.get('message', '')}")
    return "\n".join(lines) + "\n"


def _format(kind: str, theme: Theme) -> QTextCharFormat:
    colour = {"stderr": theme.muted, "warning": theme.warning, "error": theme.error, "input": theme.accent}
    result = QTextCharFormat()
    result.setForeground(QColor(colour.get(kind, theme.text)))
    return result
