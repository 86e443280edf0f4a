"""The graph of one iteration: operations, variables and constants, what flowed forwards and what came back."""

from __future__ import annotations

import hashlib
import math
from bisect import bisect_right
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from tapeviz.analysis.format import shape_text
from tapeviz.analysis.index import PassIndex, is_over, main_pass, pass_index, remembered_of_iteration, shown_ops
from tapeviz.analysis.magnitude import NO_GRADIENT, NOT_CAPTURED, Magnitude, magnitude
from tapeviz.analysis.names import is_number, own_name, tensor_text
from tapeviz.analysis.reference import reference_of
from tapeviz.recording.reader import Recording
from tapeviz.recording.schema import NONE, OpFlag, Role, State, Status, What

HUB_CONSUMERS = 4      # a variable or constant with more consumers is drawn once per consumer


class NodeKind(Enum):
    """What a box of the drawing is."""

    OP = "op"
    VARIABLE = "variable"
    CONSTANT = "constant"
    GROUP = "group"


class StepState(Enum):
    """Where a node stands when the backward pass has been undone up to a step."""

    PENDING = 0        # nothing has arrived yet
    NEXT = 1           # something has arrived, the operation has not been undone yet
    CURRENT = 2
    DONE = 3
    UNREACHABLE = 4    # takes no part in this pass


@dataclass(frozen=True, slots=True)
class Node:
    """One box.

    key: says the same place in every iteration of the same structure: ("op", offset, kind), ("variable", id, use), ...
    label: "matmul", "sigmoid h8" (an op whose output has a name), "W9", "dense_1 ... z8"
    op, tensor, variable: ids in the recording; op is the op that made it, tensor the value it stands for
    gradient: of an op its output's cotangent, of a variable what the pass delivered to it (else its cotangent)
    step: the backward step that undoes the op, from 0; None when the pass does not undo it
    arrival_steps: the steps at which contributions to its gradient arrive, ascending
    cancelled: 1 - norm of the sum / sum of the norms, where there are several contributions
    failed: the op raised
    scope: the names of the scopes it ran in, outermost first
    members: op ids inside a group, in execution order; first_step: the first step that undoes one of them (step is the
    last)
    """

    key: tuple[object, ...]
    kind: NodeKind
    label: str
    shape: str
    op: int | None
    tensor: int | None
    variable: int | None = None
    gradient: Magnitude = NOT_CAPTURED
    value_norm: float = float("nan")
    pass_: int | None = None
    step: int | None = None
    arrival_steps: tuple[int, ...] = ()
    cancelled: float | None = None
    reachable: bool = False
    loss: bool = False
    failed: bool = False
    scope: tuple[str, ...] = ()
    members: tuple[int, ...] = ()
    first_step: int | None = None

    @property
    def arrivals(self) -> int:
        """How many contributions its gradient is the sum of."""
        return len(self.arrival_steps)


@dataclass(frozen=True, slots=True)
class Edge:
    """A tensor on its way from the node that made it into argument `slot` of another node.

    contribution: what came back along it; its sign is -1 when it points against the sum of what arrived before
    step: the backward step at which the contribution flows (the step that undoes the target's op)
    count: how many edges a bundled edge between groups stands for
    """

    source: int
    target: int
    tensor: int
    slot: int
    contribution: Magnitude = NOT_CAPTURED
    sign: int = 1
    step: int | None = None
    count: int = 1


@dataclass(frozen=True, slots=True)
class Graph:
    """Everything that the drawing of one iteration shows; nodes in execution order (leaves before their consumer).

    reference: what magnitudes are relative to (median gradient norm of the variables of this iteration)
    structure: equal for iterations whose drawings have the same boxes at the same places
    complete: whether the iteration is over, so that nothing will be added
    """

    iteration: int
    pass_: int | None
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    reference: float
    structure: bytes
    complete: bool
    node_of_op: dict[int, int] = field(repr=False)
    node_of_tensor: dict[int, int] = field(repr=False)
    steps: int = 0

    @property
    def sources(self) -> np.ndarray:
        """Index of the source node of every edge."""
        return np.fromiter((e.source for e in self.edges), dtype=np.intp, count=len(self.edges))

    @property
    def targets(self) -> np.ndarray:
        """Index of the target node of every edge."""
        return np.fromiter((e.target for e in self.edges), dtype=np.intp, count=len(self.edges))


@remembered_of_iteration
def build_graph(recording: Recording, iteration: int, pass_: int | None = None, *,
                backward: bool | None = None) -> Graph:
    """The graph of an iteration with the gradients of one pass (default: the main one of the iteration).

    backward: also show the operations that backward rules made while an outer tape listened; not said: if the pass
    undoes some of them.  What ran after the gradient call (the update of the variables) is left out.
    """
    if pass_ is None:
        pass_ = main_pass(recording, iteration)
    return _Builder(recording, iteration, pass_, backward).graph()


class _Builder:
    """Nodes and edges while they are collected, in execution order."""

    def __init__(self, recording: Recording, iteration: int, pass_: int | None, backward: bool | None) -> None:
        self.recording, self.iteration, self.pass_ = recording, iteration, pass_
        self.index: PassIndex | None = None if pass_ is None else pass_index(recording, pass_)
        self.reference = reference_of(recording, iteration)
        self.ops = shown_ops(recording, iteration, backward=backward)
        self.first = recording.ops_of(iteration).start
        self.over = pass_ is not None and int(recording.passes["status"][pass_]) != Status.RUNNING
        self.target = NONE if pass_ is None else int(recording.passes["target"][pass_])
        self.inputs = {op: recording.op_inputs(op) for op in self.ops}
        self.values = _value_norms(recording, iteration)
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self.node_of_op: dict[int, int] = {}
        self.node_of_tensor: dict[int, int] = {}
        self.scopes: dict[int, tuple[str, ...]] = {}
        self.sums: dict[int, tuple[tuple[int, ...], float | None]] = {}
        self.hubs = self._hubs()

    def graph(self) -> Graph:
        for op in self.ops:
            self._add_op(op)
        return Graph(self.iteration, self.pass_, tuple(self.nodes), tuple(self.edges), self.reference,
                     structure_of(self.nodes, self.edges), is_over(self.recording, self.iteration), self.node_of_op,
                     self.node_of_tensor, 0 if self.index is None else len(self.index.rows))

    def _hubs(self) -> set[int]:
        """Leaves with so many consumers that each gets a box of its own."""
        consumers: dict[int, int] = {}
        shown = set(self.ops)
        maker = self.recording.tensors["op"]
        for op in self.ops:
            for tensor in set(self.inputs[op]):
                if tensor < len(maker) and int(maker[tensor]) not in shown:
                    consumers[tensor] = consumers.get(tensor, 0) + 1
        return {tensor for tensor, n in consumers.items() if n > HUB_CONSUMERS}

    def _add_op(self, op: int) -> None:
        incoming: list[tuple[int, int, int | None]] = []
        for slot, tensor in enumerate(self.inputs[op]):
            source = self.node_of_tensor.get(tensor)
            if (source is None or tensor in self.hubs) and tensor < len(self.recording.tensors):
                own = any(tensor == t for _, t, s in incoming if s is not None)
                source = next(s for _, t, s in incoming if t == tensor) if own else self._add_leaf(op, slot, tensor)
            incoming.append((slot, tensor, source))
        node = len(self.nodes)
        self.nodes.append(self._op_node(op))
        self.node_of_op[op] = node
        for tensor in self.recording.op_outputs(op):
            self.node_of_tensor[tensor] = node
        for slot, tensor, source in incoming:
            if source is not None:
                self.edges.append(self._edge(source, node, tensor, slot, op))

    def _add_leaf(self, op: int, slot: int, tensor: int) -> int | None:
        """A box for an input that no shown op made; None for plain scalars, which fold into the op's label."""
        row = self.recording.tensors[tensor]
        shape = self.recording.shape(int(row["shape"]))
        name = own_name(self.recording, tensor)
        variable = int(row["variable"]) if int(row["variable"]) != NONE else None
        plain = int(row["role"]) == Role.CONSTANT and math.prod(shape) == 1 and (not name or is_number(name))
        if plain and not self._is_source(tensor):
            return None
        offset = op - self.first
        what: int | tuple[int, int] = variable if variable is not None else (offset, slot)
        use = offset if tensor in self.hubs else -1
        gradient, arrivals, cancelled = self._arrived(tensor, self._delivered(tensor, variable))
        kind = NodeKind.VARIABLE if variable is not None else NodeKind.CONSTANT
        node = len(self.nodes)
        self.nodes.append(Node(
            (kind.value, what, use), kind, name or tensor_text(self.recording, tensor), shape_text(shape), None, tensor,
            variable, gradient, self.values.get(tensor, math.nan), self.pass_, None, arrivals, cancelled,
            self.index is None or bool(arrivals)))
        if tensor not in self.hubs:
            self.node_of_tensor[tensor] = node
        return node

    def _is_source(self, tensor: int) -> bool:
        """Whether the pass was asked for the gradient of this tensor."""
        return self.index is not None and bool((self.index.results["tensor"] == tensor).any())

    def _op_node(self, op: int) -> Node:
        recording = self.recording
        name = recording.op_name(op)
        outputs = recording.op_outputs(op)
        tensor = outputs[0] if outputs else None
        step = None if self.index is None else self.index.step_of.get(op)
        gradient, cancelled = NOT_CAPTURED, None
        arrivals: tuple[int, ...] = ()
        for output in outputs:
            size, here, lost = self._arrived(output, self._cotangent(op, output))
            if not gradient.known or output == self.target:
                gradient, cancelled = size, lost
            arrivals = tuple(sorted((*arrivals, *here)))
        called = own_name(recording, tensor) if tensor is not None else ""
        return Node(
            ("op", op - self.first, name), NodeKind.OP, self._label(op, name, called),
            shape_text(recording.shape(int(recording.tensors["shape"][tensor])) if tensor is not None else None),
            op, tensor, None, gradient, math.nan if tensor is None else self.values.get(tensor, math.nan), self.pass_,
            step, arrivals, cancelled, self.index is None or step is not None or (bool(arrivals) and not self.over),
            self.target != NONE and self.target in outputs, bool(int(recording.ops["flags"][op]) & OpFlag.FAILED),
            self._scope(int(recording.ops["scope"][op])))

    def _scope(self, number: int) -> tuple[str, ...]:
        if number not in self.scopes:
            scope = self.recording.scope(number)
            self.scopes[number] = () if scope is None else (
                *(self._scope(scope.parent) if scope.parent != number else ()), scope.name)
        return self.scopes[number]

    def _label(self, op: int, name: str, called: str) -> str:
        """"sigmoid h8"; a scalar operand that has no box of its own is part of the label: "power 2"."""
        scalars = []
        for tensor in self.inputs[op]:
            if tensor >= len(self.recording.tensors):
                continue
            row = self.recording.tensors[tensor]
            if tensor not in self.node_of_tensor and tensor not in self.hubs and int(row["role"]) == Role.CONSTANT:
                written = own_name(self.recording, tensor)
                number = written if is_number(written) else _scalar_text(self.recording.stat(tensor, What.VALUE))
                if number:
                    scalars.append(number)
        return " ".join([name, *scalars, *([called.rsplit("/", 1)[-1]] if called else [])])

    def _edge(self, source: int, target: int, tensor: int, slot: int, op: int) -> Edge:
        if self.index is None or op not in self.index.step_of:
            return Edge(source, target, tensor, slot, NO_GRADIENT if self.over else NOT_CAPTURED)
        stat = self.index.contribution.get((op, slot))
        flows = (op, slot) in self.index.received.get(tensor, ())
        size = magnitude(stat, self.reference) if flows or stat is not None else NO_GRADIENT
        sign = -1 if stat is not None and float(stat["cosine"]) < 0 else 1
        return Edge(source, target, tensor, slot, size, sign, self.index.step_of[op] if flows else None)

    def _cotangent(self, op: int, tensor: int) -> Magnitude:
        if self.index is None:
            return NOT_CAPTURED
        stat = self.index.cotangent.get(tensor)
        if stat is not None:
            return magnitude(stat, self.reference)
        return NO_GRADIENT if self.over and op not in self.index.step_of else NOT_CAPTURED

    def _delivered(self, tensor: int, variable: int | None) -> Magnitude:
        """What the pass returned for a leaf."""
        if self.index is None:
            return NOT_CAPTURED
        for row in self.index.results:
            if (variable is not None and int(row["variable"]) == variable) or int(row["tensor"]) == tensor:
                if int(row["state"]) == State.NONE:
                    return NO_GRADIENT
                return magnitude(self.index.delivered.get(int(row["tensor"])), self.reference)
        stat = self.index.cotangent.get(tensor)
        if stat is not None:
            return magnitude(stat, self.reference)
        flows = self.index.received.get(tensor, [])
        # no source of the call, but a single contribution is the whole gradient
        return magnitude(self.index.contribution.get(flows[0]), self.reference) if len(flows) == 1 else (
            NO_GRADIENT if self.over and not flows else NOT_CAPTURED)

    def _arrived(self, tensor: int, total: Magnitude) -> tuple[Magnitude, tuple[int, ...], float | None]:
        """The gradient, the steps at which its contributions arrive, and which share of them cancelled."""
        if self.index is None:
            return total, (), None
        if tensor not in self.sums:      # a hub has many boxes: adding up for each would take quadratic time
            flows = self.index.received.get(tensor, [])
            steps = tuple(self.index.step_of[op] for op, _ in flows if op in self.index.step_of)
            self.sums[tensor] = steps, cancellation(total.norm, [self._norm(flow) for flow in flows])
        return (total, *self.sums[tensor])

    def _norm(self, flow: tuple[int, int]) -> float:
        stat = self.index.contribution.get(flow) if self.index is not None else None
        return math.nan if stat is None else float(stat["l2"])


def cancellation(total: float, parts: list[float]) -> float | None:
    """1 - norm of the sum / sum of the norms, for two contributions or more; None where it is not known."""
    whole = sum(parts)
    if len(parts) < 2 or not math.isfinite(total) or not math.isfinite(whole) or whole <= 0:
        return None
    return min(1.0, max(0.0, 1 - total / whole))


def structure_of(nodes: list[Node], edges: list[Edge]) -> bytes:
    """A hash of everything that decides where boxes stand: their kinds and edges."""
    kinds = "".join(node.kind.value[0] for node in nodes)
    joined = np.fromiter((i for e in edges for i in (e.source, e.target)), dtype="<u4", count=2 * len(edges))
    return hashlib.blake2b(kinds.encode() + b"|" + joined.tobytes(), digest_size=16).digest()


def _value_norms(recording: Recording, iteration: int) -> dict[int, float]:
    stats = recording.stats_of(What.VALUE, iteration=iteration)
    return dict(zip(stats["tensor"].tolist(), stats["l2"].tolist(), strict=True))


def _scalar_text(stat: Any) -> str:
    """The value of a one-element tensor from its statistics, as short as it can be said."""
    return "" if stat is None or not math.isfinite(float(stat["mean"])) else f"{float(stat['mean']):.3g}"


def step_states(graph: Graph, step: int | None) -> tuple[list[StepState], np.ndarray]:
    """State of every node, and how many contributions have reached it, when the pass stands at `step`.

    The step itself has happened: what it contributes has arrived.  None: the whole pass has.
    """
    at = graph.steps if step is None else step
    # not from the edges: of a variable with a box per use each box has one, but the gradient is that of all uses
    arrived = np.fromiter((bisect_right(node.arrival_steps, at) for node in graph.nodes), np.intp, len(graph.nodes))
    return [_state(node, int(n), at) for node, n in zip(graph.nodes, arrived, strict=True)], arrived


def _state(node: Node, arrived: int, at: int) -> StepState:
    if not node.reachable:
        return StepState.UNREACHABLE
    if node.step is None:
        if node.kind is NodeKind.OP or node.pass_ is None or not arrived:
            return StepState.PENDING
        return StepState.DONE if arrived >= node.arrivals else StepState.NEXT
    if node.step < at:
        return StepState.DONE
    if node.step == at or (node.first_step is not None and node.first_step <= at):
        return StepState.CURRENT
    return StepState.NEXT if arrived or node.loss else StepState.PENDING
