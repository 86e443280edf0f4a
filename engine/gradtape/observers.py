"""The only seam between the engine and tools that watch it: observers, gradient calls, nodes and name scopes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from gradtape.ops.registry import Op
    from gradtape.tape import GradientTape
    from gradtape.tensor import Tensor
    from gradtape.variable import Variable

__gradtape__ = True

Array = np.ndarray[Any, Any] | np.generic
CallKind = Literal["gradient", "jacobian", "batch_jacobian"]
AssignKind = Literal["assign", "add", "sub"]
LeaveKind = Literal["numpy", "item", "tolist", "array", "float", "int", "complex"]


class GradientCall:
    """One call of gradient(), jacobian() or batch_jacobian(), from its start to its end."""

    __slots__ = ("__weakref__", "kind", "output_gradients", "parent", "sources", "tape", "targets")

    def __init__(self, tape: GradientTape, kind: CallKind, targets: list[Tensor], sources: list[Tensor],
                 output_gradients: list[Tensor | None] | None, parent: GradientCall | None) -> None:
        self.tape = tape
        self.kind: CallKind = kind
        self.targets = targets
        self.sources = sources
        self.output_gradients = output_gradients
        self.parent = parent


class Node:
    """An entry of a tape while it is being undone; positions are indices on the tape's list, -1 means constant."""

    __slots__ = ("index", "inputs", "op", "output_positions")

    def __init__(self, op: Op, index: int, inputs: tuple[int, ...], output_positions: tuple[int, ...]) -> None:
        self.op = op
        self.index = index
        self.inputs = inputs
        self.output_positions = output_positions

    def __repr__(self) -> str:
        return f"<node {self.index}: {self.op.name}>"


class Observer:
    """Base class of all observers: every event is a method that does nothing.

    Methods are called synchronously in the thread of the script.  Arrays that are handed over belong to the engine:
    look, keep references, never write.  An observer may block (in `on_vjp_enter`: single-stepping).
    """

    def on_tape_enter(self, tape: GradientTape) -> None:
        """A tape starts (or continues) to record."""

    def on_tape_exit(self, tape: GradientTape) -> None:
        """A tape was left."""

    def on_watch(self, tape: GradientTape, tensor: Tensor, explicit: bool) -> None:
        """`watch()` was called, or a variable was read for the first time on that tape."""

    def on_op(self, op: Op, inputs: tuple[object, ...], outputs: tuple[Tensor, ...], attrs: dict[str, object],
              recorded: bool, started: int) -> None:
        """An op ran, on a tape or not.  `started` is perf_counter_ns() before its forward function."""

    def on_op_error(self, op: Op, inputs: tuple[object, ...], attrs: dict[str, object],
                    error: BaseException) -> None:
        """The forward function of an op raised."""

    def on_gradient_start(self, call: GradientCall) -> None:
        """A gradient call passed its checks and starts to walk."""

    def on_vjp_enter(self, call: GradientCall, node: Node, cotangents: tuple[Array | None, ...]) -> None:
        """A node is about to be undone; there is one complete cotangent per output."""

    def on_vjp_exit(self, call: GradientCall, node: Node, contributions: tuple[Array | None, ...]) -> None:
        """A node was undone: one contribution per input, None where no gradient flows."""

    def on_gradient_end(self, call: GradientCall, results: list[Tensor | None],
                        error: BaseException | None) -> None:
        """A gradient call ended, with its results (one per source) or with an error."""

    def on_variable(self, variable: Variable) -> None:
        """A variable was created."""

    def on_assign(self, variable: Variable, kind: AssignKind, value: object, before: Array) -> None:
        """A variable was assigned to; `before` is its old value."""

    def on_leave(self, tensor: Tensor, how: LeaveKind) -> None:
        """The program turned a tensor or variable into plain data, which no tape follows; never the engine itself."""


class Fanout(Observer):
    """Several observers as one, called in the order of their registration."""

    def __init__(self, observers: tuple[Observer, ...]) -> None:
        self.observers = observers


def _forward(name: str) -> None:
    def method(self: Fanout, *args: object) -> None:
        for observer in self.observers:
            getattr(observer, name)(*args)

    method.__name__ = name
    setattr(Fanout, name, method)


for _name in [name for name in vars(Observer) if name.startswith("on_")]:
    _forward(_name)


class Seam:
    """Holds what the engine asks before it does anything: the observer in force, None when nobody watches."""

    __slots__ = ("observer", "stack")

    def __init__(self) -> None:
        self.observer: Observer | None = None
        self.stack: list[Observer] = []

    def update(self) -> None:
        """Make `observer` agree with the stack."""
        self.observer = None if not self.stack else self.stack[0] if len(self.stack) == 1 else Fanout(tuple(self.stack))


seam = Seam()


@contextmanager
def observe(observer: Observer) -> Iterator[Observer]:
    """Tell an observer of everything the engine does, in all threads, while the block runs."""
    seam.stack.append(observer)
    seam.update()
    try:
        yield observer
    finally:
        seam.stack.remove(observer)
        seam.update()


_scopes: ContextVar[tuple[str, ...]] = ContextVar("gradtape_scopes", default=())


@contextmanager
def scope(name: str) -> Iterator[tuple[str, ...]]:
    """Name a part of the computation; scopes nest and have no influence on results."""
    token = _scopes.set((*_scopes.get(), name))
    try:
        yield _scopes.get()
    finally:
        _scopes.reset(token)


def current_scope() -> tuple[str, ...]:
    """Names of the open scopes, outermost first."""
    return _scopes.get()
