"""Bins of decades and special values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tapeviz.analysis.magnitude import (
    NOT_CAPTURED,
    Special,
    absolute_bin,
    absolute_bins,
    clamped,
    classify,
    health_word,
    log_ratio_bin,
    magnitude,
    median_norm,
    of_norm,
    ratio_bins,
    special_codes,
    special_of,
    worst,
)
from tapeviz.recording.schema import RECORDS, State


def stat(l2=1.0, n=10, **fields):
    row = np.zeros(1, RECORDS["stat"])
    row["l2"], row["n"] = l2, n
    for name, value in fields.items():
        row[name] = value
    return row[0]


@pytest.mark.parametrize(("value", "reference", "bin_"), [
    (1.0, 1.0, 0), (4.3e-1, 3.1e-4, 3), (1.7e-5, 3.1e-4, -1), (10**0.5, 1.0, 1), (10**-0.5, 1.0, -1), (3.0, 1.0, 0),
    (1e-30, 1.0, -4), (1e30, 1.0, 4), (1e308, 1e-308, 4), (1.0, 0.0, 0), (1.0, math.nan, 0), (math.inf, 1.0, 4),
])
def test_a_bin_is_the_rounded_number_of_decades_from_the_reference(value, reference, bin_):
    assert log_ratio_bin(value, reference) == bin_


def test_what_lies_outside_the_scale_is_said_to_be_clamped():
    assert [clamped(x, 1.0) for x in (1e-6, 1e-4, 1.0, 1e4, 1e6)] == [-1, 0, 0, 0, 1]


@given(st.lists(st.floats(0, 1e300), min_size=1, max_size=20), st.floats(1e-300, 1e300))
def test_arrays_and_single_values_are_binned_alike(values, reference):
    assert ratio_bins(np.array(values), reference).tolist() == [log_ratio_bin(v, reference) for v in values]
    assert absolute_bins(np.array(values)).tolist() == [absolute_bin(v) for v in values]


def test_the_absolute_scale_covers_sixteen_decades():
    assert [absolute_bin(x) for x in (0.0, 1e-13, 1e-12, 1e-4, 1e3, 1e4, math.inf)] == [-4, -4, -4, 0, 4, 4, 4]


SPECIAL = [
    (stat(nan=1, posinf=1), Special.NAN), (stat(posinf=1, neginf=1), Special.POSINF), (stat(neginf=1), Special.NEGINF),
    (stat(l2=0.0, zero=10), Special.ZERO), (stat(l2=1e-44, zero=8, subnormal=2), Special.UNDERFLOW),
    (stat(l2=0.0, zero=8), Special.UNDERFLOW), (stat(l2=math.nan, nan=10), Special.NAN),
    (stat(state=State.NONE, l2=math.nan, n=0), Special.NONE), (stat(state=State.NOT_RECORDED), Special.NOT_CAPTURED),
    (stat(state=State.ZERO_UNCONNECTED, l2=0.0, zero=10), Special.ZERO), (stat(l2=0.0, n=0), Special.ZERO),
    (stat(l2=1.0, subnormal=3, zero=2), None), (stat(l2=1.0, zero=10), None),
]


@pytest.mark.parametrize(("row", "special"), SPECIAL)
def test_nan_beats_inf_beats_zero_beats_underflow(row, special):
    assert special_of(row) is special
    assert special_codes(np.array([row]))[0] == (0 if special is None else special.value)
    assert magnitude(row).special is special


def test_no_record_is_not_the_same_as_none():
    assert classify(None) is Special.NOT_CAPTURED
    assert classify(stat(state=State.NONE)) is Special.NONE
    assert classify(stat(l2=1e-3), reference=1.0) == -3


def test_texts_of_magnitudes():
    assert [magnitude(r).text for r in (stat(l2=0.43), stat(l2=0.0, zero=10), stat(nan=1), None)] == [
        "4.3e-1", "0", "NaN", "not captured"]


def test_the_reference_is_a_median_of_decades_and_ignores_what_is_special():
    norms = np.array([1e-4, 1e-2, 5.0, math.nan])
    assert median_norm(norms, np.array([0, 0, Special.NAN.value, Special.NAN.value])) == pytest.approx(1e-3)
    assert math.isnan(median_norm(norms, np.full(4, Special.NAN.value)))


def test_the_worst_of_a_group():
    tiny, usual, huge = of_norm(1e-3), of_norm(1.0), of_norm(1e3)
    nan, none = of_norm(math.nan), magnitude(stat(state=State.NONE))
    assert worst([usual, huge, tiny]) is tiny
    assert worst([usual, nan, tiny]) is nan
    assert worst([none, usual]) is usual
    assert worst([]) is NOT_CAPTURED


@pytest.mark.parametrize(("norm", "reference", "word"), [
    (1e-6, 1e-2, "vanishing"), (1e-3, 1e-2, "typical"), (1e5, 1e2, "exploding"), (1.0, 1e-3, "typical"),
    (0.0, 1.0, "zero"), (math.nan, 1.0, "NaN"), (1.0, math.nan, "typical"),
])
def test_health_in_one_word(norm, reference, word):
    assert health_word(of_norm(norm, reference), reference) == word
