"""NumPy's functions and operators on tensors record; what has no derivative says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt

M = np.array([[2.0, 0.5], [0.3, 1.5]])

CALLS: dict[str, Any] = {
    "sin": np.sin, "exp": np.exp, "add": lambda x: np.add(x, M), "multiply": lambda x: np.multiply(M, x),
    "maximum": lambda x: np.maximum(x, 1.0), "sum": lambda x: np.sum(x, axis=0),
    "mean": lambda x: np.mean(x, axis=1, keepdims=True), "add.reduce": np.add.reduce, "var": np.var, "std": np.std,
    "max": np.max, "min": np.min, "prod": np.prod, "cumsum": lambda x: np.cumsum(x, axis=0),
    "concatenate": lambda x: np.concatenate([x, M, x], axis=1), "stack": lambda x: np.stack([M, x]),
    "vstack": lambda x: np.vstack([x, x]), "hstack": lambda x: np.hstack([x, M]),
    "split": lambda x: np.split(x, 2)[1], "reshape": lambda x: np.reshape(x, 4), "transpose": np.transpose,
    "swapaxes": lambda x: np.swapaxes(x, 0, 1), "moveaxis": lambda x: np.moveaxis(x, 0, 1),
    "expand_dims": lambda x: np.expand_dims(x, 0), "squeeze": lambda x: np.squeeze(x[None]),
    "broadcast_to": lambda x: np.broadcast_to(x, (3, 2, 2)), "tile": lambda x: np.tile(x, (1, 2)),
    "repeat": lambda x: np.repeat(x, 2, axis=0), "repeat flat": lambda x: np.repeat(x, 2), "flip": np.flip,
    "repeat each": lambda x: np.repeat(x, [1, 3], axis=1), "pad": lambda x: np.pad(x, 1),
    "roll": lambda x: np.roll(x, 1), "ravel": np.ravel, "clip": lambda x: np.clip(x, 0.4, 1.7),
    "where": lambda x: np.where(M > 1.0, x, x * x), "take": lambda x: np.take(x, [0, 0, 3]),
    "dot": lambda x: np.dot(x, M), "matmul": lambda x: np.matmul(M, x), "M @ x": lambda x: M @ x,
    "M * x": lambda x: M * x, "M / x": lambda x: M / x, "M - x": lambda x: M - x, "x @ M": lambda x: x @ M,
    "tensordot": lambda x: np.tensordot(x, M, 1), "einsum": lambda x: np.einsum("ij,kj->ik", x, M),
    "einsum trace": lambda x: np.einsum("ii", x), "einsum ellipsis": lambda x: np.einsum("...j,j", x, M[0]),
    "outer": lambda x: np.outer(x[0], x[1]), "inner": lambda x: np.inner(x, M), "trace": np.trace, "diag": np.diag,
    "inv": np.linalg.inv, "det": np.linalg.det, "solve": lambda x: np.linalg.solve(x, M),
    "slogdet": lambda x: np.linalg.slogdet(x)[1], "norm": np.linalg.norm, "sort": lambda x: np.sort(x, axis=0),
    "power": lambda x: np.power(x, 3.0), "square": np.square, "arctan2": lambda x: np.arctan2(x, M),
    "logaddexp": lambda x: np.logaddexp(0.0, x), "tril": np.tril, "absolute": np.abs,
}


@pytest.mark.parametrize("name", CALLS)
def test_numpy_functions_record_what_numpy_computes(name: str) -> None:
    fn = CALLS[name]
    x = gt.constant(M)
    with gt.GradientTape() as tape:
        tape.watch(x)
        y = fn(x)
    assert isinstance(y, gt.Tensor)
    np.testing.assert_allclose(y.numpy(), fn(M), rtol=1e-14)
    way = np.array([[0.3, -0.2], [0.5, 0.7]])
    numeric = (np.sum(fn(M + 1e-6 * way)) - np.sum(fn(M - 1e-6 * way))) / 2e-6
    assert np.sum(tape.gradient(y, x).numpy() * way) == pytest.approx(numeric, rel=1e-6, abs=1e-8)


def test_functions_without_a_derivative_say_so() -> None:
    x = gt.constant(M)
    with pytest.raises(TypeError, match=r"np.partition of a tensor is not supported.*t.numpy\(\)"):
        np.partition(x, 1)
    with pytest.raises(TypeError, match="out= cannot be a tensor"):
        np.add(x, x, out=np.zeros((2, 2)))
    with pytest.raises(TypeError):
        np.heaviside(x, x)


def test_arrays_from_tensors_are_constants() -> None:
    x = gt.constant(M)
    with gt.GradientTape() as tape:
        tape.watch(x)
        y = gt.sum(x * np.asarray(x))
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), M)
    assert np.array(x).flags.writeable
    assert np.asarray(x, dtype="float32").dtype == np.float32
    assert np.shape(x) == (2, 2)
    assert np.allclose(x, M)


def test_indexing_of_every_kind() -> None:
    data = np.arange(12.0).reshape(3, 4)
    keys: list[Any] = [1, -1, (1, 2), slice(0, 2), (slice(None), 1), ..., None, (..., None, 0), [0, 2],
                       (np.array([0, 1]), np.array([2, 2])), data > 4, (slice(None, None, -1), [0, 0]),
                       np.array([[0, 1], [2, 0]]), gt.constant(2), gt.constant([1, 1])]
    for key in keys:
        x = gt.constant(data)
        plain = key.numpy() if isinstance(key, gt.Tensor) else key
        with gt.GradientTape() as tape:
            tape.watch(x)
            y = gt.sum(x[key] * 2.0)
        assert y.numpy() == 2.0 * data[plain].sum()
        expected = np.zeros((3, 4))
        np.add.at(expected, plain, 2.0)
        np.testing.assert_array_equal(tape.gradient(y, x).numpy(), expected)
