"""What a tape keeps alive, and when it lets go; reference counts alone must do it."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import gradtape as gt


def test_unrecorded_ops_keep_nothing_alive() -> None:
    with gt.GradientTape():
        x = gt.constant(np.ones(3))
        y = x * 2.0
        ghost = weakref.ref(y)
        z = y + 1.0
        del y
        assert ghost() is None
        assert z._entries is None


def saved_value(tape_kind: bool) -> tuple[gt.GradientTape, gt.Tensor, gt.Variable, weakref.ref[Any]]:
    v = gt.Variable(np.ones(3))
    with gt.GradientTape(persistent=tape_kind) as tape:
        h = gt.exp(v)
        y = gt.sum(h * h)
    return tape, y, v, weakref.ref(h._value)


@pytest.mark.parametrize("persistent", [False, True])
def test_intermediates_go_when_the_tape_has_done_its_work(persistent: bool) -> None:
    gc.disable()        # reference counts alone must do it
    try:
        tape, y, v, ghost = saved_value(persistent)
        assert ghost() is not None
        tape.gradient(y, v)
        if persistent:
            assert ghost() is not None
            del tape
        assert ghost() is None
    finally:
        gc.enable()


def test_delete_releases_at_once() -> None:
    tape, y, v, ghost = saved_value(True)
    tape.delete()
    assert ghost() is None
    tape.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        tape.gradient(y, v)
    with pytest.raises(RuntimeError, match="deleted"):
        tape.jacobian(y, v)
    assert tape.watched_variables() == (v,)
    with tape:
        z = v * 2.0
    np.testing.assert_array_equal(tape.gradient(z, v).numpy(), [2.0, 2.0, 2.0])
    with tape:
        tape.delete()
        assert (v * 2.0)._entries is None


def test_training_makes_no_reference_cycles() -> None:
    v = gt.Variable(np.ones(3))
    gc.collect()
    gc.disable()
    try:
        for _ in range(3):
            with gt.GradientTape() as tape:
                y = gt.sum(gt.exp(v))
            v.assign_sub(0.1 * tape.gradient(y, v))
        with gt.GradientTape(persistent=True) as outer, gt.GradientTape() as inner:
            y = gt.sum(gt.exp(v))
        outer.gradient(inner.gradient(y, v), v)
        del outer, inner, tape, y
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_a_used_up_inner_tape_lets_go_inside_an_outer_one() -> None:
    v, x = gt.Variable(np.ones(3)), gt.constant(2.0)
    gc.disable()
    try:
        with gt.GradientTape(watch_accessed_variables=False) as outer:
            outer.watch(x)
            total = x * x
            for _ in range(3):
                with gt.GradientTape() as inner:
                    h = gt.exp(v)
                    loss = gt.sum(h * h)
                ghost = weakref.ref(h._value)
                del h
                assert ghost() is not None
                g = inner.gradient(loss, v)
                assert ghost() is None
                total = total + x * float(g.numpy()[0])
        assert outer.gradient(total, x).numpy() == pytest.approx(4.0 + 3 * 2.0 * np.exp(2.0))
    finally:
        gc.enable()
