"""Small histograms: nothing finite is lost, nothing else counts."""

from __future__ import annotations

import numpy as np
import pytest

from tapeviz.analysis.bars import LEAST, bars


def test_the_fullest_bar_has_height_one_and_a_single_element_is_seen() -> None:
    value = np.concatenate((np.zeros(1_000_000), [1.0]))
    heights = bars(value, 10)
    assert heights == (1.0, *[0.0] * 8, LEAST)


def test_equal_elements_make_one_bar() -> None:
    assert sum(bars(np.full(7, 3.0))) == 1.0


@pytest.mark.parametrize("value", [np.array([]), np.array([np.nan, np.inf])])
def test_without_finite_elements_there_are_no_bars(value: np.ndarray) -> None:
    assert bars(value) == ()


def test_nan_and_inf_do_not_count() -> None:
    assert bars(np.array([0.0, 1.0, np.nan, -np.inf]), 4) == bars(np.array([0.0, 1.0]), 4)


def test_numbers_whose_difference_overflows() -> None:
    assert sum(bars(np.array([-1.7e308, 1.7e308]))) == 1.0
