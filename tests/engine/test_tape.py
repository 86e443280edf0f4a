"""GradientTape as TensorFlow defines it: blocks, watching, gradient(), None and zero (sections 1 to 5)."""

from __future__ import annotations

import threading
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.errors import GradtapeError


def value(x: Any) -> Any:
    """A tensor's value for comparisons; None stays None."""
    return None if x is None else x.numpy()


def gradient_of(fn: Any, *xs: Any) -> list[Any]:
    with gt.GradientTape() as tape:
        tape.watch(list(xs))
        y = fn(*xs)
    return [value(g) for g in tape.gradient(y, list(xs))]


# --- blocks --------------------------------------------------------------------------------------

def test_an_exception_passes_and_what_was_recorded_stays() -> None:
    x = gt.Variable(3.0)
    tape = gt.GradientTape()
    y: gt.Tensor = x

    def fails() -> None:
        nonlocal y
        with tape:
            y = x * x
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert tape.gradient(y, x).numpy() == 6.0


def test_entering_a_recording_tape_is_an_error() -> None:
    with gt.GradientTape() as tape, pytest.raises(ValueError, match="Tape is still recording"):
        tape.__enter__()


def test_entering_again_continues_and_work_in_between_is_constant() -> None:
    x = gt.constant(2.0)
    tape = gt.GradientTape()
    with tape:
        tape.watch(x)
        y = x * x
    between = y * 3.0
    with tape:
        z = y * x + between
    assert tape.gradient(z, x).numpy() == 12.0


def test_a_used_up_tape_that_is_entered_again_starts_afresh() -> None:
    x = gt.Variable(2.0)
    tape = gt.GradientTape()
    for _ in range(2):
        with tape:
            y = x * x
        assert tape.gradient(y, x).numpy() == 4.0
        with pytest.raises(RuntimeError, match="non-persistent GradientTape can only be used"):
            tape.gradient(y, x)


def test_tapes_may_be_left_in_any_order() -> None:
    x = gt.constant(2.0)
    a, b = gt.GradientTape(), gt.GradientTape()
    a.__enter__()
    a.watch(x)
    y = x * x
    b.__enter__()
    b.watch(x)
    z = y * x
    a.__exit__(None, None, None)
    w = z * x
    b.__exit__(None, None, None)
    assert a.gradient(z, x).numpy() == 12.0
    assert b.gradient(w, x).numpy() == 16.0      # y was made before b saw x: a constant 4 to it, so 2 * 4 * x


def test_a_tape_reentered_inside_another_one() -> None:
    x = gt.Variable(2.0)
    a = gt.GradientTape(persistent=True)
    with a:
        y = x * x
    with gt.GradientTape() as b:
        u = x * 3.0
        with a:
            z = y * u * x
    assert a.gradient(z, x).numpy() == 72.0      # x^2 * (6, constant to a) * x = 6 x^3
    assert b.gradient(z, x).numpy() == 48.0      # (4, constant to b) * 3x * x = 12 x^2


def test_each_thread_has_its_own_tapes() -> None:
    x = gt.Variable(2.0)
    seen: dict[str, Any] = {}

    def work() -> None:
        seen["y"] = x * x
        with gt.GradientTape() as own:
            z = x * 5.0
        seen["own"] = own.gradient(z, x).numpy()

    with gt.GradientTape() as tape:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        w = x * 3.0
        assert len(tape.watched_variables()) == 1
    assert seen["own"] == 5.0
    assert tape.gradient(seen["y"], x) is None or pytest.fail("recorded across threads")
    result: list[Any] = []
    with gt.GradientTape() as tape:
        w = x * 3.0
    thread = threading.Thread(target=lambda: result.append(tape.gradient(w, x).numpy()))
    thread.start()
    thread.join()
    assert result == [3.0]


def test_many_threads_share_a_variable() -> None:
    v = gt.Variable(np.ones(3))
    wrong: list[Any] = []

    def work(k: int) -> None:
        for _ in range(200):
            with gt.GradientTape() as tape:
                y = gt.sum(v * float(k)) + gt.sum(v * v)
            g = tape.gradient(y, v)
            if g is None or not np.array_equal(g.numpy(), np.full(3, k + 2.0)):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# --- watching ------------------------------------------------------------------------------------

Pair = namedtuple("Pair", "a b")


def test_watch_takes_nests() -> None:
    a, b, c, d = (gt.constant(float(k)) for k in range(1, 5))
    with gt.GradientTape() as tape:
        tape.watch([a, (b, {"c": c}), Pair(d, a)])
        tape.watch([])
        tape.watch(a)
        y = a * b * c * d
    assert [value(g) for g in tape.gradient(y, [a, b, c, d])] == [24.0, 12.0, 8.0, 6.0]


@pytest.mark.parametrize("thing", [np.ones(2), 1.0, None, "x", [1.0, 2.0], [gt.constant(1.0), 2.0]], ids=repr)
def test_only_tensors_can_be_watched(thing: Any) -> None:
    with gt.GradientTape() as tape, pytest.raises(ValueError, match="only tensors and variables can be watched"):
        tape.watch(thing)


def test_watch_before_the_block() -> None:
    with pytest.raises(RuntimeError, match="open the tape first"):
        gt.GradientTape().watch(gt.constant(1.0))


def test_watching_affects_what_comes_later() -> None:
    x = gt.constant(3.0)
    with gt.GradientTape() as tape:
        y = x * x
        tape.watch(x)
        z = y * x
    assert tape.gradient(z, x).numpy() == 9.0


def test_watch_after_the_block_changes_nothing() -> None:
    x = gt.constant(3.0)
    with gt.GradientTape() as tape:
        y = x * x
    tape.watch(x)
    assert tape.gradient(y, x) is None


def test_watching_an_intermediate_keeps_its_history() -> None:
    x = gt.constant(3.0)
    with gt.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        tape.watch(y)
        z = y * y
    assert tape.gradient(z, y).numpy() == 18.0
    assert tape.gradient(z, x).numpy() == 108.0
    assert [value(g) for g in tape.gradient(z, [x, y])] == [108.0, 18.0]


def test_variables_are_watched_by_reading_them() -> None:
    v, w = gt.Variable(2.0), gt.Variable(3.0, trainable=False)
    reads: list[Any] = [lambda: v * 1.0, v.value, v.read_value, lambda: gt.identity(v), lambda: gt.convert(v) * 1.0]
    for read in reads:
        with gt.GradientTape() as tape:
            y = read() * w
        assert tape.watched_variables() == (v,)
        assert [value(g) for g in tape.gradient(y, [v, w])] == [3.0, None]
    with gt.GradientTape() as tape:
        tape.watch(w)
        y = v * w
    assert tape.gradient(y, w).numpy() == 2.0
    with gt.GradientTape(watch_accessed_variables=False) as tape:
        y = v * v
    assert tape.gradient(y, v) is None


def test_trainable_is_looked_at_when_the_variable_is_read() -> None:
    v = gt.Variable(2.0)
    with gt.GradientTape() as tape:
        v.trainable = False
        y = v * 3.0
        v.trainable = True
        z = v * 5.0
    assert tape.gradient(y + z, v) is None
    with gt.GradientTape() as tape:
        v.trainable = False
        y = v * 3.0
        v.trainable = True
        z = y + v * 5.0
    assert tape.gradient(z, v).numpy() == 5.0


def test_an_integer_tensor_is_watched_with_a_warning() -> None:
    x = gt.constant(3)
    with gt.GradientTape() as tape:
        with pytest.warns(gt.GradtapeWarning, match=r"must be floating \(e.g. float32\), got int64") as caught:
            tape.watch(x)
        y = gt.cast(x, "float64") * 2.0
    assert caught[0].filename == __file__
    assert tape.gradient(y, x) is None


def test_identity_names_a_source() -> None:
    v = gt.Variable([1.0, 2.0])
    outside = v.value()
    with gt.GradientTape(persistent=True) as tape:
        first, again, inside = v[0], v[0], v.value()
        y = first * 2.0 + gt.sum(inside * inside)
    assert tape.gradient(y, again) is None
    assert tape.gradient(y, first).numpy() == 2.0
    assert tape.gradient(y, outside) is None
    np.testing.assert_array_equal(tape.gradient(y, inside).numpy(), [2.0, 4.0])
    np.testing.assert_array_equal(tape.gradient(y, v).numpy(), [4.0, 4.0])


# --- gradient() ----------------------------------------------------------------------------------

def test_a_mistake_does_not_use_up_the_tape() -> None:
    x = gt.Variable(2.0)
    with gt.GradientTape() as tape:
        y = x * x
    with pytest.raises(TypeError, match="target is None"):
        tape.gradient(None, x)
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'nonsense'"):
        tape.gradient(y, x, unconnected_gradients="nonsense")
    for source in (None, 3.0, [x, None]):
        with pytest.raises(TypeError, match="gradient: the source"):
            tape.gradient(y, source)
    with pytest.raises(TypeError, match="gradient: the target"):
        tape.gradient([y, 3.0], x)
    assert tape.gradient(y, x).numpy() == 4.0


def test_a_never_entered_tape() -> None:
    for persistent in (False, True):
        tape = gt.GradientTape(persistent)
        with pytest.raises(RuntimeError, match="has recorded nothing"):
            tape.gradient(gt.constant(1.0), gt.constant(1.0))


def test_targets_are_summed_and_counted() -> None:
    x = gt.constant([1.0, 2.0])
    with gt.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = x * x, gt.sum(x)
    np.testing.assert_array_equal(tape.gradient([y, {"z": z}], x).numpy(), [3.0, 5.0])
    np.testing.assert_array_equal(tape.gradient([y, y], x).numpy(), [4.0, 8.0])
    assert tape.gradient([], [x]) == [None]


def test_results_have_the_structure_of_the_sources() -> None:
    x, y = gt.constant(1.0), gt.constant(2.0)
    with gt.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        z = x * y
    assert type(tape.gradient(z, (x, y))) is tuple
    assert tape.gradient(z, []) == []
    named = tape.gradient(z, Pair(x, [y]))
    assert type(named) is Pair
    assert named.a.numpy() == 2.0
    assert named.b[0].numpy() == 1.0
    mapped = tape.gradient(z, {"b": y, "a": x})
    assert list(mapped) == ["b", "a"]
    assert mapped["a"].numpy() == 2.0
    assert [value(g) for g in tape.gradient(z, [x, x])] == [2.0, 2.0]


def test_a_source_that_is_a_target() -> None:
    x, never = gt.constant(3.0), gt.constant([1.0, 2.0])
    v = gt.Variable(2.0)
    with gt.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient([x, y], x).numpy() == 7.0
    np.testing.assert_array_equal(tape.gradient(never, never).numpy(), [1.0, 1.0])
    assert tape.gradient(v, v).numpy() == 1.0
    assert tape.gradient(v, x) is None
    assert tape.gradient(gt.constant(3), gt.constant(4)) is None
    number = gt.constant(3)
    assert tape.gradient(number, number).numpy() == 1


def test_results_are_tensors_of_the_sources_dtype_and_shape() -> None:
    v = gt.Variable(np.ones((2, 3), "float32"))
    with gt.GradientTape() as tape:
        y = v * 2.0
    g = tape.gradient(y, v)
    assert type(g) is gt.Tensor
    assert g.dtype == np.float32
    assert g.shape == (2, 3)


def test_long_chains_do_not_recurse() -> None:
    x = gt.constant(1.0)
    with gt.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(100_000):
            y = y + 1.0
    assert tape.gradient(y, x).numpy() == 1.0


def test_fan_out_is_linear() -> None:
    x = gt.constant(1.0)
    with gt.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(30):
            y = y + y
    assert tape.gradient(y, x).numpy() == 2.0 ** 30


def test_gradient_inside_the_block_ends_a_non_persistent_tape() -> None:
    x = gt.Variable(2.0)
    with gt.GradientTape() as tape:
        y = x * x
        g = tape.gradient(y, x)
        z = x * g
        with pytest.raises(RuntimeError):
            tape.gradient(z, x)
    assert g.numpy() == 4.0


def test_a_persistent_tape_inside_its_block_gives_higher_orders_and_warns() -> None:
    x = gt.constant(2.0)
    with gt.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x ** 4
        with pytest.warns(gt.GradtapeWarning, match="significantly less efficient"):
            first = tape.gradient(y, x)
        with pytest.warns(gt.GradtapeWarning):
            second = tape.gradient(first, x)
    third = tape.gradient(second, x)
    assert (first.numpy(), second.numpy(), third.numpy()) == (32.0, 48.0, 48.0)
    assert tape.gradient(third, x) is None


def test_gradients_do_not_accumulate_between_calls() -> None:
    x = gt.Variable(3.0)
    with gt.GradientTape(persistent=True) as tape:
        y = x * x
    assert [tape.gradient(y, x).numpy() for _ in range(3)] == [6.0, 6.0, 6.0]


def test_an_error_in_a_backward_rule_leaves_the_tape_intact() -> None:
    fail = True

    @gt.custom_gradient
    def f(x: Any) -> Any:
        def grad(g: Any) -> Any:
            if fail:
                raise KeyError("not today")
            return g * 5.0
        return x * 1.0, grad

    x = gt.Variable(2.0)
    with gt.GradientTape() as tape:
        y = f(gt.sin(x)) * 2.0
    with pytest.raises(KeyError) as caught:
        tape.gradient(y, x)
    assert "backward rule of 'f'" in caught.value.__notes__[0]
    fail = False
    assert tape.gradient(y, x).numpy() == pytest.approx(10 * np.cos(2.0))


# --- output_gradients ----------------------------------------------------------------------------

@pytest.mark.parametrize("seed", [[1.0, 0.0, 2.0], np.array([1.0, 0.0, 2.0]), gt.constant([1.0, 0.0, 2.0]),
                                  gt.Variable([1.0, 0.0, 2.0]), [gt.constant([1.0, 0.0, 2.0])]], ids=str)
def test_output_gradients_of_one_target(seed: Any) -> None:
    x = gt.constant([1.0, 2.0, 3.0])
    with gt.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    np.testing.assert_array_equal(tape.gradient(y, x, output_gradients=seed).numpy(), [2.0, 0.0, 12.0])


def test_output_gradients_of_nests() -> None:
    x = gt.constant(3.0)
    with gt.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = x * x, x * 5.0
    assert tape.gradient([y, z], x, output_gradients=[2.0, gt.constant(3.0)]).numpy() == 27.0
    assert tape.gradient({"z": z, "y": y}, x, output_gradients={"y": 2.0, "z": 3.0}).numpy() == 27.0
    assert tape.gradient(x, x, output_gradients=4.0).numpy() == 4.0


@pytest.mark.parametrize(("seeds", "message"), [
    ([1.0], "1 output_gradients for 2 targets"), ([1.0, 2.0, 3.0], "3 output_gradients for 2"),
    ([1.0, None], r"output_gradients\[1\] is None"), ([1.0, np.ones(2)], r"output_gradients\[1\] has shape \(2,\)"),
    ([1.0, gt.constant(1.0, "float32")], "of dtype float32, its target of float64"),
])
def test_output_gradients_that_do_not_fit(seeds: Any, message: str) -> None:
    x = gt.constant(3.0)
    with gt.GradientTape(persistent=True) as tape:
        tape.watch(x)
        targets = [x * x, x * 2.0]
    with pytest.raises(ValueError, match=message):
        tape.gradient(targets, x, output_gradients=seeds)


# --- None and zero -------------------------------------------------------------------------------

ZEROS: dict[str, Any] = {
    "dead relu": lambda x: gt.nn.relu(-x), "0 * x": lambda x: 0 * x, "clip outside": lambda x: gt.clip(x, 5.0, 6.0),
    "sign": gt.sign, "x - x": lambda x: x - x,
}
NONES: dict[str, Any] = {
    "round": gt.round, "floor": gt.floor, "ceil": gt.ceil, "floordiv": lambda x: x // 2.0,
    "comparison": lambda x: gt.cast(x > 1.0, "float64"), "zeros_like": gt.zeros_like, "ones_like": gt.ones_like,
    "argmax": lambda x: gt.cast(gt.argmax(x), "float64"), "int cast": lambda x: gt.cast(gt.cast(x, "int32"), "float64"),
    "stop_gradient": gt.stop_gradient, "numpy()": lambda x: gt.constant(x.numpy()) * 2.0,
    "isnan": lambda x: gt.cast(gt.isnan(x), "float64"), "where's condition": lambda x: gt.where(x > 0, 1.0, 2.0),
    "unrelated": lambda x: gt.constant(1.0), "one_hot": lambda x: gt.one_hot(gt.cast(x, "int32"), 3),
}


@pytest.mark.parametrize("name", ZEROS)
def test_a_path_with_derivative_zero_gives_zeros(name: str) -> None:
    (g,) = gradient_of(ZEROS[name], gt.constant([1.5, 2.5]))
    np.testing.assert_array_equal(g, [0.0, 0.0])


@pytest.mark.parametrize("name", NONES)
def test_a_cut_path_gives_none(name: str) -> None:
    assert gradient_of(NONES[name], gt.constant([1.5, 2.5])) == [None]


def test_unconnected_zero_has_the_sources_shape_and_dtype() -> None:
    x, n = gt.constant([[1.0, 2.0]]), gt.constant([1, 2], "int32")
    for zero in ("zero",):
        with gt.GradientTape() as tape:
            tape.watch(x)
            y = gt.sum(x * 2.0)
        gx, gn = tape.gradient(gt.constant(1.0), [x, n], unconnected_gradients=zero)
        assert (gx.shape, gx.dtype, gn.shape, gn.dtype) == ((1, 2), np.float64, (2,), np.int32)
        assert not gx.numpy().any()
        assert y.numpy() == 6.0


def test_errors_belong_to_the_package() -> None:
    with pytest.raises(GradtapeError):
        gt.GradientTape().gradient(gt.constant(1.0), gt.constant(1.0))
