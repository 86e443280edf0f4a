"""Nested tapes, higher orders, pausing, variables that change, custom gradients, jacobians (sections 6 to 12)."""

from __future__ import annotations

import contextlib
import weakref
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.testing import check_gradients

# --- variables that change (6) -------------------------------------------------------------------


def test_a_read_captures_the_value() -> None:
    v = gt.Variable(3.0)
    with gt.GradientTape(persistent=True) as tape:
        y = v * v
        v.assign(10.0)
        z = v * v
    v.assign(-1.0)
    assert tape.gradient(y, v).numpy() == 6.0
    assert tape.gradient(z, v).numpy() == 20.0
    assert tape.gradient(y + z, v) is None      # the sum was made outside
    assert tape.gradient([y, z], v).numpy() == 26.0


def test_assignments_block_the_path_and_are_read_afresh() -> None:
    v, b = gt.Variable(1.0), gt.Variable(2.0)
    with gt.GradientTape(persistent=True) as tape:
        y = v.assign_add(b) * 1.0
        w = gt.Variable(b * 3.0)
        z = w * 2.0
    assert tape.gradient(y, v).numpy() == 1.0
    assert tape.gradient(y, b) is None
    assert tape.gradient(z, b) is None
    assert tape.gradient(z, w).numpy() == 2.0


def test_arrays_of_the_script_may_change_later() -> None:
    a = np.array([1.0, 2.0])
    x, v = gt.constant(a), gt.Variable(a)
    with gt.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = gt.sum(x * a) + gt.sum(a * v) + gt.dot(v, a) + gt.sum(gt.where(a > 0, x, 0.0) / a)
        a[:] = 100.0
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [2.0, 2.5])
    np.testing.assert_array_equal(tape.gradient(y, v).numpy(), [2.0, 4.0])
    snapshot = v.numpy()
    snapshot[:] = 7.0
    assert v.numpy()[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(x)[0] = 5.0


def test_slices_can_be_assigned() -> None:
    v = gt.Variable([1.0, 2.0, 3.0])
    v[1].assign(5.0)
    v[:2].assign_add([1.0, 1.0])
    v[2].assign_sub(0.5)
    np.testing.assert_array_equal(v.numpy(), [2.0, 6.0, 2.5])
    with pytest.raises(AttributeError, match="a tensor never changes"):
        (v * 2.0).assign([1.0, 2.0, 3.0])
    with gt.GradientTape() as tape:
        y = v[1] * v[0]
    np.testing.assert_array_equal(tape.gradient(y, v).numpy(), [6.0, 2.0, 0.0])


def test_in_place_operators() -> None:
    v, t = gt.Variable(1.0, name="v"), gt.constant(1.0)
    with pytest.raises(RuntimeError, match=r"v is a variable: write v.assign_add"):
        v += 1.0
    before = t
    t += 1.0
    assert (t.numpy(), before.numpy()) == (2.0, 1.0)


def test_assignments_that_do_not_fit() -> None:
    v = gt.Variable(np.zeros(2, "float32"), name="w")
    with pytest.raises(ValueError, match=r"w has shape \(2,\), the assigned value \(3,\)"):
        v.assign(np.ones(3))
    with pytest.raises(ValueError, match="w is of dtype float32, the assigned value of float64"):
        v.assign(gt.constant([1.0, 2.0]))
    assert v.assign(np.array([1.0, 2.0])) is v
    assert v.dtype == np.float32
    assert v.version == 1


def test_names_and_versions() -> None:
    a, b = gt.Variable(1.0), gt.Variable(1.0, name="b")
    assert a.name.startswith("Variable:")
    assert b.name == "b"
    a.assign_add(1.0)
    a.assign_sub(0.5)
    assert (a.version, a.numpy()) == (2, 1.5)


# --- pausing (7) ---------------------------------------------------------------------------------

def test_stop_recording_suspends_this_tape_only() -> None:
    v = gt.Variable(2.0)
    with gt.GradientTape() as other, gt.GradientTape() as tape:
        y = v * v
        with tape.stop_recording():
            z = y * v
        w = z * v
    assert tape.gradient(w, v).numpy() == 8.0       # z is a constant to it
    assert other.gradient(w, v).numpy() == 32.0


def test_stop_recording_watches_nothing_and_resumes_after_an_error() -> None:
    v = gt.Variable(2.0)
    with gt.GradientTape() as tape:
        with contextlib.suppress(KeyError), tape.stop_recording():
            y = v * 2.0
            raise KeyError
        assert tape.watched_variables() == ()
        z = v * 3.0
    assert tape.gradient([y, z], v).numpy() == 3.0


def test_stop_recording_out_of_place() -> None:
    tape = gt.GradientTape()
    with pytest.raises(RuntimeError), tape.stop_recording():
        pass
    with tape:
        with tape.stop_recording(), pytest.raises(ValueError, match="Tape is not recording"), tape.stop_recording():
            pass
        assert (gt.Variable(1.0) * 2.0)._entries is not None
    with pytest.raises(ValueError, match="Tape is not recording"), tape.stop_recording():
        pass


def test_gradient_while_stopped() -> None:
    v = gt.Variable(2.0)
    with gt.GradientTape(persistent=True) as tape:
        y = v * v
        with tape.stop_recording():
            g = tape.gradient(y, v)
    assert g.numpy() == 4.0
    assert tape.gradient(g, v) is None
    with gt.GradientTape() as tape:
        y = v * v
        with tape.stop_recording():
            assert tape.gradient(y, v).numpy() == 4.0
        z = v * 5.0
    assert tape.gradient(z, v).numpy() == 5.0


def test_reset_forgets_everything() -> None:
    v, x = gt.Variable(2.0), gt.constant(1.0)
    with gt.GradientTape() as tape:
        tape.watch(x)
        y = v * x
        tape.reset()
        assert tape.watched_variables() == ()
        z = x * 3.0
        w = v * 3.0
    assert tape.gradient([y, z, w], [v, x])[1] is None
    with pytest.raises(ValueError, match="Tape is not recording"):
        tape.reset()


def test_watched_variables_come_in_order_of_construction() -> None:
    tape = gt.GradientTape()
    assert tape.watched_variables() == ()
    a, b, c = gt.Variable(1.0), gt.Variable(2.0), gt.Variable(3.0, trainable=False)
    with tape:
        y = b * a
        tape.watch(c)
    assert [v is w for v, w in zip(tape.watched_variables(), (a, b, c), strict=True)] == [True] * 3
    tape.gradient(y, tape.watched_variables())
    assert len(tape.watched_variables()) == 3


# --- higher orders (8) ---------------------------------------------------------------------------

def nth_derivative(fn: Any, x: Any, n: int) -> Any:
    if n == 0:
        return fn(x)
    with gt.GradientTape() as tape:
        tape.watch(x)
        y = nth_derivative(fn, x, n - 1)
    return tape.gradient(y, x)


def test_any_order() -> None:
    x = gt.constant(1.5)
    assert [nth_derivative(lambda t: t ** 5, x, n).numpy() for n in (1, 3, 5)] == [25.3125, 135.0, 120.0]
    t = np.tanh(1.5)
    assert nth_derivative(gt.tanh, x, 3).numpy() == pytest.approx(-2 * (1 - t * t) * (1 - 3 * t * t))


def test_a_second_derivative_of_something_linear_is_none() -> None:
    for fn in (lambda x: x * 3.0, lambda x: x + x, lambda x: -x, gt.sum, lambda x: x / 2.0, gt.cumsum,
               lambda x: gt.reshape(x, (2, 1)), lambda x: x @ np.ones(2), gt.mean):
        x = gt.constant([1.0, 2.0])
        assert nth_derivative(fn, x, 2) is None


def test_every_tape_watches_for_itself() -> None:
    x, v = gt.constant(2.0), gt.Variable(3.0)
    with gt.GradientTape() as outer:
        outer.watch(x)
        with gt.GradientTape(persistent=True) as inner:
            y = x * x * v
        assert inner.gradient(y, x) is None
        first = inner.gradient(y, v)
        assert inner.watched_variables() == (v,)
    assert outer.gradient(first, x).numpy() == 4.0
    with gt.GradientTape() as outer:
        v * 1.0
        with gt.GradientTape() as inner:
            y = v * v
        after = inner.gradient(y, v)
    assert outer.gradient(after, v).numpy() == 2.0


def test_a_gradient_taken_outside_is_a_constant() -> None:
    x = gt.Variable(2.0)
    with gt.GradientTape() as outer, gt.GradientTape() as inner:
        y = x ** 3
    g = inner.gradient(y, x)
    assert outer.gradient(g, x) is None


def test_tapes_side_by_side() -> None:
    a, b = gt.Variable(2.0), gt.Variable(3.0)
    with gt.GradientTape() as one, gt.GradientTape() as two:
        h = a * b
        y, z = h * a, h * b
    assert one.gradient(y, a).numpy() == 12.0
    assert two.gradient(z, [a, b])[0].numpy() == 9.0


def test_gradient_penalty_and_hessian_vector_product(rng: np.random.Generator) -> None:
    w = rng.normal(size=(3, 2))

    def penalty(x: Any) -> Any:
        with gt.GradientTape() as tape:
            tape.watch(x)
            y = gt.sum(gt.tanh(x @ w))
        return gt.square(gt.norm(tape.gradient(y, x)) - 1.0)

    check_gradients(penalty, rng.normal(size=(4, 3)), order=2)
    x, v = gt.constant([1.0, 2.0]), np.array([0.5, -1.0])
    with gt.GradientTape() as outer:
        outer.watch(x)
        with gt.GradientTape() as inner:
            inner.watch(x)
            y = gt.prod(x) * x[0]
        g = inner.gradient(y, x)
        product = gt.sum(g * v)
    np.testing.assert_allclose(outer.gradient(product, x).numpy(), [2 * 2 * 0.5 - 2 * 1.0, 1.0])


def test_maml_inner_step() -> None:
    w, x = gt.Variable(2.0), 3.0
    with gt.GradientTape() as outer:
        with gt.GradientTape() as inner:
            loss = gt.square(w * x - 1.0)
        fast = w - 0.01 * inner.gradient(loss, w)
        with gt.GradientTape() as second:
            second.watch([fast, w])
            loss = gt.square(fast * x - 1.0)
        faster = fast - 0.01 * second.gradient(loss, fast)
        final = gt.square(faster * x - 1.0)
    residual = 5.0 * (1 - 0.18) ** 2
    assert outer.gradient(final, w).numpy() == pytest.approx(2 * residual * 3 * (1 - 0.18) ** 2)


def test_forward_derivative_by_two_reverse_passes() -> None:
    x, direction = gt.constant([1.0, 2.0]), np.array([0.5, 3.0])
    u = gt.constant(np.zeros(2))
    with gt.GradientTape() as outer:
        outer.watch(u)
        with gt.GradientTape() as inner:
            inner.watch(x)
            y = x ** 3
        g = inner.gradient(y, x, output_gradients=u)
    np.testing.assert_allclose(outer.gradient(g, u, output_gradients=direction).numpy(), 3 * direction * [1.0, 4.0])


def test_a_tensor_that_two_tapes_need_at_different_times() -> None:
    x = gt.constant(2.0)
    with gt.GradientTape(persistent=True) as first:
        first.watch(x)
        y = x * x
    with gt.GradientTape() as second:
        second.watch(y)
        z = y * y
    assert first.gradient(y, x).numpy() == 4.0
    assert second.gradient(z, y).numpy() == 8.0


# --- custom gradients (12) -----------------------------------------------------------------------

@gt.custom_gradient
def doubled_back(x: Any, y: Any) -> Any:
    """A product whose gradient is twice what it should be."""
    def grad(g: Any) -> Any:
        return 2.0 * g * y, 2.0 * g * x
    return x * y, grad


def test_custom_gradient_and_its_second_order() -> None:
    assert doubled_back.__name__ == "doubled_back"
    x, y = gt.constant(3.0), gt.constant(4.0)
    with gt.GradientTape() as outer:
        outer.watch([x, y])
        with gt.GradientTape() as tape:
            tape.watch([x, y])
            z = doubled_back(x, y)
        gx, gy = tape.gradient(z, [x, y])
    assert (z.numpy(), gx.numpy(), gy.numpy()) == (12.0, 8.0, 6.0)
    assert outer.gradient(gx, [x, y])[0] is None
    assert doubled_back(x, 2.0).numpy() == 6.0


def test_custom_gradient_of_several_results() -> None:
    seen: list[Any] = []

    @gt.custom_gradient
    def both(x: Any) -> Any:
        def grad(a: Any, b: Any) -> Any:
            seen.append((a.numpy(), b.numpy()))
            return a + 10.0 * b
        return (x * 2.0, x * 3.0), grad

    x = gt.Variable(1.0)
    with gt.GradientTape() as tape:
        _, second = both(x)
    assert tape.gradient(second, x).numpy() == 10.0
    assert seen == [(0.0, 1.0)]


def test_custom_gradient_mistakes() -> None:
    @gt.custom_gradient
    def wrong(x: Any, y: Any) -> Any:
        return x * y, lambda g: g

    @gt.custom_gradient
    def wrong_shape(x: Any) -> Any:
        return x * 1.0, lambda g: gt.sum(g)

    @gt.custom_gradient
    def none(x: Any, y: Any) -> Any:
        return x * y, lambda g: (g, None)

    x, y = gt.Variable([1.0, 2.0]), gt.Variable([3.0, 4.0])
    with gt.GradientTape(persistent=True) as tape:
        a, b, c = wrong(x, y), wrong_shape(x), none(x, y)
    with pytest.raises(ValueError, match="expected to return 2 gradients, but returned 1"):
        tape.gradient(a, x)
    with pytest.raises(ValueError, match=r"gradient 0 has shape \(\), its argument \(2,\)"):
        tape.gradient(b, x)
    assert tape.gradient(c, y) is None
    assert tape.gradient(c, x) is not None


def test_custom_gradient_with_variables() -> None:
    a, b = gt.Variable(2.0), gt.Variable(5.0)

    @gt.custom_gradient
    def f(x: Any) -> Any:
        y = x * b + a

        def grad(g: Any, variables: Any = None) -> Any:
            assert [v is w for v, w in zip(variables, (a, b), strict=True)] == [True, True]
            return g * 100.0, [g * 1.0, g * 2.0]
        return y, grad

    @gt.custom_gradient
    def forgets(x: Any) -> Any:
        return x * a, lambda g: g

    x = gt.constant(3.0)
    with gt.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert [g.numpy() for g in tape.gradient(y, [x, a, b])] == [100.0, 1.0, 2.0]
    with pytest.raises(TypeError, match="must accept `variables`"):
        forgets(x)


def test_straight_through() -> None:
    x = gt.constant([0.4, 1.7])
    with gt.GradientTape() as tape:
        tape.watch(x)
        y = x + gt.stop_gradient(gt.round(x) - x)
    np.testing.assert_array_equal(y.numpy(), [0.0, 2.0])
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [1.0, 1.0])


# --- jacobians (10, 11) --------------------------------------------------------------------------

@pytest.mark.parametrize("target", [(), (2,), (2, 1)])
@pytest.mark.parametrize("source", [(), (3,), (1, 3)])
def test_jacobian_has_the_shape_of_target_and_source(target: Any, source: Any, rng: np.random.Generator) -> None:
    x, m = gt.constant(rng.normal(size=source)), rng.normal(size=(*target, *source))
    axes = tuple(range(len(target), len(target) + len(source)))
    with gt.GradientTape() as tape:
        tape.watch(x)
        y = gt.sum(gt.square(x) * m, axis=axes) if axes else gt.square(x) * m
    j = tape.jacobian(y, x)
    assert j.shape == target + source
    np.testing.assert_allclose(j.numpy(), m * 2 * x.numpy())


def test_jacobian_of_nests_and_unconnected_sources() -> None:
    x, y = gt.Variable([1.0, 2.0]), gt.Variable([[1.0]])
    with gt.GradientTape(persistent=True) as tape:
        z = x * x
    result = tape.jacobian(z, {"x": x, "y": y})
    np.testing.assert_array_equal(result["x"].numpy(), np.diag([2.0, 4.0]))
    assert result["y"] is None
    assert tape.jacobian(z, [y], unconnected_gradients="zero")[0].shape == (2, 1, 1)
    with pytest.raises(TypeError, match="jacobian: target is a list"):
        tape.jacobian([z], x)       # type: ignore[arg-type]  # the mistake under test
    with pytest.raises(ValueError, match="Unknown value"):
        tape.jacobian(z, x, unconnected_gradients="all")


def test_hessian_by_jacobian_of_gradient() -> None:
    x = gt.constant([1.0, 2.0, 3.0])
    with gt.GradientTape() as outer:
        outer.watch(x)
        with gt.GradientTape() as inner:
            inner.watch(x)
            y = gt.sum(x ** 3) + x[0] * x[2]
        g = inner.gradient(y, x)
    expected = np.diag([6.0, 12.0, 18.0])
    expected[0, 2] = expected[2, 0] = 1.0
    np.testing.assert_allclose(outer.jacobian(g, x).numpy(), expected)
    with gt.GradientTape() as outer:
        outer.watch(x)
        with gt.GradientTape() as inner:
            inner.watch(x)
            y = x ** 3
        j = inner.jacobian(y, x)
    assert outer.jacobian(j, x).shape == (3, 3, 3)


def test_jacobian_uses_up_the_tape() -> None:
    x = gt.Variable([1.0])
    with gt.GradientTape() as tape:
        y = x * x
    with pytest.raises(RuntimeError, match="persistent"):
        tape.jacobian(y, x, experimental_use_pfor=False)
    tape.jacobian(y, x, parallel_iterations=1)
    with pytest.raises(RuntimeError, match="used up"):
        tape.jacobian(y, x)


def test_empty_jacobian() -> None:
    x = gt.constant(np.zeros((0,)))
    with gt.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * 2.0
        z = gt.cumsum(y)
    assert tape.jacobian(y, x).shape == (0, 0)
    assert tape.jacobian(z, x).shape == (0, 0)
    assert tape.jacobian(z, gt.Variable(1.0)) is None


def test_batch_jacobian(rng: np.random.Generator) -> None:
    x = gt.constant(rng.normal(size=(4, 3)))
    w = rng.normal(size=(3, 2))
    with gt.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = gt.tanh(x @ w)
        z = gt.constant(np.ones((4, 2)))
    j = tape.batch_jacobian(y, x)
    assert j.shape == (4, 2, 3)
    np.testing.assert_allclose(j.numpy(), (1 - np.tanh(x.numpy() @ w) ** 2)[:, :, None] * w.T[None])
    np.testing.assert_array_equal(tape.batch_jacobian(z, x).numpy(), np.zeros((4, 2, 3)))
    with pytest.raises(ValueError, match="Need first dimension"):
        tape.batch_jacobian(y, gt.constant(np.ones((3, 3))))
    with pytest.raises(ValueError, match="need a batch axis"):
        tape.batch_jacobian(gt.sum(y), x)


def test_tensors_can_be_referred_to_weakly_and_by_ref() -> None:
    x, v = gt.constant(1.0), gt.Variable(1.0)
    assert weakref.ref(x)() is x
    assert {x.ref(): 1, v.ref(): 2}[v.ref()] == 2
    assert x.ref().deref() is x
    for t in (x, v):
        with pytest.raises(TypeError, match="unhashable"):
            hash(t)
