"""Where values leave the engine: which of these moments are worth a record, at next to no cost for the others."""

from __future__ import annotations

from types import CodeType, FrameType
from typing import Any

from tapeviz.capture.source import is_ours

__gradtape__ = True   # the frames of this module are not the user's

MOST = 400            # records in a run
MOST_PER_PLACE = 4    # ... of one place, each in another iteration: a loop that prints its loss says nothing new


class Leaving:
    """Counts by place; `round` is raised by whoever sees an iteration (or a tape) begin."""

    def __init__(self) -> None:
        self.round = 0
        self._left = MOST
        self._seen: dict[tuple[object, ...], tuple[int, int]] = {}   # place -> how often, round of the last time

    @property
    def is_open(self) -> bool:
        """Whether there is room for more."""
        return self._left > 0

    def place(self, frame: FrameType | None, how: str, tensor: Any) -> tuple[CodeType, int] | None:
        """The code object and instruction, if this is to be recorded.

        Places are told apart by who called them as well: a helper that makes arrays of everything is many places.
        """
        if tensor._serial and not tensor.trainable:
            return None
        while frame is not None and (is_ours(frame) or str(frame.f_globals.get("__name__")).startswith("numpy.")):
            frame = frame.f_back
        if frame is None:
            return None
        caller = frame.f_back
        code = frame.f_code
        key = (id(code), frame.f_lasti, how, id(caller.f_code) if caller is not None else 0,
               caller.f_lasti if caller is not None else 0)
        count, last = self._seen.get(key, (0, -1))
        if count >= MOST_PER_PLACE or last == self.round:
            return None
        self._seen[key] = count + 1, self.round
        self._left -= 1
        return code, frame.f_lasti
