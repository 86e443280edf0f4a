"""Edges of the graph end at boxes and part where they must; culling finds what is there."""

from __future__ import annotations

import numpy as np
import pytest

from tapeviz.analysis.arrange import layout_of
from tapeviz.analysis.graph import Edge, Graph, Node, NodeKind
from tapeviz.analysis.magnitude import of_norm
from tapeviz.gui.graph.geometry import Geometry
from tapeviz.gui.graph.routes import TWIN_PITCH
from tapeviz.gui.graph.view import View, fitting, opening


def graph_of(kinds: str, pairs: list[tuple[int, int]], norm: float = 1e-2) -> Graph:
    """A graph whose boxes are operations (o), variables (v) and constants (c); the last operation is the loss."""
    names = {"o": NodeKind.OP, "v": NodeKind.VARIABLE, "c": NodeKind.CONSTANT}
    ops = [i for i, kind in enumerate(kinds) if kind == "o"]
    step = {op: len(ops) - 1 - at for at, op in enumerate(ops)}
    arriving: list[list[int]] = [[] for _ in kinds]
    for a, b in pairs:
        arriving[a].append(step[b])
    nodes = tuple(
        Node((kind, i), names[kind], f"{kind}{i}", "[4,5]", i if kind == "o" else None, i, None, of_norm(norm, 1e-2),
             1.0, 0, step.get(i), tuple(sorted(arriving[i])), None, True, i == ops[-1]) for i, kind in enumerate(kinds))
    edges = tuple(Edge(a, b, a, slot, of_norm(norm, 1e-2), 1, step.get(b)) for slot, (a, b) in enumerate(pairs))
    return Graph(0, 0, nodes, edges, 1e-2, bytes(str((kinds, pairs)), "ascii"), True,
                 {i: i for i in ops}, {i: i for i in range(len(kinds))}, len(ops))


def wide_graph(blocks: int, seed: int = 0) -> Graph:
    """Blocks of six parallel branches that are added up, as in a residual network; about 22 boxes per block."""
    rng = np.random.default_rng(seed)
    kinds, pairs = "co", [(0, 1)]
    last = 1
    for _ in range(blocks):
        ends = []
        for branch in range(6):
            at = len(kinds)
            kinds += "vooo" if branch % 2 else "voo"
            pairs += [(at, at + 1), (last, at + 1), (at + 1, at + 2)]
            if branch % 2:
                pairs += [(at + 2, at + 3), (last, at + 3)]
            ends.append(len(kinds) - 1)
        for end in (*ends[1:], last):
            pairs += [(ends[0], len(kinds)), (end, len(kinds))]
            ends[0] = len(kinds)
            kinds += "o"
        last = ends[0]
    return graph_of(kinds, pairs, float(10 ** rng.normal(-2, 1)))


def geometry_of(graph: Graph) -> Geometry:
    return Geometry(graph, layout_of(graph))


def test_edges_leave_and_arrive_at_the_border_of_their_boxes() -> None:
    geometry = geometry_of(wide_graph(3))
    pieces = geometry.pieces
    down = ~pieces.beside
    source, target = geometry.sources[down], geometry.targets[down]
    np.testing.assert_allclose(pieces.start_y[down], geometry.top[source] + geometry.height[source])
    np.testing.assert_allclose(pieces.end_y[down], geometry.top[target])
    assert (np.abs(pieces.start_x[down] - geometry.x[source]) < geometry.width[source] / 2).all()
    assert (np.abs(pieces.end_x[down] - geometry.x[target]) < geometry.width[target] / 2).all()
    source, target = geometry.sources[~down], geometry.targets[~down]
    np.testing.assert_allclose(pieces.start_x[~down], geometry.left[source] + geometry.width[source])
    np.testing.assert_allclose(pieces.end_x[~down], geometry.left[target])


def test_a_chain_is_joined_by_vertical_edges() -> None:
    pieces = geometry_of(graph_of("ooo", [(0, 1), (1, 2)])).pieces
    np.testing.assert_array_equal(pieces.x1, pieces.x2)


def test_one_tensor_used_twice_by_an_operation_gives_two_edges_apart() -> None:
    pieces = geometry_of(graph_of("oo", [(0, 1), (0, 1)])).pieces
    assert np.ptp(pieces.start_x) == TWIN_PITCH
    assert np.ptp(pieces.end_x) == TWIN_PITCH


def test_edges_to_one_side_leave_by_different_ports() -> None:
    geometry = geometry_of(graph_of("ooooo", [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)]))
    leaving = geometry.sources == 0
    assert len(set(geometry.pieces.start_x[leaving].round(3))) == 3


def test_pieces_of_an_edge_are_one_line() -> None:
    geometry = geometry_of(wide_graph(2))
    pieces = geometry.pieces
    for edge in range(len(geometry.sources)):
        of_edge = np.flatnonzero(pieces.edge == edge)
        if not pieces.portal[edge]:
            np.testing.assert_array_equal(pieces.x1[of_edge][1:], pieces.x2[of_edge][:-1])
            np.testing.assert_array_equal(pieces.y1[of_edge][1:], pieces.y2[of_edge][:-1])
        assert pieces.x2[pieces.last[edge]] == pieces.end_x[edge]


@pytest.mark.parametrize("rect", [(0, 0, 300, 300), (500, 900, 1200, 1300), (-50, -50, -1, -1), (-1e6, -1e6, 1e6, 1e6)])
def test_culling_finds_exactly_the_boxes_in_a_rectangle(rect: tuple[float, float, float, float]) -> None:
    geometry = geometry_of(wide_graph(4))
    left, top, right, bottom = rect
    inside = ((geometry.left <= right) & (geometry.left + geometry.width >= left)
              & (geometry.top <= bottom) & (geometry.top + geometry.height >= top))
    assert sorted(geometry.boxes_in(*rect).tolist()) == np.flatnonzero(inside).tolist()
    pieces = geometry.pieces
    touching = ((np.minimum(pieces.y1, pieces.y2) <= bottom) & (np.maximum(pieces.y1, pieces.y2) >= top)
                & (np.minimum(pieces.x1, pieces.x2) <= right) & (np.maximum(pieces.x1, pieces.x2) >= left))
    assert set(np.flatnonzero(touching)) <= set(pieces.within(*rect).tolist())


def test_the_box_under_a_point() -> None:
    geometry = geometry_of(wide_graph(1))
    for box in range(len(geometry)):
        assert geometry.box_at(float(geometry.x[box]), float(geometry.y[box])) == box
    assert geometry.box_at(-100.0, -100.0) is None


def test_zooming_keeps_the_point_under_the_mouse() -> None:
    view = View(0.8, 100.0, -40.0)
    before = view.to_scene(300, 200)
    assert view.zoomed(1.7, 300, 200).to_scene(300, 200) == pytest.approx(before)


def test_fitting_shows_everything_and_opening_shows_the_end_of_a_long_graph() -> None:
    bounds = (0.0, 0.0, 300.0, 5000.0)
    fitted = fitting(bounds, 800, 600, 1.0)
    left, top, right, bottom = fitted.rect(800, 600)
    assert max(left, top) <= 0
    assert right >= 300
    assert bottom >= 5000
    first = opening(bounds, 800, 600, 1.0)
    assert first.scale == 1.0
    assert first.rect(800, 600)[3] == pytest.approx(5024.0)
