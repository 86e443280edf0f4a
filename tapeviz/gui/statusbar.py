"""The status bar: state, iterations, size, counters, the follow pill; at the right the focus and the zoom."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QStatusBar, QToolButton, QWidget

from tapeviz.analysis.format import byte_size, count, plural
from tapeviz.gui.icons import icon
from tapeviz.gui.painting import brush, guarded
from tapeviz.gui.session import Session

_WORDS = {"starting": "starting", "running": "running", "paused": "paused", "finished": "finished",
          "failed": "failed", "stopped": "stopped", "killed": "ended abruptly", "": "no recording"}


class Dot(QWidget):
    """A disc in the colour of a state."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setAccessibleName("State of the script")

    @guarded(QSize(12, 12))
    def sizeHint(self) -> QSize:
        side = self._session.theme.px(14)
        return QSize(side, side)

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._session.theme
        colour = {"running": theme.ok, "finished": theme.ok, "starting": theme.ok, "paused": theme.warning,
                  "failed": theme.error, "killed": theme.error, "stopped": theme.warning}.get(
                      self._session.state, theme.muted)
        side = theme.px(8)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(brush(colour))
        painter.drawEllipse(QRectF((self.width() - side) / 2, (self.height() - side) / 2, side, side))
        painter.end()


class MainStatusBar(QStatusBar):
    """Everything the user should be able to glance at; the pill goes back to Live.

    A word to the user stands where the focus is told otherwise.  A message of QStatusBar itself would cover the state
    of the script, and be painted through it as soon as the row is laid out anew.
    """

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setSizeGripEnabled(False)
        self.setAccessibleName("Status")
        self.dot = Dot(session)
        self.state, self.iterations, self.bytes, self.counters = (QLabel() for _ in range(4))
        self.pill = QToolButton()
        self.pill.setProperty("kind", "pill")
        self.pill.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.pill.clicked.connect(session.follow)
        self.place, self.words, self.zoom = QLabel(), QLabel(), QLabel()
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.words.setProperty("role", "said")
        for wide in (self.place, self.words):
            wide.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.words.hide()
        self._quiet = QTimer(self)
        self._quiet.setSingleShot(True)
        self._quiet.timeout.connect(self.take_back)
        self.place.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.place.setMinimumWidth(120)
        row = QWidget()
        line = QHBoxLayout(row)
        line.setContentsMargins(10, 0, 10, 0)
        line.setSpacing(10)
        for widget in (self.dot, self.state, self.iterations, self.bytes, self.counters, self.pill):
            line.addWidget(widget)
        line.addWidget(self.words, 1)
        line.addWidget(self.place, 1)
        line.addWidget(self.zoom)
        self.addWidget(row, 1)
        for signal in (session.recording_changed, session.worker_changed, session.grew, session.findings_changed):
            signal.connect(self.refresh)
        session.following_changed.connect(self._show_pill)
        session.focus_changed.connect(self._show_place)
        session.theme_changed.connect(self.refresh)
        self.refresh()

    def refresh(self, _: object = None) -> None:
        """Everything anew; cheap enough for ten times a second."""
        session = self._session
        recording = session.recording
        state = _WORDS.get(session.state, session.state)
        self.state.setText(f"<b>{state}</b>{self._pause_words()}")
        self.state.setTextFormat(Qt.TextFormat.RichText)
        for widget in (self.iterations, self.bytes, self.counters):
            widget.setVisible(recording is not None)
        if recording is not None:
            self.iterations.setText(plural(len(recording.iterations), "iteration"))
            self.bytes.setText(f"recording {byte_size(recording_bytes(recording.path))}")
            self.counters.setText("   ".join(f"{word} <b>{count(n)}</b>" for word, n in self._counted()))
        self.zoom.setText(f"{session.theme.scale:.0%}".replace("%", " %"))
        self.zoom.setToolTip("Text size (Ctrl++, Ctrl+-)")
        self.dot.update()
        self._show_pill()
        self._show_place()

    def say(self, text: str, milliseconds: int = 0) -> None:
        """A word to the user; it stays so long, 0: until the next one or until it is taken back."""
        self.words.setText(text)
        self.words.setToolTip(text)
        self.words.setAccessibleName(text)
        self.words.setVisible(bool(text))
        self.place.setVisible(not text)
        if milliseconds:
            self._quiet.start(milliseconds)
        else:
            self._quiet.stop()

    def take_back(self, text: str = "") -> None:
        """Say nothing any more; with a text only if that is what is being said."""
        if not text or self.words.text() == text:
            self.say("")

    def _pause_words(self) -> str:
        pause = self._session.paused_at
        where = {"node": "before a backward step", "op": "before an operation",
                 "iteration": "between iterations"}.get(str(pause.get("where")) if pause else "")
        return f" {where}" if where and self._session.state == "paused" else ""

    def _counted(self) -> list[tuple[str, int]]:
        recording = self._session.recording
        if recording is None:
            return []
        stats = recording.stats
        infinite = (stats["posinf"] > 0) | (stats["neginf"] > 0)
        vanishing = {name for finding in self._session.findings if finding.id.startswith("vanishing")
                     for name in finding.affected}
        return [("NaN", int((stats["nan"] > 0).sum())), ("Inf", int(infinite.sum())), ("vanishing", len(vanishing))]

    def _show_pill(self, _: object = None) -> None:
        session = self._session
        shown = session.recording is not None
        self.pill.setVisible(shown)
        if not shown:
            return
        theme, new = session.theme, session.new_iterations
        if session.following:
            self.pill.setText("Live")
            self.pill.setIcon(icon("ok", theme, theme.ok, 12))
            self.pill.setToolTip("The newest iteration is shown, and the next ones as they come")
        else:
            self.pill.setText(f"Detached, +{new:,} new" if new and session.active else "Detached")
            self.pill.setIcon(icon("pin", theme, size=12))
            self.pill.setToolTip("You chose an iteration: nothing moves it. Click for the newest (End)")

    def _show_place(self, _: object = None) -> None:
        session = self._session
        recording, op = session.recording, session.focus.op
        if recording is None or op is None or op >= len(recording.ops):
            self.place.setText("")
            return
        where = recording.op_line(op)
        text = f"{where[0].rsplit('/', 1)[-1]}:{where[1]}" if where[1] else ""
        self.place.setText(f"<b>{recording.op_name(op)}</b>&nbsp; {text}")
        self.place.setToolTip(f"{where[0]}:{where[1]}" if where[1] else "")


def recording_bytes(path: Path) -> int:
    """Size of the file with its write-ahead log, which holds the newest records of a running script."""
    log = path.with_name(path.name + "-wal")
    return sum(file.stat().st_size for file in (path, log) if file.exists())
