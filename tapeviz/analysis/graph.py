"""The graph of one iteration: operations, variables and constants, what flowed forwards and what came back."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from tapeviz.analysis.magnitude import NOT_CAPTURED, Magnitude

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
    arrivals: how many contributions its gradient is the sum of
    cancelled: 1 - norm of the sum / sum of the norms, where there are several contributions
    members: op ids inside a group, in execution order
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
    arrivals: int = 0
    cancelled: float | None = None
    reachable: bool = False
    loss: bool = False
    members: tuple[int, ...] = ()


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
