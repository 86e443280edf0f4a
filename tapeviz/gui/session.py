"""The session: one recording, one worker, one focus; every panel reads it and nothing else.

Panels never know each other.  A panel that chooses something calls `set_focus`; every panel hears `focus_changed`.
A timer asks the worker and the file 30 times a second what is new; what is told to the panels is throttled by what
telling them costs, so that a fast script never freezes the window.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from tapeviz.analysis.findings import Finding
from tapeviz.analysis.focus import Focus, move
from tapeviz.capture.launcher import RunConfig, Worker
from tapeviz.gui.polling import Diagnoser
from tapeviz.gui.problems import Problem, cannot_open, cannot_start, not_recorded, problem_of, unreadable
from tapeviz.gui.theme import DARK, Theme
from tapeviz.recording.reader import Recording, open_recording
from tapeviz.recording.rows import RecordingError
from tapeviz.recording.schema import NONE

POLL_MS = 33
LEAST_PAUSE_S = 0.1        # panels are told of growth at most ten times a second
PAUSE_PER_COST = 3.0       # ... and rest three times as long as their last update took
_LATEST = 8192             # so many statistics are looked through for the newest pass
_ACTIVE = ("starting", "running", "paused")


class Session(QObject):
    """What is open, what runs and what is looked at."""

    recording_changed = Signal()        # another recording, or none
    grew = Signal()                     # the recording has more; its arrays were replaced by longer ones
    focus_changed = Signal(object)      # Focus
    worker_changed = Signal(str)        # state of the worker, "" when there is none
    findings_changed = Signal()
    theme_changed = Signal(object)      # Theme
    following_changed = Signal(bool)
    problem_changed = Signal()
    input_wanted = Signal()             # the script waits for a line

    def __init__(self, theme: Theme = DARK, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.recording: Recording | None = None
        self.focus = Focus()
        self.worker: Worker | None = None
        self.findings: list[Finding] = []
        self.theme = theme
        self.following = False
        self.problem: Problem | None = None
        self.script: Path | None = None
        self.config: RunConfig | None = None
        self.paused_at: Mapping[str, object] | None = None
        self.new_iterations = 0
        self._state = ""
        self._worker_said = ""      # the last error message of the worker
        self._replaced: tuple[int, ...] | None = None       # the file in whose place the worker will write
        self._pending_pause: Mapping[str, object] | None = None
        self._ungrown = False
        self._next_growth = 0.0
        self._diagnoser = Diagnoser()
        self._timer = QTimer(self)
        self._timer.setInterval(POLL_MS)
        self._timer.timeout.connect(self.poll)

    # --- opening and running -------------------------------------------------------------------

    @property
    def active(self) -> bool:
        """Whether a script is running (or paused) now."""
        return self.worker is not None and self._state in _ACTIVE

    @property
    def state(self) -> str:
        """The worker's state, else how the recording ended, else ""."""
        if self.worker is not None:
            return self._state
        return self.recording.status if self.recording is not None else ""

    def open(self, path: Path | str) -> bool:
        """Show a finished recording (or one that another program is still writing)."""
        try:
            recording = open_recording(Path(path))
        except RecordingError as error:
            self._set_problem(cannot_open(Path(path), str(error)))
            return False
        self._drop_worker()
        self._set_problem(None)
        script = recording.meta.get("script")
        self.script, self.config = Path(str(script)) if script else None, None
        self._set_recording(recording)
        self._set_following(True)
        self._timer.start()
        return True

    def run(self, config: RunConfig) -> bool:
        """Start a script; its recording appears as soon as the worker has begun to write it."""
        self._drop_worker()
        self._set_problem(None)
        self._set_recording(None)
        self.script, self.config = config.script, config
        self._worker_said = ""
        worker = Worker(config)
        self._replaced = _identity(worker.recording)
        try:
            worker.start()
        except OSError as error:
            self._set_problem(cannot_start(config.script, str(error)))
            return False
        self.worker = worker
        self._set_following(True)
        self._set_state(worker.state)
        self._timer.start()
        return True

    def open_script(self, script: Path) -> None:
        """Show a script without running it; what was open is closed."""
        self._drop_worker()
        self._set_problem(None)
        self.script, self.config = script, None
        self._set_recording(None)

    def stop(self) -> None:
        """End the script; what it recorded stays open."""
        if self.worker is not None and self.active:
            self.worker.stop()

    def close(self) -> None:
        """Stop the worker and let go of the file; the session can be used again afterwards."""
        self._timer.stop()
        self._drop_worker()
        self._diagnoser.close()
        if self.recording is not None:
            self.recording.close()
            self.recording = None

    # --- the focus -----------------------------------------------------------------------------

    def set_focus(self, **change: object) -> None:
        """Look at something else: iteration, op, pass_, step, tensor, element.  Equal focus: nothing happens."""
        if self.recording is None:
            return
        focus = move(self.recording, self.focus, **change)
        if focus == self.focus:
            return
        if not self.active:
            self._set_following(focus.iteration == self.newest_iteration())
        elif self._state != "paused":
            self._set_following(False)
        self._show_focus(focus)

    def follow(self) -> None:
        """Go to the newest iteration and stay with it while the script runs."""
        if self.recording is None:
            return
        self._set_following(True)
        focus = self._newest_focus()
        if focus != self.focus:
            self._show_focus(focus)

    def newest_iteration(self) -> int:
        """The newest iteration; of a running script the newest whose backward pass has been measured."""
        recording = self.recording
        if recording is None or not len(recording.iterations):
            return 0
        newest = len(recording.iterations) - 1
        if self.active and self._state != "paused":
            passes = recording.stats["pass"][-_LATEST:]
            measured = passes[passes != NONE]
            if len(measured):       # the newest pass may be measured in part
                return min(newest, max(0, recording.iteration_of_pass(int(measured.max())) - 1))
        return newest

    def set_theme(self, theme: Theme) -> None:
        if theme != self.theme:
            self.theme = theme
            self.theme_changed.emit(theme)

    # --- the clock -----------------------------------------------------------------------------

    def poll(self) -> None:
        """Ask the worker and the file what is new; called by the timer, and by tests directly."""
        self._poll_worker()
        recording = self.recording
        if recording is not None and self._read_on(recording):
            self._ungrown = True
        now = time.monotonic()
        if self._ungrown and now >= self._next_growth:
            self._tell_growth(now)
        if self._pending_pause is not None:
            self._go_to_pause()
        self._poll_findings(now)
        if not self.active and recording is not None and recording.finished and not self.working:
            self._timer.stop()

    @property
    def working(self) -> bool:
        """Whether something that is known to be new has not been shown yet: records, or findings about them."""
        return self.recording is not None and (self._ungrown or self._diagnoser.busy)

    def _read_on(self, recording: Recording) -> bool:
        try:
            return recording.poll()
        except RecordingError as error:      # damaged under our eyes: what was read stays
            self._timer.stop()
            self._set_problem(unreadable(recording.path, str(error)))
            return False

    def _tell_growth(self, started: float) -> None:
        self._ungrown = False
        follow = self.following and self._state != "paused"
        before, focus = self.new_iterations, self.focus
        if follow:      # first: the panels draw once, what they will look at
            self.focus = self._newest_focus()
        self.new_iterations = max(0, self.newest_iteration() - self.focus.iteration)
        self.grew.emit()
        if self.focus != focus and follow:
            self.focus_changed.emit(self.focus)
        elif self.new_iterations != before:
            self.following_changed.emit(self.following)
        cost = time.monotonic() - started
        self._next_growth = started + cost + max(LEAST_PAUSE_S, PAUSE_PER_COST * cost)
        if self.recording is not None:
            self._diagnoser.wanted()

    def _poll_findings(self, now: float) -> None:
        if self.recording is None:
            return
        found = self._diagnoser.poll(self.recording.path, now, live=self.active)
        if found is not None and found != self.findings:
            self.findings = found
            self.findings_changed.emit()

    def _poll_worker(self) -> None:
        worker = self.worker
        if worker is None:
            return
        for message in worker.poll():
            kind = message.get("type")
            if kind == "paused":
                self._pending_pause = self.paused_at = message
            elif kind == "stdin":
                self.input_wanted.emit()
            elif kind == "error":
                self._worker_said = str(message.get("message", ""))
                if worker.state in ("running", "paused"):
                    self._set_problem(not_recorded(worker.recording, self._worker_said))
        if self.recording is None:
            self._open_live(worker)
        self._set_state(worker.state)

    def _open_live(self, worker: Worker) -> None:
        try:
            if self._replaced is not None and _identity(worker.recording) == self._replaced:
                raise RecordingError("it was not written anew")     # yet: that is the recording of an earlier run
            self._set_recording(open_recording(worker.recording))
        except RecordingError as error:
            # The worker has not written its first bytes yet; a worker that has ended never will.
            if worker.state not in _ACTIVE:
                self._set_problem(cannot_start(self.script or Path("script"), self._worker_said or str(error)))

    # --- changing state, one place for each ----------------------------------------------------

    def _set_state(self, state: str) -> None:
        if state == self._state:
            return
        self._state = state
        if state != "paused":
            self.paused_at = None
        if state not in _ACTIVE:
            if self.recording is not None:
                self._read_on(self.recording)
                self._ungrown, self._next_growth = True, 0.0
            if self.problem is None or self.problem.kind == "not-recorded":      # the end tells more
                self._set_problem(problem_of(self.recording, state, self._worker_said) or self.problem)
        self.worker_changed.emit(state)

    def _set_recording(self, recording: Recording | None) -> None:
        old, self.recording = self.recording, recording
        self.findings = []
        self.new_iterations = 0
        self._pending_pause = self.paused_at = None
        self.focus = self._first_focus()
        self._diagnoser.restart()
        self.recording_changed.emit()
        self.focus_changed.emit(self.focus)
        self.findings_changed.emit()
        if old is not None:
            old.close()
        if recording is not None:
            state = self._state if self.worker is not None else recording.status
            self._set_problem(problem_of(recording, state, self._worker_said))
            self._diagnoser.wanted()

    def _first_focus(self) -> Focus:
        """The newest iteration at the first step of its last backward pass: what runs next when stepping back."""
        recording = self.recording
        if recording is None:
            return Focus()
        newest = self.newest_iteration()
        passes = recording.passes_of(newest) if len(recording.iterations) else []
        if passes:
            return move(recording, Focus(), iteration=newest, pass_=passes[-1], step=0)
        return move(recording, Focus(), iteration=newest)

    def _newest_focus(self) -> Focus:
        """The same place in the newest iteration."""
        if self.recording is None:
            return Focus()
        if self.focus.step is None and self.focus.op is None:
            return self._first_focus()
        return move(self.recording, self.focus, iteration=self.newest_iteration())

    def _go_to_pause(self) -> None:
        """The worker tells of a pause before its last records can be read; the focus waits for them.

        Before a backward step the step that was done last is shown: what it did is what one wants to see.
        """
        recording, pause = self.recording, self._pending_pause
        if recording is None or pause is None:
            return
        op, pass_, step = pause.get("op"), pause.get("pass"), pause.get("step")
        change: dict[str, object] = {}
        if isinstance(pass_, int) and isinstance(step, int) and step > 0:
            if pass_ >= len(recording.passes) or len(recording.steps_of(pass_)) < step:
                return
            change = {"pass_": pass_, "step": step - 1}
        elif isinstance(op, int):
            if op >= len(recording.ops):
                return
            change = {"op": op}
        self._pending_pause = None
        focus = move(recording, self.focus, **change) if change else self.focus
        if focus != self.focus:
            self._show_focus(focus)

    def _show_focus(self, focus: Focus) -> None:
        self.focus = focus
        self.new_iterations = max(0, self.newest_iteration() - focus.iteration)
        self.focus_changed.emit(focus)

    def _set_following(self, following: bool) -> None:
        if following != self.following:
            self.following = following
            self.new_iterations = 0
            self.following_changed.emit(following)

    def _set_problem(self, problem: Problem | None) -> None:
        if problem != self.problem:
            self.problem = problem
            self.problem_changed.emit()

    def _drop_worker(self) -> None:
        worker, self.worker = self.worker, None
        if worker is not None and worker.state in _ACTIVE:
            worker.stop()
            worker.wait(4.0)
        if self._state:
            self._state = ""
            self.worker_changed.emit("")


def _identity(path: Path) -> tuple[int, ...] | None:
    """Tells a file from one that is put in its place later; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
