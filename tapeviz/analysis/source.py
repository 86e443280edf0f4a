"""What an iteration did to every line of a source file: the columns of the editor's gutter."""

from __future__ import annotations

from dataclasses import dataclass

from tapeviz.analysis.index import main_pass, pass_index, remembered, shown_ops
from tapeviz.analysis.magnitude import NOT_CAPTURED, Magnitude, magnitude, worst
from tapeviz.analysis.reference import reference_of
from tapeviz.recording.reader import Recording


@dataclass(frozen=True, slots=True)
class LineInfo:
    """One line of a source file in one iteration.

    executed: how many operations of the iteration began on it
    worst: worst gradient of those that the pass has undone at the focused step (not captured: none yet)
    pending: the pass will undo some of its operations, but has undone none yet
    ops: those operations, in order
    """

    line: int
    executed: int
    worst: Magnitude
    pending: bool
    ops: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SourceLines:
    """Columns of the gutter: lines that did something, and the line of the focused operation (None: none here)."""

    source: int
    lines: dict[int, LineInfo]
    current: int | None


def source_lines(recording: Recording, source: int, iteration: int, *, pass_: int | None = None,
                 step: int | None = None, op: int | None = None) -> SourceLines:
    """What the lines of a source did in an iteration, with the pass (default: the main one) standing at `step`."""
    if pass_ is None:
        pass_ = main_pass(recording, iteration)
    index = None if pass_ is None else pass_index(recording, pass_)
    reference = reference_of(recording, iteration)
    lines = {}
    for line, ops in _ops_by_line(recording, source, iteration).items():
        undone = [] if index is None else [(o, index.step_of[o]) for o in ops if o in index.step_of]
        reached = [o for o, s in undone if step is None or s <= step]
        sizes = [magnitude(index.cotangent.get(t), reference) if index is not None else NOT_CAPTURED
                 for o in reached for t in recording.op_outputs(o)]
        lines[line] = LineInfo(line, len(ops), worst(sizes), bool(undone) and not reached, ops)
    current = recording.loc(int(recording.ops["loc"][op])) if op is not None and op < len(recording.ops) else None
    return SourceLines(source, lines, current.line if current and current.source == source else None)


@remembered
def _ops_by_line(recording: Recording, source: int, iteration: int) -> dict[int, tuple[int, ...]]:
    lines: dict[int, list[int]] = {}
    locs = recording.ops["loc"]
    line_of: dict[int, int] = {}
    for op in shown_ops(recording, iteration):
        number = int(locs[op])
        if number not in line_of:
            place = recording.loc(number)
            line_of[number] = place.line if place and place.source == source else 0
        if line_of[number] > 0:
            lines.setdefault(line_of[number], []).append(op)
    return {line: tuple(ops) for line, ops in lines.items()}


def op_on_line(recording: Recording, source: int, line: int, iteration: int) -> int | None:
    """The first operation of an iteration on a line: what a click in the gutter chooses; None if there is none."""
    ops = _ops_by_line(recording, source, iteration).get(line)
    return ops[0] if ops else None
