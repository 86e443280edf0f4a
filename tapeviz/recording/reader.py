"""The reader of a recording, live or finished: NumPy arrays that grow with `poll`, and look-ups in them."""

from __future__ import annotations

import json
import math
import os
import zlib
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tapeviz.recording.feed import Feed
from tapeviz.recording.lookup import Lookup, Rows, packed
from tapeviz.recording.rows import Event, Kind, Location, RecordingError, Scope, Source, VariableRow
from tapeviz.recording.schema import DTYPES, NONE, Role, What

Records = NDArray[np.void]
T = TypeVar("T")
_MAX_DIMENSIONS = 32


def open_recording(path: str | os.PathLike[str]) -> Recording:
    """Open a recording, finished or still being written. Raises RecordingError: what is wrong and what to do."""
    return Recording(Path(path))


class Recording:
    """A recording as it has been read so far; `poll` reads on.

    The arrays (ops, tensors, ...) are replaced by longer ones when they grow; ids stay valid.  (Only the newest
    iterations may be taken back, when they turn out to be parts of one.)  Rows of dense kinds (op, tensor, pass, tape,
    iteration) are found by id.  While the run goes on, an operation may be there before its tensors.  One thread polls;
    any may look things up.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.revision = 0
        self._feed = Feed(path)
        self._tables = self._feed.tables
        self._stats_by_tensor = Lookup(lambda r: packed(r["what"], r["tensor"]))
        self._stats_by_pass = Lookup(lambda r: packed(r["what"], r["pass"]))
        self._stats_by_op = Lookup(lambda r: packed(r["what"], r["op"]))
        self._values_by_tensor = Lookup(lambda r: packed(r["what"], r["tensor"]))
        self._steps_by_pass = Lookup(lambda r: packed(0, r["pass"]))
        self._results_by_pass = Lookup(lambda r: packed(0, r["pass"]))
        self._name_arrays()

    @property
    def meta(self) -> dict[str, object]:
        """What is known of the run as a whole: script, argv, versions, level, ..."""
        return self._feed.meta

    @property
    def status(self) -> str:
        """"running", or how the run ended: one of schema.FINAL."""
        return self._feed.status

    @property
    def finished(self) -> bool:
        """Whether nothing more will come."""
        return self._feed.finished

    def poll(self) -> bool:
        """Read what is new; True if anything came. Raises RecordingError if the file turns out to be damaged."""
        came = self._feed.poll()
        if came:
            self._name_arrays()
            self.revision += 1
        return came

    def close(self) -> None:
        """Let go of the file; what was read stays usable, values do not."""
        self._feed.close()

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _name_arrays(self) -> None:
        arrays = self._feed.arrays
        self.ops: Records = arrays["op"].records
        self.tensors: Records = arrays["tensor"].records
        self.stats: Records = arrays["stat"].records
        self.steps: Records = arrays["step"].records
        self.passes: Records = arrays["pass"].records
        self.results: Records = arrays["result"].records
        self.assigns: Records = arrays["assign"].records
        self.tapes: Records = arrays["tape"].records
        self.watches: Records = arrays["watch"].records
        self.iterations: Records = _without_void(arrays["iteration"].records)
        self.values: Records = arrays["value"].records

    def records(self, kind: str) -> Records:
        """The records of a kind of schema.RECORDS."""
        return self._feed.arrays[kind].records

    # --- small tables -----------------------------------------------------------------------------------------

    @property
    def variables(self) -> list[VariableRow]:
        """Every variable, by id."""
        return self._tables.variables

    @property
    def sources(self) -> list[Source]:
        """Every source file, by id."""
        return self._tables.sources

    @property
    def events(self) -> list[Event]:
        """Output, warnings, exceptions, pauses, in order."""
        return self._tables.events

    def name(self, number: int) -> str:
        """A text by its number; "" if there is none."""
        return self._tables.names[number] if 0 <= number < len(self._tables.names) else ""

    def shape(self, number: int) -> tuple[int, ...]:
        """A shape by its number; () for a scalar and for an unknown one."""
        return _shape(self.name(number)) or ()

    def dtype(self, code: int) -> str:
        """The name of an element type by its code in a record; "" for one that recordings do not know."""
        return DTYPES[code] if 0 <= code < len(DTYPES) else ""

    def loc(self, number: int) -> Location | None:
        """A stretch of source by its number."""
        return _at(self._tables.locs, number)

    def scope(self, number: int) -> Scope | None:
        """A scope by its number."""
        return _at(self._tables.scopes, number)

    def kind(self, number: int) -> Kind:
        """A kind of operation by its number."""
        return _at(self._tables.kinds, number) or Kind(number, "?", "", (), (), 0)

    def variable(self, number: int) -> VariableRow:
        """A variable by its number."""
        return _at(self._tables.variables, number) or VariableRow(number, "?", (), "", False, NONE)

    def source(self, number: int) -> Source | None:
        """A source file by its number."""
        return _at(self._tables.sources, number)

    # --- operations and tensors -------------------------------------------------------------------------------

    def op_name(self, op: int) -> str:
        """The name of an operation's kind."""
        return self.kind(int(self.ops["kind"][op])).name

    def op_line(self, op: int) -> tuple[str, int]:
        """File and line of an operation; ("", 0) if unknown."""
        found = self.loc(int(self.ops["loc"][op]))
        return (found.file, found.line) if found else ("", 0)

    def op_inputs(self, op: int) -> list[int]:
        """The tensors an operation read, in argument order."""
        row = self.ops[op]
        if row["nin"] > len(row["inputs"]):
            listed = self._tables.extras.get(op, {}).get("inputs")
            if isinstance(listed, list):
                return [number for number in listed if isinstance(number, int)]
        return [int(number) for number in row["inputs"][: int(row["nin"])]]

    def op_outputs(self, op: int) -> range:
        """The tensors an operation made."""
        row = self.ops[op]
        first = int(row["output"])
        return range(first, first + int(row["nout"])) if first != NONE else range(0)

    def op_attrs(self, op: int) -> dict[str, object]:
        """Attributes of an operation (axis, ...), and what is rare ("inputs", "error")."""
        text = self.name(int(self.ops["attrs"][op]))
        try:
            attrs = json.loads(text) if text else {}
        except (ValueError, RecursionError):
            attrs = {}
        return {**(attrs if isinstance(attrs, dict) else {}), **self._tables.extras.get(op, {})}

    def tensor_name(self, tensor: int) -> str:
        """The name of a tensor: its own, its variable's, or its operation's with the number of the tensor."""
        if not 0 <= tensor < len(self.tensors):
            return "?"
        row = self.tensors[tensor]
        if row["name"] != NONE:
            return self.name(int(row["name"]))
        if row["variable"] != NONE:
            return self.variable(int(row["variable"])).name
        if row["op"] < len(self.ops):
            return f"{self.op_name(int(row['op']))}:{tensor}"
        return f"{Role(int(row['role'])).name.lower() if row['role'] <= max(Role) else 'tensor'}:{tensor}"

    # --- iterations and passes --------------------------------------------------------------------------------

    def iteration_of(self, op: int) -> int:
        """The iteration in which an operation ran."""
        return max(int(np.searchsorted(self.iterations["first_op"], op, side="right")) - 1, 0)

    def iteration_of_pass(self, pass_: int) -> int:
        """The iteration in which a gradient call began."""
        return max(int(np.searchsorted(self.iterations["first_pass"], pass_, side="right")) - 1, 0)

    def ops_of(self, iteration: int) -> range:
        """The operations of an iteration."""
        return self._span("first_op", iteration, len(self.ops))

    def passes_of(self, iteration: int) -> list[int]:
        """The gradient calls of an iteration."""
        return list(self._span("first_pass", iteration, len(self.passes)))

    def _span(self, field: str, iteration: int, end: int) -> range:
        firsts = self.iterations[field]
        if not len(firsts):
            return range(end) if iteration == 0 else range(0)   # a script without a training loop
        if not 0 <= iteration < len(firsts):
            return range(0)
        stop = int(firsts[iteration + 1]) if iteration + 1 < len(firsts) else end
        first = int(firsts[iteration]) if iteration else 0
        return range(min(first, end), min(stop, end))

    def steps_of(self, pass_: int) -> Records:
        """The steps of a gradient call, in order."""
        return self.steps[self._steps_by_pass.between(self.steps, pass_, pass_)]

    def results_of(self, pass_: int) -> Records:
        """What a gradient call returned, one record per source."""
        return self.results[self._results_by_pass.between(self.results, pass_, pass_)]

    # --- statistics and values --------------------------------------------------------------------------------

    def stat(self, tensor: int, what: int, pass_: int | None = None, op: int | None = None,
             slot: int | None = None) -> np.void | None:
        """The latest statistic of a quantity (What) of a tensor; pass, op and slot only if they are given."""
        key = _key(what, tensor)
        rows = self._stats_by_tensor.between(self.stats, key, key)
        return _last(self.stats, rows, pass_, op, slot)

    def stats_of(self, what: int, pass_: int | None = None, iteration: int | None = None) -> Records:
        """All statistics of a quantity, of one gradient call or of one iteration if asked for, in order of time."""
        if pass_ is not None:
            key = _key(what, pass_)
            return self.stats[self._stats_by_pass.between(self.stats, key, key)]
        if iteration is None:
            return self.stats[self._stats_by_pass.between(self.stats, _key(what, 0), _key(what, NONE))]
        return self.stats[self._stats_of_iteration(what, iteration)]

    def _stats_of_iteration(self, what: int, iteration: int) -> Rows:
        """By gradient call if the statistic belongs to one, else by operation, else by when its tensor was made."""
        found = []
        passes = self._span("first_pass", iteration, len(self.passes))
        if passes:
            first, last = _key(what, passes[0]), _key(what, passes[-1])
            found.append(self._stats_by_pass.between(self.stats, first, last))
        ops = self.ops_of(iteration)
        if ops:
            rows = self._stats_by_op.between(self.stats, _key(what, ops[0]), _key(what, ops[-1]))
            found.append(rows[self.stats["pass"][rows] == NONE])
            tensors = self._tensors_of(ops)
            rows = self._stats_by_tensor.between(self.stats, _key(what, tensors[0]), _key(what, tensors[1]))
            alone = (self.stats["pass"][rows] == NONE) & (self.stats["op"][rows] == NONE)
            found.append(rows[alone])
        return np.sort(np.concatenate(found)) if found else np.zeros(0, np.int64)

    def _tensors_of(self, ops: range) -> tuple[int, int]:
        """First and last tensor made in an iteration; what its first operations read for the first time counts."""
        first = self._tensors_until(ops.start) if ops.start else 0
        end = self._tensors_until(ops.stop) if ops.stop < len(self.ops) else len(self.tensors)
        return first, max(end - 1, first)

    def _tensors_until(self, op: int) -> int:
        """How many tensors had been made before an operation and the leaves that it reads."""
        outputs = self.ops["output"][:op]
        made = [int(output) for output in outputs[outputs != NONE][-1:]]
        assigned = self.assigns["tensor"][: np.searchsorted(self.assigns["at_op"], op, side="right")]
        made += [int(tensor) for tensor in assigned[-1:] if tensor != NONE]   # after the last operation, before this
        return max(made, default=-1) + 1

    def has_value(self, tensor: int, what: int = What.VALUE, pass_: int | None = None, op: int | None = None,
                  slot: int | None = None) -> bool:
        """Whether the elements of a quantity were kept."""
        return self._value_row(tensor, what, pass_, op, slot) is not None

    def value(self, tensor: int, what: int = What.VALUE, pass_: int | None = None, op: int | None = None,
              slot: int | None = None) -> NDArray[Any] | None:
        """The elements of a quantity of a tensor, read-only; None if they were not kept.

        Raises RecordingError if they are not in the file as they were written.
        """
        row = self._value_row(tensor, what, pass_, op, slot)
        if row is None:
            return None
        count = int(row["nbytes"])   # none of an empty tensor, and then there may be no blob
        data = self._feed.stored(int(row["blob"]), int(row["offset"]), count) if count else b""
        shape, dtype = _shape(self.name(int(row["shape"]))), self.dtype(int(row["dtype"]))
        if data is None or zlib.crc32(data) != row["crc"] or shape is None or not dtype:
            raise RecordingError(f"{self.path}: it is damaged (the value of {self.tensor_name(tensor)}); copy it again")
        flat = np.frombuffer(data, np.dtype(dtype).newbyteorder("<"))
        if len(flat) != math.prod(shape):
            raise RecordingError(f"{self.path}: it is damaged (the shape of {self.tensor_name(tensor)}); copy it again")
        return flat.reshape(shape)

    def _value_row(self, tensor: int, what: int, pass_: int | None, op: int | None, slot: int | None) -> np.void | None:
        key = _key(what, tensor)
        return _last(self.values, self._values_by_tensor.between(self.values, key, key), pass_, op, slot)


def _without_void(iterations: Records) -> Records:
    """Iterations up to the last that has not been taken back (by a record with first_op NONE)."""
    valid = np.flatnonzero(iterations["first_op"] != NONE)
    return iterations[: int(valid[-1]) + 1] if len(valid) else iterations[:0]


def _key(what: int, number: int) -> int:
    return int(what) << 32 | int(number)


def _at(rows: list[T], number: int) -> T | None:
    return rows[number] if 0 <= number < len(rows) else None


def _last(records: Records, rows: Rows, pass_: int | None, op: int | None, slot: int | None) -> np.void | None:
    for field, wanted in (("pass", pass_), ("op", op), ("slot", slot)):
        if wanted is not None and len(rows):
            rows = rows[records[field][rows] == wanted]
    return records[rows[-1]] if len(rows) else None


def _shape(text: str) -> tuple[int, ...] | None:
    """A shape from its text "2x3"; None if it is none."""
    parts = text.split("x") if text else []
    if len(parts) > _MAX_DIMENSIONS or not all(part.isdecimal() and len(part) < 16 for part in parts):
        return None
    return tuple(map(int, parts))
