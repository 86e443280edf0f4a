"""Walking through a backward pass: next, previous, first, last, to a given step, and playing it."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from tapeviz.gui.session import Session

PLAY_MS = 500


class Playback(QObject):
    """Moves the session's focus along the steps of its pass; a paused live pass is moved in the worker."""

    playing_changed = Signal(bool)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._timer = QTimer(self)
        self._timer.setInterval(PLAY_MS)
        self._timer.timeout.connect(self._tick)

    @property
    def playing(self) -> bool:
        return self._timer.isActive()

    def position(self) -> tuple[int, int]:
        """(step of the focus or -1, number of steps of its pass)."""
        session = self._session
        recording, focus = session.recording, session.focus
        if recording is None or focus.pass_ is None or focus.pass_ >= len(recording.passes):
            return -1, 0
        # A pass that is still under way does not know its number of steps yet.
        count = max(int(recording.passes["steps"][focus.pass_]), len(recording.steps_of(focus.pass_)))
        return (-1 if focus.step is None else focus.step), count

    def to(self, step: int) -> None:
        """Go to a step of the pass in focus, clamped to what there is."""
        _, count = self.position()
        if count:
            self._session.set_focus(step=min(max(step, 0), count - 1))

    def next(self) -> None:
        step, count = self.position()
        session = self._session
        if session.state == "paused" and session.worker is not None and step >= count - 1:
            session.worker.step("node")     # the newest step there is: the worker makes the next one
            return
        self.to(step + 1)

    def previous(self) -> None:
        self.to(self.position()[0] - 1)

    def first(self) -> None:
        self.to(0)

    def last(self) -> None:
        self.to(self.position()[1] - 1)

    def toggle(self) -> None:
        """Play, or stop playing; at the end it starts again from the first step."""
        if self.playing:
            self.stop()
            return
        step, count = self.position()
        if not count:
            return
        if step >= count - 1:
            self.first()
        self._timer.start()
        self.playing_changed.emit(True)

    def stop(self) -> None:
        if self._timer.isActive():
            self._timer.stop()
            self.playing_changed.emit(False)

    def _tick(self) -> None:
        step, count = self.position()
        if step >= count - 1:
            self.stop()
        else:
            self.to(step + 1)
