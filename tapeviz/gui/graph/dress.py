"""What one iteration at one backward step puts on the boxes and edges: colours, states, texts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from tapeviz.analysis.format import TRUE_MINUS, percent, plural, sci
from tapeviz.analysis.graph import Graph, Node, NodeKind, StepState, step_states
from tapeviz.analysis.magnitude import BINS, Magnitude, Special, severity

HOLLOW = -1                       # nothing known: no fill
_SPECIAL = len(BINS)              # codes 0..8 are bins, from here on special values
CANCELLED = 0.5                   # from this share on a box says so


class Direction(Enum):
    """Which half of the drawing is shown."""

    FORWARD = 0
    BOTH = 1
    BACKWARD = 2


def code_of(size: Magnitude) -> int:
    """One number for a bin or a special value; HOLLOW for what is not known."""
    if size.special is Special.NOT_CAPTURED:
        return HOLLOW
    if size.special is not None:
        return _SPECIAL + int(size.special.value)
    return int(size.bin or 0) + len(BINS) // 2


def special_of_code(code: int) -> Special | None:
    return Special(code - _SPECIAL) if code >= _SPECIAL else None


def _severities() -> NDArray[np.int16]:
    table = np.full(_SPECIAL + max(s.value for s in Special) + 2, -30, np.int16)
    for bin_ in BINS:
        table[bin_ + len(BINS) // 2 + 1] = severity(bin_)
    for special in Special:
        table[_SPECIAL + special.value + 1] = severity(special)
    return table


SEVERITY = _severities()          # indexed by code + 1: what is drawn last where boxes share a pixel


@dataclass(frozen=True)
class Dress:
    """Arrays per box and per edge.

    code, state, arrived: per box; edge_code, edge_width, edge_state (PENDING, DONE or CURRENT): per edge;
    pills: edges whose contribution is named; current: the box of the current step, -1 when there is none
    """

    graph: Graph
    step: int | None
    direction: Direction
    code: NDArray[np.int8]
    state: NDArray[np.int8]
    arrived: NDArray[np.intp]
    edge_code: NDArray[np.int8]
    edge_width: NDArray[np.float64]
    edge_state: NDArray[np.int8]
    negative: NDArray[np.bool_]
    pills: frozenset[int]
    current: int

    def faded(self, box: int) -> bool:
        """Whether a box takes no part in the pass and need not be seen."""
        node = self.graph.nodes[box]
        return (int(self.state[box]) == StepState.UNREACHABLE.value and self.direction is not Direction.FORWARD
                and node.pass_ is not None and not _is_none(node))

    # --- texts, asked for what is on screen only -----------------------------------------------

    def band_text(self, box: int) -> str:
        """"grad 4.3e-1", "pending", "norm 3.8e0" in the forward direction."""
        node = self.graph.nodes[box]
        leaf = node.kind in (NodeKind.VARIABLE, NodeKind.CONSTANT)
        if self.direction is Direction.FORWARD:
            if not math.isfinite(node.value_norm):
                return "" if math.isnan(node.value_norm) else sci(node.value_norm)
            return sci(node.value_norm) if leaf else f"norm {sci(node.value_norm)}"
        state = StepState(int(self.state[box]))
        if state is StepState.UNREACHABLE:
            return node.gradient.text if _is_none(node) else "no gradient"
        if self.code[box] == HOLLOW:
            if state is StepState.PENDING:
                return "pending" if node.pass_ is not None else ""
            if state is not StepState.NEXT:
                return "not captured"
            return f"{int(self.arrived[box])} of {node.arrivals}" if leaf else "arriving"
        special = special_of_code(int(self.code[box]))
        if special in (Special.NAN, Special.POSINF, Special.NEGINF):
            return node.gradient.text
        return node.gradient.text if leaf else f"grad {node.gradient.text}"

    def side_text(self, box: int) -> str:
        """"1 of 2" at a fan-in."""
        node = self.graph.nodes[box]
        if self.direction is Direction.FORWARD or node.arrivals < 2 or node.kind is NodeKind.GROUP:
            return ""
        if not self.arrived[box]:
            return ""
        return f"{int(self.arrived[box])} of {node.arrivals}"

    def corner_text(self, box: int) -> str:
        """The shape, or how many operations a group holds."""
        node = self.graph.nodes[box]
        return plural(len(node.members), "op") if node.kind is NodeKind.GROUP else node.shape

    def pill_text(self, edge: int) -> str:
        """"+ 3.4e-1" of a contribution."""
        one = self.graph.edges[edge]
        return f"{TRUE_MINUS if one.sign < 0 else '+'} {one.contribution.text}"

    def cancelled_text(self, box: int) -> str:
        node = self.graph.nodes[box]
        if node.cancelled is None or node.cancelled <= CANCELLED or self.direction is Direction.FORWARD:
            return ""
        if self.arrived[box] < node.arrivals:
            return ""
        return f"cancelled {percent(node.cancelled)}"

    def describe(self, box: int) -> str:
        """The box in words, for tooltip and screen reader."""
        node: Node = self.graph.nodes[box]
        lines = [f"{node.label}  {node.shape}".rstrip()]
        if node.kind is NodeKind.GROUP:
            lines = [f"{node.label}: {plural(len(node.members), 'operation')}, double click unfolds it"]
        elif node.kind is NodeKind.OP and node.step is not None:
            lines.append(f"undone by backward step {node.step + 1} of {self.graph.steps}")
        if math.isfinite(node.value_norm):
            lines.append(f"value norm {sci(node.value_norm)}")
        state = StepState(int(self.state[box]))
        if state is StepState.UNREACHABLE:
            lines.append("takes no part in this backward pass")
        elif state is StepState.PENDING:
            lines.append("gradient pending" if node.pass_ is not None else "no backward pass yet")
        else:
            lines.append(f"gradient norm {node.gradient.text}")
        if node.arrivals > 1:
            lines.append(f"{int(self.arrived[box])} of {node.arrivals} contributions have arrived")
        if node.cancelled is not None and node.arrivals > 1:
            lines.append(f"{percent(node.cancelled)} of them cancelled")
        return "\n".join(lines)


def dress(graph: Graph, step: int | None, direction: Direction) -> Dress:
    """Clothe a graph that stands at backward step `step` (None: the whole pass is over)."""
    states, arrived = step_states(graph, step)
    state = np.fromiter((s.value for s in states), np.int8, len(states))
    code = np.fromiter((code_of(node.gradient) for node in graph.nodes), np.int8, len(graph.nodes))
    partly = (state == StepState.NEXT.value) & (arrived < np.fromiter(
        (node.arrivals for node in graph.nodes), np.intp, len(graph.nodes)))
    # a parameter without gradient is what one looks for: it says None, where data only fade
    asked = np.fromiter((_is_none(node) for node in graph.nodes), bool, len(graph.nodes))
    code[(state == StepState.PENDING.value) | ((state == StepState.UNREACHABLE.value) & ~asked) | partly] = HOLLOW
    if direction is Direction.FORWARD:
        code[:] = HOLLOW
    at = graph.steps if step is None else step
    count = len(graph.edges)
    steps = np.fromiter((-1 if e.step is None else e.step for e in graph.edges), np.int64, count)
    flown = (steps >= 0) & (steps <= at)
    edge_code = np.fromiter((code_of(e.contribution) for e in graph.edges), np.int8, count)
    edge_code[~flown] = HOLLOW
    norms = np.fromiter((e.contribution.norm for e in graph.edges), np.float64, count)
    edge_state = np.where(steps < 0, StepState.UNREACHABLE.value,
                          np.where(steps > at, StepState.PENDING.value,
                                   np.where((steps == at) & (step is not None), StepState.CURRENT.value,
                                            StepState.DONE.value))).astype(np.int8)
    pills = frozenset() if direction is Direction.FORWARD else frozenset(
        i for i, e in enumerate(graph.edges) if flown[i] and graph.nodes[e.source].arrivals > 1
        and graph.nodes[e.source].kind is not NodeKind.GROUP)
    current = np.flatnonzero(state == StepState.CURRENT.value)
    return Dress(graph, step, direction, code, state, arrived, edge_code, _width(norms), edge_state,
                 np.fromiter((e.sign < 0 for e in graph.edges), bool, count), pills,
                 int(current[0]) if len(current) and step is not None else -1)


def _is_none(node: Node) -> bool:
    return node.kind is NodeKind.VARIABLE and node.gradient.special is Special.NONE


def _width(norms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pixels of a backward edge: 1.1 per decade around 1e-3, between 1.5 and 6."""
    with np.errstate(divide="ignore", invalid="ignore"):
        width = 1.5 + 1.1 * (np.log10(norms) + 3)
    return np.clip(np.nan_to_num(width, nan=1.5, posinf=6.0, neginf=1.5), 1.5, 6.0)
