"""Optimizers, random numbers, check_gradients, and PyTorch as a second opinion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.testing import check_gradients


def test_sgd_steps() -> None:
    v = gt.Variable([1.0, 2.0])
    gt.optimizers.SGD(0.1).apply_gradients([(gt.constant([1.0, -1.0]), v)])
    np.testing.assert_allclose(v.numpy(), [0.9, 2.1])


@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum_as_tensorflow_has_it(nesterov: bool) -> None:
    v = gt.Variable(1.0)
    optimizer = gt.optimizers.SGD(0.1, momentum=0.9, nesterov=nesterov)
    w, m = 1.0, 0.0
    for g in (1.0, 0.5, -0.25):
        optimizer.apply_gradients([(g, v)])
        m = 0.9 * m - 0.1 * g
        w = w + 0.9 * m - 0.1 * g if nesterov else w + m
        assert v.numpy() == pytest.approx(w)


def test_adam_as_tensorflow_has_it() -> None:
    v = gt.Variable(np.array([1.0, 2.0], "float32"))
    optimizer = gt.optimizers.Adam(0.01)
    w, m, s = np.array([1.0, 2.0]), np.zeros(2), np.zeros(2)
    for t, g in enumerate(([0.1, -0.2], [0.3, 0.0], [-0.1, 0.5]), start=1):
        optimizer.apply_gradients([(gt.constant(g, "float32"), v)])
        m, s = 0.9 * m + 0.1 * np.array(g), 0.999 * s + 0.001 * np.array(g) ** 2
        w = w - 0.01 * np.sqrt(1 - 0.999 ** t) / (1 - 0.9 ** t) * m / (np.sqrt(s) + 1e-7)
        np.testing.assert_allclose(v.numpy(), w, rtol=1e-5)
    assert v.dtype == np.float32
    assert optimizer.iterations == 3


def test_missing_gradients() -> None:
    a, b = gt.Variable(1.0, name="a"), gt.Variable(1.0, name="b")
    optimizer = gt.optimizers.SGD(0.5)
    with pytest.warns(gt.GradtapeWarning, match="Gradients do not exist for the variables b") as caught:
        optimizer.apply_gradients([(1.0, a), (None, b)])
    assert caught[0].filename == __file__
    assert (a.numpy(), b.numpy()) == (0.5, 1.0)
    with pytest.raises(ValueError, match="No gradients provided for any variable: a, b"):
        optimizer.apply_gradients([(None, a), (None, b)])
    with pytest.raises(ValueError, match=r"pairs \(gradient, variable\), in this order"):
        optimizer.apply_gradients([(a, gt.constant(1.0))])       # type: ignore[list-item]
    with pytest.raises(ValueError, match=r"the gradient of a has shape \(2,\), the variable \(\)"):
        optimizer.apply_gradients([(np.ones(2), a)])


def test_clip_by_global_norm() -> None:
    clipped, norm = gt.optimizers.clip_by_global_norm([gt.constant([3.0]), None, gt.constant([4.0])], 1.0)
    assert norm.numpy() == 5.0
    assert clipped[1] is None
    assert [float(c) for c in clipped if c is not None] == pytest.approx([0.6, 0.8])
    same, _ = gt.optimizers.clip_by_global_norm([gt.constant([3.0])], 10.0)
    assert float(same[0]) == 3.0       # type: ignore[arg-type]  # not None: its gradient was not
    check_gradients(lambda x, y: gt.optimizers.clip_by_global_norm([x, y], 0.5)[0][0], np.ones(3), np.ones(2))
    zero, norm = gt.optimizers.clip_by_global_norm([gt.constant([0.0])], 1.0)
    assert float(zero[0]) == float(norm) == 0.0      # type: ignore[arg-type]


def test_seeds_repeat_and_initial_values_have_the_right_spread() -> None:
    gt.random.set_seed(3)
    first = gt.random.normal((4,))
    gt.random.set_seed(3)
    np.testing.assert_array_equal(first.numpy(), gt.random.normal((4,)).numpy())
    w = gt.random.he_normal((400, 300))
    assert w.numpy().std() == pytest.approx((2 / 400) ** 0.5, rel=0.02)
    assert gt.random.glorot_normal((400, 300)).numpy().std() == pytest.approx((2 / 700) ** 0.5, rel=0.02)
    assert abs(gt.random.glorot_uniform((30, 20)).numpy()).max() <= (6 / 50) ** 0.5
    assert gt.random.he_uniform((30, 20), "float32").dtype == np.float32
    assert gt.random.uniform((5,), 0, 10, "int32").dtype == np.int32
    assert sorted(gt.random.permutation(5).tolist()) == [0, 1, 2, 3, 4]


def test_a_network_learns(rng: np.random.Generator) -> None:
    x = rng.normal(size=(64, 2)).astype("float32")
    y = (x[:, :1] * x[:, 1:] > 0).astype("float32")
    gt.random.set_seed(0)
    shapes = ((2, 16), (16,), (16, 1), (1,))
    params = [gt.Variable(gt.random.glorot_uniform(s, "float32") if len(s) > 1 else np.zeros(s, "float32"))
              for s in shapes]
    optimizer = gt.optimizers.Adam(0.05)
    losses = []
    for _ in range(200):
        with gt.GradientTape() as tape:
            h = gt.nn.dense(x, params[0], params[1])
            logits = gt.nn.dense(gt.tanh(h), params[2], params[3])
            loss = gt.mean(gt.nn.sigmoid_cross_entropy(y, logits))
        optimizer.apply_gradients(zip(tape.gradient(loss, params), params, strict=True))
        losses.append(float(loss))
    assert losses[-1] < 0.1 * losses[0]


def test_check_gradients_finds_wrong_rules_and_kinks() -> None:
    @gt.custom_gradient
    def wrong(x: Any) -> Any:
        return gt.sin(x), lambda g: g * gt.sin(x)

    @gt.custom_gradient
    def wrong_second(x: Any) -> Any:
        return gt.sin(x), lambda g: g * gt.stop_gradient(gt.cos(x))

    with pytest.raises(gt.errors.NondifferentiableError, match="order 1: the tape's derivative"):
        check_gradients(wrong, np.array([0.3]))
    check_gradients(wrong_second, np.array([0.3]), order=1)
    with pytest.raises(gt.errors.NondifferentiableError, match="lies on a kink"):
        check_gradients(gt.abs, np.array([0.0, 1.0]))
    check_gradients(gt.sin, np.array([0.3]), order=4)


def test_check_gradients_finds_a_lost_dependency() -> None:
    @gt.custom_gradient
    def lost(x: Any) -> Any:
        return x ** 3, lambda g: g * 3.0 * x.numpy() ** 2

    check_gradients(lost, np.array([0.7]), order=1)
    with pytest.raises(gt.errors.NondifferentiableError, match="order 2"):
        check_gradients(lost, np.array([0.7]), order=2)


def test_pytorch_agrees(rng: np.random.Generator) -> None:
    torch = pytest.importorskip("torch")
    x, w, g = rng.normal(size=(4, 5)), rng.normal(size=(5, 3)), rng.normal(size=3)
    pairs: list[tuple[Any, Any]] = [
        (lambda a, b, c: gt.mean(gt.square(gt.tanh(a @ b) * c)), lambda a, b, c: ((a @ b).tanh() * c).square().mean()),
        (lambda a, b, c: gt.sum(gt.nn.softmax(a @ b) * c), lambda a, b, c: ((a @ b).softmax(-1) * c).sum()),
        (lambda a, b, c: gt.sum(gt.nn.gelu(a @ b + c)), lambda a, b, c: torch.nn.functional.gelu(a @ b + c).sum()),
        (lambda a, b, c: gt.sum(gt.nn.layer_norm(a @ b, c, c) ** 2),
         lambda a, b, c: (torch.nn.functional.layer_norm(a @ b, (3,), c, c) ** 2).sum()),
    ]
    for ours, theirs in pairs:
        tensors = [gt.constant(v) for v in (x, w, g)]
        leaves = [torch.tensor(v, requires_grad=True) for v in (x, w, g)]
        with gt.GradientTape() as tape:
            tape.watch(tensors)
            y = ours(*tensors)
        z = theirs(*leaves)
        z.backward()
        assert y.numpy() == pytest.approx(z.detach().item(), rel=1e-10)
        for a, b in zip(tape.gradient(y, tensors), leaves, strict=True):
            np.testing.assert_allclose(a.numpy(), b.grad.numpy(), rtol=1e-9, atol=1e-11)
