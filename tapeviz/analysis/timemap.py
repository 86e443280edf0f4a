"""The gradient along a chain of equal operations: back through the time steps of a recurrent net, or its layers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tapeviz.analysis.formulas import title
from tapeviz.analysis.index import main_pass, pass_index, remembered_of_iteration, shown_ops
from tapeviz.analysis.magnitude import OK, Special, ratio_bins, special_codes
from tapeviz.analysis.names import own_name
from tapeviz.analysis.reference import reference_of
from tapeviz.recording.reader import Recording
from tapeviz.recording.schema import NONE

LEAST = 4      # executions that make a row


@dataclass(frozen=True, slots=True)
class Site:
    """One place in the program whose operation ran several times in one iteration.

    name: "matmul h @ W, line 31"; ops: its executions in order; l2, state, bins: of the cotangent of each
    recurrent: one variable feeds them all (time steps), otherwise they are layers
    """

    name: str
    file: str
    line: int
    ops: np.ndarray
    l2: np.ndarray
    state: np.ndarray
    bins: np.ndarray
    recurrent: bool


@remembered_of_iteration
def time_map(recording: Recording, iteration: int, pass_: int | None = None) -> tuple[Site, ...]:
    """Every place that ran at least four times and was differentiated, in the order of the program."""
    if pass_ is None:
        pass_ = main_pass(recording, iteration)
    if pass_ is None:
        return ()
    index = pass_index(recording, pass_)
    places: dict[tuple[int, int, int], list[int]] = {}
    lines: dict[int, list[int]] = {}
    for op in shown_ops(recording, iteration):
        outputs = recording.op_outputs(op)
        if op in index.step_of and outputs:
            row = recording.ops[op]
            places.setdefault((int(row["loc"]), int(row["kind"]), int(recording.tensors["shape"][outputs[0]])),
                              []).append(op)
            lines.setdefault(recording.op_line(op)[1], []).append(op)
    return tuple(_site(recording, ops, lines[recording.op_line(ops[0])[1]], iteration, pass_)
                 for ops in places.values() if len(ops) >= LEAST)


def _site(recording: Recording, ops: list[int], line_ops: list[int], iteration: int, pass_: int) -> Site:
    index = pass_index(recording, pass_)
    l2 = np.full(len(ops), np.nan)
    state = np.full(len(ops), Special.NOT_CAPTURED.value, dtype=np.uint8)
    for i, op in enumerate(ops):
        stat = index.cotangent.get(recording.op_outputs(op)[0])
        if stat is not None:
            l2[i], state[i] = float(stat["l2"]), int(special_codes(np.array([stat]))[0])
    bins = np.where(state == OK, ratio_bins(l2, reference_of(recording, iteration)), 0).astype(np.int8)
    file, line = recording.op_line(ops[0])
    operands = recording.op_inputs(ops[0])
    named = all(own_name(recording, tensor) for tensor in operands)
    what = title(recording, ops[0]).replace("  ", " ") if named else recording.op_name(ops[0])
    return Site(f"{what}, line {line}", file, line, np.array(ops), l2, state, bins,
                _one_variable(recording, line_ops, len(ops)))


def _one_variable(recording: Recording, ops: list[int], times: int) -> bool:
    """Whether some variable is read as often as the place ran, by operations of its line."""
    reads: dict[int, int] = {}
    for op in ops:
        for tensor in set(recording.op_inputs(op)):
            variable = int(recording.tensors["variable"][tensor]) if tensor < len(recording.tensors) else NONE
            if variable != NONE:
                reads[variable] = reads.get(variable, 0) + 1
    return max(reads.values(), default=0) >= times
