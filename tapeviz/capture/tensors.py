"""Which tensor is which: the engine's objects and the user's arrays as dense ids of the recording."""

from __future__ import annotations

import sys
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tapeviz.capture.rows import Rows
from tapeviz.capture.statistics import Array
from tapeviz.recording.schema import NONE, Role, TensorFlag
from tapeviz.recording.writer import Writer, dtype_code

__gradtape__ = True   # the frames of this module are not the user's

DIGEST_BYTES = 1 << 16
COPY_BYTES = 1 << 16
OLD_EVERY = 8         # sweeps after which what survived one is looked at again


@dataclass
class OpRef:
    """An executed op, as the backward pass needs to know it."""

    id: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass
class VariableState:
    """A variable as far as the queue of events has been worked through."""

    variable: Any
    id: int
    name: str
    version: int
    tensor: int
    value: Array
    trainable: bool
    versions: list[int] = field(default_factory=list)   # the newest few tensors, oldest first
    gradient: Array | None = None                       # the newest gradient that was taken for it


class Tensors:
    """Gives ids to tensors, variables and constants, and writes their records.

    Objects are known by identity.  To keep an id() from being used again, a known object is held until a sweep (at
    iteration boundaries) finds that nobody else holds it.
    """

    def __init__(self, writer: Writer, rows: Rows) -> None:
        self._writer = writer
        self._put = rows.appender("tensor")
        self.count = 0
        self.variables: dict[int, VariableState] = {}               # by the engine's serial number
        self._tensors: dict[int, tuple[Any, int]] = {}              # id() -> object, tensor
        self._old: dict[int, tuple[Any, int]] = {}                  # the same, for what has survived a sweep
        self._sweeps = 0
        self._constants: dict[int, tuple[Any, int]] = {}
        # id() of a tape's list -> list, position -> tensor and the op that made it
        self._lists: dict[int, tuple[Any, dict[int, tuple[int, OpRef | None]]]] = {}
        self._records: dict[int, tuple[int, ...]] = {}              # of this iteration
        self._names: dict[str, int] = {}
        self._texts: dict[int, str] = {}
        self._shapes: dict[tuple[int, ...], int] = {}
        self._dtypes: dict[np.dtype[Any], tuple[int, int]] = {}

    def new(self, value: Any, role: Role, op: int = NONE, variable: int = NONE, version: int = 0, flags: int = 0,
            name: int = NONE, digest: int = 0) -> int:
        """Write the record of a new tensor; returns its id."""
        number = self.count
        self.count = number + 1
        shape, dtype = value.shape, value.dtype
        shape_id = self._shapes.get(shape)
        if shape_id is None:
            shape_id = self._shapes[shape] = self._writer.shape_id(shape)
        known = self._dtypes.get(dtype)
        if known is None:
            known = self._dtypes[dtype] = (dtype_code(dtype), TensorFlag.INTEGER if dtype.kind in "biu" else 0)
        record = (number, op, variable, version, shape_id, known[0], role, flags | known[1], name, digest)
        self._put(record)
        self._records[number] = record
        return number

    def rename(self, tensor: int, name: str) -> None:
        """Give a tensor of this iteration a name, unless it has one."""
        record = self._records.get(tensor)
        if record is not None and record[8] == NONE:
            number = self.name_id(name)
            self._records[tensor] = record = (*record[:8], number, record[9])
            self._put(record)

    def name_id(self, name: str) -> int:
        """The number of a name, NONE for ""."""
        if not name:
            return NONE
        known = self._names.get(name)
        if known is None:
            known = self._names[name] = self._writer.name_id(name)
            self._texts[known] = name
        return known

    def name_of(self, tensor: int) -> str:
        """Name of a tensor of this iteration, "" if it has none."""
        record = self._records.get(tensor)
        return "" if record is None else self._texts.get(record[8], "")

    def producer(self, tensor: int | None) -> int:
        """The op that made a tensor in this iteration, NONE for leaves and older tensors."""
        record = None if tensor is None else self._records.get(tensor)
        return NONE if record is None else record[1]

    def find(self, x: Any) -> int | None:
        """The id of a tensor, variable or constant that is known."""
        key = id(x)
        known = self._tensors.get(key) or self._constants.get(key)
        return known[1] if known is not None else self.find_older(x)

    def find_older(self, x: Any) -> int | None:
        """The same, as if an iteration began now: its constants would be new."""
        known = self._tensors.get(id(x)) or self._old.get(id(x))
        if known is not None:
            return known[1]
        serial = getattr(x, "_serial", 0)
        if serial:
            state = self.variables.get(serial)
            return None if state is None else state.tensor
        entries = getattr(x, "_entries", None)
        if entries is not None:   # another object for what has a place on a tape, as backward rules make them
            found = self._at(entries, x._index)
            return None if found is None else found[0]
        return None

    def know(self, x: Any, number: int) -> None:
        """Remember an engine tensor."""
        self._tensors[id(x)] = (x, number)

    def know_all(self, things: list[Any], numbers: list[int]) -> None:
        """Remember many engine tensors."""
        self._tensors.update(zip(map(id, things), zip(things, numbers, strict=True), strict=True))

    def constant(self, x: Any, name: str) -> tuple[int, Array]:
        """A leaf made from data: new in this iteration. Returns its id and a value that will not change any more."""
        value = settled(x)
        number = self.new(value, Role.CONSTANT, name=self.name_id(name), digest=digest(value))
        self._constants[id(x)] = (x, number)
        return number, value

    # --- places on tapes --------------------------------------------------------------------------------------

    def place(self, entries: Any, position: int, tensor: int, made_by: OpRef | None = None) -> None:
        """Remember what has a place on a tape's list, and which op made it (none has made a leaf)."""
        known = self._lists.get(id(entries))
        if known is None:
            known = self._lists[id(entries)] = (entries, {})
        known[1][position] = (tensor, made_by)

    def made_at(self, entries: Any, position: int) -> OpRef | None:
        """The op whose output has this position on a tape's list."""
        found = self._at(entries, position)
        return None if found is None else found[1]

    def _at(self, entries: Any, position: int) -> tuple[int, OpRef | None] | None:
        known = self._lists.get(id(entries))
        found = None if known is None else known[1].get(position)
        if found is not None:
            return found
        # Perhaps it was made on another list, which was then appended to this one.
        for other, places in list(self._lists.values()):
            moved = getattr(other, "moved", None)
            if moved is not None and moved[0] is entries:
                _, offset, same = moved
                here = self._lists.setdefault(id(entries), (entries, {}))[1]
                for old, place in places.items():
                    here.setdefault(same.get(old, old + offset), place)
                places.clear()
        known = self._lists.get(id(entries))
        return None if known is None else known[1].get(position)

    def sweep(self) -> None:
        """Forget what the program has let go of; an iteration has ended."""
        self._records.clear()
        self._constants.clear()
        drop_unheld(self._lists)
        drop_unheld(self._tensors)
        self._old.update(self._tensors)
        self._tensors.clear()
        self._sweeps += 1
        if self._sweeps % OLD_EVERY == 0:
            drop_unheld(self._old)
        for serial in _unheld([(key, state.variable) for key, state in self.variables.items()], extra=1):
            del self.variables[serial]


def settled(x: Any) -> Array:
    """The value of an operand; a copy of a small array that the user may write to before the values are looked at."""
    value: Any = getattr(x, "_value", x)
    if not isinstance(value, (np.ndarray, np.generic)):
        return as_array(value)
    held: Array = value   # type: ignore[assignment]  # a NumPy scalar has all of an array that is needed
    if value is x and value.nbytes <= COPY_BYTES and value.flags.writeable:
        return held.copy()
    return held


def digest(value: Array) -> int:
    """A checksum of a small array, by which it can be known again; 0 for others."""
    if value.nbytes > DIGEST_BYTES or value.dtype.kind not in "biufc":
        return 0
    return zlib.crc32(np.ascontiguousarray(value).data)


def as_array(value: Any) -> Array:
    """A user's operand (number, list, array of another library) as a NumPy array; empty if it cannot be one."""
    get = getattr(value, "get", None)      # CuPy arrays refuse to be converted silently
    try:
        return np.asarray(get() if callable(get) else value)
    except (TypeError, ValueError):
        return np.empty(0)


def drop_unheld(table: dict[int, Any]) -> None:
    """Remove from a dictionary of tuples those whose first element nobody else holds."""
    for key in _unheld([(key, row[0]) for key, row in table.items()], extra=1):
        del table[key]


def _unheld(held: list[tuple[int, Any]], extra: int) -> list[int]:
    """Keys of the objects to which only this list, `extra` places of ours and the loop below refer."""
    return [key for key, thing in held if sys.getrefcount(thing) <= _LONELY + extra]


def _lonely() -> int:
    """How many references the loop above sees to an object that only the list holds (it differs between Pythons)."""
    held = [(0, object())]
    return min([sys.getrefcount(thing) for key, thing in held])


_LONELY = _lonely()
