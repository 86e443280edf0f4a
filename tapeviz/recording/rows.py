"""The rows of a recording's small tables, as frozen data, and the one exception of this package."""

from __future__ import annotations

from dataclasses import dataclass


class RecordingError(Exception):
    """A recording cannot be written or read: the message says where, what is wrong and what to do."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file of the user's program, as it was when it ran."""

    id: int
    path: str
    sha256: str
    text: str


@dataclass(frozen=True, slots=True)
class Location:
    """A stretch of a source file: lines count from 1, columns from 0; -1 where unknown."""

    file: str
    line: int
    end_line: int
    col: int
    end_col: int
    function: str
    source: int


@dataclass(frozen=True, slots=True)
class Scope:
    """A named part of the program; `parent` is a scope id or schema.NONE."""

    id: int
    parent: int
    kind: str
    name: str
    loc: int


@dataclass(frozen=True, slots=True)
class Kind:
    """What an operation is: its name and its formulas (LaTeX), one vjp per argument."""

    id: int
    name: str
    formula: str
    arguments: tuple[str, ...]
    vjps: tuple[str, ...]
    flags: int


@dataclass(frozen=True, slots=True)
class VariableRow:
    """A variable as it was created."""

    id: int
    name: str
    shape: tuple[int, ...]
    dtype: str
    trainable: bool
    loc: int


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened once: output, warning, exception, pause; `t` in ns since the start of the run."""

    id: int
    t: int
    kind: str
    op: int
    pass_: int
    data: dict[str, object]
