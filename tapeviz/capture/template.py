"""The records of one iteration with everything relative: what a later iteration of the same structure is made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeviz.capture.batch import KEY
from tapeviz.capture.quantities import Quantities, Unfit
from tapeviz.capture.queue import ASSIGN, END, ENTER, EXIT, OP, START, STEP, WATCH, Event
from tapeviz.capture.statistics import Array, Records
from tapeviz.capture.tensors import digest, settled
from tapeviz.recording.schema import NONE, Role

if TYPE_CHECKING:
    from tapeviz.capture.recorder import Mark, Recorder

__gradtape__ = True   # the frames of this module are not the user's

_MOST_INPUTS = 4
_TENSOR_FIELDS = {"op": ("inputs", "output"), "tensor": ("id",), "pass": ("target",), "result": ("tensor",),
                  "assign": ("tensor",), "watch": ("tensor",), "key": ("tensor",)}
_COUNTERS = {   # field -> which counter it is relative to
    "op": {"id": "op", "tape": "tape", "pass": "pass"}, "tensor": {"op": "op"}, "step": {"pass": "pass", "op": "op"},
    "pass": {"id": "pass", "tape": "tape", "parent": "pass", "tape_op": "op", "at_op": "op"},
    "result": {"pass": "pass"}, "assign": {"by": "op", "at_op": "op"},
    "tape": {"id": "tape", "parent": "tape", "enter_op": "op", "exit_op": "op"},
    "watch": {"tape": "tape", "at_op": "op"},
    "key": {"op": "op", "pass": "pass"},
}


class Objects:
    """The events of an iteration by kind, and the objects that they mention, in a fixed order."""

    def __init__(self, events: list[Event]) -> None:
        by_kind: list[list[Event]] = [[] for _ in range(10)]
        for event in events:
            by_kind[event[0]].append(event)
        self.ops, self.steps, self.watches = by_kind[OP], by_kind[STEP], by_kind[WATCH]
        self.assigns, self.enters, self.exits = by_kind[ASSIGN], by_kind[ENTER], by_kind[EXIT]
        self.starts, self.ends = by_kind[START], by_kind[END]
        self.outputs = [y for event in self.ops for y in event[10]]
        self.results = [r for event in self.ends for r in event[4] if r is not None]
        self.operands = [x for event in self.ops for x in event[9]]
        for event in self.starts:
            self.operands += event[4].targets
            self.operands += event[4].sources
        self.operands += [event[6] for event in self.assigns]
        self.operands += [event[5] for event in self.assigns]
        self.operands += [event[6] for event in self.watches]
        self.calls = [event[4] for event in self.starts]
        self.tapes = [event[5] for event in self.enters]
        self.links = [id(event[1]) for event in self.steps]
        self.links += [id(event[3]) for event in self.ends]
        self.links += [id(event[4].tape) for event in self.starts]
        self.links += [id(event[2]) for event in self.exits]
        self.links += [id(event[5]) for event in self.watches]

    def signature(self) -> tuple[Any, ...]:
        """Everything that is the same in two iterations of the same structure, cheapest first."""
        return (
            [event[1:8] for event in self.ops], [event[8] for event in self.ops],
            [len(event[9]) for event in self.ops], [len(event[10]) for event in self.ops],
            [(event[2].op, event[2].index) for event in self.steps],
            [[c is None for c in event[4]] for event in self.steps],
            [[c is None for c in event[3]] for event in self.steps],
            [event[1:5] for event in self.watches], [event[1:5] for event in self.assigns],
            [event[1:5] for event in self.enters], [event[1] for event in self.exits],
            [(event[1:4], event[4].kind, len(event[4].targets), len(event[4].sources), list(event[6].values()))
             for event in self.starts],
            [(event[1], event[2], [r is None for r in event[4]]) for event in self.ends],
            [y._shape for y in self.outputs], [(type(y._value), y._value.dtype) for y in self.outputs],
            [r._shape for r in self.results], [r._value.dtype for r in self.results],
            [(event[7].shape, event[7].dtype) for event in self.assigns],
        )


@dataclass(frozen=True)
class Found:
    """A new iteration that fits: its objects, its leaves, and the tensor ids that the template's codes stand for."""

    objects: Objects
    leaves: list[Array]                       # values of the constants that are new
    tensors: Array                            # by code


class Block:
    """Records of one kind with the ids in them as codes and offsets."""

    def __init__(self, kind: str, records: Records, start: Mark, codes: dict[int, int]) -> None:
        self._records = records.copy()
        self._codes = {}
        for field in _TENSOR_FIELDS.get(kind, ()):
            column = records[field]
            try:
                coded = [codes[tensor] for tensor in column.ravel().tolist()]
            except KeyError:
                raise Unfit("a tensor of an earlier iteration") from None
            self._codes[field] = np.array(coded, np.intp).reshape(column.shape)
        self._shift: list[tuple[str, str, Array | None]] = []
        for field, counter in _COUNTERS.get(kind, {}).items():
            column = records[field]
            known = column != NONE
            if (column[known] < start.counters[counter]).any():
                raise Unfit("an operation of an earlier iteration")
            if known.any():
                self._records[field][known] -= np.uint32(start.counters[counter])
                self._shift.append((field, counter, None if known.all() else known))

    def __len__(self) -> int:
        return len(self._records)

    def moved(self, counters: dict[str, int], tensors: Array) -> Records:
        """The records with the ids of a new iteration."""
        records = self._records.copy()
        for field, codes in self._codes.items():
            records[field] = tensors[codes]
        for field, counter, known in self._shift:
            if known is None:
                records[field] += np.uint32(counters[counter])
            else:
                records[field][known] += np.uint32(counters[counter])
        return records


class Template:
    """An iteration's structure and records."""

    def __init__(self, recorder: Recorder, events: list[Event], start: Mark, stop: Mark) -> None:
        """Raises Unfit."""
        self.kinds = [event[0] for event in events]
        objects = Objects(events)
        _check(objects)
        self._signature = objects.signature()
        rows = recorder.rows.between(start.rows, stop.rows)
        keys = recorder.batch.keys_from(start.requests)[:stop.requests - start.requests]
        self._counts = {name: stop.counters[name] - start.counters[name] for name in start.counters}
        self._serials = sorted({x._serial for x in objects.operands if getattr(x, "_serial", 0)})
        if any(serial not in start.variables for serial in self._serials):
            raise Unfit("a variable that is new")
        self._code_objects(recorder, objects, rows, start)
        codes = self._tensor_codes(start)
        self._blocks = {kind: Block(kind, records, start, codes) for kind, records in rows.items()}
        self._version_rows(recorder, rows, start)
        roles = dict(zip(rows["tensor"]["id"].tolist(), rows["tensor"]["role"].tolist(), strict=True))
        self._quantities = Quantities(recorder.batch, objects, keys, roles, start.requests)
        ordered = np.array([keys[k] for k in self._quantities.order], KEY)
        self._keys = Block("key", ordered, start, codes)
        self._keep_places(objects, rows, start)

    # --- which object is which --------------------------------------------------------------------------------

    def _code_objects(self, recorder: Recorder, objects: Objects, rows: dict[str, Records], start: Mark) -> None:
        """Number the objects: outputs, results, variables, then everything else by first appearance."""
        table = [id(x) for x in (*objects.outputs, *objects.results)]
        table += [id(recorder.tensors.variables[serial].variable) for serial in self._serials]
        if len(set(table)) != len(table):
            raise Unfit("an object in two roles")
        place = {key: k for k, key in enumerate(table)}
        self._first_of_other: list[int] = []
        self._operand_codes = []
        for k, x in enumerate(objects.operands):
            if id(x) not in place:
                place[id(x)] = len(place)
                self._first_of_other.append(k)
            self._operand_codes.append(place[id(x)])
        links = [id(x) for x in (*objects.calls, *objects.tapes)]
        if len(set(links)) != len(links) or not set(objects.links) <= set(links):
            raise Unfit("a tape or call from outside")
        self._link_codes = [links.index(key) for key in objects.links]
        self._others(recorder, objects, rows, start)

    def _others(self, recorder: Recorder, objects: Objects, rows: dict[str, Records], start: Mark) -> None:
        """What is neither made here nor a variable: new constants, tensors of earlier iterations, and strangers."""
        self._new_leaves: list[int] = []       # places in _first_of_other, in the order of their tensors
        self._known: list[int] = []
        self._known_tensors: list[int] = []
        self._strangers: list[int] = []        # assigned values that have no tensor
        made: dict[int, int] = {}
        for k, first in enumerate(self._first_of_other):
            tensor = recorder.tensors.find(objects.operands[first])
            if tensor is None:
                self._strangers.append(k)
            elif tensor >= start.counters["tensor"]:
                made[tensor] = k
            else:
                self._known.append(k)
                self._known_tensors.append(tensor)
        at = np.flatnonzero(rows["tensor"]["role"] == Role.CONSTANT).tolist()
        of_rows = rows["tensor"]["id"][at].tolist()
        tensors = list(dict.fromkeys(of_rows))   # one that got its name later has two records
        self._leaf_rows = [(row, tensors.index(tensor)) for row, tensor in zip(at, of_rows, strict=True)]
        if sorted(tensors) != sorted(made):
            raise Unfit("a constant of no operand, or an operand in disguise")
        self._new_leaves = [made[tensor] for tensor in tensors]
        values = [settled(objects.operands[self._first_of_other[k]]) for k in self._new_leaves]
        self._leaf_types = [(value.shape, value.dtype) for value in values]

    def _tensor_codes(self, start: Mark) -> dict[int, int]:
        """Tensor id -> code: new ones by their order, then variables as they were, then older tensors, then NONE."""
        base, count = start.counters["tensor"], self._counts["tensor"]
        codes = {base + k: k for k in range(count)}
        for tensor in [*(start.variables[serial][0] for serial in self._serials), *self._known_tensors]:
            codes.setdefault(tensor, len(codes))
        self._older = [tensor for tensor in codes if tensor < base]
        codes[NONE] = len(codes)
        return codes

    def fit(self, recorder: Recorder, events: list[Event]) -> Found | None:
        """Compare an iteration with this one; None if anything differs."""
        if [event[0] for event in events] != self.kinds:
            return None
        objects = Objects(events)
        try:
            if objects.signature() != self._signature:
                return None
        except ValueError:   # an attribute that is an array
            return None
        states = [recorder.tensors.variables.get(serial) for serial in self._serials]
        others = [objects.operands[first] for first in self._first_of_other]
        table = [id(x) for x in objects.outputs]
        table += [id(x) for x in objects.results]
        table += [id(state and state.variable) for state in states]
        table += [id(x) for x in others]
        if (None in states or len(set(table)) != len(table)
                or [table[code] for code in self._operand_codes] != [id(x) for x in objects.operands]):
            return None
        links = [id(x) for x in (*objects.calls, *objects.tapes)]
        if [links[code] for code in self._link_codes] != objects.links:
            return None
        return self._with_leaves(recorder, objects, states, others)

    def _with_leaves(self, recorder: Recorder, objects: Objects, states: list[Any], others: list[Any]) -> Found | None:
        find = recorder.tensors.find_older
        if any(getattr(x, "_serial", 0) for x in others):
            return None
        if any(find(others[k]) is not None for k in (*self._new_leaves, *self._strangers)):
            return None
        leaves = [settled(others[k]) for k in self._new_leaves]
        if [(value.shape, value.dtype) for value in leaves] != self._leaf_types:
            return None
        known = [find(others[k]) for k in self._known]
        if None in known:
            return None
        base = recorder.tensors.count
        older = {t: state.tensor for t, state in zip(self._variable_tensors, states, strict=True)}
        older.update(zip(self._known_tensors, known, strict=True))
        new = range(base, base + self._counts["tensor"])
        return Found(objects, leaves, np.array([*new, *(older[t] for t in self._older), NONE], np.uint32))

    # --- what changes from one iteration to the next ----------------------------------------------------------

    def _version_rows(self, recorder: Recorder, rows: dict[str, Records], start: Mark) -> None:
        """Where versions of variables stand, relative to those at the beginning."""
        by_id = {recorder.tensors.variables[serial].id: k for k, serial in enumerate(self._serials)}
        versions = [start.variables[serial][1] for serial in self._serials]
        self._variable_tensors = [start.variables[serial][0] for serial in self._serials]
        self._versions: dict[str, tuple[Array, Array, Array]] = {}
        for kind in ("tensor", "assign"):
            records = rows[kind]
            at = np.flatnonzero((records["role"] == Role.VARIABLE) if kind == "tensor" else np.ones(len(records), bool))
            which = np.array([by_id[v] for v in records["variable"][at].tolist()], np.intp)
            ahead = records["version"][at].astype(np.int64) - np.array(versions, np.int64)[which] if len(at) else at
            self._versions[kind] = (at, which, ahead)

    def _keep_places(self, objects: Objects, rows: dict[str, Records], start: Mark) -> None:
        """Which event gives a record its time, and which record an object its tensor."""
        base = start.counters["tensor"]
        self._tape_enter = (rows["tape"]["id"] - start.counters["tape"]).astype(np.intp)
        self._tape_loc = int(rows["tape"]["loc"][0])
        self._pass_call = (rows["pass"]["id"] - start.counters["pass"]).astype(np.intp)
        self._pass_over = rows["pass"]["t1"] != 0
        calls = [id(call) for call in objects.calls]
        self._end_of_call = np.argsort([calls.index(id(event[3])) for event in objects.ends])
        made = zip(rows["op"]["output"].tolist(), rows["op"]["nout"].tolist(), strict=True)
        self._outputs = [first - base + k for first, count in made for k in range(count)]
        gradients = rows["tensor"][rows["tensor"]["role"] == Role.GRADIENT]
        self._results = (gradients["id"].astype(int) - base).tolist()
        self._assigned = (rows["assign"]["tensor"].astype(int) - base).tolist()
        sizes = [(len(rows["tape"]), 2 * len(objects.enters)), (len(rows["pass"]), 2 * len(objects.calls)),
                 (len(self._results), len(objects.results)), (len(self._assigned), len(objects.assigns))]
        if len(rows["op"]):
            sizes += [(len(self._outputs), len(objects.outputs)), (len(rows["step"]), len(objects.steps)),
                      (len(rows["op"]), len(objects.ops))]
        if any(one != other for one, other in sizes):
            raise Unfit("records that are not one per event")

    def emit(self, recorder: Recorder, found: Found) -> None:
        """Add the records of an iteration that fits."""
        objects, origin = found.objects, recorder.writer.start_ns
        counters = recorder.counters()
        rows = {kind: block.moved(counters, found.tensors) for kind, block in self._blocks.items() if len(block)}
        states = [recorder.tensors.variables[serial] for serial in self._serials]
        versions = np.array([state.version for state in states], np.int64)
        for kind, (at, which, ahead) in self._versions.items():
            if len(at):
                rows[kind]["version"][at] = versions[which] + ahead
        if "op" in rows:
            started = np.array([event[11] for event in objects.ops], np.int64)
            rows["op"]["t"] = started - origin
            rows["op"]["dur"] = np.minimum(np.array([event[12] for event in objects.ops], np.int64) - started, NONE)
        if "step" in rows:
            since = np.array([event[5] for event in objects.steps], np.int64)
            rows["step"]["t"] = since - origin
            rows["step"]["dur"] = np.minimum(np.array([event[6] for event in objects.steps], np.int64) - since, NONE)
        if "assign" in rows:
            rows["assign"]["t"] = np.array([event[9] for event in objects.assigns], np.int64) - origin
        rows["tape"]["t"] = (np.array([event[6] for event in objects.enters], np.int64) - origin)[self._tape_enter]
        starts = np.array([event[7] for event in objects.starts], np.int64) - origin
        ends = (np.array([event[5] for event in objects.ends], np.int64) - origin)[self._end_of_call]
        rows["pass"]["t0"] = starts[self._pass_call]
        rows["pass"]["t1"] = np.where(self._pass_over, ends[self._pass_call], 0)
        for row, leaf in self._leaf_rows:
            rows["tensor"]["digest"][row] = digest(found.leaves[leaf])
        for kind, records in rows.items():
            recorder.rows.add_block(kind, records)
        self._quantities.ask(recorder, objects, found.leaves, self._keys.moved(counters, found.tensors))
        self._go_on(recorder, objects)

    def _go_on(self, recorder: Recorder, objects: Objects) -> None:
        """Leave the recorder as the ordinary way would."""
        tensors, first = recorder.tensors, recorder.tensors.count
        recorder.advance(self._counts)
        if self._outputs:
            tensors.know_all(objects.outputs, [first + k for k in self._outputs])
        tensors.know_all(objects.results, [first + k for k in self._results])
        for event in objects.ends:
            variables = set()
            for source, result in zip(event[3].sources, event[4], strict=True):
                if source._serial:
                    state = tensors.variables[source._serial]
                    variables.add(state.id)
                    if result is not None:
                        state.gradient = result._value
            recorder.iterations.gradient_taken(self._tape_loc, variables)
        for event, offset in zip(objects.assigns, self._assigned, strict=True):
            state = tensors.variables[event[5]._serial]
            state.version += 1
            state.tensor = first + offset
            state.versions = [*state.versions[-3:], state.tensor]
            recorder.iterations.assigned(state.id)


def _check(objects: Objects) -> None:
    """Raises Unfit for what repeats but cannot be told from the events alone."""
    tapes = {id(tape) for tape in objects.tapes}
    if any(event[1] for event in objects.enters) or {id(call.tape) for call in objects.calls} != tapes:
        raise Unfit("a tape that may be used later")
    if len(tapes) != 1:
        raise Unfit("several tapes")
    if any(event[1] for event in objects.ends) or any(call.parent is not None for call in objects.calls):
        raise Unfit("an error, or a gradient call inside another")
    if any(event[7] or len(event[9]) > _MOST_INPUTS for event in objects.ops):
        raise Unfit("an operation with an error or many inputs")
    if not all(_is_plain(value) for event in objects.ops for value in event[8].values()):
        raise Unfit("an attribute that is an array")


def _is_plain(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return all(_is_plain(part) for part in value)
    return value is None or value is Ellipsis or isinstance(value, (bool, int, float, str, slice, np.dtype, type))
