"""Jacobians in one batched walk agree with the walk per row, for every op and every mixture of shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.observers import Observer

B = np.random.default_rng(5).uniform(0.5, 1.5, size=(3, 3))

FUNCTIONS: dict[str, Any] = {
    "wide add": lambda x: gt.constant(B) + x[0], "wide add of x": lambda x: x + x[:, :1] + x[1],
    "wide subtract": lambda x: x - x[0], "minus number": lambda x: 2.0 - x,
    "wide multiply": lambda x: x * x[0] * x[:, :1],
    "scalar times matrix": lambda x: x[0, 0] * x, "divide": lambda x: x / x[1], "divide by number": lambda x: x / 3.0,
    "number divided": lambda x: 1.0 / x, "matrices": lambda x: x @ B @ x, "matrix vector": lambda x: x @ x[0],
    "vector matrix": lambda x: x[0] @ x, "vectors": lambda x: x[0] @ x[1], "sum": lambda x: gt.sum(x * x) * x[0],
    "mean": lambda x: gt.mean(x * x) + x[1], "axis sum": lambda x: gt.sum(x, axis=0),
    "unary": lambda x: gt.tanh(gt.sin(gt.exp(gt.log(x)) * 0.1) + gt.cos(x)), "power": lambda x: x ** 3 + x ** 2,
    "relu sigmoid": lambda x: gt.nn.relu(x - 1.0) + gt.sigmoid(x) + gt.square(x),
    "cross-entropy": lambda x: gt.nn.softmax_cross_entropy(np.eye(3), x), "softmax": lambda x: gt.softmax(x, axis=1),
    "inverse": lambda x: gt.linalg.inv(x + 3 * np.eye(3)), "split": lambda x: gt.split(x, 3)[1] * 2.0,
    "concatenate": lambda x: gt.concatenate([x, x * 2.0], axis=1), "scalar": lambda x: gt.sum(x),
    "itself": lambda x: x,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_batched_walk_agrees_with_rows(name: str) -> None:
    fn = FUNCTIONS[name]
    v = gt.Variable(B)
    with gt.GradientTape(persistent=True) as tape:
        y = fn(v)
    fast = tape.jacobian(y, v)
    with gt.observe(Observer()):
        rows = tape.jacobian(y, v)
    assert fast.shape == (*y.shape, 3, 3)
    assert fast.dtype == np.float64
    np.testing.assert_allclose(fast.numpy(), rows.numpy(), rtol=1e-12, atol=1e-14)


def test_intermediate_sources_and_sharing_tapes() -> None:
    x = gt.constant([1.0, 2.0])
    with gt.GradientTape(persistent=True) as tape, gt.GradientTape(persistent=True) as other:
        tape.watch(x)
        h = x * x
        other.watch(h)
        y = h * h[0]
    jx, jh = tape.jacobian(y, [x, h])
    np.testing.assert_allclose(jh.numpy(), [[2.0, 0.0], [4.0, 1.0]])
    np.testing.assert_allclose(jx.numpy(), [[4.0, 0.0], [8.0, 4.0]])
    assert other.jacobian(y, [x, h])[0] is None
    np.testing.assert_allclose(other.jacobian(y, h).numpy(), [[2.0, 0.0], [4.0, 1.0]])


def test_large_jacobians_are_made_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradtape.jacobians.ELEMENTS", 20)
    x = gt.Variable(np.arange(1.0, 8.0))
    with gt.GradientTape() as tape:
        y = gt.tanh(x * 0.1) * x[0]
    j = tape.jacobian(y, x).numpy()
    t = np.tanh(x.numpy() * 0.1)
    expected = np.diag(0.1 * (1 - t * t))
    expected[:, 0] += t
    np.testing.assert_allclose(j, expected)
