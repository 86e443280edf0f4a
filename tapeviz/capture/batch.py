"""Statistics that are asked for one by one and computed all at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tapeviz.capture.activations import low_shares, saturated_shares
from tapeviz.capture.statistics import Array, Records, statistics
from tapeviz.recording.schema import NONE, RECORDS, State, What
from tapeviz.recording.writer import Writer

__gradtape__ = True   # the frames of this module are not the user's

Key = tuple[int, int, int, int, int]   # tensor, op, pass, what, slot
KEY = np.dtype([(name, RECORDS["stat"][name]) for name in ("tensor", "op", "pass", "what", "slot")])
NO_ARRAY = -1


class StatBatch:
    """Gathers quantities; `write` appends their records.  An array asked for twice is read once."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._clear()

    def _clear(self) -> None:
        self._count = 0
        self._blocks: list[Records] = []         # keys, in order
        self._keys: list[Key] = []               # ... and those after the last block
        self._rows: list[int] = []               # which array each request is about
        self._arrays: list[Array] = []
        self._known: dict[int, int] = {}         # id of an array -> its place in _arrays, which keeps it alive
        self.angles: list[tuple[int, Array, Array, bool]] = []
        self.outputs: dict[str, list[tuple[int, Array]]] = {}

    def add(self, key: Key, array: Array | None) -> int:
        """Ask for a statistic of a quantity, None being "no gradient". Returns the number of the request."""
        self._keys.append(key)
        self._rows.append(self._place(array))
        self._count += 1
        return self._count - 1

    def add_block(self, keys: Records, arrays: list[Array | None]) -> int:
        """Ask for many (keys: dtype KEY). Returns the number of the first."""
        first = self._count
        self._settle()
        self._blocks.append(keys)
        self._rows += [self._place(array) for array in arrays]
        self._count += len(arrays)
        return first

    def angle(self, request: int, one: Array, other: Array, opposite: bool = False) -> None:
        """Fill a request's `cosine` with that between two arrays of the same size (or to minus the second)."""
        if one.size and one.dtype.kind == "f" and other.dtype.kind == "f":
            self.angles.append((request, one, other, opposite))

    def activation(self, request: int, op: str, output: Array) -> None:
        """Fill a request's `low` and `saturated`, as far as they apply to the output of this op."""
        self.outputs.setdefault(op, []).append((request, output))

    def __len__(self) -> int:
        return self._count

    def keys_from(self, request: int) -> list[Key]:
        """Keys of the requests from this one on; there must be no block among them."""
        return self._keys[len(self._keys) - (self._count - request):] if request < self._count else []

    def is_missing(self, request: int) -> bool:
        """Whether a request is about an array that is not there."""
        return self._rows[request] == NO_ARRAY

    def write(self) -> Records:
        """Compute and append everything asked for; returns the records."""
        if not self._count:
            return np.zeros(0, RECORDS["stat"])
        self._settle()
        rows = np.array(self._rows)
        table = statistics(self._arrays)
        records = table[rows] if len(table) else np.zeros(len(rows), RECORDS["stat"])
        missing = np.flatnonzero(rows == NO_ARRAY)
        if len(missing):
            records[missing] = statistics([np.empty(0)])[0]
            records["state"][missing] = State.NONE
        keys = self._blocks[0] if len(self._blocks) == 1 else np.concatenate(self._blocks)
        for field in KEY.names or ():
            records[field] = keys[field]
        if self.angles:
            requests, ones, others, opposite = zip(*self.angles, strict=True)
            records["cosine"][list(requests)] = cosines(ones, others) * np.where(opposite, -1, 1)
        for op, outputs in self.outputs.items():
            requests, arrays = zip(*outputs, strict=True)
            records["low"][list(requests)] = low_shares(op, arrays)
            records["saturated"][list(requests)] = saturated_shares(op, arrays)
        self._writer.append_array("stat", records)
        self._clear()
        return records

    def _place(self, array: Array | None) -> int:
        if array is None:
            return NO_ARRAY
        known = self._known.get(id(array))
        if known is None:
            known = self._known[id(array)] = len(self._arrays)
            self._arrays.append(array)
        return known

    def _settle(self) -> None:
        if self._keys:
            self._blocks.append(np.array(self._keys, KEY))
            self._keys.clear()


def cosines(ones: Sequence[Array], others: Sequence[Array]) -> Array:
    """Cosines of pairs of arrays, NaN where one of a pair is zero or not finite."""
    sizes = np.array([a.size for a in ones])
    starts = np.cumsum(sizes) - sizes
    with np.errstate(all="ignore"):
        a = np.concatenate(ones, axis=None, dtype=np.float64)
        b = np.concatenate(others, axis=None, dtype=np.float64)
        # Unit length in the largest element: squares of 1e-200 would be zero.
        a /= np.repeat(np.maximum.reduceat(np.abs(a), starts), sizes)
        b /= np.repeat(np.maximum.reduceat(np.abs(b), starts), sizes)
        dots, lengths = np.add.reduceat(a * b, starts), np.add.reduceat(a * a, starts) * np.add.reduceat(b * b, starts)
        result: Array = np.clip(dots / np.sqrt(lengths), -1, 1)
    return result


def first_nonfinite(records: Records) -> int | None:
    """The first quantity among these records that the program computed and that holds a NaN or an infinity."""
    bad = (records["nan"] > 0) | (records["posinf"] > 0) | (records["neginf"] > 0)
    if not bad.any():
        return None
    computed = (records["op"] != NONE) | (records["what"] != What.VALUE)   # data may hold what it likes
    found = np.flatnonzero(bad & computed)
    return int(found[0]) if len(found) else None
