"""Iterations that are let pass unrecorded when recording all of them would slow a long run down too much.

Nothing is lost that anybody will ask about: the newest ones are held as raw events, and are recorded after all when
one of them is not finite, when the script pauses, fails or ends, or when anything but another repetition follows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeviz.capture.queue import ASSIGN, END, ENTER, START, TEXT, Event
from tapeviz.recording.schema import NONE

if TYPE_CHECKING:
    from tapeviz.capture.recorder import Recorder

__gradtape__ = True   # the frames of this module are not the user's

HELD = 2     # iterations


class Thinning:
    """Holds iterations back, and drops or delivers them."""

    def __init__(self, recorder: Recorder, deliver: Callable[[Sequence[Event]], None]) -> None:
        """`deliver` works through events the ordinary way."""
        self._recorder = recorder
        self._deliver = deliver
        self._held: deque[Sequence[Event]] = deque()
        self._missed: dict[int, tuple[Any, Any, int]] = {}   # serial -> variable, newest value, assignments
        self.dropped = 0

    @property
    def is_holding(self) -> bool:
        """Whether anything waits to be dropped or delivered."""
        return bool(self._held or self._missed)

    def hold(self, cycle: Sequence[Event]) -> bool:
        """Let an iteration pass for now; False if it holds a number that is not finite and everything was recorded."""
        self._held.append(cycle)
        if not _is_finite(cycle):
            self.deliver()
            return False
        if len(self._held) > HELD:
            self._drop(self._held.popleft())
        return True

    def deliver(self) -> None:
        """Record what is held."""
        self._catch_up()
        held, self._held = list(self._held), deque()
        for cycle in held:
            self._deliver(cycle)

    def drop(self) -> None:
        """Let what is held go: an iteration that is recorded follows."""
        while self._held:
            self._drop(self._held.popleft())
        self._catch_up()

    def _drop(self, cycle: Sequence[Event]) -> None:
        """An iteration without operations: that it was there, what was assigned, and what the script said."""
        recorder = self._recorder
        if not self.dropped:
            recorder.event("level", {"level": "tape", "why": "recording every iteration would slow the script down too "
                                     "much: from here on only some of them are, and the newest when anything happens"})
        self.dropped += 1
        loc, known, missed = NONE, recorder.tensors.variables, self._missed
        for event in cycle:
            kind = event[0]
            if kind == TEXT:
                recorder.text(event[1], event[2])
            elif kind == ENTER:
                loc = recorder.places.loc(*event[2:4])
                recorder.open_outermost(loc, event[6])
            elif kind == END:
                sources = {known[s._serial].id for s in event[3].sources if s._serial in known}
                recorder.iterations.gradient_taken(loc, sources)
            elif kind == ASSIGN:
                variable = event[5]
                serial = variable._serial
                recorder.iterations.assigned(known[serial].id if serial in known else NONE)
                self._missed[serial] = (variable, event[8], missed[serial][2] + 1 if serial in missed else 1)

    def _catch_up(self) -> None:
        """Variables were assigned to unseen: their newest versions."""
        for variable, value, count in self._missed.values():
            self._recorder.skip_versions(variable, value, count)
        self._missed.clear()


def _is_finite(cycle: Sequence[Event]) -> bool:
    """Whether targets and gradients of an iteration are finite."""
    arrays = [t._value for event in cycle if event[0] == START for t in event[4].targets]
    arrays += [r._value for event in cycle if event[0] == END for r in event[4] if r is not None]
    arrays = [a for a in arrays if isinstance(a, (np.ndarray, np.generic)) and a.dtype.kind in "fc"]
    with np.errstate(all="ignore"):
        if not arrays or np.isfinite(np.add.reduce(np.concatenate(arrays, axis=None))):
            return True
    return all(np.isfinite(a).all() for a in arrays)   # a sum of finite numbers may overflow
