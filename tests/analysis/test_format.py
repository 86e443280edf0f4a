"""Numbers, shapes, times and sizes as text."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tapeviz.analysis.format import (
    byte_size,
    cell_texts,
    count,
    duration,
    fixed,
    matrix_decimals,
    percent,
    plain,
    plural,
    sci,
    shape_text,
)


@pytest.mark.parametrize(("x", "text"), [
    (0.0771, "7.7e-2"), (1.0, "1.0e0"), (0.0, "0"), (-0.0, "0"), (-1.94e-12, "-1.9e-12"), (9.96, "1.0e1"),
    (math.nan, "NaN"), (math.inf, "Inf"), (-math.inf, "-Inf"), (5e-324, "4.9e-324"), (np.float32(1e30), "1.0e30"),
])
def test_scientific_form_has_one_decimal_and_names_what_is_no_number(x, text):
    assert sci(x) == text


def test_the_minus_sign_is_a_true_one_when_asked_for():
    assert sci(-1.9e-12, true_minus=True) == "\u22121.9e\u221212"
    assert fixed(-0.25, 2, true_minus=True) == "\u22120.25"


@given(st.floats(-1e300, 1e300))
def test_scientific_form_reads_back_to_within_its_digits(x):
    assert re.fullmatch(r"0|-?\d\.\de-?\d+", sci(x))
    assert float(sci(x)) == pytest.approx(x, rel=0.051, abs=1e-323)


@pytest.mark.parametrize(("x", "decimals", "text"), [
    (-0.0004, 3, "0.000"), (-0.0, 1, "0.0"), (-0.0006, 3, "-0.001"), (12.345, 1, "12.3"), (math.nan, 3, "NaN"),
])
def test_fixed_form_never_shows_a_negative_zero(x, decimals, text):
    assert fixed(x, decimals) == text


@pytest.mark.parametrize(("x", "text"), [
    (1.4021, "1.402"), (512, "512"), (0.0, "0"), (-0.0, "0"), (1e-9, "1.0e-9"), (123456.0, "1.2e5"), (0.25, "0.25"),
    (math.inf, "Inf"), (99999.0, "99999"),
])
def test_plain_form_is_what_people_write(x, text):
    assert plain(x) == text


def test_a_matrix_has_one_form_for_all_its_cells():
    assert cell_texts(np.array([[0.056, -0.17], [0.0, 1e-9]])) == ["0.056", "-0.170", "0.000", "0.000"]
    assert cell_texts(np.array([1e-9, 0.0])) == ["1.0e-9", "0"]
    assert cell_texts(np.array([3, -20])) == ["3", "-20"]
    assert cell_texts(np.array([math.nan, 1.5])) == ["NaN", "1.50"]


@given(st.lists(st.floats(width=32), min_size=1, max_size=8))
def test_every_matrix_can_be_written(values):
    array = np.array(values, dtype=np.float32)
    texts = cell_texts(array)
    assert len(texts) == len(values)
    if matrix_decimals(array) is not None:
        ends = {len(t.partition(".")[2]) for t in texts if t not in ("NaN", "Inf", "-Inf")}
        assert len(ends) <= 1


@pytest.mark.parametrize(("shape", "text"), [((4, 5), "[4,5]"), ((), "scalar"), (None, "\u2013"), ((3,), "[3]")])
def test_shapes(shape, text):
    assert shape_text(shape) == text


@pytest.mark.parametrize(("ns", "text"), [
    (850, "850 ns"), (17_000, "17 \u00b5s"), (1_230_000, "1.2 ms"), (999_999, "1.0 ms"), (3.4e9, "3.4 s"),
    (125e9, "2 min 05 s"), (3720e9, "1 h 02 min"), (59.9999e9, "1 min 00 s"), (math.nan, "\u2013"),
])
def test_durations(ns, text):
    assert duration(ns) == text


@pytest.mark.parametrize(("n", "text"), [(512, "512 B"), (4_100_000, "4.1 MB"), (999_700, "1.0 MB"), (2e12, "2.0 TB")])
def test_sizes(n, text):
    assert byte_size(n) == text


def test_counts():
    assert [count(1234), count(1_250_000), plural(1, "op"), plural(23, "op")] == ["1,234", "1.2 M", "1 op", "23 ops"]


@pytest.mark.parametrize(("share", "text"), [
    (0.08, "8 %"), (0.0, "0 %"), (0.001, "< 1 %"), (0.999, "> 99 %"), (1.0, "100 %"), (math.nan, "\u2013")])
def test_percentages_do_not_round_to_nothing_or_all(share, text):
    assert percent(share) == text
