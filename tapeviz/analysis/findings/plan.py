"""The structure of what a gradient call walked through: layers, the signals between them, the longest way.

Two calls that ran the same operations in the same places have the same plan, so that a plan is made once and applied
to thousands of iterations by adding the number of an operation.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from tapeviz.analysis.findings import kinds
from tapeviz.analysis.findings.facts import Facts, Ints
from tapeviz.recording.schema import NONE, Status

LEAST_LEVELS = 4        # so many signals in a row before one speaks of depth
SHARED = 0.5            # a variable that feeds this share of the layers is one of a loop over time


@dataclass(frozen=True, slots=True)
class Hop:
    """One operation of the longest way through the layers: position in the plan, slot of the argument it came by."""

    node: int
    slot: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What a gradient call walked through; nodes are positions in its list of operations, in forward order.

    signals: per level (from the input on) the nodes whose output goes into a later layer
    way: the longest way, from the first layer to the last signal
    hops_of: for each pair of neighbouring levels the hops of the way between them
    variables: the variables that feed the layers on the way, level by level (the first of each)
    recurrent: the variable that feeds most of them, -1 if each has its own
    marks: what was counted: "layers" (linear maps by a weight) or "functions" (activations)
    level: per node, how many layers lie behind it
    """

    signals: tuple[tuple[int, ...], ...]
    way: tuple[Hop, ...]
    hops_of: tuple[tuple[Hop, ...], ...]
    variables: tuple[int, ...]
    recurrent: int
    marks: str
    level: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Gradient calls with one plan: their ids and, row by row, the operations that each walked through."""

    plan: Plan
    passes: Ints
    ops: Ints


class Planner:
    """Makes plans and remembers them by structure, so that a longer recording is looked at for what is new."""

    def __init__(self) -> None:
        self._plans: dict[bytes, Plan] = {}
        self._walks: dict[int, tuple[bytes, Ints]] = {}      # of gradient calls that have ended

    def groups(self, facts: Facts, passes: Ints) -> list[Group]:
        """The gradient calls, grouped by what they walked through."""
        found: dict[bytes, tuple[list[int], list[Ints]]] = {}
        for pass_ in passes.tolist():
            key, walked = self._walk(facts, pass_)
            if not len(walked):
                continue
            members = found.setdefault(key, ([], []))
            members[0].append(pass_)
            members[1].append(walked)
        return [Group(self._plans[key], np.array(ids, np.int64), np.stack(rows)) for key, (ids, rows) in found.items()]


    def _walk(self, facts: Facts, pass_: int) -> tuple[bytes, Ints]:
        known = self._walks.get(pass_)
        if known is None:
            every = facts.walked(pass_)
            walked = every[every < facts.op_count]
            known = (_signature(facts, walked) if len(walked) else b"", walked)
            if len(walked) and known[0] not in self._plans:
                self._plans[known[0]] = make_plan(facts, walked)
            if facts.passes["status"][pass_] != Status.RUNNING and len(walked) == len(every):
                self._walks[pass_] = known
        return known


def _signature(facts: Facts, walked: Ints) -> bytes:
    """What makes two walks alike: kinds, places, who feeds whom, and which variables."""
    ops = facts.ops[walked]
    inputs = ops["inputs"].astype(np.int64)
    known = inputs < len(facts.tensors)
    safe = np.where(known, inputs, 0)
    makers = facts.tensors["op"][safe].astype(np.int64)
    variables = facts.tensors["variable"][safe].astype(np.int64)
    position = np.searchsorted(walked, makers)
    within = (position < len(walked)) & (walked[np.minimum(position, len(walked) - 1)] == makers)
    code = np.where(within, position, np.where(variables != NONE, -2 - variables, -1))
    code = np.where(known, code, -1)
    return b"".join((ops["kind"].tobytes(), ops["loc"].tobytes(), code.tobytes(), _slices(facts, walked).tobytes()))


def _slices(facts: Facts, walked: Ints) -> Ints:
    """Per operation that takes a part of a variable, which part: numbers in the order in which parts first appear."""
    ops = facts.ops[walked]
    taking = np.isin(ops["kind"], [k for k, name in enumerate(facts.kind_names) if name == "getitem"])
    read = ops["inputs"][:, 0].astype(np.int64)
    of_variable = facts.tensors["variable"][np.where(read < len(facts.tensors), read, 0)] != NONE
    found = np.full(len(walked), -1, np.int64)
    at = np.flatnonzero(taking & of_variable & (read < len(facts.tensors)))
    _, first, same = np.unique(ops["attrs"][at], return_index=True, return_inverse=True)
    found[at] = np.argsort(np.argsort(first))[same]
    return found


def make_plan(facts: Facts, walked: Ints) -> Plan:
    """The plan of one gradient call."""
    graph = _Graph(facts, walked)
    best: Plan | None = None
    for marks, names in (("layers", kinds.LINEAR), ("layers", kinds.PRODUCT), ("functions", kinds.ACTIVATION)):
        plan = graph.plan(names, marks)
        if len(plan.signals) >= LEAST_LEVELS:
            return plan
        best = plan if best is None or max(plan.level) > max(best.level) else best
    return best or _EMPTY


_EMPTY = Plan((), (), (), (), -1, "layers", ())


class _Graph:
    """The walked operations as lists of inputs: (maker node or -1, variable or -1, slot).

    weight: per node, the variable of which it is but a form (a transposed, scaled or taken part), -1 for others
    part: per node of those, which part of the variable it is, -1 for the whole
    """

    def __init__(self, facts: Facts, walked: Ints) -> None:
        self.names = [facts.name_of(op) for op in walked.tolist()]
        position = {op: node for node, op in enumerate(walked.tolist())}
        self._slices = _slices(facts, walked).tolist()
        self._outputs: list[tuple[int, ...]] = []      # per input, which output of its maker it is
        self.inputs: list[list[tuple[int, int, int]]] = []
        self.reads_data: list[bool] = []      # more than one number that is neither a variable nor computed
        for op in walked.tolist():
            row, data = [], False
            places = []
            for slot, tensor in enumerate(facts.inputs(op)):
                if tensor < len(facts.tensors):
                    record = facts.tensors[tensor]
                    variable = int(record["variable"]) if record["variable"] != NONE else -1
                    maker = position.get(int(record["op"]), -1)
                    row.append((maker, variable, slot))
                    places.append(int(tensor) - int(facts.ops["output"][walked[maker]]) if maker >= 0 else 0)
                    data = data or (maker < 0 and variable < 0 and bool(facts.shape(tensor)))
            self.inputs.append(row)
            self._outputs.append(tuple(places))
            self.reads_data.append(data)
        self._find_weights()

    def _find_weights(self) -> None:
        """Which nodes are but a form of variables (a transposed or scaled weight), and of which one."""
        self.weight = [-1] * len(self.names)
        self.part: list[tuple[int, ...]] = [()] * len(self.names)
        for node, inputs in enumerate(self.inputs):
            sources = {variable if variable >= 0 else self.weight[maker] if maker >= 0 else -1
                       for maker, variable, _ in inputs if maker >= 0 or variable >= 0}
            mixes = self.names[node] in kinds.LINEAR or (self.names[node] in kinds.PRODUCT and len(sources) > 1)
            formed = self.names[node] in kinds.TRANSPARENT or not (mixes or self.reads_data[node])
            if sources and -1 not in sources and formed:
                self.weight[node] = min(sources)
                self.part[node] = next((self._part_of(node, k) for k, (maker, _, _) in enumerate(inputs)
                                        if maker >= 0), ()) + (
                    (self._slices[node],) if self._slices[node] >= 0 else ())

    def _part_of(self, node: int, k: int) -> tuple[int, ...]:
        """Which part of a variable the input number k of a node is: slices taken, and outputs of split and unstack."""
        maker, place = self.inputs[node][k][0], self._outputs[node][k]
        return () if maker < 0 else (*self.part[maker], place) if place else self.part[maker]

    def _weight_of(self, maker: int, variable: int) -> int:
        return variable if variable >= 0 else self.weight[maker] if maker >= 0 else -1

    def plan(self, names: frozenset[str], marks: str) -> Plan:
        """Count levels by the operations of these names and follow the signal."""
        count = len(self.names)
        level, came_from = [0] * count, [Hop(-1, 0)] * count
        layer_weight = [-1] * count
        layer_part: list[tuple[int, ...]] = [()] * count
        for node in range(count):
            if self.weight[node] >= 0:
                continue
            best, hop, weight, data = 0, Hop(-1, 0), -1, False
            part: tuple[int, ...] = ()
            of_weights = [self._weight_of(maker, variable) for maker, variable, _ in self.inputs[node]]
            weights_only = min(of_weights, default=-1) >= 0     # then what was computed last is the signal
            for k, ((maker, variable, slot), of) in enumerate(zip(self.inputs[node], of_weights, strict=True)):
                if of >= 0 and not (weights_only and variable < 0):
                    if weight < 0:
                        weight, part = of, self._part_of(node, k)
                    continue
                data = True
                if maker >= 0 and level[maker] >= best:
                    best, hop = level[maker], Hop(maker, slot)
            is_layer = self.names[node] in names and data and (weight >= 0 or marks == "functions")
            level[node] = best + is_layer
            came_from[node] = hop
            layer_weight[node], layer_part[node] = (weight, part) if is_layer else (-1, ())
        return self._collect(level, came_from, list(zip(layer_weight, layer_part, strict=True)), marks)

    def _collect(self, level: list[int], came_from: list[Hop], weights: list[tuple[int, tuple[int, ...]]],
                 marks: str) -> Plan:
        top = max(level, default=0)
        signals: list[list[int]] = [[] for _ in range(top + 1)]
        seen = set()
        for node, inputs in enumerate(self.inputs):
            for maker, _, _ in inputs:
                if maker >= 0 and self.weight[maker] < 0 and level[node] > level[maker] > 0 and maker not in seen:
                    seen.add(maker)
                    signals[level[maker]].append(maker)
        way, hops_of = self._way(level, came_from, top)
        used = [weights[hop.node] for hop in way if weights[hop.node][0] >= 0]
        variables = [variable for variable, _ in used]
        common = Counter(used).most_common(1)      # another part of the same variable is another weight
        shared = common and common[0][1] >= max(SHARED * len(variables), 2) and len(variables) >= LEAST_LEVELS - 1
        return Plan(tuple(tuple(nodes) for nodes in signals[1:top]), way, hops_of,
                    tuple(variables), common[0][0][0] if shared and common else -1, marks, tuple(level))

    def _way(self, level: list[int], came_from: list[Hop], top: int) -> tuple[
            tuple[Hop, ...], tuple[tuple[Hop, ...], ...]]:
        """The hops of the longest way, first layer first, and those that lie between neighbouring signals."""
        if top < 1:
            return (), ()
        node = level.index(top)
        back: list[Hop] = []
        while node >= 0 and level[node] >= 1:
            hop = came_from[node]
            back.append(Hop(node, hop.slot))
            node = hop.node
        way = tuple(reversed(back))
        between: list[list[Hop]] = [[] for _ in range(max(top - 1, 0))]
        for hop in way:
            if 1 < level[hop.node] <= top:
                between[level[hop.node] - 2].append(hop)
        return way, tuple(tuple(hops) for hops in between)
