"""Layered layout: no overlaps, downwards, deterministic, straight and fast enough to be called from a view."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tapeviz.analysis.layout import BESIDE_GAP_X, LEAF_SIZE, OP_SIZE, PITCH_X, PITCH_Y, Layout, layered_layout
from tapeviz.analysis.ordering import crossings
from tests.analysis.shapes import Builder, mlp, recurrent, scattered, transformer

SHAPES = {
    "mlp": mlp(8), "recurrent": recurrent(30), "transformer": transformer(3), "scattered": scattered(400, 1),
    "wide": scattered(300, 2, fan=5, reach=60), "far": scattered(300, 3, fan=2, reach=300),
}


def lay_out(shape: Builder) -> Layout:
    return layered_layout(shape.width, shape.height, shape.edges, leaf=shape.leaf)


def overlapping(layout: Layout) -> list[tuple[int, int]]:
    """Pairs of boxes with a common point."""
    found = []
    top, bottom = layout.y - layout.height / 2, layout.y + layout.height / 2
    for i in range(len(layout.x)):
        near = (np.abs(layout.x - layout.x[i]) < (layout.width + layout.width[i]) / 2) & (
            top < bottom[i]) & (top[i] < bottom)
        found += [(i, int(j)) for j in np.flatnonzero(near) if j > i]
    return found


def check(layout: Layout, edges: list[tuple[int, int]]) -> None:
    assert overlapping(layout) == []
    for e, (a, b) in enumerate(edges):
        if layout.beside[a] == b:
            assert layout.y[a] + layout.height[a] / 2 > layout.y[b] - layout.height[b] / 2
            assert layout.x[a] < layout.x[b]
        else:
            ys = [layout.y[a], *layout.points(e)[:, 1], layout.y[b]]
            assert layout.layer[a] < layout.layer[b]
            assert ys == sorted(ys)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_boxes_do_not_overlap_and_edges_go_down(shape):
    check(lay_out(shape), shape.edges)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60), st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 60))
def test_any_graph_can_be_laid_out(n, seed, fan, reach):
    shape = scattered(n, seed, fan, reach)
    check(lay_out(shape), shape.edges)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.data())
def test_boxes_of_any_size_keep_apart(seed, data):
    shape = scattered(30, seed)
    size = st.floats(10, 400)
    width, height = ([data.draw(size) for _ in shape.leaf] for _ in range(2))
    layout = layered_layout(width, height, shape.edges, leaf=shape.leaf)
    assert overlapping(layout) == []


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_the_same_graph_is_always_laid_out_alike(shape):
    first, second = lay_out(shape), lay_out(shape)
    for name in Layout.__slots__:
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def test_long_edges_pass_beside_the_boxes_of_the_rows_between():
    shape = SHAPES["far"]
    layout = lay_out(shape)
    left, right = layout.x - layout.width / 2, layout.x + layout.width / 2
    top, bottom = layout.y - layout.height / 2, layout.y + layout.height / 2
    for e in range(len(shape.edges)):
        points = layout.points(e)
        for (x, y), (_, to) in zip(points[::2], points[1::2], strict=True):
            assert not ((left < x) & (x < right) & (top < to) & (bottom > y)).any()


def test_the_drawing_of_the_mock_up():
    """A chain is one straight column; parameters stand 34 px to the left of their consumer on its level."""
    shape = mlp(8)
    layout = lay_out(shape)
    chain = [v for v in range(len(shape.leaf)) if not shape.leaf[v]][:25]
    assert set(layout.x[chain]) == {layout.x[chain[0]]}
    assert set(np.diff(np.sort(layout.y[chain]))) == {PITCH_Y}
    leaves = np.flatnonzero(layout.beside >= 0)
    owners = layout.beside[leaves]
    assert set(layout.x[owners] - layout.x[leaves]) == {(OP_SIZE[0] + LEAF_SIZE[0]) / 2 + BESIDE_GAP_X}
    branch = [v for v in range(len(shape.leaf)) if not shape.leaf[v]][28:31]
    assert set(np.abs(layout.x[branch] - layout.x[chain[0]])) <= {PITCH_X}


def test_a_recurrent_net_stays_narrow_however_long_it_is():
    """Its states are one straight column and so are its partial sums of losses."""
    short, long = lay_out(recurrent(10)), lay_out(recurrent(200))
    assert long.bounds[2] - long.bounds[0] == short.bounds[2] - short.bounds[0]
    assert long.crossings == 0


def test_residual_blocks_do_not_drift_sideways():
    few, many = lay_out(transformer(2)), lay_out(transformer(30))
    assert many.bounds[2] - many.bounds[0] <= 1.05 * (few.bounds[2] - few.bounds[0])


def test_leaves_of_one_consumer_stand_on_top_of_each_other():
    shape = Builder()
    w, b, c = shape.parameter(), shape.parameter(), shape.parameter()
    op = shape.op(w, b, c)
    shape.op(op)
    layout = lay_out(shape)
    assert layout.x[w] == layout.x[b] == layout.x[c]
    assert layout.y[b] == layout.y[op]
    assert overlapping(layout) == []


def test_a_leaf_with_several_consumers_takes_a_place_of_its_own():
    shape = Builder()
    w = shape.parameter()
    first = shape.op(w)
    shape.op(first, w)
    layout = lay_out(shape)
    assert layout.beside[w] == -1
    assert layout.layer[w] < layout.layer[first]


def test_a_very_long_edge_becomes_a_pair_of_stubs():
    shape = Builder()
    start = v = shape.op()
    for _ in range(30):
        v = shape.op(v)
    shape.op(v, start)
    layout = lay_out(shape)
    assert layout.portal.tolist() == [False] * 31 + [True]
    assert len(layout.points(31)) == 0


def test_nothing_is_laid_out_as_nothing():
    layout = layered_layout([], [], [])
    assert layout.bounds == (0.0, 0.0, 0.0, 0.0)
    assert len(layout.x) == 0


def test_crossings_are_counted_as_pairs_of_edges_that_change_sides():
    above = [[], [], [], [0, 2], [1], [0]]
    position = [0, 1, 2, 0, 1, 2]
    edges = [(position[u], position[v]) for v in (3, 4, 5) for u in above[v]]
    brute = sum((p - r) * (q - s) < 0 for i, (p, q) in enumerate(edges) for r, s in edges[:i])
    assert crossings([3, 4, 5], above, position) == brute == 3


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.integers(0, 6), max_size=4, unique=True), min_size=1, max_size=7))
def test_crossings_agree_with_counting_pairs(rows):
    above = [[] for _ in range(7)] + rows
    position = list(range(7)) + list(range(len(rows)))
    lower = list(range(7, 7 + len(rows)))
    edges = [(u, position[v]) for v in lower for u in above[v]]
    brute = sum((p - r) * (q - s) < 0 for i, (p, q) in enumerate(edges) for r, s in edges[:i])
    assert crossings(lower, above, position) == brute
