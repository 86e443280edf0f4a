"""Drawings that hold still: shared by iterations of one structure, and growing without moving anything."""

from __future__ import annotations

import time

import numpy as np
import pytest

from tapeviz.analysis.arrange import Arranger, layout_of
from tapeviz.analysis.graph import NodeKind, build_graph
from tests.analysis.graphs import graph_of
from tests.analysis.shapes import Builder, mlp, recurrent, scattered, transformer
from tests.analysis.test_layout import overlapping

SHAPES = {"mlp": mlp(12), "recurrent": recurrent(25), "transformer": transformer(3), "scattered": scattered(300, 4)}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_appended_boxes_never_move_a_placed_one(shape):
    arranger = Arranger()
    before = None
    for upto in range(20, len(shape.leaf) + 1, 17):
        layout = arranger.arrange(graph_of(shape, upto, complete=False))
        if before is not None:
            np.testing.assert_array_equal(layout.x[:len(before.x)], before.x)
            np.testing.assert_array_equal(layout.y[:len(before.y)], before.y)
        assert overlapping(layout) == []
        before = layout


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_edges_of_a_grown_drawing_still_go_down_and_past_boxes(shape):
    arranger = Arranger()
    for upto in range(30, len(shape.leaf) + 1, 30):
        graph = graph_of(shape, upto, complete=False)
        layout = arranger.arrange(graph)
    left, right = layout.x - layout.width / 2, layout.x + layout.width / 2
    top, bottom = layout.y - layout.height / 2, layout.y + layout.height / 2
    for e, edge in enumerate(graph.edges):
        if layout.beside[edge.source] != edge.target:
            assert layout.layer[edge.source] < layout.layer[edge.target]
        points = layout.points(e)
        for (x, y), (_, to) in zip(points[::2], points[1::2], strict=True):
            assert not ((left < x) & (x < right) & (top < to) & (bottom > y)).any()


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_a_growing_iteration_takes_the_places_of_the_one_before(shape):
    arranger = Arranger()
    whole = arranger.arrange(graph_of(shape))
    for upto in (25, 40, len(shape.leaf)):
        part = arranger.arrange(graph_of(shape, upto, complete=False, iteration=1))
        np.testing.assert_array_equal(part.x, whole.x[:upto])
        np.testing.assert_array_equal(part.y, whole.y[:upto])


def test_iterations_of_one_structure_share_one_layout(trained):
    arranger = Arranger()
    layouts = [arranger.arrange(build_graph(trained, i)) for i in range(12)]
    assert all(layout is layouts[0] for layout in layouts)


def test_another_structure_gets_its_own_layout():
    arranger = Arranger()
    first = arranger.arrange(graph_of(mlp(3)))
    other = arranger.arrange(graph_of(transformer(1)))
    assert len(other.x) != len(first.x)
    assert arranger.arrange(graph_of(mlp(3))) is first


def test_an_iteration_that_would_need_an_edge_upwards_is_laid_out_anew():
    """Two chains side by side; in the next iteration the second goes on where the first ends."""
    apart, joined = Builder(), Builder()
    for shape, start in ((apart, ()), (joined, (4,))):
        for v in range(10):
            shape.op(*(start if v == 5 else (v - 1,) if v else ()))
    arranger = Arranger()
    arranger.arrange(graph_of(apart))
    graph = graph_of(joined, complete=False)
    np.testing.assert_array_equal(arranger.arrange(graph).y, layout_of(graph).y)


def test_what_the_network_begins_with_stands_above_it_and_parameters_beside(trained):
    graph = build_graph(trained, 0)
    layout = layout_of(graph)
    labels = {node.label: i for i, node in enumerate(graph.nodes)}
    assert layout.beside[labels["x"]] == -1
    assert layout.layer[labels["x"]] == 0
    for i, node in enumerate(graph.nodes):
        if node.kind is NodeKind.VARIABLE:
            assert layout.beside[i] >= 0


def test_a_hundred_appended_operations_take_milliseconds():
    """The target is 5 ms; ten times that still says that nothing is laid out anew."""
    shape = recurrent(140)
    arranger = Arranger()
    arranger.arrange(graph_of(shape, 1500, complete=False))
    graph = graph_of(shape, 1600, complete=False)
    start = time.perf_counter()
    arranger.arrange(graph)
    assert time.perf_counter() - start < 0.05
