"""NumPy's protocols: np.sin(t), np.sum(t), np.concatenate([t, u]) on tensors are the ops of this package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.ops import activations, elementwise, fast, fast_unary, indexing, linalg, operators, reductions, shapes
from gradtape.tensor import Tensor, install

__gradtape__ = True

UFUNCS: dict[Any, Callable[..., Any]] = {
    np.add: fast.add, np.subtract: fast.subtract, np.multiply: fast.multiply, np.true_divide: fast.divide,
    np.power: fast.power, np.float_power: fast.power, np.matmul: fast.matmul,
    np.sin: fast_unary.sin, np.cos: fast_unary.cos, np.tanh: fast_unary.tanh, np.exp: fast_unary.exp,
    np.log: fast_unary.log, np.square: fast_unary.square,
    np.fabs: activations.abs_, np.absolute: activations.abs_, np.rint: activations.round_,
    np.remainder: elementwise.floormod, np.positive: elementwise.identity, np.conjugate: elementwise.identity,
    np.deg2rad: elementwise.radians, np.rad2deg: elementwise.degrees,
    np.fmax: activations.maximum, np.fmin: activations.minimum,
}
for _module in (elementwise, activations):
    for _row in vars(_module).values():
        _ufunc = getattr(np, getattr(_row, "name", ""), None)
        if isinstance(_ufunc, np.ufunc):
            UFUNCS.setdefault(_ufunc, _row)


def _array_ufunc(self: Tensor, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    function = UFUNCS.get(ufunc)
    if method == "__call__" and not kwargs and function is not None:
        return function(*inputs)
    if method == "reduce" and ufunc in REDUCTIONS:
        kwargs.setdefault("axis", 0)
        return REDUCTIONS[ufunc](*inputs, **{k: v for k, v in kwargs.items() if v is not None or k == "axis"})
    if function is None or method != "__call__":
        return NotImplemented
    if kwargs.pop("out", None) is not None:
        raise TypeError(f"np.{ufunc.__name__}: out= cannot be a tensor or combined with one; tensors are immutable")
    if kwargs:
        raise TypeError(f"np.{ufunc.__name__} of a tensor does not support {', '.join(kwargs)}")
    return function(*inputs)


REDUCTIONS: dict[Any, Callable[..., Any]] = {
    np.add: fast_unary.sum_, np.multiply: reductions.prod, np.maximum: reductions.max_, np.minimum: reductions.min_,
}


def _sum(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return fast_unary.sum_(x, axis, keepdims)


def _var(function: Callable[..., Any]) -> Callable[..., Any]:
    def numpy_function(x: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
        if ddof:
            raise TypeError("ddof is not supported for tensors")
        return function(x, axis, keepdims)

    return numpy_function


def _clip(x: Any, a_min: Any = None, a_max: Any = None, **bounds: Any) -> Any:
    return activations.clip(x, bounds.get("min", a_min), bounds.get("max", a_max))


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    if ord not in (None, 2, "fro") or (ord == 2 and axis is None and np.ndim(x) > 1):
        raise TypeError(f"np.linalg.norm of a tensor: only the Euclidean norm is supported, not ord={ord!r}")
    return reductions.norm(x, axis, keepdims)


def _where(condition: Any, *choices: Any) -> Any:
    if len(choices) != 2:
        raise TypeError("np.where of a tensor needs all three arguments")
    return activations.where(condition, *choices)


def _split(x: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    return list(shapes.split(x, indices_or_sections, axis))


def _pad(x: Any, pad_width: Any, mode: str = "constant", constant_values: float = 0.0) -> Any:
    if mode != "constant":
        raise TypeError(f"np.pad of a tensor: only mode='constant' is supported, not {mode!r}")
    return shapes.pad(x, pad_width, constant_values)


def _trace(x: Any) -> Any:
    return linalg.trace(x)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: _sum, np.mean: fast_unary.mean, np.max: reductions.max_, np.min: reductions.min_, np.amax: reductions.max_,
    np.amin: reductions.min_, np.prod: reductions.prod, np.var: _var(reductions.var), np.std: _var(reductions.std),
    np.cumsum: reductions.cumsum, np.cumprod: reductions.cumprod, np.sort: reductions.sort,
    np.argmax: reductions.argmax, np.argmin: reductions.argmin, np.argsort: reductions.argsort,
    np.any: reductions.any_, np.all: reductions.all_, np.count_nonzero: reductions.count_nonzero,
    np.reshape: shapes.reshape, np.transpose: shapes.transpose, np.swapaxes: shapes.swapaxes,
    np.moveaxis: shapes.moveaxis, np.expand_dims: shapes.expand_dims, np.squeeze: shapes.squeeze,
    np.broadcast_to: shapes.broadcast_to, np.concatenate: shapes.concatenate, np.stack: shapes.stack,
    np.split: _split, np.tile: shapes.tile, np.repeat: operators.repeat, np.pad: _pad, np.flip: shapes.flip,
    np.roll: shapes.roll, np.ravel: lambda x: shapes.reshape(x, (-1,)), np.tril: shapes.tril, np.triu: shapes.triu,
    np.vstack: lambda xs: shapes.concatenate([x if np.ndim(x) > 1 else shapes.expand_dims(x, 0) for x in xs]),
    np.hstack: lambda xs: shapes.concatenate(xs, 0 if np.ndim(xs[0]) == 1 else 1),
    np.clip: _clip, np.where: _where, np.round: activations.round_, np.take: operators.take,
    np.take_along_axis: indexing.take_along_axis, np.zeros_like: activations.zeros_like,
    np.ones_like: activations.ones_like,
    np.dot: operators.dot, np.tensordot: operators.tensordot, np.einsum: operators.einsum, np.outer: linalg.outer,
    np.inner: operators.inner, np.trace: _trace, np.diag: operators.diag, np.diagonal: linalg.diagonal,
    np.linalg.inv: linalg.inv, np.linalg.solve: linalg.solve, np.linalg.det: linalg.det,
    np.linalg.slogdet: operators.slogdet, np.linalg.cholesky: linalg.cholesky, np.linalg.norm: _norm,
    np.shape: lambda x: x.shape, np.ndim: lambda x: x.ndim, np.size: lambda x: x.size,
    np.array_equal: lambda a, b: bool(np.array_equal(np.asarray(a), np.asarray(b))),
    np.allclose: lambda a, b, **k: bool(np.allclose(np.asarray(a), np.asarray(b), **k)),
    np.isclose: lambda a, b, **k: np.isclose(np.asarray(a), np.asarray(b), **k),
    np.array_repr: lambda x, **_: repr(x), np.array_str: lambda x, **_: str(x),
}


def _array_function(self: Tensor, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    ours = FUNCTIONS.get(function)
    if ours is None:
        name = getattr(function, "__name__", str(function))
        raise TypeError(f"np.{name} of a tensor is not supported, since gradtape has no derivative of it; "
                        f"np.{name}(t.numpy()) computes without a gradient")
    return ours(*args, **kwargs)


install({"__array_ufunc__": _array_ufunc, "__array_function__": _array_function})
