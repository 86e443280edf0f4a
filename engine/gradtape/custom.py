"""Custom gradients: functions that say themselves how their gradient is computed."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

from gradtape.entries import Entries, activate, active, locate
from gradtape.errors import CustomGradientError, CustomGradientTypeError
from gradtape.nests import flatten, pack
from gradtape.observers import seam
from gradtape.ops.registry import RECORDED, Functions, Op, record
from gradtape.tensor import Tensor, make
from gradtape.variable import Variable, convert

__gradtape__ = True


class Probe:
    """Notes which variables are read while a function runs."""

    watch_accessed = True

    def __init__(self) -> None:
        self.watched: dict[int, Variable] = {}
        self.watches: list[tuple[int, int]] = []

    def saw(self, variable: Variable) -> None:
        """A probe tells nobody."""

    def mark(self, position: int) -> None:
        """A probe has no part of the list."""

    def __enter__(self) -> Probe:
        entries = active()
        if entries is None:
            entries = Entries()
            activate(entries)
            self.own = True
        else:
            self.own = False
            entries.invalidate()
        self.entries = entries
        entries.recording.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.entries.recording.remove(self)
        if self.own:
            activate(None)
            self.entries.drop()


def custom_gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator for a function that returns (result, grad): grad replaces the gradient of what the function computes.

    grad gets one gradient per result and returns one per positional argument (None: no path).  If the function reads
    variables that are no arguments, grad must take `variables` and return (gradients, [one per variable]).
    """
    row = Op(getattr(function, "__name__", "custom"), _forward, (), formula=r"f(x_0, x_1, \dots)", vjps=(),
             arguments=("xs",), broadcasts=False, keeps="", variadic=True, many=True, differentiable=True,
             stops_gradient=False, domain=(-2.0, 2.0), examples=(), doc=getattr(function, "__doc__", None) or "")
    row.joint = _contributions

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        started = perf_counter_ns()
        with Probe() as probe:
            returned = function(*args, **kwargs)
        if not (isinstance(returned, tuple) and len(returned) == 2 and callable(returned[1])):
            raise CustomGradientTypeError(f"{row.name}: a custom_gradient function returns (result, grad), a pair of "
                                          f"tensors and a function; this one returned {type(returned).__name__}")
        result, grad = returned
        flat = [x if isinstance(x, Tensor) else convert(x) for x in flatten(args) if _numeric(x)]
        passed = {id(x) for x in flat}
        variables = [probe.watched[k] for k in sorted(probe.watched) if id(probe.watched[k]) not in passed]
        if variables and not _takes_variables(grad):
            raise CustomGradientTypeError(
                f"{row.name}: it reads the variable {variables[0].name!r}, which is no argument, so its gradient "
                "function must accept `variables`: def grad(*upstream, variables=None)")
        results = [convert(r) for r in flatten(result)]
        return pack(result, _identities(row, flat, variables, results, grad, started))

    return wrapper


def _forward(*xs: Any, **_: Any) -> Any:
    return xs


def _numeric(x: Any) -> bool:
    return isinstance(x, Tensor) or (not isinstance(x, (str, bytes)) and x is not None and not callable(x))


def _takes_variables(grad: Callable[..., Any]) -> bool:
    parameters = inspect.signature(grad).parameters.values()
    return any(p.name == "variables" or p.kind is p.VAR_KEYWORD for p in parameters)


def _identities(row: Op, flat: list[Tensor], variables: list[Variable], results: list[Tensor],
                grad: Callable[..., Any], started: int) -> list[Tensor]:
    """The results as new tensors whose history is the custom gradient instead of their own."""
    entries = active()
    inputs = [*flat, *variables]
    indices = tuple(-1 if entries is None else locate(x, entries) for x in inputs)
    attrs: dict[str, Any] = {"grad": grad, "variables": tuple(variables)}
    values = [r._value for r in results]
    if entries is None or all(i < 0 for i in indices) or not results:
        outputs = tuple(make(v) for v in values)
    else:
        outputs = record(row, entries, indices, [x._value for x in inputs], attrs, values)
    if seam.observer is not None:
        recorded = bool(outputs) and outputs[0]._entries is not None
        seam.observer.on_op(row, tuple(inputs), outputs, {}, recorded, started)
    return list(outputs)


def _contributions(m: Functions, indices: tuple[int, ...], g: tuple[Any, ...], y: Any, xs: tuple[Any, ...],
                   attrs: dict[str, Any]) -> list[Any]:
    """What the gradient function returns, one for each argument and then each variable."""
    grad, variables = attrs["grad"], attrs["variables"]
    recorded = m is RECORDED
    upstream = [part if recorded else make(part) for part in g]
    name = getattr(grad, "__qualname__", "grad")
    if variables:
        returned = grad(*upstream, variables=list(variables))
        if not (isinstance(returned, tuple) and len(returned) == 2):
            raise CustomGradientError(f"{name}: with variables it returns (gradients, [one per variable])")
        arguments, of_variables = flatten(returned[0]), flatten(returned[1])
        if len(of_variables) != len(variables):
            raise CustomGradientError(f"{name}: expected to return {len(variables)} gradients of variables, but "
                                      f"returned {len(of_variables)}")
    else:
        arguments, of_variables = flatten(grad(*upstream)), []
    count = len(xs) - len(variables)
    if len(arguments) != count:
        raise CustomGradientError(f"{name}: expected to return {count} gradients, but returned {len(arguments)}")
    contributions: list[Any] = []
    for k, (c, x, i) in enumerate(zip([*arguments, *of_variables], xs, indices, strict=True)):
        if c is None or i < 0:
            contributions.append(None)
            continue
        c = c if isinstance(c, Tensor) else convert(c, None)
        if c.dtype != x.dtype:
            c = make(c._value.astype(x.dtype))
        if c.shape != x.shape:
            raise CustomGradientError(f"{name}: gradient {k} has shape {c.shape}, its argument {x.shape}; they must "
                                      "be the same")
        contributions.append(c if recorded else c._value)
    return contributions
