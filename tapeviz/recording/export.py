"""Records as rows for CSV, JSON and SQL users: numbers that stand for names are spelled out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from enum import IntEnum, IntFlag
from typing import Any

import numpy as np

from tapeviz.recording.reader import Recording
from tapeviz.recording.schema import (
    NONE,
    RECORDS,
    AssignKind,
    BoundaryBy,
    OpFlag,
    PassKind,
    Phase,
    Role,
    State,
    StatFlag,
    Status,
    TensorFlag,
    What,
)

Cell = str | int | float | None
_ENUMS: dict[tuple[str, str], type[IntEnum] | type[IntFlag]] = {
    ("op", "phase"): Phase, ("op", "flags"): OpFlag, ("tensor", "role"): Role, ("tensor", "flags"): TensorFlag,
    ("stat", "what"): What, ("stat", "state"): State, ("stat", "flags"): StatFlag, ("value", "what"): What,
    ("pass", "status"): Status, ("pass", "kind"): PassKind, ("result", "state"): State, ("assign", "kind"): AssignKind,
    ("iteration", "by"): BoundaryBy,
}
_HIDDEN = ("reserved", "crc", "blob", "offset", "digest")


def to_rows(recording: Recording, kind: str) -> Iterator[dict[str, Cell]]:
    """The records of a kind of schema.RECORDS as dictionaries, ready for csv.DictWriter and json.

    Ids of names, shapes, locations and kinds are replaced by what they stand for, enumerations by their words, flags
    by words joined with "|", and NONE and NaN by None.  Infinite numbers become "inf" and "-inf": JSON has none.
    Raises KeyError for an unknown kind.
    """
    records = recording.records(kind)
    columns = [(name, _reader(recording, kind, name)) for name in RECORDS[kind].names or () if name not in _HIDDEN]
    for record in records:
        row = {name: read(record[name]) for name, read in columns}
        if kind == "op":
            number = int(record["id"])
            row["inputs"] = " ".join(map(str, recording.op_inputs(number)))
        yield row


def _reader(recording: Recording, kind: str, field: str) -> Callable[[Any], Cell]:
    enum = _ENUMS.get((kind, field))
    if enum is not None:
        return lambda code: _word(enum, int(code))
    spelled: dict[str, Callable[[int], str]] = {
        "name": recording.name, "attrs": recording.name, "shape": recording.name, "dtype": recording.dtype,
        "loc": lambda number: _place(recording, number), "scope": lambda number: _path(recording, number),
    }
    if (kind, field) == ("op", "kind"):
        return lambda code: recording.kind(int(code)).name
    if field in spelled:
        spell = spelled[field]
        return lambda code: None if code == NONE else spell(int(code))
    return _plain


def _plain(number: object) -> Cell:
    if isinstance(number, np.floating):
        value = float(number)
        return value if math.isfinite(value) else None if math.isnan(value) else str(value)
    if isinstance(number, np.integer):
        return None if number == NONE and number.itemsize == 4 else int(number)
    return str(number)


def _word(enum: type[IntEnum] | type[IntFlag], code: int) -> str:
    try:
        if issubclass(enum, IntFlag):
            return "|".join(str(flag.name).lower() for flag in enum if flag & code)
        return str(enum(code).name).lower()
    except ValueError:
        return str(code)   # a word that a later version added


def _place(recording: Recording, number: int) -> str:
    found = recording.loc(number)
    return f"{found.file}:{found.line}" if found else ""


def _path(recording: Recording, number: int) -> str:
    """Scope names from the outermost in, joined by "."."""
    names: list[str] = []
    scope = recording.scope(number)
    while scope is not None and len(names) < 100:   # a damaged file may have a ring of parents
        names.append(scope.name)
        scope = recording.scope(scope.parent)
    return ".".join(reversed(names))
