"""Batch statistics against a slow, careful reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from tapeviz.capture import activations
from tapeviz.capture.statistics import BLOCK, SAMPLE_FROM, Array, statistics
from tapeviz.recording.schema import RECORDS, StatFlag

FLOATS = (np.float16, np.float32, np.float64)


def reference(array: Array) -> dict[str, Any]:
    """The same figures, one array, in long double."""
    x = np.abs(array.astype(np.complex128)) if array.dtype.kind == "c" else array
    tiny = np.finfo(array.dtype).tiny if array.dtype.kind in "fc" else 0
    x = x.astype(np.longdouble).ravel()
    finite = x[np.isfinite(x)]
    row = {
        "n": x.size, "nan": np.isnan(x).sum(), "posinf": (x == np.inf).sum(), "neginf": (x == -np.inf).sum(),
        "zero": (x == 0).sum(), "subnormal": ((finite != 0) & (np.abs(finite) < tiny)).sum(),
    }
    if finite.size:
        scale = np.abs(finite).max() or np.longdouble(1)
        row |= {
            "l2": scale * np.sqrt(((finite / scale) ** 2).sum()), "min": finite.min(), "max": finite.max(),
            "mean": finite.mean(), "max_abs": np.abs(finite).max(),
        }
    else:
        row |= dict.fromkeys(("l2", "min", "max", "mean", "max_abs"), np.nan)
    return row


def assert_same(row: np.void, array: Array) -> None:
    expected = reference(array)
    for field in ("n", "nan", "posinf", "neginf", "zero", "subnormal"):
        assert row[field] == expected[field], field
    scale = float(expected["max_abs"])
    for field in ("l2", "min", "max", "max_abs"):
        np.testing.assert_allclose(row[field], float(expected[field]), rtol=1e-6, err_msg=field)
    np.testing.assert_allclose(row["mean"], float(expected["mean"]), rtol=1e-6, atol=1e-6 * scale)


@st.composite
def float_arrays(draw):
    dtype = np.dtype(draw(st.sampled_from(FLOATS)))
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6))
    return draw(hnp.arrays(dtype, shape, elements=st.floats(width=8 * dtype.itemsize)))


@settings(max_examples=150, deadline=None)
@given(st.lists(float_arrays(), max_size=6))
def test_any_floats_in_one_batch(arrays):
    rows = statistics(arrays)
    assert rows.dtype == RECORDS["stat"]
    assert len(rows) == len(arrays)
    with np.errstate(all="ignore"):
        for row, array in zip(rows, arrays, strict=True):
            if array.size == 0:
                assert row["n"] == 0
                assert np.isnan(row["l2"])
            else:
                assert_same(row, array)


@pytest.mark.parametrize("value", [1e-30, 1e-45, 1e-23, 3e38], ids=str)
def test_float32_magnitudes_whose_squares_do_not_fit_into_float32(value):
    array = np.full((3, 4), value, np.float32)
    (row,) = statistics([array])
    assert row["l2"] == pytest.approx(float(array[0, 0]) * 12**0.5, rel=1e-6)
    assert row["l2"] > 0


def test_float64_magnitudes_whose_squares_do_not_fit_into_float64():
    rows = statistics([np.full(4, 1e-200), np.full(4, 1e200), np.full(9, 5e-324), np.full(3, 1.7e308)])
    np.testing.assert_allclose(rows["l2"], [2e-200, 2e200, 1.5e-323, 1.7e308 * 3**0.5], rtol=1e-2)
    assert rows["mean"][3] == pytest.approx(1.7e308)
    assert rows["subnormal"].tolist() == [0, 0, 9, 0]


def test_other_dtypes(rng):
    arrays: list[Any] = [np.array([3 + 4j, 0, np.nan], np.complex64), np.array([1, -2, 0]), np.array([True, False]),
              np.array(["a"]), np.float32(2).reshape(()), np.array([1, 2], ">f4"), np.array([1.0], np.longdouble)]
    rows = statistics(arrays)
    assert (rows["l2"][0], rows["zero"][0], rows["nan"][0]) == (5, 1, 1)
    assert (rows["min"][1], rows["max"][1], rows["zero"][1]) == (-2, 1, 1)
    assert (rows["mean"][2], rows["n"][2]) == (0.5, 2)
    assert np.isnan(rows["l2"][3])
    assert rows["l2"][4] == 2
    assert rows["mean"][5] == 1.5
    assert rows["max"][6] == 1


@pytest.mark.parametrize("dtype", FLOATS)
def test_large_arrays_are_exact(rng, dtype):
    array = rng.normal(size=(5, BLOCK // 3)).astype(dtype)
    array[2, 5:9] = np.nan, np.inf, -np.inf, 0
    with np.errstate(all="ignore"):
        assert_same(statistics([np.ones(3), array.T])[1], array)


def test_a_very_large_array_is_sampled_and_says_so(rng):
    array = rng.normal(size=SAMPLE_FROM + 7).astype(np.float32)
    array[::2] = 0
    (row,) = statistics([array])
    assert row["flags"] & StatFlag.SAMPLED
    assert row["l2"] == pytest.approx(np.sqrt(np.sum(array.astype(float) ** 2)), rel=1e-6)
    assert row["n"] == array.size


def test_one_nan_in_a_very_large_array_is_found(rng):
    array = rng.normal(size=SAMPLE_FROM + 7).astype(np.float32)
    array[-1] = np.nan
    (row,) = statistics([array])
    assert row["nan"] == 1
    assert not row["flags"] & StatFlag.SAMPLED


def test_dead_units():
    output = np.array([[0, 1, 0], [0, 0, 2]], np.float32)
    first, second = activations.low_shares("relu", [output, output[0]])
    assert first == pytest.approx(1 / 3)
    assert np.isnan(second)
    assert np.isnan(activations.low_shares("tanh", [output])).all()


@pytest.mark.parametrize(("op", "at_limit", "inside"), [("tanh", -0.999, 0.9), ("sigmoid", 1e-4, 0.01),
                                                       ("sigmoid", 0.9999, 0.99)])
def test_saturated_units(op, at_limit, inside):
    outputs: list[Any] = [np.array([[at_limit, inside, inside, at_limit]]), np.full(5, inside), np.float64(0.5)]
    shares = activations.saturated_shares(op, outputs)
    assert shares[:2] == [0.5, 0]
    assert np.isnan(shares[2])


def test_a_saturated_softmax():
    assert activations.saturated_shares("softmax", [np.array([[1.0, 0.0], [0.5, 0.5]])]) == [0.5]
    assert np.isnan(activations.saturated_shares("relu", [np.ones(3)])).all()
