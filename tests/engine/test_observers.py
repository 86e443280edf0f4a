"""The seam: what an observer is told, and that being watched changes no result."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.observers import Fanout, GradientCall, Node, Observer, current_scope


class Log(Observer):
    """Notes every event as a tuple that starts with its name."""

    def __init__(self) -> None:
        self.events: list[tuple[Any, ...]] = []

    def names(self) -> list[str]:
        return [event[0] for event in self.events]

    def of(self, name: str) -> list[tuple[Any, ...]]:
        return [event[1:] for event in self.events if event[0] == name]


def _noting(name: str) -> Any:
    def method(self: Log, *args: Any) -> None:
        self.events.append((name, *args))

    return method


for _name in [name for name in vars(Observer) if name.startswith("on_")]:
    setattr(Log, _name, _noting(_name))


def network(rng: np.random.Generator) -> tuple[list[gt.Variable], Any]:
    """A small network with fan-out, broadcasting, several-result ops and every fast form."""
    W, b = gt.Variable(rng.normal(size=(3, 4)), name="W"), gt.Variable(rng.normal(size=4), name="b")
    V = gt.Variable(rng.normal(size=(4, 3)), name="V")
    x, labels = rng.normal(size=(5, 3)), np.eye(3)[[0, 1, 2, 0, 1]]

    def loss() -> Any:
        h = gt.tanh(x @ W + b)
        left, right = gt.split(h, 2, axis=1)
        h = gt.concatenate([gt.nn.relu(left * right), gt.sigmoid(right - left) / 2.0], axis=1)
        h = gt.exp(gt.sin(h)) * 0.5 + gt.square(h) + gt.log(h * h + 1.0) - gt.cos(h) / (1.0 + h ** 3 * h)
        logits = h @ V
        return gt.mean(gt.nn.softmax_cross_entropy(labels, logits)) + 1e-3 * gt.sum(W * W)

    return [W, b, V], loss


def test_a_watched_walk_gives_the_same_gradients(rng: np.random.Generator) -> None:
    variables, loss = network(rng)
    with gt.GradientTape() as tape:
        y = loss()
    fast = tape.gradient(y, variables)
    with gt.observe(Log()) as log:
        with gt.GradientTape() as tape:
            z = loss()
        watched = tape.gradient(z, variables)
    with gt.GradientTape() as tape:         # recorded by fast forms, walked under observation
        y = loss()
    with gt.observe(Log()):
        mixed = tape.gradient(y, variables)
    assert z.numpy() == pytest.approx(y.numpy(), rel=1e-14)
    for a, b, c in zip(fast, watched, mixed, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(a.numpy(), c.numpy(), rtol=1e-12, atol=1e-14)
    assert isinstance(log, Log)
    assert len(log.of("on_vjp_enter")) == len(log.of("on_vjp_exit")) > 20


def test_contributions_add_up_to_cotangents(rng: np.random.Generator) -> None:
    variables, loss = network(rng)
    with gt.observe(Log()) as log:
        with gt.GradientTape() as tape:
            y = loss()
        gradients = tape.gradient(y, variables)
    assert isinstance(log, Log)
    arrived: dict[int, Any] = {}
    for _, node, contributions in log.of("on_vjp_exit"):
        assert len(contributions) == len(node.inputs)
        for position, c in zip(node.inputs, contributions, strict=True):
            if position >= 0:
                arrived[position] = arrived.get(position, 0.0) + c
            else:
                assert c is None
    for _, node, cotangents in log.of("on_vjp_enter"):
        assert len(cotangents) == len(node.output_positions)
        for position, g in zip(node.output_positions, cotangents, strict=True):
            if position in arrived and g is not None:
                np.testing.assert_allclose(g, arrived[position], rtol=1e-12, atol=1e-14)
    for v, g in zip(variables, gradients, strict=True):
        np.testing.assert_allclose(arrived[v._index], g.numpy(), rtol=1e-12)


def test_the_order_of_events() -> None:
    v = gt.Variable(2.0, name="v")
    with gt.observe(Log()) as log:
        w = gt.Variable(3.0)
        with gt.GradientTape() as tape:
            y = v * 5.0
        g = tape.gradient(y, [v, w])
        v.assign_sub(1.0)
        gt.constant(1.0) + 1.0
    assert isinstance(log, Log)
    assert log.names() == ["on_variable", "on_tape_enter", "on_watch", "on_op", "on_tape_exit", "on_gradient_start",
                           "on_vjp_enter", "on_vjp_exit", "on_gradient_end", "on_assign", "on_op"]
    op, inputs, outputs, attrs, recorded, started = log.of("on_op")[0]
    assert op.name == "multiply"
    assert inputs[0] is v
    assert inputs[1] == 5.0
    assert outputs[0] is y
    assert (attrs, recorded) == ({}, True)
    assert started > 0
    assert log.of("on_op")[1][4] is False
    call, results, error = log.of("on_gradient_end")[0]
    assert isinstance(call, GradientCall)
    assert (call.kind, call.tape, call.parent, error) == ("gradient", tape, None, None)
    assert call.targets[0] is y
    assert call.sources[1] is w
    assert results[0] is g[0]
    assert results[1] is None
    _, node, cotangents = log.of("on_vjp_enter")[0]
    assert isinstance(node, Node)
    assert (node.op.name, node.index, node.output_positions) == ("multiply", y._index, (y._index,))
    assert cotangents == (1.0,)
    assert log.of("on_vjp_exit")[0][2] == (5.0, None)
    assert log.of("on_assign")[0][1:] == ("sub", 1.0, 2.0)
    tape_, tensor, explicit = log.of("on_watch")[0]
    assert (tape_, explicit) == (tape, False)
    assert tensor is v


def test_numbers_on_the_left_come_first() -> None:
    with gt.observe(Log()) as log:
        2.0 * gt.constant(3.0)
        1.0 - gt.constant(3.0)
        np.ones(2) @ gt.constant([1.0, 2.0])
    assert isinstance(log, Log)
    assert [event[1][0] for event in log.of("on_op")][:2] == [2.0, 1.0]
    assert isinstance(log.of("on_op")[2][1][0], np.ndarray)


def test_errors_are_told() -> None:
    with gt.observe(Log()) as log:
        with pytest.raises(ValueError, match="multiply: a of shape"):
            gt.constant([1.0, 2.0]) * gt.constant([1.0, 2.0, 3.0])
        x = gt.Variable(1.0)

        @gt.custom_gradient
        def broken(t: Any) -> Any:
            def grad(g: Any) -> Any:
                raise KeyError("grad")
            return t * 1.0, grad

        with gt.GradientTape() as tape:
            y = broken(x)
        with pytest.raises(KeyError):
            tape.gradient(y, x)
    assert isinstance(log, Log)
    assert "do not fit" in str(log.of("on_op_error")[0][3])
    assert isinstance(log.of("on_gradient_end")[0][2], KeyError)


def test_nested_calls_have_a_parent_and_jacobians_a_kind() -> None:
    x = gt.Variable([1.0, 2.0])
    with gt.observe(Log()) as log:
        with gt.GradientTape() as outer:
            with gt.GradientTape() as inner:
                y = gt.sum(x ** 3)
            g = inner.gradient(y, x)
        outer.jacobian(g, x)

        @gt.custom_gradient
        def f(t: Any) -> Any:
            def grad(up: Any) -> Any:
                with gt.GradientTape() as tape:
                    tape.watch(t)
                    z = gt.square(t)
                return up * tape.gradient(z, t)
            return gt.square(t), grad

        with gt.GradientTape() as tape:
            z = f(x)
        tape.gradient(z, x)
    assert isinstance(log, Log)
    calls = [event[0] for event in log.of("on_gradient_start")]
    assert [call.kind for call in calls] == ["gradient", "jacobian", "gradient", "gradient"]
    assert calls[3].parent is calls[2]


def test_an_observer_may_raise_and_the_tape_survives() -> None:
    class Stop(Observer):
        def on_vjp_enter(self, *_: Any) -> None:
            raise KeyboardInterrupt

    x = gt.Variable(3.0)
    with gt.GradientTape() as tape:
        y = x * x
    with pytest.raises(KeyboardInterrupt), gt.observe(Stop()):
        tape.gradient(y, x)
    assert tape.gradient(y, x).numpy() == 6.0


def test_several_observers_hear_the_same() -> None:
    with gt.observe(Log()) as a, gt.observe(Log()) as b:
        gt.constant(1.0) * 2.0
    assert isinstance(a, Log)
    assert isinstance(b, Log)
    assert a.names() == b.names() == ["on_op"]


def test_scopes_nest() -> None:
    assert current_scope() == ()
    with gt.scope("encoder"), gt.scope("layer 1") as names:
        assert current_scope() == names == ("encoder", "layer 1")
    assert current_scope() == ()


def test_every_observer_method_is_forwarded() -> None:
    assert all(name in vars(Fanout) for name in vars(Observer) if name.startswith("on_"))


@pytest.mark.parametrize(("how", "take"), [
    ("numpy", lambda t: t.numpy()), ("item", lambda t: t.item()), ("tolist", lambda t: t.tolist()),
    ("array", np.asarray), ("array", lambda t: np.array([t, 1.0])), ("float", float), ("int", int),
    ("complex", complex), ("float", math.sqrt), ("int", lambda t: "abcdef"[gt.cast(t, "int64")]),
])
def test_an_observer_is_told_what_leaves(how: str, take: Any) -> None:
    variable = gt.Variable(2.0)
    for tensor in (variable, gt.square(variable)):
        with gt.observe(Log()) as log:
            take(tensor)
        assert isinstance(log, Log)
        (left, said), *_ = log.of("on_leave")
        assert said == how
        assert left is tensor or how == "int"


def test_what_the_engine_reads_does_not_leave(rng: np.random.Generator) -> None:
    variables, loss = network(rng)
    optimizer = gt.optimizers.Adam(0.1)
    with gt.observe(Log()) as log:
        with gt.GradientTape() as tape:
            y = loss()
        optimizer.apply_gradients(zip(tape.gradient(y, variables), variables, strict=True))
        gt.gather(variables[0], gt.constant([0, 1]))
        variables[0].assign(variables[0] * 0.5)
        assert y.shape == ()
        repr(y), f"{y:.3f}"
    assert isinstance(log, Log)
    assert not log.of("on_leave")
