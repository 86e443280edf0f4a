"""The arrays that rules share: numbers of a recording arranged so that a rule needs no loop over operations."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tapeviz.analysis.findings.dataflow import Program
from tapeviz.recording.reader import Recording
from tapeviz.recording.schema import NONE, PassKind, State, Status, What

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
ABSENT = -1


class Facts:
    """A recording as rules see it, at one revision."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.ops, self.tensors, self.stats = recording.ops, recording.tensors, recording.stats
        self.passes, self.steps, self.results = recording.passes, recording.steps, recording.results
        # while a run goes on an operation may be there before its tensors
        whole = self.ops["output"].astype(np.int64) + self.ops["nout"] <= len(self.tensors)
        self.op_count = len(self.ops) if whole.all() else int(np.argmin(whole | (self.ops["nout"] == 0)))

    # --- operations -------------------------------------------------------------------------------------------

    @cached_property
    def kind_names(self) -> list[str]:
        """Names of all kinds of operations that ran, by kind id."""
        count = int(self.ops["kind"].max()) + 1 if len(self.ops) else 0
        return [self.recording.kind(k).name for k in range(count)]

    def name_of(self, op: int) -> str:
        """The name of an operation."""
        return self.kind_names[int(self.ops["kind"][op])]

    def is_kind(self, names: Iterable[str]) -> Mask:
        """Which operations are of one of these names."""
        wanted = frozenset(names)
        table = np.array([name in wanted for name in self.kind_names], bool)
        mask: Mask = table[self.ops["kind"]] if len(table) else np.zeros(len(self.ops), bool)
        return mask

    @cached_property
    def firsts(self) -> Ints:
        """First operation of every iteration."""
        found = self.recording.iterations["first_op"].astype(np.int64)
        found = found[found != NONE]      # micro-batches that turned out to be no iterations
        return found if len(found) else np.zeros(1, np.int64)

    @property
    def iteration_count(self) -> int:
        """How many iterations there are."""
        return len(self.firsts)

    def iteration_of_ops(self, ops: NDArray[np.integer]) -> Ints:
        """The iteration of each of these operations."""
        found: Ints = np.maximum(np.searchsorted(self.firsts, ops, side="right") - 1, 0).astype(np.int64)
        return found

    def iteration_of(self, op: int) -> int:
        """The iteration of an operation."""
        return int(self.iteration_of_ops(np.array([op]))[0])

    @cached_property
    def iteration_of_assigns(self) -> Ints:
        """The iteration of every assignment: it belongs to what ran before it."""
        before = np.searchsorted(self.firsts, self.recording.assigns["at_op"], side="left") - 1
        return np.maximum(before, 0).astype(np.int64)

    def inputs(self, op: int) -> list[int]:
        """The tensors an operation read."""
        return self.recording.op_inputs(op)

    def maker(self, tensor: int) -> int:
        """The operation that made a tensor, ABSENT for a leaf."""
        op = int(self.tensors["op"][tensor])
        return op if op < self.op_count else ABSENT

    @cached_property
    def consumers(self) -> tuple[Ints, Ints, Ints]:
        """Every use of a tensor: (tensor, operation, slot), sorted by tensor."""
        ops = self.ops[:self.op_count]
        inputs = ops["inputs"].astype(np.int64)
        count = np.minimum(ops["nin"], inputs.shape[1])
        used = np.arange(inputs.shape[1]) < count[:, None]
        op, slot = np.nonzero(used)
        tensor = inputs[op, slot]
        for many in np.flatnonzero(ops["nin"] > inputs.shape[1]).tolist():
            rest = self.inputs(many)[inputs.shape[1]:]
            tensor = np.concatenate([tensor, rest])
            op = np.concatenate([op, np.full(len(rest), many)])
            slot = np.concatenate([slot, np.arange(inputs.shape[1], inputs.shape[1] + len(rest))])
        order = np.argsort(tensor, kind="stable")
        return tensor[order], op[order], slot[order]

    def users(self, tensor: int) -> list[tuple[int, int]]:
        """(operation, slot) of everything that read a tensor."""
        tensors, ops, slots = self.consumers
        first, last = np.searchsorted(tensors, [tensor, tensor + 1])
        return list(zip(ops[first:last].tolist(), slots[first:last].tolist(), strict=True))

    def shape(self, tensor: int) -> tuple[int, ...]:
        """The shape of a tensor."""
        return self.recording.shape(int(self.tensors["shape"][tensor]))

    # --- statistics -------------------------------------------------------------------------------------------

    @cached_property
    def bad(self) -> Ints:
        """Per statistic, how many elements are NaN or infinite."""
        s = self.stats
        found: Ints = s["nan"].astype(np.int64) + s["posinf"] + s["neginf"]
        return found

    @cached_property
    def value_row(self) -> Ints:
        """Row of the statistics of each tensor's value, ABSENT where there is none."""
        rows = np.full(len(self.tensors), ABSENT, np.int64)
        at = np.flatnonzero(self.stats["what"] == What.VALUE)
        tensor = self.stats["tensor"][at]
        rows[tensor[tensor < len(rows)]] = at[tensor < len(rows)]
        return rows

    @cached_property
    def value_bad(self) -> Mask:
        """Which tensors hold a NaN or an infinity."""
        if not len(self.stats):
            return np.zeros(len(self.tensors), bool)
        found: Mask = (self.value_row != ABSENT) & (self.bad[self.value_row] > 0)
        return found

    def value_of(self, field: str, tensors: NDArray[np.integer]) -> Floats:
        """A field of the statistics of values, NaN where there is none."""
        rows = self.value_row[tensors]
        return self.column(field, rows)

    def column(self, field: str, rows: Ints) -> Floats:
        """A field of these statistics, NaN for ABSENT rows."""
        if not len(self.stats):
            return np.full(np.shape(rows), np.nan)
        return np.where(rows == ABSENT, np.nan, self.stats[field][rows].astype(np.float64))

    @cached_property
    def _cotangents(self) -> tuple[NDArray[np.uint64], Ints]:
        at = np.flatnonzero((self.stats["what"] == What.COTANGENT) & (self.stats["state"] == State.OK))
        keys = self.stats["pass"][at].astype(np.uint64) << np.uint64(32) | self.stats["tensor"][at].astype(np.uint64)
        order = np.argsort(keys, kind="stable")
        return keys[order], at[order]

    def cotangent_rows(self, passes: NDArray[np.integer], tensors: NDArray[np.integer]) -> Ints:
        """Rows of d target / d tensor for pairs of pass and tensor."""
        wanted = np.asarray(passes, np.uint64) << np.uint64(32) | np.asarray(tensors, np.uint64)
        return _found(*self._cotangents, wanted)

    @cached_property
    def _contributions(self) -> tuple[NDArray[np.uint64], Ints]:
        s = self.stats
        at = np.flatnonzero((s["what"] == What.CONTRIBUTION) & (s["state"] == State.OK))
        keys = _contribution_key(s["pass"][at], s["op"][at], s["slot"][at])
        order = np.argsort(keys, kind="stable")
        return keys[order], at[order]

    def contribution_rows(self, passes: NDArray[np.integer], ops: NDArray[np.integer],
                          slots: NDArray[np.integer]) -> Ints:
        """Rows of what backward steps sent to their arguments."""
        return _found(*self._contributions, _contribution_key(passes, ops, slots))

    # --- gradient calls ---------------------------------------------------------------------------------------

    @cached_property
    def gradient_passes(self) -> Ints:
        """Ids of the gradient calls of the user's program (not those that another one made) that have ended."""
        p = self.passes
        own = (p["parent"] == NONE) & (p["kind"] == PassKind.GRADIENT) & (p["target"] < len(self.tensors))
        own &= p["status"] != Status.RUNNING
        return np.flatnonzero(own).astype(np.int64)

    @cached_property
    def pass_iterations(self) -> Ints:
        """The iteration of every gradient call."""
        found = self.recording.iterations["first_pass"].astype(np.int64)
        found = found[found != NONE]
        if not len(found):
            return np.zeros(len(self.passes), np.int64)
        return np.maximum(np.searchsorted(found, np.arange(len(self.passes)), side="right") - 1, 0).astype(np.int64)

    @cached_property
    def steps_by_pass(self) -> tuple[Ints, Ints]:
        """Operations undone, grouped by gradient call; and where each call's group begins (one more at the end)."""
        order = np.argsort(self.steps["pass"], kind="stable")
        starts = np.searchsorted(self.steps["pass"][order], np.arange(len(self.passes) + 1))
        return self.steps["op"][order].astype(np.int64), starts.astype(np.int64)

    def walked(self, pass_: int) -> Ints:
        """The operations that a gradient call undid, in the order of the forward pass."""
        ops, starts = self.steps_by_pass
        return np.unique(ops[starts[pass_]:starts[pass_ + 1]])

    def results_of(self, pass_: int) -> NDArray[np.void]:
        """What a gradient call returned."""
        return self.recording.results_of(pass_)

    @cached_property
    def harm(self) -> tuple[int, int] | None:
        """(iteration, pass) of the first gradient call whose target or gradients are not finite; None without any."""
        if not len(self.stats):
            return None
        s = self.stats
        passes = self.gradient_passes
        targets = self.passes["target"][passes].astype(np.int64)
        lost = passes[self.value_bad[targets]]
        spoiled = (self.bad > 0) & np.isin(s["what"], (What.COTANGENT, What.CONTRIBUTION, What.GRADIENT))
        back = s["pass"][spoiled]
        back = back[back < len(self.passes)]
        found = [int(some.min()) for some in (lost, back) if len(some)]
        return (int(self.pass_iterations[min(found)]), min(found)) if found else None

    # --- words ------------------------------------------------------------------------------------------------

    def place(self, op: int) -> tuple[str, int]:
        """File and line of an operation."""
        return self.recording.op_line(op) if 0 <= op < len(self.ops) else ("", 0)

    def place_of_loc(self, loc: int) -> tuple[str, int]:
        """File and line of a location."""
        found = self.recording.loc(loc)
        return (found.file, found.line) if found else ("", 0)

    def source_line(self, file: str, line: int) -> str:
        """The text of a line of the user's program."""
        lines = self.source_lines.get(file, [])
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""

    @cached_property
    def source_lines(self) -> dict[str, list[str]]:
        """Every source file as lines, by path."""
        return {source.path: source.text.splitlines() for source in self.recording.sources}

    @cached_property
    def program(self) -> Program:
        """The user's program as syntax trees."""
        return Program(self.source_lines)

    def defined_at(self, name: str, file: str, line: int) -> int:
        """The line nearest above (or inside a loop, anywhere) where a name was last given a value; 0 if none."""
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            return 0
        pattern = re.compile(rf"^\s*(?:[\w, ()]*[,(]\s*)?{name}\s*(?:,[\w, ]*)?(?::[^=]+)?=(?!=)")
        found = [number for number, text in enumerate(self.source_lines.get(file, []), 1) if pattern.match(text)]
        above = [number for number in found if number < line]
        return above[-1] if above else 0


def _contribution_key(passes: NDArray[np.integer], ops: NDArray[np.integer],
                      slots: NDArray[np.integer]) -> NDArray[np.uint64]:
    high = np.asarray(passes, np.uint64) << np.uint64(40) | np.asarray(ops, np.uint64) << np.uint64(8)
    return np.asarray(high | np.asarray(slots, np.uint64), np.uint64)


def _found(keys: NDArray[np.uint64], rows: Ints, wanted: NDArray[np.uint64]) -> Ints:
    """The last row with each of these keys, ABSENT where there is none."""
    if not len(keys):
        return np.full(wanted.shape, ABSENT, np.int64)
    at = np.searchsorted(keys, wanted, side="right") - 1
    return np.where((at >= 0) & (keys[at] == wanted), rows[at], ABSENT)
