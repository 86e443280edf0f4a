"""Very long synthetic recordings: made-up statistics of a deep net, a million operations a second."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tapeviz.recording.schema import (
    NONE,
    RECORDS,
    AssignKind,
    BoundaryBy,
    OpFlag,
    Phase,
    Role,
    State,
    Status,
    TensorFlag,
    What,
)

if TYPE_CHECKING:
    from tests.recording.synthetic import Training

PATTERN = ("matmul", "add", "sigmoid")   # over and over; the first two take a variable as their second argument
Records = NDArray[np.void]


def write_bulk(training: Training, iterations: int, ops: int) -> None:
    """Iterations of `ops` operations in one chain; layer after layer, each variable may be used many times.

    Tensors of an iteration: the variables at their new version, the input, then one output per operation.
    """
    writer, variables = training.writer, len(training.params)
    template = _Template(training, ops, variables)
    per_iteration = 1 + variables + ops
    for number in range(iterations):
        tensor, op = number * per_iteration, number * ops
        began = writer.now()
        writer.iteration(number, op, number, began, BoundaryBy.ASSIGN if number else BoundaryBy.START, 0)
        writer.tape(number, NONE, 0, 0, 0, training.locs["tape"], op, op + ops, began, 1)
        for kind, records in template.iteration(number, tensor, op).items():
            writer.append_array(kind, records)
        for variable in range(variables):
            name = writer.name_id(training.names[variable])
            state = State.OK if variable < training.trained else State.NONE
            writer.result(number, variable, state, 0, tensor + variable, variable, name)
            if state == State.OK:
                writer.watch(number, tensor + variable, variable, op, training.locs["matmul"], 0, 0)
            if number:
                writer.assign(variable, number, tensor + variable, op - 1, training.locs["update"], op, began,
                              AssignKind.SUB, 0)
        writer.pass_(number, number, NONE, Status.OK, 0, 0, 1, tensor + per_iteration - 1, 1, variables, op, op + ops,
                     training.locs["gradient"], ops, began, writer.now())
        writer.event("stdout", {"text": f"{number} {1 / (number + 1)}\n"}, op=op + ops - 1)


class _Template:
    """The records of iteration 0 with ids from 0; others are these, shifted."""

    def __init__(self, training: Training, ops: int, variables: int) -> None:
        self.rng = np.random.default_rng(7)
        self.ops = _ops(training, ops, variables)
        self.tensors = _tensors(training, ops, variables)
        self.steps = np.zeros(ops, RECORDS["step"])
        self.steps["step"] = np.arange(ops)
        self.steps["op"] = np.arange(ops)[::-1]
        self.steps["dur"], self.steps["arrived"], self.steps["ncontributions"] = 2000, 1, 1
        depth = np.linspace(training.layers, 0, ops)
        self.values = _stats(What.VALUE, self.ops["output"], np.arange(ops), np.ones(ops))
        self.cotangents = _stats(What.COTANGENT, self.ops["output"], np.arange(ops), training.vanish**depth)[::-1]
        used = np.flatnonzero(self.ops["nin"] == 2)
        target, size = self.ops["inputs"][used, 1], training.vanish ** depth[used]
        self.contributions = _stats(What.CONTRIBUTION, target, used, size)[::-1]
        self.contributions["slot"] = 1
        sources = np.arange(training.trained)
        norms = training.vanish ** (training.layers - 1 - sources // 2)
        self.gradients = _stats(What.GRADIENT, sources, np.full(len(sources), NONE), norms)

    def iteration(self, number: int, tensor: int, op: int) -> dict[str, Records]:
        """The records of one iteration whose first tensor and operation have these numbers."""
        ops, tensors, steps = self.ops.copy(), self.tensors.copy(), self.steps.copy()
        ops["id"] += op
        ops["output"] += tensor
        ops["inputs"][ops["inputs"] != NONE] += tensor
        ops["tape"] = number
        ops["t"] += number * len(ops) * 3000
        tensors["id"] += tensor
        tensors["op"][tensors["op"] != NONE] += op
        tensors["version"][tensors["variable"] != NONE] = number
        steps["op"] += op
        steps["pass"] = number
        stats = np.concatenate([self.values, self.cotangents, self.contributions, self.gradients])
        stats["tensor"] += tensor
        stats["op"][stats["op"] != NONE] += op
        stats["pass"][stats["what"] != What.VALUE] = number
        noise = np.exp(0.2 * self.rng.standard_normal(len(stats)))
        for name in ("l2", "min", "max", "mean", "max_abs"):
            stats[name] *= noise
        return {"op": ops, "tensor": tensors, "step": steps, "stat": stats}


def _ops(training: Training, count: int, variables: int) -> Records:
    index = np.arange(count)
    ops = np.zeros(count, RECORDS["op"])
    pattern = index % 3
    layer = index // 3 % training.layers
    ops["id"] = index
    ops["kind"] = np.array([training.kinds[name] for name in PATTERN])[pattern]
    ops["loc"] = np.array([training.locs[name] for name in PATTERN])[pattern]
    ops["scope"] = np.array(training.scopes)[layer]
    ops["phase"], ops["flags"], ops["nout"], ops["dur"] = Phase.FORWARD, OpFlag.RECORDED, 1, 1500
    ops["nin"] = np.where(pattern < 2, 2, 1)
    ops["inputs"] = NONE
    ops["inputs"][:, 0] = variables + index
    ops["inputs"][:, 1] = np.where(pattern < 2, 2 * layer + pattern, NONE)
    ops["output"] = 1 + variables + index
    ops["t"] = index * 3000
    ops["pass"] = ops["attrs"] = NONE
    return ops


def _tensors(training: Training, ops: int, variables: int) -> Records:
    writer = training.writer
    tensors = np.zeros(1 + variables + ops, RECORDS["tensor"])
    tensors["id"] = np.arange(len(tensors))
    for name in ("op", "variable", "name"):
        tensors[name] = NONE
    tensors["shape"] = writer.shape_id((6, training.width))
    tensors["dtype"] = 10   # float32
    tensors["role"][variables], tensors["name"][variables] = Role.CONSTANT, writer.name_id("x")
    rows = tensors[:variables]
    rows["variable"] = np.arange(variables)
    rows["role"], rows["flags"] = Role.VARIABLE, TensorFlag.WATCHED | TensorFlag.TRAINABLE
    rows["name"] = [writer.name_id(name) for name in training.names]
    rows["shape"] = [writer.shape_id(value.shape) for value in training.params]
    tensors["op"][1 + variables :] = np.arange(ops)
    return tensors


def _stats(what: What, tensor: NDArray[np.integer], op: NDArray[np.integer], size: NDArray[np.floating]) -> Records:
    stats = np.zeros(len(tensor), RECORDS["stat"])
    stats["what"], stats["tensor"], stats["op"], stats["pass"], stats["n"] = what, tensor, op, NONE, 48
    stats["l2"] = size
    stats["min"], stats["max"], stats["mean"], stats["max_abs"] = -size / 3, size / 3, size / 100, size / 3
    stats["low"] = stats["saturated"] = stats["cosine"] = np.nan
    return stats
