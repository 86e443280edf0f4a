"""Reducing cells to pixel columns: nothing bad disappears, growth gives what a fresh start gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tapeviz.gui.health.cells import MAX_BUCKETS, NAN, NONE, NOT_CAPTURED, POSINF, Cells, runs
from tapeviz.gui.health.geometry import ticks


def cells_of(codes: np.ndarray) -> Cells:
    cells = Cells()
    cells.update(codes.astype(np.int8))
    return cells


@pytest.mark.parametrize("bad", [NAN, POSINF, 0, 8])
@pytest.mark.parametrize("at", [0, 54_321, 99_999])
def test_one_bad_iteration_of_a_hundred_thousand_is_seen(bad: int, at: int) -> None:
    codes = np.full((3, 100_000), 4)
    codes[1, at] = bad
    cells = cells_of(codes)
    high, low = cells.columns(0, 100_000, 700)
    assert high.shape == low.shape == (3, 700)
    assert bad in (set(high[1]) | set(low[1]))
    assert set(high[0]) == set(low[0]) == {4}


def test_a_gap_does_not_hide_what_was_captured_beside_it() -> None:
    codes = np.full((1, 1000), NOT_CAPTURED)
    codes[0, 500:503] = 6
    high, low = cells_of(codes).columns(0, 1000, 100)
    assert high[0, 50] == low[0, 50] == 6
    assert set(high[0, :50]) == {NOT_CAPTURED}


def test_a_wobble_between_neighbours_is_one_colour_and_a_jump_is_two() -> None:
    wobble = np.tile([5, 6], 50)[None]
    high, low = cells_of(wobble).columns(0, 100, 10)
    assert set(high[0]) == set(low[0]) == {6}
    jump = np.tile([3, 6], 50)[None]
    high, low = cells_of(jump).columns(0, 100, 10)
    assert (set(high[0]), set(low[0])) == ({6}, {3})


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4), st.lists(st.integers(1, 6000), min_size=1, max_size=5), st.integers(0, 2**32 - 1))
def test_growing_equals_starting_afresh(rows: int, steps: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, 15, (rows, sum(steps))).astype(np.int8)
    grown = Cells()
    for end in np.cumsum(steps):
        part = codes[:, :end].copy()
        if end < codes.shape[1]:
            part[:, -1] = NONE          # the newest iteration is corrected by the next update
        grown.update(part)
    fresh = cells_of(codes)
    np.testing.assert_array_equal(grown.codes, codes)
    width = min(300, codes.shape[1])
    span = (0, codes.shape[1], width)
    for one, other in zip(grown.columns(*span), fresh.columns(*span), strict=True):
        np.testing.assert_array_equal(one, other)


def test_nothing_new_is_no_change() -> None:
    cells = cells_of(np.full((2, 10), 3))
    assert not cells.update(np.full((2, 10), 3, np.int8))
    assert cells.update(np.full((2, 11), 3, np.int8))
    assert cells.iterations == 11


def test_zoomed_in_every_iteration_is_a_column_of_its_own() -> None:
    codes = np.arange(4 * MAX_BUCKETS)[None] % 9
    high, low = cells_of(codes).columns(20_000, 20_009, 9)
    np.testing.assert_array_equal(high, codes[:, 20_000:20_009])
    np.testing.assert_array_equal(low, codes[:, 20_000:20_009])


def test_runs_of_special_cells() -> None:
    line = np.array([4, NAN, NAN, 4, NOT_CAPTURED, NONE], np.int8)
    assert runs(line) == [(1, 3, NAN), (4, 5, NOT_CAPTURED), (5, 6, NONE)]


@pytest.mark.parametrize(("first", "last", "least", "expected"), [
    (0, 400, 50, [0, 50, 100, 150, 200, 250, 300, 399]), (0, 1, 5, [0]), (0, 2, 50, [0, 1]),
    (7, 27, 5, [7, 15, 20, 26])])
def test_first_and_last_iteration_are_always_labelled(first: int, last: int, least: int, expected: list[int]) -> None:
    assert ticks(first, last, least) == expected
