"""Large graphs on a small screen: stretches of operations that belong together become one box each.

A stretch is a run of operations that were executed one after another, so a folded graph has no cycles.  Stretches
follow the scopes of the program where there are any.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from tapeviz.analysis.graph import Edge, Graph, Node, NodeKind, structure_of
from tapeviz.analysis.magnitude import NOT_CAPTURED, worst

LIMIT = 1500           # boxes that can be laid out and taken in


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Ops (numbers of nodes) that are folded together; `key` says the same stretch in every iteration."""

    key: tuple[object, ...]
    scope: str
    ops: tuple[int, ...]


def fold(graph: Graph, limit: int = LIMIT, opened: Collection[tuple[object, ...]] = (),
         around: int | None = None) -> Graph:
    """A graph with at most about `limit` boxes; unchanged if it has no more than that.

    opened: keys of groups that are to be shown in full, whatever the limit says
    around: an op whose surroundings are shown in full first; then the stretches before the loss, while there is room
    """
    if len(graph.nodes) <= limit:
        return graph
    stretches = _stretches(graph, limit)
    shown = _opened(graph, stretches, limit, opened, around)
    return _folded(graph, [s for s in stretches if s.key not in shown])


def _stretches(graph: Graph, limit: int) -> list[_Stretch]:
    """Runs of ops in one outermost scope; too long ones are cut, and if there are too many, neighbours are joined."""
    ops = [i for i, node in enumerate(graph.nodes) if node.kind is NodeKind.OP]
    longest = max(8, limit // 8)
    runs: list[list[int]] = []
    for i in ops:
        scope = graph.nodes[i].scope[:1]
        if runs and graph.nodes[runs[-1][-1]].scope[:1] == scope:
            runs[-1].append(i)
        else:
            runs.append([i])
    pieces: list[list[int]] = []
    for run in runs:
        parts = math.ceil(len(run) / longest)
        pieces.extend(run[len(run) * p // parts:len(run) * (p + 1) // parts] for p in range(parts))
    least = len(ops) // max(1, limit // 4)
    joined: list[list[int]] = []
    for piece in pieces:
        if joined and len(joined[-1]) + len(piece) <= least:
            joined[-1].extend(piece)
        else:
            joined.append(piece)
    return [_stretch(graph, run) for run in joined]


def _stretch(graph: Graph, run: list[int]) -> _Stretch:
    scopes = {graph.nodes[i].scope[:1] for i in run}
    scope = next(iter(scopes))[0] if len(scopes) == 1 and next(iter(scopes)) else ""
    return _Stretch(("group", graph.nodes[run[0]].key[1], graph.nodes[run[-1]].key[1]), scope, tuple(run))


def _opened(graph: Graph, stretches: Sequence[_Stretch], limit: int, asked: Collection[tuple[object, ...]],
            around: int | None) -> set[tuple[object, ...]]:
    """Keys of the stretches that are shown in full."""
    shown = {s.key for s in stretches if s.key in asked}
    leaves = max(1, len(graph.nodes) // max(1, sum(len(s.ops) for s in stretches)))
    room = limit - len(stretches) - sum(len(s.ops) * leaves for s in stretches if s.key in shown)
    here = graph.node_of_op.get(around) if around is not None else None
    order = sorted(range(len(stretches)), key=lambda i: (here is None or here not in stretches[i].ops, -i))
    for i in order:
        stretch = stretches[i]
        need = len(stretch.ops) * (leaves + 1)
        if stretch.key in shown:
            continue
        if need > room:
            break
        shown.add(stretch.key)
        room -= need
    # a group of one is no group
    return shown | {s.key for s in stretches if len(s.ops) == 1}


def _folded(graph: Graph, folded: Sequence[_Stretch]) -> Graph:
    group_of = {i: number for number, stretch in enumerate(folded) for i in stretch.ops}
    consumers: dict[int, list[int]] = {}
    for edge in graph.edges:
        if graph.nodes[edge.source].kind in (NodeKind.VARIABLE, NodeKind.CONSTANT):
            consumers.setdefault(edge.source, []).append(group_of.get(edge.target, -1))
    # leaves that only groups read are hidden in the first of them, and with them the edges to the others
    hidden = {leaf: min(groups) for leaf, groups in consumers.items() if -1 not in groups}
    group_of.update(hidden)
    nodes: list[Node] = []
    number: dict[int, int] = {}
    place: dict[int, int] = {}
    for i, node in enumerate(graph.nodes):
        group = group_of.get(i)
        if group is None:
            number[i] = len(nodes)
            nodes.append(node)
        elif i == folded[group].ops[-1]:
            # a group stands where its last op stood: every leaf that it shares with others comes before it
            place[group] = len(nodes)
            nodes.append(_group_node(graph, folded[group]))
    number.update({i: place[group] for i, group in group_of.items()})
    edges = _bundled([e for e in graph.edges if e.source not in hidden], number, set(place.values()))
    return replace(
        graph, nodes=tuple(nodes), edges=tuple(edges), structure=structure_of(nodes, edges),
        node_of_op={op: number[i] for op, i in graph.node_of_op.items()},
        node_of_tensor={tensor: number[i] for tensor, i in graph.node_of_tensor.items()})


def _group_node(graph: Graph, stretch: _Stretch) -> Node:
    members = [graph.nodes[i] for i in stretch.ops]
    first, last = members[0], members[-1]
    label = stretch.scope or f"{first.label} \u2026 {last.label}"
    steps = [node.step for node in members if node.step is not None]
    sizes = [node.gradient for node in members if node.reachable]
    return Node(
        stretch.key, NodeKind.GROUP, label, last.shape, last.op, last.tensor, scope=first.scope[:1],
        gradient=worst(sizes) if sizes else NOT_CAPTURED, value_norm=last.value_norm, pass_=last.pass_,
        step=max(steps, default=None), first_step=min(steps, default=None), arrival_steps=last.arrival_steps,
        cancelled=last.cancelled, reachable=any(node.reachable for node in members),
        loss=any(node.loss for node in members), members=tuple(node.op for node in members if node.op is not None))


def _bundled(edges: Sequence[Edge], number: dict[int, int], groups: Collection[int]) -> list[Edge]:
    """Edges between the boxes that are left; parallel ones at a group become one, with the worst that flowed back."""
    bundles: dict[tuple[int, int, int], list[Edge]] = {}
    for edge in edges:
        a, b = number[edge.source], number[edge.target]
        if a != b:
            bundles.setdefault((a, b, -1 if a in groups or b in groups else edge.slot), []).append(edge)
    result = []
    for (a, b, _), same in bundles.items():
        steps = [edge.step for edge in same if edge.step is not None]
        result.append(replace(
            same[0], source=a, target=b, contribution=worst([edge.contribution for edge in same]),
            sign=same[0].sign if len(same) == 1 else 1, step=max(steps, default=None), count=len(same)))
    return result
