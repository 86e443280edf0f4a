"""Where one training iteration ends and the next begins, told from tapes, gradient calls and assignments alone."""

from __future__ import annotations

from dataclasses import dataclass, field

from tapeviz.recording.schema import NONE, BoundaryBy
from tapeviz.recording.writer import Writer

__gradtape__ = True   # the frames of this module are not the user's


@dataclass
class _Iteration:
    first_op: int
    first_pass: int
    t: int
    by: BoundaryBy
    place: int        # location of the tape that opened it
    opened: dict[int, tuple[int, int]] = field(default_factory=dict)   # other tapes: operations and passes before them


class Iterations:
    """Finds iterations and writes their records.

    A new one begins where an outermost tape is opened after a gradient call that was followed by the assignment of
    one of its sources.  Before any assignment has been seen, opening a tape again at the same place after a gradient
    call counts as well, provisionally: should these turn out to be micro-batches (several gradient calls, then
    assignments), their records are corrected: the superfluous ones get first_op NONE and are written anew later.
    """

    def __init__(self, writer: Writer, now: int) -> None:
        self._writer = writer
        self._all = [_Iteration(0, 0, now, BoundaryBy.START, NONE)]
        self._assigned = False
        self._places: set[int] = set()            # tapes of this iteration that a gradient was taken from
        self._sources: set[int] = set()           # variables the gradient was taken for
        self._assigning: set[int] = set()         # tapes whose gradient calls lead to assignments
        self.gradient_seen = False
        self._write(0)

    @property
    def current(self) -> int:
        """Number of the iteration that is running."""
        return len(self._all) - 1

    def would_begin(self, place: int) -> bool:
        """Whether an iteration would begin with an outermost tape that is entered there."""
        return self._assigned or (place in self._places and place not in self._assigning)

    def tape_opened(self, place: int, ops: int, passes: int, t: int) -> bool:
        """An outermost tape was entered; returns whether an iteration begins with it."""
        if self._assigned:
            by = BoundaryBy.ASSIGN
        elif place in self._places and place not in self._assigning:
            by = BoundaryBy.GRADIENT
        else:
            if not self.gradient_seen:
                self._all[-1].place = place
            self._all[-1].opened.setdefault(place, (ops, passes))
            return False
        self._all.append(_Iteration(ops, passes, t, by, place))
        self._assigned = self.gradient_seen = False
        self._places.clear()
        self._sources.clear()
        self._write(self.current)
        return True

    def gradient_taken(self, place: int, variables: set[int]) -> None:
        """A gradient call ended, of a tape opened at `place`, for these variables."""
        self.gradient_seen = True
        self._places.add(place)
        self._sources |= variables

    def assigned(self, variable: int) -> None:
        """A variable was assigned to."""
        if variable not in self._sources or self._assigned:
            return
        self._assigned = True
        places = self._places - self._assigning
        self._assigning |= self._places
        if self._all[-1].by is BoundaryBy.GRADIENT and self._all[-1].place in places:
            self._were_micro_batches(self._all[-1].place)

    def _were_micro_batches(self, place: int) -> None:
        last = self.current
        first = last
        while first > 0 and self._all[first].by is BoundaryBy.GRADIENT and self._all[first - 1].place == place:
            first -= 1
        if first and place in self._all[first - 1].opened:   # the first of them began in an iteration of other tapes
            self._all[first].first_op, self._all[first].first_pass = self._all[first - 1].opened[place]
            self._write(first)
        del self._all[first + 1:]
        for void in range(first + 1, last + 1):
            self._writer.iteration(void, NONE, NONE, self._writer.now(), BoundaryBy.GRADIENT, 0)

    def _write(self, number: int) -> None:
        it = self._all[number]
        self._writer.iteration(number, it.first_op, it.first_pass, it.t, it.by, 0)
