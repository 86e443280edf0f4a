"""Thinning out keeps every extreme and every special value."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tapeviz.analysis.magnitude import OK, Special
from tapeviz.analysis.sampling import bucket_starts, thin

VALUES = st.lists(st.one_of(st.floats(-1e30, 1e30), st.just(float("nan"))), min_size=1, max_size=200)


@given(VALUES, st.integers(1, 50))
def test_the_extremes_of_every_stretch_survive(values, buckets):
    y = np.array(values)
    state = np.where(np.isnan(y), Special.NAN.value, OK).astype(np.uint8)
    found = thin(np.arange(len(y)), y, state, buckets)
    assert len(found.x) == min(len(y), buckets)
    if np.isfinite(y).any():
        assert np.nanmin(found.low) == np.nanmin(y)
        assert np.nanmax(found.high) == np.nanmax(y)
    starts = bucket_starts(len(y), buckets)
    for i, (a, b) in enumerate(zip(starts, [*starts[1:], len(y)], strict=True)):
        assert (found.state[i] == Special.NAN.value) == bool(np.isnan(y[a:b]).any())


def test_one_spike_in_a_hundred_thousand_is_seen():
    y = np.ones(100_000)
    y[70_001] = 1e6
    assert thin(np.arange(len(y)), y, np.zeros(len(y), np.uint8), 800).high.max() == 1e6


def test_in_one_bucket_nan_beats_inf_beats_none_known():
    codes = np.array([s.value for s in (Special.NOT_CAPTURED, Special.NONE, Special.ZERO, Special.POSINF, Special.NAN)],
                     dtype=np.uint8)
    y = np.full(5, np.nan)
    x = np.arange(5)
    assert [Special(int(thin(x, y[:n], codes[:n], 1).state[0])) for n in range(1, 6)] == [
        Special.NOT_CAPTURED, Special.NONE, Special.ZERO, Special.POSINF, Special.NAN]


def test_a_known_number_beats_what_was_not_captured():
    found = thin(np.arange(2), np.array([np.nan, 2.0]), np.array([Special.NOT_CAPTURED.value, OK], np.uint8), 1)
    assert (found.state[0], found.high[0]) == (OK, 2.0)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_a_short_series_is_kept_point_by_point(n):
    y = np.arange(float(n))
    found = thin(np.arange(n), y, np.zeros(n, np.uint8), 100)
    np.testing.assert_array_equal(found.low, y)
    np.testing.assert_array_equal(found.high, y)
