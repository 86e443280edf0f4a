"""What an iteration did to every line of a source file: the columns of the editor's gutter."""

from __future__ import annotations

from dataclasses import dataclass

from tapeviz.analysis.magnitude import Magnitude


@dataclass(frozen=True, slots=True)
class LineInfo:
    """One line of a source file in one iteration.

    executed: how many operations of the iteration began on it; worst: worst gradient of their outputs
    pending: none of its operations has been undone yet at the focused step
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
