"""From graphs to drawings that hold still: one layout per structure, and what grows never moves what stands."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from tapeviz.analysis.board import Board, Box
from tapeviz.analysis.graph import Graph, Node, NodeKind
from tapeviz.analysis.layout import LEAF_SIZE, OP_SIZE, Layout, beside_of, layered_layout

_KEPT = 32             # layouts of different structures
_FAMILIAR = 0.6        # share of boxes that must have a place already, or the drawing is laid out anew


def size_of(node: Node) -> tuple[float, float]:
    """Width and height of a box in px at 100 %."""
    return LEAF_SIZE if node.kind in (NodeKind.VARIABLE, NodeKind.CONSTANT) else OP_SIZE


def layout_of(graph: Graph) -> Layout:
    """The layout of a graph for itself."""
    sizes = [size_of(node) for node in graph.nodes]
    return layered_layout([w for w, _ in sizes], [h for _, h in sizes], _pairs(graph), leaf=_leaves(graph))


class Arranger:
    """Gives every graph its layout.

    A finished iteration is laid out once per structure.  An iteration that still grows takes the places that its
    boxes have in the last drawing (of the iteration before, as a rule); what is not there is added to it, and nothing
    that stands moves until the iteration is over.
    """

    def __init__(self) -> None:
        self._layouts: OrderedDict[bytes, Layout] = OrderedDict()
        self._board: Board | None = None
        self._last: tuple[Graph, Layout] | None = None

    def arrange(self, graph: Graph) -> Layout:
        """The layout of a graph; the same object for iterations of one structure."""
        known = self._layouts.get(graph.structure)
        if known is not None:
            self._layouts.move_to_end(graph.structure)
            layout = known
        elif graph.complete or not self._familiar(graph):
            layout = layout_of(graph)
            self._remember(graph, layout)
        else:
            layout = self._extend(graph)
        self._last = graph, layout
        return layout

    def _remember(self, graph: Graph, layout: Layout) -> None:
        if graph.complete:
            self._layouts[graph.structure] = layout
            if len(self._layouts) > _KEPT:
                self._layouts.popitem(last=False)
        self._board = None

    def _familiar(self, graph: Graph) -> bool:
        """Whether most boxes stand on the last drawing, with no edge between them that would have to go up."""
        if self._last is None or not graph.nodes or not self._last[0].nodes:
            return False
        if self._board is None:
            last, layout = self._last
            self._board = Board.of(layout, [node.key for node in last.nodes], _edge_keys(last))
        board, nodes = self._board, graph.nodes
        if sum(node.key in board for node in nodes) < _FAMILIAR * min(len(nodes), len(self._last[0].nodes)):
            return False
        return all(board.allows(nodes[edge.source].key, nodes[edge.target].key) for edge in graph.edges)

    def _extend(self, graph: Graph) -> Layout:
        board = self._board
        assert board is not None
        nodes = graph.nodes
        keys = [node.key for node in nodes]
        pairs = _pairs(graph)
        fresh = [i for i, key in enumerate(keys) if key not in board]
        if fresh:
            beside = beside_of(len(nodes), pairs, _leaves(graph))
            self._add(board, graph, fresh, beside, pairs)
        edge_keys = _edge_keys(graph)
        for key, (a, b) in zip(edge_keys, pairs, strict=True):
            board.connect(key, keys[a], keys[b])
        return board.layout(keys, edge_keys)

    def _add(self, board: Board, graph: Graph, fresh: Sequence[int], beside: Sequence[int],
             pairs: Sequence[tuple[int, int]]) -> None:
        nodes = graph.nodes
        sources: dict[int, list[int]] = {}
        for a, b in pairs:
            sources.setdefault(b, []).append(a)
        leaves: dict[int, list[int]] = {}
        for i in fresh:
            if beside[i] >= 0:
                leaves.setdefault(beside[i], []).append(i)
        for i in fresh:
            if beside[i] < 0:
                board.add(_box(nodes[i]), [_box(nodes[j]) for j in leaves.pop(i, [])],
                          [nodes[j].key for j in sources.get(i, ())])
        for owner, late in leaves.items():
            for i in late:
                board.add_beside(_box(nodes[i]), nodes[owner].key)


def _leaves(graph: Graph) -> list[bool]:
    """Which boxes may stand beside their consumer: parameters, and constants that join something computed.

    The first constant of an op that nothing computed flows into is where the network begins: it stands above.
    """
    computed = {e.target for e in graph.edges if graph.nodes[e.source].kind in (NodeKind.OP, NodeKind.GROUP)}
    leaf = [node.kind in (NodeKind.VARIABLE, NodeKind.CONSTANT) for node in graph.nodes]
    begun: set[int] = set()
    for edge in graph.edges:
        constant = graph.nodes[edge.source].kind is NodeKind.CONSTANT
        if constant and edge.target not in computed and edge.target not in begun:
            leaf[edge.source] = False
            begun.add(edge.target)
    return leaf


def _box(node: Node) -> Box:
    return Box(node.key, *size_of(node))


def _pairs(graph: Graph) -> list[tuple[int, int]]:
    return [(edge.source, edge.target) for edge in graph.edges]


def _edge_keys(graph: Graph) -> list[object]:
    nodes = graph.nodes
    return [(nodes[edge.source].key, nodes[edge.target].key, edge.slot) for edge in graph.edges]
