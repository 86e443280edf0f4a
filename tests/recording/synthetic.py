"""A consistent recording of a small network's training, made without an engine: for tests of whatever reads one.

The network is computed for real with NumPy, forward and backward, so that contributions sum to cotangents, gradients
are those of the loss, and the statistics are those of the values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapeviz.recording.schema import (
    NONE,
    AssignKind,
    BoundaryBy,
    OpFlag,
    PassKind,
    Phase,
    Role,
    State,
    Status,
    TensorFlag,
    What,
)
from tapeviz.recording.writer import Writer, dtype_code
from tests.recording.bulk import write_bulk

Array = NDArray[np.floating[Any]]
BATCH, LEARNING_RATE = 6, 0.5

SCRIPT = '''\
"""A deep sigmoid network on random data."""
import numpy as np
import gradtape as gt

rng = np.random.default_rng(1)
weights = [gt.Variable(w, name=f"W{i + 1}") for i, w in enumerate(start_weights)]
biases = [gt.Variable(b, name=f"b{i + 1}") for i, b in enumerate(start_biases)]

def forward(x):
    a = x
    for W, b in zip(weights, biases):
        z = a @ W
        z = z + b
        a = gt.sigmoid(z)
    return a

for step in range(iterations):
    x, y, scale = batch(step)
    with gt.GradientTape() as tape:
        p = forward(x)
        d = p - y
        loss = gt.mean(d * d) * gt.sqrt(scale)
    grads = tape.gradient(loss, weights + biases)
    for v, g in zip(weights + biases, grads):
        v.assign_sub(lr * g)
    print(step, float(loss))
'''
LINES = {"matmul": 12, "add": 13, "sigmoid": 14, "subtract": 21, "square": 22, "mean": 22, "sqrt": 22, "scale": 22,
         "tape": 19, "gradient": 23, "update": 25, "variable": 6, "bias": 7, "print": 26}
KINDS = {   # name: formula, arguments, vjps, flags
    "matmul": (r"Y = A\,B", ("a", "b"), (r"\bar{Y}\,B^\top", r"A^\top\,\bar{Y}")),
    "add": (r"y = a + b", ("a", "b"), (r"\bar{y}", r"\bar{y}")),
    "sigmoid": (r"y = \frac{1}{1 + e^{-x}}", ("x",), (r"\bar{y}\,y\,(1 - y)",)),
    "subtract": (r"y = a - b", ("a", "b"), (r"\bar{y}", r"-\bar{y}")),
    "multiply": (r"y = a\,b", ("a", "b"), (r"\bar{y}\,b", r"\bar{y}\,a")),
    "mean": (r"y = \frac{1}{n}\sum_i x_i", ("x",), (r"\frac{\bar{y}}{n}",)),
    "sqrt": (r"y = \sqrt{x}", ("x",), (r"\frac{\bar{y}}{2\sqrt{x}}",)),
}


@dataclass
class Node:
    """An operation on the tape, with what its backward step needs."""

    op: int
    kind: str
    inputs: tuple[int, ...]
    values: tuple[Array, ...]
    output: int
    result: Array


@dataclass
class Training:
    """Writes the training; counters are the next free ids."""

    writer: Writer
    layers: int
    width: int
    vanish: float
    nan_at: int | None
    values: bool
    none_result: bool
    ops: int = 0
    tensors: int = 0
    passes: int = 0
    iteration: int = 0
    names: list[str] = field(default_factory=list)
    params: list[Array] = field(default_factory=list)       # W1, b1, W2, b2, ...
    versions: list[int] = field(default_factory=list)
    tensor_of: list[int] = field(default_factory=list)      # tensor of the current version of each variable
    nodes: list[Node] = field(default_factory=list)

    def __post_init__(self) -> None:
        w, rng = self.writer, np.random.default_rng(1)
        self.source = w.source_id("/home/you/train.py", SCRIPT)
        self.locs = {what: w.loc_id(self.source, line, line, 8, 30, "forward" if 12 <= line <= 14 else "<module>")
                     for what, line in LINES.items()}
        self.kinds = {name: w.kind(name, *row) for name, row in KINDS.items()}
        self.scopes = [w.scope_id(NONE, "name", f"layer{i + 1}", self.locs["matmul"]) for i in range(self.layers)]
        gain = self.vanish / 0.25 / np.sqrt(self.width)     # a sigmoid's slope is 0.25 at most
        for layer in range(self.layers):
            last = layer == self.layers - 1
            shape = (self.width, 3 if last else self.width)
            self._variable(f"W{layer + 1}", (rng.standard_normal(shape) * (1.0 if last else gain)).astype("f4"))
            self._variable(f"b{layer + 1}", np.zeros(shape[1], "f4"))
        self.trained = len(self.params)
        if self.none_result:
            self._variable("unused", np.ones(3, "f4"))
        self.data = rng.standard_normal((BATCH, self.width)).astype("f4")
        self.target = rng.uniform(0.2, 0.8, (BATCH, 3)).astype("f4")

    def _variable(self, name: str, start: Array) -> None:
        loc = self.locs["bias" if name[0] == "b" else "variable"]
        number = self.writer.variable(name, start.shape, start.dtype, True, loc)
        assert number == len(self.params)
        self.params.append(start)
        self.names.append(name)
        self.versions.append(0)
        self.tensor_of.append(self._leaf(start, Role.VARIABLE, name, variable=number))

    # --- records ----------------------------------------------------------------------------------------------

    def _leaf(self, value: Array, role: Role, name: str | None = None, variable: int = NONE, version: int = 0) -> int:
        flags = TensorFlag.TRAINABLE | TensorFlag.WATCHED if role == Role.VARIABLE else 0
        return self._tensor(value, NONE, role, name, variable, version, flags)

    def _tensor(self, value: Array, op: int, role: Role, name: str | None = None, variable: int = NONE,
                version: int = 0, flags: int = 0) -> int:
        number, w = self.tensors, self.writer
        self.tensors += 1
        w.tensor(number, op, variable, version, w.shape_id(value.shape), dtype_code(value.dtype), role, flags,
                 NONE if name is None else w.name_id(name), 0)
        self._quantity(number, What.VALUE, value, op=op)
        return number

    def _quantity(self, tensor: int, what: What, value: Array, op: int = NONE, pass_: int = NONE,
                  slot: int = 0) -> None:
        self.writer.append("stat", statistic(tensor, what, value, op, pass_, slot))
        if self.values:
            self.writer.value(tensor, what, value, pass_, op, slot)

    def op(self, kind: str, result: Array, inputs: tuple[int, ...], values: tuple[Array, ...] = (), line: str = "",
           scope: int = NONE, phase: Phase = Phase.FORWARD, tape: int = NONE) -> tuple[int, Array]:
        """Record an operation and its output; with a tape it can be undone."""
        number = self.ops
        self.ops += 1
        result = np.asarray(result, "f4")
        padded = (*inputs, *[NONE] * (4 - len(inputs)))
        flags = OpFlag.RECORDED if tape != NONE else 0
        self.writer.op(number, self.kinds[kind], phase, flags, scope, self.locs[line or kind], 0, len(inputs), 1,
                       *padded, self.tensors, self.writer.now(), 1500, tape, NONE, NONE)
        output = self._tensor(result, number, Role.INTERMEDIATE)
        if tape != NONE:
            self.nodes.append(Node(number, kind, inputs, values, output, result))
        return output, result

    # --- training ---------------------------------------------------------------------------------------------

    def iterate(self) -> None:
        """One iteration: tape, forward, gradient, updates."""
        w, number = self.writer, self.iteration
        w.iteration(number, self.ops, self.passes, w.now(), BoundaryBy.ASSIGN if number else BoundaryBy.START, 0)
        entered = w.now()
        tape, first = number, self.ops
        w.tape(tape, NONE, 0, 1, 0, self.locs["tape"], first, NONE, entered, 1)
        self.nodes = []
        loss, value = self._forward(tape)
        w.tape(tape, NONE, 0, 0, 0, self.locs["tape"], first, self.ops, entered, 1)
        gradients = self._backward(tape, first, loss)
        self._update(gradients)
        w.event("stdout", {"text": f"{number} {float(value)}\n"}, op=self.ops - 1)
        self.iteration += 1

    def _forward(self, tape: int) -> tuple[int, Array]:
        x, a = self._leaf(self.data, Role.CONSTANT, "x"), self.data
        for layer in range(self.layers):
            scope = self.scopes[layer]
            for variable in (2 * layer, 2 * layer + 1):
                self.writer.watch(tape, self.tensor_of[variable], variable, self.ops, self.locs["matmul"], 0, 0)
            weight, bias = self.params[2 * layer], self.params[2 * layer + 1]
            w, b = self.tensor_of[2 * layer], self.tensor_of[2 * layer + 1]
            x, z = self.op("matmul", a @ weight, (x, w), (a, weight), scope=scope, tape=tape)
            x, z = self.op("add", z + bias, (x, b), (z, bias), scope=scope, tape=tape)
            x, a = self.op("sigmoid", 1 / (1 + np.exp(-z)), (x,), (z,), scope=scope, tape=tape)
        y = self._leaf(self.target, Role.CONSTANT, "y")
        d, difference = self.op("subtract", a - self.target, (x, y), (a, self.target), tape=tape)
        s, square = self.op("multiply", difference * difference, (d, d), (difference,) * 2, "square", tape=tape)
        m, mean = self.op("mean", square.mean(), (s,), (square,), tape=tape)
        scale = np.asarray(-1.0 if self.iteration == self.nan_at else 1.0, "f4")
        c = self._leaf(scale, Role.CONSTANT, "scale")
        with np.errstate(invalid="ignore"):
            r, root = self.op("sqrt", np.sqrt(scale), (c,))
        return self.op("multiply", mean * root, (m, r), (mean, root), "scale", tape=tape)

    def _backward(self, tape: int, tape_op: int, loss: int) -> list[Array | None]:
        w, number, begun = self.writer, self.passes, self.writer.now()
        self.passes += 1

        def say(status: Status, steps: int, ended: int) -> None:
            w.pass_(number, tape, NONE, status, PassKind.GRADIENT, 0, 1, loss, 1, len(self.params), tape_op, self.ops,
                    self.locs["gradient"], steps, begun, ended)

        say(Status.RUNNING, 0, 0)
        wanted = {node.output for node in self.nodes} | set(self.tensor_of)   # constants get nothing
        cotangents: dict[int, Array] = {loss: np.ones((), "f4")}
        arrived = {loss: 1}
        for step, node in enumerate(reversed(self.nodes)):
            g, started = cotangents[node.output], w.now()
            self._quantity(node.output, What.COTANGENT, g, node.op, number)
            contributions = [
                part if tensor in wanted else None
                for tensor, part in zip(node.inputs, contributions_of(node, g), strict=True)
            ]
            for slot, (tensor, part) in enumerate(zip(node.inputs, contributions, strict=True)):
                if part is None:
                    continue
                self._quantity(tensor, What.CONTRIBUTION, part, node.op, number, slot)
                cotangents[tensor] = cotangents[tensor] + part if tensor in cotangents else part
                arrived[tensor] = arrived.get(tensor, 0) + 1
            sent = sum(part is not None for part in contributions)
            w.step(number, step, node.op, started, 2000, arrived[node.output], sent)
        gradients = [cotangents.get(tensor) for tensor in self.tensor_of]
        for source, gradient in enumerate(gradients):
            tensor = self.tensor_of[source]
            state = State.NONE if gradient is None else State.OK
            w.result(number, source, state, 0, tensor, source, w.name_id(self.names[source]))
            if gradient is None:
                w.append("stat", statistic(tensor, What.GRADIENT, None, NONE, number, 0))
            else:
                self._quantity(tensor, What.GRADIENT, gradient, pass_=number)
        say(Status.OK, len(self.nodes), w.now())
        return gradients

    def _update(self, gradients: list[Array | None]) -> None:
        rate = self._leaf(np.asarray(LEARNING_RATE, "f4"), Role.CONSTANT, "lr")
        for variable, gradient in enumerate(gradients):
            if gradient is None:
                continue
            returned = self._leaf(gradient, Role.GRADIENT, variable=variable)
            step = np.asarray(LEARNING_RATE * gradient, "f4")
            by = self.ops
            self.op("multiply", step, (rate, returned), line="update", phase=Phase.UPDATE)
            self.params[variable] = self.params[variable] - step
            self.versions[variable] += 1
            tensor = self._leaf(self.params[variable], Role.VARIABLE, self.names[variable], variable,
                                self.versions[variable])
            self.tensor_of[variable] = tensor
            self.writer.assign(variable, self.versions[variable], tensor, by, self.locs["update"], self.ops,
                               self.writer.now(), AssignKind.SUB, 0)
            self._quantity(tensor, What.UPDATE, -step, by)


def contributions_of(node: Node, g: Array) -> list[Array]:
    """What a backward step sends to each argument."""
    values = node.values
    with np.errstate(invalid="ignore", over="ignore"):
        if node.kind == "matmul":
            return [g @ values[1].T, values[0].T @ g]
        if node.kind == "add":
            return [g, g.sum(axis=0)]
        if node.kind == "sigmoid":
            return [g * node.result * (1 - node.result)]
        if node.kind == "subtract":
            return [g, -g]
        if node.kind == "mean":
            return [np.full_like(values[0], g / values[0].size)]
        return [g * values[1], g * values[0]]


def statistic(tensor: int, what: What, value: Array | None, op: int, pass_: int, slot: int) -> tuple[float, ...]:
    """A stat record; of None if there is no gradient."""
    if value is None:
        return (tensor, op, pass_, what, slot, State.NONE, 0, *[0] * 6, *[np.nan] * 5, *[np.nan] * 3, 0)
    flat = np.asarray(value, "f8").ravel()
    finite = flat[np.isfinite(flat)]
    tiny = np.abs(finite)
    numbers = (
        [float(np.linalg.norm(finite)), finite.min(), finite.max(), finite.mean(), tiny.max()]
        if len(finite) else [np.nan] * 5
    )
    counts = (np.isnan(flat).sum(), (flat == np.inf).sum(), (flat == -np.inf).sum(), (finite == 0).sum(),
              ((tiny > 0) & (tiny < np.finfo("f4").tiny)).sum())
    return (tensor, op, pass_, what, slot, State.OK, 0, flat.size, *counts, *numbers, np.nan, np.nan, np.nan, 0)


def make_recording(path: Path, *, iterations: int = 20, layers: int = 4, width: int = 8, vanish: float = 0.1,
                   nan_at: int | None = None, ops_per_iteration: int | None = None, values: bool = True,
                   none_result: bool = False, status: str = "finished") -> Path:
    """Write a recording of a training and return its path.

    vanish: the gradient shrinks about this much per layer towards the input
    nan_at: in this iteration the root of a negative scale makes the loss NaN, and all weights from then on
    ops_per_iteration: instead of a real training, so many operations in each iteration with made-up statistics and no
    values, written a million a second
    none_result: one more variable, "unused", whose gradient is None
    """
    meta = {"script": "/home/you/train.py", "argv": ["--fast"], "cwd": "/home/you", "python": "3.11.9",
            "framework": "gradtape", "framework_version": "0.1.0", "level": "values" if values else "stats"}
    with Writer(path, meta) as writer:
        training = Training(writer, layers, width, vanish, nan_at, values and not ops_per_iteration, none_result)
        if ops_per_iteration:
            write_bulk(training, iterations, ops_per_iteration)
        else:
            for _ in range(iterations):
                training.iterate()
        writer.close(status)
    return path
