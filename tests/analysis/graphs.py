"""Graph objects without a recording, from the box kinds and edges of `shapes`."""

from __future__ import annotations

from tapeviz.analysis.graph import Edge, Graph, Node, NodeKind, structure_of
from tests.analysis.shapes import Builder


def graph_of(shape: Builder, upto: int | None = None, complete: bool = True, iteration: int = 0) -> Graph:
    """The graph of the first `upto` boxes; op ids are box numbers."""
    n = len(shape.leaf) if upto is None else upto
    nodes = [
        Node(("variable", v, -1), NodeKind.VARIABLE, f"W{v}", "[4]", None, v, v, reachable=True) if shape.leaf[v]
        else Node(("op", v, "op"), NodeKind.OP, f"op{v}", "[4]", v, v, step=n - v, reachable=True,
                  scope=(f"block{v // 50}",))
        for v in range(n)]
    edges = [Edge(a, b, a, slot) for slot, (a, b) in enumerate(shape.edges) if b < n]
    ops = {v: v for v in range(n) if not shape.leaf[v]}
    return Graph(iteration, 0, tuple(nodes), tuple(edges), 1.0, structure_of(nodes, edges), complete, ops,
                 {v: v for v in range(n)}, n)
