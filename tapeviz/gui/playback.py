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
        self._until: tuple[int, object] | None = None     # operation and pass: the paused script undoes down to it
        session.focus_changed.connect(self._go_on)

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

    def to_selected(self) -> bool:
        """Go to the step that undoes the selected operation; False if this pass does not undo it.

        While the script is paused in the pass, it undoes everything down to the operation first.
        """
        session = self._session
        op, step = session.focus.op, session.focus.step
        if op is None:
            return False
        if step is not None:
            self.to(step)
            return True
        if session.state != "paused" or session.worker is None or not session.paused_at \
                or session.paused_at.get("where") != "node":
            return False
        self._until = op, session.paused_at.get("pass")
        session.worker.step("node")
        return True

    def _go_on(self, _: object = None) -> None:
        """The script has paused at its next backward step: is it the one that was asked for?"""
        session = self._session
        if self._until is None:
            return
        paused = session.paused_at or {}
        if session.state != "paused" or session.worker is None or paused.get("where") != "node":
            if session.state != "running":
                self._until = None
            return
        recording, (op, pass_) = session.recording, self._until
        if recording is None or not isinstance(pass_, int):
            self._until = None
            return
        steps = recording.steps_of(pass_)
        undone = steps["step"][steps["op"] == op]
        if not len(undone) and paused.get("pass") == pass_:
            session.worker.step("node")
            return
        self._until = None
        if len(undone):       # the last operation of a pass: the script has gone on into the next pass
            session.set_focus(pass_=pass_, step=int(undone[0]))

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
