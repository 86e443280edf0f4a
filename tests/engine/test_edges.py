"""Kinks, ties, zeros, dtypes and shapes: TensorFlow's conventions, measured there (section 9 of the specification)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt

inf, nan = np.inf, np.nan
quiet = pytest.mark.filterwarnings("ignore::RuntimeWarning")    # NumPy's own: log(0), 1/0


def both(fn: Any, *xs: Any) -> tuple[Any, list[Any]]:
    """Value and gradients of a function of constants, as NumPy numbers."""
    tensors = [gt.constant(x) for x in xs]
    with gt.GradientTape() as tape:
        tape.watch(tensors)
        y = fn(*tensors)
    return y.numpy(), [None if g is None else g.numpy() for g in tape.gradient(y, tensors)]


EDGES: dict[str, tuple[Any, tuple[Any, ...], Any, tuple[Any, ...]]] = {
    # name: (function, arguments, value, gradients), None where it is not checked
    "abs 0": (gt.abs, (0.0,), 0.0, (0.0,)),
    "relu 0": (gt.nn.relu, (0.0,), 0.0, (0.0,)),
    "relu6 6": (gt.nn.relu6, (6.0,), 6.0, (0.0,)),
    "elu 0": (gt.nn.elu, (0.0,), 0.0, (1.0,)),
    "leaky_relu 0": (gt.nn.leaky_relu, (0.0,), 0.0, (0.2,)),
    "clip low bound": (lambda x: gt.clip(x, 1.0, 2.0), (1.0,), 1.0, (1.0,)),
    "clip high bound": (lambda x: gt.clip(x, 1.0, 2.0), (2.0,), 2.0, (1.0,)),
    "maximum tie": (gt.maximum, (1.0, 1.0), 1.0, (1.0, 0.0)),
    "minimum tie": (gt.minimum, (1.0, 1.0), 1.0, (1.0, 0.0)),
    "maximum(x, 0) at 0": (lambda x: gt.maximum(x, 0.0), (0.0,), 0.0, (1.0,)),
    "max tie": (gt.max, ([2.0, 2.0, 1.0],), 2.0, ([0.5, 0.5, 0.0],)),
    "min tie": (gt.min, ([1.0, 2.0, 1.0],), 1.0, ([0.5, 0.0, 0.5],)),
    "prod with a zero": (gt.prod, ([0.0, 2.0, 3.0],), 0.0, ([6.0, 0.0, 0.0],)),
    "prod with two zeros": (gt.prod, ([0.0, 2.0, 0.0],), 0.0, ([0.0, 0.0, 0.0],)),
    "sqrt 0": (gt.sqrt, (0.0,), 0.0, (inf,)),
    "square of sqrt 0": (lambda x: gt.square(gt.sqrt(x)), (0.0,), 0.0, (0.0,)),
    "log 0": (gt.log, (0.0,), -inf, (inf,)),
    "1 / 0": (gt.divide, (1.0, 0.0), inf, (inf, -inf)),
    "divide_no_nan": (gt.divide_no_nan, (1.0, 0.0), 0.0, (0.0, 0.0)),
    "norm 0": (gt.norm, ([0.0, 0.0],), 0.0, ([nan, nan],)),
    "std of equals": (gt.std, ([2.0, 2.0],), 0.0, ([nan, nan],)),
    "x ** 0.5 at 0": (lambda x: x ** 0.5, (0.0,), 0.0, (inf,)),
    "0 ** 0": (gt.power, (0.0, 0.0), 1.0, (nan, 0.0)),
    "(-1) ** 2": (gt.power, (-1.0, 2.0), 1.0, (-2.0, 0.0)),
    "arccos 1": (gt.arccos, (1.0,), 0.0, (-inf,)),
    "arcsin 1": (gt.arcsin, (1.0,), None, (inf,)),
    "arctan2 0": (gt.arctan2, (0.0, 0.0), 0.0, (nan, nan)),
    "xlogy 0": (gt.xlogy, (0.0, 0.0), 0.0, (0.0, 0.0)),
    "where hides log": (lambda x: gt.where(x > 0.0, gt.log(x), 0.0), (-1.0,), 0.0, (-0.0,)),
    "where over 0 / 0": (lambda x: gt.where(gt.equal(x, 0.0), 1.0, gt.sin(x) / x), (0.0,), 1.0, (nan,)),
    "inner where": (lambda x: gt.where(x > 0.0, gt.log(gt.where(x > 0.0, x, 1.0)), 0.0), (0.0,), 0.0, (0.0,)),
    "where times another": (lambda x: gt.where(x > 0.0, x * gt.log(x), 0.0), (0.0,), 0.0, (nan,)),
    "mod": (lambda x: x % 2.0, (5.5,), 1.5, (1.0,)),
    "softplus 1000": (gt.nn.softplus, (1000.0,), 1000.0, (1.0,)),
    "sigmoid -1000": (gt.sigmoid, (-1000.0,), 0.0, (0.0,)),
    "sigmoid 1000": (gt.sigmoid, (1000.0,), 1.0, (0.0,)),
    "logsumexp of large": (gt.logsumexp, ([1000.0, 1000.0],), 1000.0 + np.log(2.0), ([0.5, 0.5],)),
    "sigmoid cross-entropy": (lambda z: gt.nn.sigmoid_cross_entropy(np.array([1.0, 0.0]), z), ([200.0, -200.0],),
                              [0.0, 0.0], ([0.0, 0.0],)),
    "sparse cross-entropy": (lambda z: gt.nn.sparse_softmax_cross_entropy(np.array([0]), z), ([[-1000.0, 1000.0]],),
                             [2000.0], ([[-1.0, 1.0]],)),
    "cross-entropy without a class": (lambda z: gt.nn.softmax_cross_entropy(np.zeros((1, 2)), z), ([[0.0, 0.0]],),
                                      [0.0], ([[0.5, 0.5]],)),
    "softmax of one": (gt.softmax, ([3.0],), [1.0], ([0.0],)),
}


@quiet
@pytest.mark.parametrize("name", EDGES)
def test_edge(name: str) -> None:
    fn, arguments, value, gradients = EDGES[name]
    y, gs = both(fn, *arguments)
    if value is not None:
        np.testing.assert_allclose(y, value, rtol=1e-12, atol=1e-80)
    for g, expected in zip(gs, gradients, strict=True):
        np.testing.assert_allclose(g, expected, rtol=1e-12, atol=1e-80)


@pytest.mark.filterwarnings("error")
def test_sigmoid_does_not_warn() -> None:
    for dtype in ("float32", "float64"):
        x = gt.constant([-1000.0, -80.0, 0.0, 1000.0], dtype)
        y = gt.sigmoid(x).numpy()
        assert y[0] == 0.0
        assert y[1] == pytest.approx(np.exp(-80.0))
        assert (y[2], y[3]) == (0.5, 1.0)


def test_cast_back_to_the_source_dtype() -> None:
    x = gt.constant([1.0, 2.0], "float32")
    with gt.GradientTape() as tape:
        tape.watch(x)
        y = gt.cast(x, "float64") ** 2
    g = tape.gradient(y, x)
    assert g.dtype == np.float32


@pytest.mark.parametrize("fn", [
    lambda: gt.constant(1.0, "float32") + gt.constant(1.0, "float64"),
    lambda: gt.constant(1.0, "float32") * gt.constant(1, "int32"),
    lambda: gt.constant([1.0], "float32") @ gt.constant([1.0], "float64"),
    lambda: gt.constant(1) + 1.5, lambda: gt.constant([1]) * np.array([1.5]),
    lambda: gt.constant(1.0) * 1j,
])
def test_dtypes_that_do_not_go_together(fn: Any) -> None:
    with pytest.raises(gt.errors.DTypeError, match="do not go together; cast one") as caught:
        fn()
    assert isinstance(caught.value, (ValueError, TypeError))


def test_division_of_integers_gives_float64() -> None:
    y = gt.constant(1) / gt.constant(2)
    assert y.dtype == np.float64
    assert y.numpy() == 0.5
    assert (gt.constant(7) // 2).numpy() == 3


@pytest.mark.parametrize(("fn", "message"), [
    (lambda: gt.constant([1.0, 2.0]) + gt.constant([1.0, 2.0, 3.0]), r"add: a of shape \(2,\), b of shape \(3,\)"),
    (lambda: gt.constant(np.ones((2, 3))) @ gt.constant(np.ones((2, 3))), r"matmul: a of shape \(2, 3\)"),
    (lambda: gt.matmul(gt.constant(1.0), gt.constant([1.0])), "matmul: a = "),
    (lambda: gt.reshape(gt.constant([1.0, 2.0]), (3,)), r"reshape: x of shape \(2,\), shape=\(3,\) do not fit"),
    (lambda: gt.concatenate([gt.constant([1.0]), gt.constant([[1.0]])]), "concatenate: x0 of shape"),
    (lambda: gt.gather(gt.constant([1.0]), 5), "gather: x of shape"),
    (lambda: gt.gather(gt.constant([1.0]), 0.5), "indices are integers"),
    (lambda: gt.constant([1.0])[3], "getitem: x of shape"),
    (lambda: gt.nn.softmax_cross_entropy(np.ones((2, 3)), gt.constant(np.ones((2, 2)))), "labels come first"),
    (lambda: gt.nn.sparse_softmax_cross_entropy(np.array([2]), gt.constant([[1.0, 2.0]])), r"labels must be in 0..1"),
    (lambda: gt.nn.sparse_softmax_cross_entropy(np.array([0.5]), gt.constant([[1.0, 2.0]])), "class numbers"),
    (lambda: gt.einsum("ij,jk", gt.constant([[1.0]])), "names 2 operands, 1 were given"),
    (lambda: gt.nn.dropout(gt.constant([1.0]), 1.0), "rate 1.0 must be"),
    (lambda: gt.constant([[1.0], [1.0, 2.0]]), "ragged"),
    (lambda: gt.constant(["a"]), "numbers are needed"),
])
def test_errors_say_what_was_given(fn: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        fn()
    assert isinstance(caught.value, gt.errors.InvalidArgumentError)


def test_unknown_or_missing_arguments_of_an_op() -> None:
    with pytest.raises(TypeError, match=r"softmax\(\) does not know 'axes'; it is called as <op softmax"):
        gt.softmax(gt.constant([1.0]), axes=1)
    with pytest.raises(TypeError, match=r"arctan2\(a, b\) misses b"):
        gt.arctan2(gt.constant(1.0))
    with pytest.raises(TypeError, match=r"reshape\(\) misses 'shape'"):
        gt.reshape(gt.constant(1.0))


def test_broadcasting_sums_back_to_each_shape() -> None:
    for a, b in (((2, 1), (1, 3)), ((), (2, 2)), ((0, 2), (1, 2)), ((1, 1), ()), ((3, 1, 2), (4, 1))):
        x, y = gt.constant(np.ones(a)), gt.constant(np.ones(b))
        for fn in (gt.add, gt.subtract, gt.multiply, gt.divide, gt.maximum, gt.power):
            with gt.GradientTape() as tape:
                tape.watch([x, y])
                z = fn(x, y)
            gx, gy = tape.gradient(z, [x, y])
            assert (gx.shape, gy.shape) == (a, b)


def test_unused_outputs_count_as_zero() -> None:
    x = gt.constant([1.0, 2.0, 3.0, 4.0])
    with gt.GradientTape() as tape:
        tape.watch(x)
        _, b = gt.split(x, 2)
        y = gt.sum(b * b)
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [0.0, 0.0, 6.0, 8.0])


def test_gather_accumulates_duplicates() -> None:
    x = gt.Variable([1.0, 2.0, 3.0])
    with gt.GradientTape() as tape:
        y = gt.sum(gt.gather(x, [0, 0, 2]) * np.array([1.0, 10.0, 100.0])) + x[0]
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [12.0, 0.0, 100.0])


def test_rounding_and_one_hot() -> None:
    np.testing.assert_array_equal(gt.round(gt.constant([0.5, 1.5, 2.5])).numpy(), [0.0, 2.0, 2.0])
    np.testing.assert_array_equal(gt.one_hot([0, -1, 2], 3).numpy(), [[1, 0, 0], [0, 0, 0], [0, 0, 1]])


def test_dropout_uses_one_mask_both_ways() -> None:
    x = gt.constant(np.ones(1000))
    with gt.GradientTape() as tape:
        tape.watch(x)
        y = gt.nn.dropout(x, 0.25, np.random.default_rng(0))
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), y.numpy())
    assert set(np.unique(y.numpy())) == {0.0, 1 / 0.75}


def test_tensors_behave_like_python_numbers_and_sequences() -> None:
    t, s = gt.constant([1.0, 2.0, 3.0]), gt.constant(2.5)
    assert sum(t, start=gt.constant(0.0)).numpy() == 6.0
    assert float(sum(t)) == 6.0
    assert max(t).numpy() == 3.0
    assert abs(-s).numpy() == 2.5
    assert [float(x) for x in t] == [1.0, 2.0, 3.0]
    assert bool(s > 0)
    assert f"{s:.3f}" == "2.500"
    assert "%.1f" % s == "2.5"  # noqa: UP031  # scripts do this
    assert (float(s), int(s), len(t)) == (2.5, 2, 3)
    assert [10, 20, 30][gt.constant(1)] == 20
    assert "shape=(3,)" in repr(t)
    assert (t == np.array([1.0, 0.0, 3.0])).numpy().tolist() == [True, False, True]
    assert not t.__eq__(None)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(t > 0)
    with pytest.raises(TypeError, match="scalar"):
        len(s)
    with pytest.raises(TypeError, match="scalar"):
        iter(s)
    with pytest.raises(TypeError, match=r"float\(\) needs a tensor of one element"):
        float(t)
    with pytest.raises(TypeError):
        t[0] = 1.0      # type: ignore[index]  # tensors are immutable


def test_complex_numbers_pass_through_real_parts() -> None:
    assert gt.constant(1 + 2j).dtype == np.complex128
    assert (gt.constant(1 + 2j) * gt.constant(2 + 0j)).numpy() == 2 + 4j


def test_lists_of_tensors_keep_their_history() -> None:
    x = gt.Variable(3.0)
    with gt.GradientTape(persistent=True) as tape:
        y = gt.sum([x * x, 2.0, x])
        z = gt.convert([[x], [1.0]])
        w = gt.sum(z * z)
    assert tape.gradient(y, x).numpy() == 7.0
    assert z.shape == (2, 1)
    assert tape.gradient(w, x).numpy() == 6.0
