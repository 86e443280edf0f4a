"""The quick half of the recorder: an Observer that notes what happens and lets the script go on.

Its methods append one tuple to a queue; every 16 ms the queue is worked through by whichever method notices that the
time has come (or by a helper thread, if the script is busy elsewhere).  This is also where the script stands still.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from time import perf_counter_ns
from types import CodeType
from typing import Any

from gradtape.entries import find
from gradtape.observers import Observer, _scopes
from tapeviz.capture.control import Control, Stopped
from tapeviz.capture.leaving import Leaving
from tapeviz.capture.naming import names_in
from tapeviz.capture.pace import Pace
from tapeviz.capture.queue import ASSIGN, CALL, END, ENTER, EXIT, OP, START, STEP, TEXT, WATCH, Event
from tapeviz.capture.recorder import Recorder, has_default_name
from tapeviz.capture.replay import Replay
from tapeviz.capture.source import MARKER, user_frame, user_frames
from tapeviz.capture.thinning import Thinning
from tapeviz.recording.schema import NONE

__gradtape__ = True   # the frames of this module are not the user's

BATCH_NS = 16_000_000     # one frame of the window
WAIT_NS = 50_000_000      # so old may an iteration grow before its beginning is worked through
BATCH_EVENTS = 8192       # ... or so many events, so that a tight loop does not gather more than memory likes
HELPER_SECONDS = 0.025
_frame = sys._getframe
_ident = threading.get_ident
_scope = _scopes.get      # current_scope() without the call around it


def _place() -> tuple[CodeType | None, int]:
    """Where in the user's program the caller's caller was called from."""
    frame = user_frame(_frame(2))
    return (None, -1) if frame is None else (frame.f_code, frame.f_lasti)


class Capture(Observer):
    """Observes the engine for a recorder and obeys a control."""

    def __init__(self, recorder: Recorder, control: Control, broken: Callable[[BaseException], None] | None = None,
                 pace: Pace | None = None) -> None:
        """`broken` is told of a failure of the recorder itself; without it the failure reaches the script."""
        self.recorder = recorder
        self.control = control
        self._detailed = recorder.with_ops   # at the lowest level operations are not even noted
        self.interrupted = False          # SIGINT came while a batch was being worked through
        self._broken = broken
        self._queue: deque[Event] = deque()
        self._add = self._queue.append
        self._lock = threading.RLock()
        self._worker: int | None = None   # the thread that works through the queue
        self._due = 0                     # what comes first is written at once
        self._entered: dict[int, tuple[tuple[Any, ...], int]] = {}   # by id() of a running call
        self._paused_node: dict[int, Any] = {}
        self._leaving = Leaving()
        self._unnamed: set[int] = set()   # serials of variables that got no name and were not used yet
        backward = recorder.backward
        self._handlers: tuple[Callable[..., object], ...] = (   # by kind of event
            recorder.op, self._step, recorder.watched, recorder.assigned, recorder.entered, recorder.left,
            backward.started, backward.ended, recorder.text, lambda function, *parts: function(*parts))
        self._pace = pace or Pace()
        self.thinning = Thinning(recorder, self._ordinary)
        self._replay = Replay(recorder, self.thinning, self._pace)
        self._waiting: list[Event] = []
        self._closed = threading.Event()
        threading.Thread(target=self._help, name="tapeviz recorder", daemon=True).start()

    # --- events of the engine ---------------------------------------------------------------------------------

    def on_op(self, op: Any, inputs: tuple[Any, ...], outputs: tuple[Any, ...], attrs: dict[str, Any],
              recorded: bool, started: int) -> None:
        """An op ran."""
        ended = perf_counter_ns()
        if self._detailed:
            frame: Any = _frame(1)
            while frame is not None and MARKER in frame.f_globals:
                frame = frame.f_back
            code, lasti = (None, -1) if frame is None else (frame.f_code, frame.f_lasti)
            self._add((OP, op, code, lasti, recorded, _scope(), _ident(), "", attrs, inputs, outputs, started,
                       ended))
        if self.control.flag and self.control.wants_stop_at("op"):
            self.process(wait=True)
            self._hold("op")
        elif ended > self._due or len(self._queue) > BATCH_EVENTS:
            self.process()

    def on_op_error(self, op: Any, inputs: tuple[Any, ...], attrs: dict[str, Any], error: BaseException) -> None:
        """An op raised."""
        now = perf_counter_ns()
        message = f"{type(error).__name__}: {error}"
        self._add((OP, op, *_place(), False, _scope(), _ident(), message, attrs, inputs, (), now, now))

    def on_variable(self, variable: Any) -> None:
        """A variable was created."""
        if has_default_name(variable):
            self._unnamed.add(variable._serial)
        self._add((CALL, self.recorder.created, variable, variable._value, *_place()))

    def on_assign(self, variable: Any, kind: str, value: Any, before: Any) -> None:
        """A variable was assigned to."""
        self._add((ASSIGN, kind, *_place(), _ident(), variable, value, before, variable._value, perf_counter_ns()))

    def on_leave(self, tensor: Any, how: str) -> None:
        """A tensor or variable became plain data."""
        if self._detailed and self._leaving.is_open:
            place = self._leaving.place(_frame(1), how, tensor)
            if place is not None:
                if tensor._serial in self._unnamed:
                    self._name_variable(tensor)
                self._add((CALL, self.recorder.leaving, tensor, how, *place))

    def on_watch(self, tape: Any, tensor: Any, explicit: bool) -> None:
        """A tensor is watched, or a variable is read for the first time on a tape."""
        if tensor._serial in self._unnamed:
            self._name_variable(tensor)
        if not self._detailed:
            return
        entries = tape._entries
        position = -1 if entries is None else find(tensor, entries)
        place = _place() if explicit else (None, -1)   # a read happens where the next op is
        self._add((WATCH, explicit, position, *place, tape, tensor, entries))

    def on_tape_enter(self, tape: Any) -> None:
        """A tape starts to record."""
        self._leaving.round += 1
        self._add((ENTER, bool(tape.persistent), *_place(), _ident(), tape, perf_counter_ns()))
        if self.control.flag:
            before = self.recorder.iterations.current
            self.process(wait=True)
            if self.recorder.iterations.current != before and self.control.wants_stop_at("iteration"):
                self._hold("iteration")

    def on_tape_exit(self, tape: Any) -> None:
        """A tape was left."""
        self._add((EXIT, _ident(), tape))

    def on_gradient_start(self, call: Any) -> None:
        """A gradient call begins."""
        frame = user_frame(_frame(1))
        names: dict[int, str] = {}
        if frame is not None:
            wanted = {id(x) for x in (*call.targets[:4], *call.sources[:4]) if not x._serial}
            if wanted:
                names = {id(v): k for k, v in frame.f_locals.copy().items() if id(v) in wanted}
        place = (None, -1) if frame is None else (frame.f_code, frame.f_lasti)
        self._add((START, *place, _ident(), call, call.tape._entries, names, perf_counter_ns()))

    def on_vjp_enter(self, call: Any, node: Any, cotangents: tuple[Any, ...]) -> None:
        """A node is about to be undone."""
        if self.control.flag and self.control.wants_stop_at("node"):
            self._add((CALL, self._enter_now, call, node, cotangents, perf_counter_ns()))
            self.process(wait=True)
            self._hold("node", call)
            self._entered[id(call)] = ((), perf_counter_ns())
        elif self._detailed:
            self._entered[id(call)] = (cotangents, perf_counter_ns())

    def on_vjp_exit(self, call: Any, node: Any, contributions: tuple[Any, ...]) -> None:
        """A node was undone."""
        now = perf_counter_ns()
        if not self._detailed and id(call) not in self._entered:
            return
        cotangents, since = self._entered.pop(id(call), ((), now))
        self._add((STEP, call, node, cotangents, contributions, since, now))
        if now > self._due:
            self.process()

    def on_gradient_end(self, call: Any, results: list[Any], error: BaseException | None) -> None:
        """A gradient call ended."""
        self._entered.pop(id(call), None)
        self._add((END, error is not None, _ident(), call, list(results), perf_counter_ns()))

    # --- events of the worker ---------------------------------------------------------------------------------

    def text(self, stream: str, text: str) -> None:
        """The script printed something."""
        self._add((TEXT, stream, text))
        if perf_counter_ns() > self._due:
            self.process()

    def event(self, kind: str, data: dict[str, Any]) -> None:
        """Something else happened."""
        self._add((CALL, self.recorder.event, kind, data))

    # --- working through the queue ----------------------------------------------------------------------------

    def process(self, wait: bool = False) -> None:
        """Work through the queue; if another thread does so already, wait for it or leave it to that one."""
        if not self._lock.acquire(blocking=wait):
            return
        try:
            if self._worker == _ident():   # a signal handler or a destructor, in the middle of a batch
                return
            self._worker = _ident()
            try:
                self._work(everything=wait)
            except Exception as error:   # a failure of ours must not become one of the script
                if self._broken is None:
                    raise
                self._broken(error)
            finally:
                self._worker = None
        finally:
            self._lock.release()
        if self.interrupted and threading.current_thread() is threading.main_thread():
            self.interrupted = False
            raise KeyboardInterrupt

    def _work(self, everything: bool) -> None:
        """Work through the queue; without `everything`, a repeated iteration that is not over yet may wait."""
        queue, handlers, replay = self._queue, self._handlers, self._replay
        events = self._waiting + [queue.popleft() for _ in range(len(queue))]
        self._waiting = []
        self._pace.start()
        at, count = 0, len(events)
        while at < count:
            event = events[at]
            if event[0] == ENTER:
                done = replay.consume(events, at, thin=not everything)
                if done > 0:
                    at += done
                    continue
                if done < 0 and not everything and perf_counter_ns() - event[6] < WAIT_NS:
                    self._waiting = events[at:]
                    break
                self.thinning.deliver()
                replay.look_back(events, at)
            elif self.thinning.is_holding:
                self.thinning.deliver()
            handlers[event[0]](*event[1:])
            at += 1
        if everything:
            self.thinning.deliver()
        replay.end_batch()
        self.recorder.end_batch()
        self._pace.stop()
        self._due = perf_counter_ns() + BATCH_NS

    def _ordinary(self, events: Sequence[Event]) -> None:
        for event in events:
            self._handlers[event[0]](*event[1:])

    def is_busy(self) -> bool:
        """Whether this thread is working through the queue (and must not be interrupted now)."""
        return self._worker == _ident()

    def close(self) -> None:
        """Work through what is left and stop the helper."""
        self._closed.set()
        self.process(wait=True)

    def _help(self) -> None:
        while not self._closed.wait(HELPER_SECONDS):
            if (self._queue or self._waiting) and perf_counter_ns() > self._due + BATCH_NS:
                self.process()

    def _step(self, call: Any, node: Any, cotangents: tuple[Any, ...], contributions: tuple[Any, ...], since: int,
              now: int) -> None:
        backward = self.recorder.backward
        ref = self._paused_node.pop(id(call), None)
        if ref is None:
            ref = backward.entered(call, node, cotangents, since)
        backward.undone(call, ref, contributions, since, now - since)

    def _enter_now(self, call: Any, node: Any, cotangents: tuple[Any, ...], now: int) -> None:
        self._paused_node[id(call)] = self.recorder.backward.entered(call, node, cotangents, now)

    # --- standing still ---------------------------------------------------------------------------------------

    def _hold(self, where: str, call: Any = None) -> None:
        """Stand still; before that everything of this iteration is in the file."""
        recorder = self.recorder
        with self._lock:
            pass_, step = recorder.backward.progress(call) if call is not None else (None, None)
            recorder.values.freeze(since=recorder.iterations.current)
            recorder.event("pause", {"reason": where})
            recorder.writer.flush()
            op = recorder.last_op
        try:
            self.control.hold({"op": None if op == NONE else op, "pass": pass_, "step": step,
                               "iteration": recorder.iterations.current, "where": where})
        except Stopped:
            self._add((CALL, recorder.event, "resume", {"to": "stop"}))
            raise
        self._add((CALL, recorder.event, "resume", {}))

    # --- names ------------------------------------------------------------------------------------------------

    def _name_variable(self, variable: Any) -> None:
        """Name a variable at first sight, by what the user's program calls it there."""
        self._unnamed.discard(variable._serial)
        frames = user_frames(_frame(2))
        loops = self.recorder.places.file(frames[0].f_code.co_filename)[2] if frames else frozenset()
        name = names_in(frames, loops).get(id(variable))
        if name:
            self.recorder.names[variable._serial] = name
