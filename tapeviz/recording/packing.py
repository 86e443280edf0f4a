"""Records to bytes and layouts to JSON and back, with nothing believed that a file says."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from tapeviz.recording.rows import RecordingError
from tapeviz.recording.schema import RECORDS

Record = Sequence[object]
_CODES = {"u1": "B", "u2": "H", "u4": "I", "u8": "Q", "f4": "f", "f8": "d"}
_TYPE = re.compile(r"[<|][uif][1248]")
_MAX_RECORD_BYTES = 4096


def _fields(dtype: np.dtype[np.void]) -> list[tuple[str, np.dtype[np.generic], int]]:
    """Name, element type and number of elements of every field."""
    found = []
    for name in dtype.names or ():
        field = dtype[name]
        found.append((name, field.base, int(np.prod(field.shape, dtype=int))))
    return found


def _codes(dtype: np.dtype[np.void]) -> str:
    return "".join(_CODES[base.str[1:]] * count for _, base, count in _fields(dtype))


STRUCTS = {kind: struct.Struct("<" + _codes(dtype)) for kind, dtype in RECORDS.items()}
_ELEMENTS = {
    kind: [(name, base) for name, base, count in _fields(dtype) for _ in range(count)]
    for kind, dtype in RECORDS.items()
}


def pack(kind: str, records: Sequence[Record]) -> bytes:
    """The bytes of records given as tuples in field order; the elements of an array field flat or as a tuple."""
    one = STRUCTS[kind].pack
    try:
        return b"".join([one(*record) for record in records])
    except (struct.error, OverflowError, TypeError):
        return b"".join([_pack_carefully(kind, record) for record in records])


def _pack_carefully(kind: str, record: Record) -> bytes:
    """Pack one record whose numbers may not fit: integers stop at the ends of their range, floats become infinite.

    Raises RecordingError naming the field if there are too few or too many, or if one is not a number.
    """
    flat = list(_flatten(record))
    elements = _ELEMENTS[kind]
    if len(flat) != len(elements):
        raise RecordingError(f"a record of kind {kind} has {len(elements)} numbers, got {len(flat)}: {flat}")
    fitted: list[float] = []
    for (name, base), number in zip(elements, flat, strict=True):
        try:
            fitted.append(_fit(base, number))
        except (TypeError, ValueError):
            raise RecordingError(f"field {name} of a record of kind {kind} takes a number, got {number!r}") from None
    return STRUCTS[kind].pack(*fitted)


def _flatten(record: Iterable[object]) -> Iterable[object]:
    for item in record:
        if isinstance(item, (tuple, list, np.ndarray)):
            yield from _flatten(item)
        else:
            yield item


def _fit(base: np.dtype[np.generic], number: object) -> float:
    if base.kind == "f":
        wide = float(number)   # type: ignore[arg-type]  # a TypeError is what the caller expects
        with np.errstate(over="ignore"):
            return float(np.float32(wide)) if base.itemsize == 4 else wide
    limit: int = np.iinfo(base.str).max
    return min(max(int(number), 0), limit)   # type: ignore[call-overload, no-any-return]  # as above


def layouts_to_json() -> dict[str, list[list[object]]]:
    """Every record layout as this version writes it: kind -> [[field, type, count], ...]."""
    return {k: [[name, base.str, count] for name, base, count in _fields(d)] for k, d in RECORDS.items()}


def layouts_from_json(said: object) -> dict[str, np.dtype[np.void]]:
    """The layouts a file says it was written with, in the order of their codes.

    Raises RecordingError if they are not layouts of plain little-endian numbers of a sensible size.
    """
    try:
        if not isinstance(said, dict):
            raise TypeError("no object")
        found = {}
        for kind, fields in said.items():
            parts = []
            for name, code, count in fields:
                if not (_TYPE.fullmatch(code) and 0 < int(count) <= 256 and isinstance(name, str)):
                    raise ValueError(f"{kind}.{name}: {code} x {count}")
                parts.append((name, code) if count == 1 else (name, code, (count,)))
            dtype = np.dtype(parts)
            if not 0 < dtype.itemsize <= _MAX_RECORD_BYTES:
                raise ValueError(f"{kind}: {dtype.itemsize} bytes")
            found[str(kind)] = dtype
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        raise RecordingError(f"its record layouts are damaged ({error})") from None
    return found


def convert(records: NDArray[np.void], kind: str) -> NDArray[np.void]:
    """Records of another version's layout in ours, field by field name; what is missing is 0."""
    ours = RECORDS[kind]
    if records.dtype == ours:
        return records
    result = np.zeros(len(records), ours)
    for name in set(ours.names or ()) & set(records.dtype.names or ()):
        theirs = records[name]
        if theirs.shape == result[name].shape:
            with np.errstate(all="ignore"):
                result[name] = theirs
    return result
