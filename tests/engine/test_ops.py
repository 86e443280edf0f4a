"""Every row of the op table against central differences, to second order, and each fast form against its row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.observers import Observer, observe
from gradtape.ops.registry import OPS, Op
from gradtape.testing import check_gradients

UNARY = (((3, 4),), ((),), ((2, 1, 3),))
BINARY = (((3, 4), (3, 4)), ((3, 4), (4,)), ((3, 1), (1, 4)), ((), ()), ((2, 3), ()), ((1,), (2, 2)))
OWN_TEST = {"softmax_cross_entropy", "cholesky", "sign", "step", "step6"}
DIFFERENTIABLE = sorted(name for name, row in OPS.items() if row.differentiable)


def examples(row: Op) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Shapes (or arrays) and attributes to try a row with."""
    if row.examples:
        return list(row.examples)
    return [(shapes, row.defaults) for shapes in (UNARY if row.count == 1 else BINARY)]


CASES = [pytest.param(name, number, id=f"{name}-{number}") for name in DIFFERENTIABLE if name not in OWN_TEST
         for number in range(len(examples(OPS[name])))]


def sample(row: Op, given: Any, k: int, rng: np.random.Generator) -> Any:
    """Argument k: an array of the shape (or the array itself) inside the row's domain, away from ties and zeros."""
    if isinstance(given, np.ndarray):
        return given
    low, high = row.domain
    values = rng.permutation(np.linspace(low, high, 2 * int(np.prod(given)) + 3)[1:-1])[: int(np.prod(given))]
    return (values + 0.013 + 0.029 * k).reshape(given)


@pytest.mark.parametrize(("name", "number"), CASES)
def test_row_to_second_order(name: str, number: int, rng: np.random.Generator) -> None:
    row = OPS[name]
    given, attrs = examples(row)[number]
    arrays = [sample(row, g, k, rng) for k, g in enumerate(given)]
    real = [k for k in range(len(arrays)) if row.rule(k) is not None]

    def fn(*xs: Any) -> Any:
        full = list(arrays)
        for k, x in zip(real, xs, strict=True):
            full[k] = x
        result = row(full, **attrs) if row.variadic else row(*full, **attrs)
        if not row.many:
            return result
        total: Any = 0.0
        for k, part in enumerate(result):
            total = gt.sum(part * np.cos(np.arange(1.0, part.size + 1.0) + k).reshape(part.shape)) + total
        return total

    check_gradients(fn, *(arrays[k] for k in real))


@pytest.mark.parametrize("name", sorted(OPS))
def test_row_is_complete(name: str) -> None:
    row = OPS[name]
    assert row.name == name
    assert row.formula
    if row.differentiable:
        assert any(row.rules)
        assert len(row.vjp_formulas) == len(row.rules)
        assert all(bool(text) == (rule is not None) for text, rule in zip(row.vjp_formulas, row.rules, strict=True))
    else:
        assert not any(row.rules)


def test_the_table_is_large_enough() -> None:
    assert len(DIFFERENTIABLE) >= 100


@pytest.mark.parametrize(("name", "number"), CASES)
def test_float32_stays_float32(name: str, number: int, rng: np.random.Generator) -> None:
    row = OPS[name]
    given, attrs = examples(row)[number]
    if name == "cast":
        pytest.skip("changes the dtype on purpose")
    arrays = [sample(row, g, k, rng) for k, g in enumerate(given)]
    xs = [gt.constant(a, "float32") if row.rule(k) is not None else a for k, a in enumerate(arrays)]
    real = [x for x in xs if isinstance(x, gt.Tensor)]
    with gt.GradientTape() as tape:
        tape.watch(real)
        y = row(xs, **attrs) if row.variadic else row(*xs, **attrs)
    parts = y if row.many else [y]
    assert all(part.dtype == np.float32 for part in parts)
    for g, x in zip(tape.gradient(parts, real), real, strict=True):
        assert g.dtype == np.float32
        assert g.shape == x.shape


FAST: dict[str, tuple[Any, int]] = {
    "add": (gt.add, 2), "subtract": (gt.subtract, 2), "multiply": (gt.multiply, 2), "divide": (gt.divide, 2),
    "matmul": (gt.matmul, 2), "sin": (gt.sin, 1), "cos": (gt.cos, 1), "tanh": (gt.tanh, 1), "exp": (gt.exp, 1),
    "log": (gt.log, 1), "square": (gt.square, 1), "relu": (gt.relu, 1), "sigmoid": (gt.sigmoid, 1),
    "sum": (gt.sum, 1), "mean": (gt.mean, 1), "softmax_cross_entropy": (gt.nn.softmax_cross_entropy, 2),
    "power": (gt.power, 2),
}
FAST_SHAPES = {1: (((3, 4),), ((),), ((5,),)), 2: (*BINARY, ((4,), (3, 4)), ((2, 1, 3), (3,)))}
MATRICES = (((2, 3), (3, 4)), ((2, 3), (3,)), ((3,), (3, 2)), ((3,), (3,)), ((2, 2, 3), (3, 2)))
FAST_CASES = [(name, shapes, dtype) for name, (_, count) in FAST.items() for dtype in ("float64", "float32")
              for shapes in (MATRICES if name == "matmul" else (((3, 4), (3, 4)),)
                             if name == "softmax_cross_entropy" else FAST_SHAPES[count])]


def results(fn: Any, xs: list[Any], order: int) -> list[Any]:
    """Value and gradients, to second order, of a function of tensors."""
    with gt.GradientTape(persistent=True) as outer:
        outer.watch(xs)
        with gt.GradientTape(persistent=True) as inner:
            inner.watch(xs)
            y = fn(*xs)
            z = gt.sum(y * y)
        first = inner.gradient(z, xs)
        total = sum((gt.sum(g * g) for g in first), start=gt.constant(0.0, z.dtype))
    second = outer.gradient(total, xs) if order > 1 else []
    return [y, *inner.gradient(z, xs), *first, *second]


@pytest.mark.parametrize(("name", "shapes", "dtype"), FAST_CASES, ids=str)
def test_fast_form_agrees_with_its_row(name: str, shapes: Any, dtype: str, rng: np.random.Generator) -> None:
    fast, _ = FAST[name]
    xs = [gt.constant(rng.uniform(0.3, 1.5, shape), dtype) for shape in shapes]
    tolerance = 1e-12 if dtype == "float64" else 2e-5
    for fn, row in ((fast, OPS[name]),):
        for a, b in zip(results(fn, xs, 2), results(row, xs, 2), strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=tolerance, atol=tolerance)


CONSTANTS: dict[str, Any] = {
    "t * 2": (lambda x: x * 2, 2.0), "t * 2.5": (lambda x: x * 2.5, 2.5), "3 * t": (lambda x: 3 * x, 3.0),
    "t + 1.5": (lambda x: x + 1.5, 1.0), "1 - t": (lambda x: 1 - x, -1.0), "t - 1": (lambda x: x - 1, 1.0),
    "t / 4": (lambda x: x / 4, 0.25), "1 / t": (lambda x: 1 / x, -0.25), "t ** 3": (lambda x: x ** 3, 12.0),
    "t ** 2": (lambda x: x ** 2, 4.0), "t ** 0.5": (lambda x: x ** 0.5, 0.5 / 2 ** 0.5), "-t": (lambda x: -x, -1.0),
    "2 ** t": (lambda x: 2 ** x, 4 * np.log(2.0)), "t % 3": (lambda x: x % 3, 1.0), "abs": (abs, 1.0),
    "array + t": (lambda x: np.ones(()) + x, 1.0), "float64 * t": (lambda x: np.float64(3) * x, 3.0),
    "t * array": (lambda x: x * np.full((), 3.0), 3.0), "array / t": (lambda x: np.array(1.0) / x, -0.25),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CONSTANTS)
def test_numbers_and_arrays_adopt_the_dtype(name: str, dtype: str) -> None:
    fn, expected = CONSTANTS[name]
    for x in (gt.constant(2.0, dtype), gt.constant([2.0, 2.0], dtype)):
        with gt.GradientTape() as tape:
            tape.watch(x)
            y = fn(x)
        assert isinstance(y, gt.Tensor)
        g = tape.gradient(y, x)
        assert y.dtype == g.dtype == np.dtype(dtype)
        np.testing.assert_allclose(g.numpy(), np.full(x.shape, expected), rtol=1e-6)


def test_cross_entropy_and_cholesky_on_their_own_domain(rng: np.random.Generator) -> None:
    check_gradients(lambda a, z: gt.nn.softmax_cross_entropy(gt.softmax(a), z), rng.normal(size=(3, 4)),
                    rng.normal(size=(3, 4)))
    check_gradients(lambda x: gt.linalg.cholesky(x @ gt.transpose(x) + 2 * np.eye(3)), rng.normal(size=(3, 3)))


class Names(Observer):
    """Collects the names of ops."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def on_op(self, op: Op, *_: Any) -> None:
        self.seen.append(op.name)


def test_steps_have_zero_gradients_not_none() -> None:
    x = gt.constant([-1.0, 0.0, 2.0])
    for fn in (gt.sign, gt.nn.relu, gt.nn.relu6, abs):
        with gt.GradientTape() as outer:
            outer.watch(x)
            with gt.GradientTape() as tape:
                tape.watch(x)
                y = fn(x)
            first = tape.gradient(y, x)
        assert first is not None
        if fn is not gt.sign:
            np.testing.assert_array_equal(outer.gradient(first, x).numpy(), np.zeros(3))


@pytest.mark.parametrize("name", sorted(set(FAST) - {"matmul", "softmax_cross_entropy"}))
def test_a_fast_form_steps_aside_for_an_observer(name: str) -> None:
    fast, count = FAST[name]
    with observe(Names()) as names:
        fast(*[gt.constant([1.0, 2.0])] * count)
    assert isinstance(names, Names)
    assert names.seen == [name]
