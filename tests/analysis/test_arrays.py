"""Statistics and cells of single arrays, against simple slow definitions."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from tapeviz.analysis.arrays import (
    decades,
    extreme,
    first_nonfinite,
    plane,
    shrunk,
    summarize,
    visible_indices,
)


@given(st.integers(0, 60), st.none() | st.integers(0, 59))
def test_shown_indices_are_ascending_and_hold_the_ends_and_the_chosen_one(n: int, chosen: int | None) -> None:
    shown = visible_indices(n, chosen)
    real = [i for i in shown if i is not None]
    assert real == sorted(set(real))
    if n <= 6:
        assert shown == list(range(n))
        return
    assert real[0] == 0
    assert real[-1] == n - 1
    assert len(real) <= 4
    assert chosen is None or chosen >= n or chosen in real
    for before, after in pairwise(shown):
        if before is not None and after is not None:
            assert after == before + 1   # a gap is never silent


def test_a_narrow_view_still_shows_both_ends() -> None:
    assert visible_indices(9, limit=2) == [0, None, 8]
    assert visible_indices(9, 4, limit=2) == [0, None, 4, None, 8]


def test_statistics_of_an_ordinary_matrix() -> None:
    value = np.array([[3.0, -4.0], [0.0, 12.0]], np.float32)
    summary = summarize(value)
    assert summary.norm == pytest.approx(13)
    assert summary.rms == pytest.approx(6.5)
    assert (summary.low, summary.high, summary.mean) == (-4, 12, 2.75)
    assert (summary.n, summary.zeros, summary.nan, summary.subnormal) == (4, 1, 0, 0)


@pytest.mark.parametrize("size", [1e-30, 1e30, 1e-200, 1e300, 5e-324])
def test_the_norm_neither_overflows_nor_underflows(size: float) -> None:
    assert summarize(np.array([3 * size, 4 * size])).norm == pytest.approx(5 * size)


def test_bad_elements_are_counted_and_left_out_of_the_numbers() -> None:
    value = np.array([1.0, np.nan, np.inf, -np.inf, -np.inf, 2.0])
    summary = summarize(value)
    assert (summary.nan, summary.posinf, summary.neginf) == (1, 1, 2)
    assert (summary.low, summary.high) == (1, 2)
    nothing = summarize(np.array([np.nan]))
    assert math.isnan(nothing.norm)
    assert math.isnan(nothing.mean)


def test_subnormals_are_those_of_the_element_type() -> None:
    assert summarize(np.array([1e-40, 1.0], np.float32)).subnormal == 1
    assert summarize(np.array([1e-40, 1.0], np.float64)).subnormal == 0


def test_integers_and_empty_arrays_have_statistics_too() -> None:
    assert summarize(np.array([1, 2, 3])).mean == pytest.approx(2)
    assert summarize(np.zeros((0, 3))).n == 0


def test_decades_count_magnitudes_and_leave_out_zero() -> None:
    histogram = decades(np.array([0.0, 0.02, -0.05, 3.0, 900.0, np.inf, np.nan]))
    assert histogram.first == -2
    assert histogram.counts == (2, 0, 1, 0, 1)
    assert decades(np.zeros(4)).counts == ()


@given(hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=30),
                  elements=st.floats(-1e6, 1e6) | st.sampled_from([math.nan, math.inf, -math.inf])),
       st.integers(1, 9), st.integers(1, 9))
def test_a_shrunk_matrix_loses_no_extreme_and_no_bad_value(matrix: np.ndarray, rows: int, columns: int) -> None:
    small = shrunk(matrix, rows, columns)
    assert small.shape[0] <= max(rows, 1)
    assert small.shape[1] <= max(columns, 1)
    assert np.isnan(small).any() == np.isnan(matrix).any()
    if not np.isnan(matrix).any():
        assert np.abs(small).max() == np.abs(matrix).max()


def test_places_of_the_extremes() -> None:
    value = np.array([[1.0, np.nan], [-7.0, np.inf]])
    assert first_nonfinite(value) == (0, 1)
    assert first_nonfinite(np.array([[1.0, np.inf]])) == (0, 1)
    assert first_nonfinite(np.ones(3)) is None
    assert extreme(value, largest=True) == (1, 1)
    assert extreme(value, largest=False) == (1, 0)
    assert extreme(np.array([np.nan]), largest=True) is None


def test_the_plane_of_any_rank() -> None:
    assert plane(np.array(3.0)).shape == (1, 1)
    assert plane(np.arange(4)).shape == (1, 4)
    cube = np.arange(24).reshape(2, 3, 4)
    assert (plane(cube, (1,)) == cube[1]).all()
    assert (plane(cube) == cube[0]).all()
