"""Iterations that repeat an earlier one, recorded in one go.

A training loop does the same operations over and over.  When an iteration has been worked through event by event
twice with the same structure, its records become a template: the next iteration is compared with it (the same ops at
the same places, the same tensors feeding them, the same shapes), and if nothing differs its records are the
template's with ids, times and numbers moved on, computed column by column.  That is ten times cheaper, and the records
are the same; whatever does not fit goes the ordinary way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tapeviz.capture.pace import Pace
from tapeviz.capture.quantities import Unfit
from tapeviz.capture.queue import ENTER, TEXT, Event
from tapeviz.capture.template import Template
from tapeviz.capture.thinning import Thinning

if TYPE_CHECKING:
    from tapeviz.capture.recorder import Mark, Recorder

__gradtape__ = True   # the frames of this module are not the user's

MOST_TEMPLATES = 6
INTERESTING_SECONDS = 0.5   # for what follows a number that is not finite
MOST_REFUSALS = 20      # structures that made no template; then nobody tries any more


class Replay:
    """Watches iterations go by, keeps templates, and replays."""

    def __init__(self, recorder: Recorder, thinning: Thinning, pace: Pace) -> None:
        self._recorder = recorder
        self._thinning = thinning
        self._pace = pace
        self._templates: list[Template] = []      # the one used last first
        self._mark: tuple[int, Mark] | None = None   # where in this batch an ordinary iteration began
        self._before: tuple[int, ...] = ()        # kinds of events of the iteration before
        self._refused: set[tuple[int, ...]] = set()
        self.replayed = 0

    def consume(self, events: Sequence[Event], at: int, thin: bool) -> int:
        """Replay the iteration that begins with events[at], if it is complete and fits a template.

        thin: if recording has taken more than its part, it may be left out.
        Returns the number of events that are done with, 0 if it has to go the ordinary way, -1 if its end has not
        come yet and it has fitted so far.
        """
        loc = self._recorder.places.loc(*events[at][2:4])
        if not self._recorder.would_begin(loc):
            return 0
        for template in self._templates:
            taken, texts = _take(events, at, len(template.kinds) + 1)
            if len(taken) <= len(template.kinds):
                if [event[0] for event in taken] == template.kinds[:len(taken)]:
                    return -1
                continue
            following = taken.pop()
            if following[0] != ENTER or following[1:4] != taken[0][1:4]:
                continue
            count = len(taken) + len(texts)
            if thin and self._pace.is_over():
                if not self._thinning.hold(events[at:at + count]):
                    self._pace.allow(INTERESTING_SECONDS)
                return count
            self._thinning.drop()
            found = template.fit(self._recorder, taken)
            if found is None:
                continue
            self._recorder.open_outermost(loc, taken[0][6])
            base = self._recorder.ops
            template.emit(self._recorder, found)
            for stream, text, ops in texts:
                self._recorder.text(stream, text, base + ops)
            self._templates.remove(template)
            self._templates.insert(0, template)
            self._mark = None
            self.replayed += 1
            return count
        return 0

    def look_back(self, events: Sequence[Event], at: int) -> None:
        """Before events[at], a tape that is entered, goes the ordinary way: what ends here may become a template."""
        if not self._recorder.would_begin(self._recorder.places.loc(*events[at][2:4])):
            return
        mark = self._recorder.mark()
        previous, self._mark = self._mark, (at, mark)
        if previous is None or len(self._refused) > MOST_REFUSALS:
            return
        cycle = [event for event in events[previous[0]:at] if event[0] != TEXT]
        kinds = tuple(event[0] for event in cycle)
        if kinds == self._before and kinds not in self._refused:
            try:
                template = Template(self._recorder, cycle, previous[1], mark)
                others = [other for other in self._templates if other.kinds != template.kinds]
                self._templates = [template, *others][:MOST_TEMPLATES]
            except Unfit:
                self._refused.add(kinds)
        self._before = kinds

    def end_batch(self) -> None:
        """Where iterations began in this batch means nothing in the next one."""
        self._mark = None


def _take(events: Sequence[Event], at: int, count: int) -> tuple[list[Event], list[tuple[str, str, int]]]:
    """The next events other than output; and output among them, with the number of operations before it."""
    together = events[at:at + count]
    if TEXT not in [event[0] for event in together]:   # as a rule
        return list(together), []
    taken: list[Event] = []
    texts: list[tuple[str, str, int]] = []
    ops = 0
    while at < len(events) and len(taken) < count:
        event = events[at]
        if event[0] == TEXT:
            texts.append((event[1], event[2], ops))
        else:
            taken.append(event)
            ops += not event[0]   # an operation is kind 0
        at += 1
    return taken, texts

