"""Random programs: the bare walk, the observed walk, recorded walks and central differences agree."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings, strategies as st

import gradtape as gt
from gradtape.observers import Observer
from gradtape.testing import check_gradients

UNARY: list[Any] = [gt.sin, gt.tanh, gt.sigmoid, gt.square, lambda a: gt.exp(a * 0.3), lambda a: gt.log(a * a + 1.0),
                    lambda a: -a, lambda a: a * 0.5, lambda a: 1.0 - a, lambda a: a / 2.0,
                    lambda a: 1.0 / (a * a + 1.0),
                    lambda a: a ** 3, lambda a: gt.softmax(a, axis=-1), gt.cumsum, lambda a: gt.sum(a) * a,
                    lambda a: a - gt.mean(a, axis=0), lambda a: a[::-1], lambda a: gt.transpose(a),
                    lambda a: gt.split(a, 2)[1], lambda a: gt.sum(a, axis=1, keepdims=True) + a]
BINARY: list[Any] = [lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / (b * b + 1.0),
                     lambda a, b: a @ b, lambda a, b: a * b[0], lambda a, b: a[0] + b, lambda a, b: a + b[:, :1],
                     lambda a, b: gt.concatenate([a[:1], b[1:]]), lambda a, b: gt.hypot(a, b + 3.0)]
STEPS = st.lists(st.tuples(st.integers(0, len(UNARY) + len(BINARY) - 1), st.integers(0, 99), st.integers(0, 99)),
                 min_size=1, max_size=8)


def run(steps: list[tuple[int, int, int]], *inputs: Any) -> Any:
    """A program on 2x2 tensors: each step applies an op to earlier results."""
    pool = list(inputs)
    for op, i, j in steps:
        a, b = pool[i % len(pool)], pool[j % len(pool)]
        y = UNARY[op](a) if op < len(UNARY) else BINARY[op - len(UNARY)](a, b)
        pool.append(gt.broadcast_to(y, (2, 2)) if y.shape != (2, 2) else y)
    return gt.tanh(pool[-1] * 0.3)


POINTS = [np.array([[0.3, -0.8], [1.1, 0.5]]), np.array([[-0.4, 0.9], [0.7, -1.2]])]
often = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@often
@given(STEPS)
def test_all_walks_agree(steps: list[tuple[int, int, int]]) -> None:
    xs = [gt.Variable(p) for p in POINTS]
    with gt.GradientTape(persistent=True) as tape:
        y = run(steps, *xs)
    plain = tape.gradient(y, xs)
    with gt.observe(Observer()):
        observed = tape.gradient(y, xs)
        with gt.GradientTape() as other:
            z = run(steps, *xs)
        seen = other.gradient(z, xs)
    with gt.GradientTape():             # listens, so that the inner walk goes by recorded rules
        with gt.GradientTape() as inner:
            w = run(steps, *xs)
        recorded = inner.gradient(w, xs)
    rows = [tape.jacobian(y, x) for x in xs]
    for a, b, c, d, j in zip(plain, observed, seen, recorded, rows, strict=True):
        if a is None:
            assert b is None
            assert c is None
            assert d is None
            assert j is None
            continue
        for other_way in (b, c, d):
            np.testing.assert_allclose(other_way.numpy(), a.numpy(), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(j.numpy().sum((0, 1)), a.numpy(), rtol=1e-9, atol=1e-11)


@settings(parent=often, max_examples=25)
@given(STEPS)
def test_programs_to_second_order(steps: list[tuple[int, int, int]]) -> None:
    check_gradients(lambda a, b: run(steps, a, b) + 0.1 * a * b, *POINTS, rtol=1e-4, atol=1e-5)
