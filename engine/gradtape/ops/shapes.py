"""Ops that move elements without changing them: reshape, transpose, join, split, repeat, pad, cast."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.ops.registry import op

__gradtape__ = True


def _reshape(x: Any, shape: Any) -> Any:
    return np.reshape(x, shape)


def _transpose(x: Any, axes: Any = None) -> Any:
    return np.transpose(x, axes)


def _transpose_rule(m: Any, g: Any, y: Any, x: Any, axes: Any) -> Any:
    if axes is None:
        return m.transpose(g)
    return m.transpose(g, axes=tuple(int(k) for k in np.argsort([a % len(axes) for a in axes])))


def _swapaxes(x: Any, axis1: int, axis2: int) -> Any:
    return np.swapaxes(x, axis1, axis2)


def _moveaxis(x: Any, source: Any, destination: Any) -> Any:
    return np.moveaxis(x, source, destination)


def _expand_dims(x: Any, axis: Any) -> Any:
    return np.expand_dims(x, axis)


def _squeeze(x: Any, axis: Any = None) -> Any:
    return np.squeeze(x, axis if axis is None or isinstance(axis, int) else tuple(axis))


def _broadcast_to(x: Any, shape: Any) -> Any:
    return np.broadcast_to(x, shape)


def _sum_to(x: Any, shape: Any) -> Any:
    """Sum an array down to a shape that broadcasts to its own."""
    lead = x.ndim - len(shape)
    if lead > 0:
        x = np.add.reduce(x, axis=tuple(range(lead)))
    axes = tuple(k for k, n in enumerate(shape) if n == 1 and x.shape[k] != 1)
    return np.add.reduce(x, axis=axes, keepdims=True) if axes else x


def _concatenate(*xs: Any, axis: int = 0) -> Any:
    return np.concatenate(xs, axis=axis)


def _concatenate_rule(m: Any, g: Any, y: Any, *xs: Any, which: int, axis: int) -> Any:
    axis %= len(g.shape)
    start = sum(x.shape[axis] for x in xs[:which])
    key = (slice(None),) * axis + (slice(start, start + xs[which].shape[axis]),)
    return m.getitem(g, key)


def _stack(*xs: Any, axis: int = 0) -> Any:
    return np.stack(xs, axis=axis)


def _stack_rule(m: Any, g: Any, y: Any, *xs: Any, which: int, axis: int) -> Any:
    return m.getitem(g, (slice(None),) * (axis % len(g.shape)) + (which,))


def _split(x: Any, sections: Any, axis: int = 0) -> tuple[Any, ...]:
    return tuple(np.split(x, sections, axis=axis))


def _split_rule(m: Any, g: Any, y: Any, x: Any, sections: Any, axis: int) -> Any:
    return m.joined("concatenate", g, axis=axis)


def _unstack(x: Any, axis: int = 0) -> tuple[Any, ...]:
    return tuple(np.moveaxis(x, axis, 0))


def _tile(x: Any, reps: Any) -> Any:
    return np.tile(x, reps)


def _tile_rule(m: Any, g: Any, y: Any, x: Any, reps: Any) -> Any:
    reps = (reps,) if isinstance(reps, int) else tuple(reps)
    n = max(len(reps), len(x.shape))
    reps = (1,) * (n - len(reps)) + reps
    shape = (1,) * (n - len(x.shape)) + tuple(x.shape)
    apart = tuple(k for pair in zip(reps, shape, strict=True) for k in pair)
    return m.reshape(m.sum(m.reshape(g, apart), axis=tuple(range(0, 2 * n, 2)), keepdims=False), x.shape)


def _repeat(x: Any, repeats: int, axis: int = 0) -> Any:
    return np.repeat(x, repeats, axis=axis)


def _repeat_rule(m: Any, g: Any, y: Any, x: Any, repeats: int, axis: int) -> Any:
    axis %= len(x.shape)
    apart = (*x.shape[:axis + 1], repeats, *x.shape[axis + 1:])
    return m.sum(m.reshape(g, apart), axis=axis + 1, keepdims=False)


def pad_widths(widths: Any, ndim: int) -> tuple[tuple[int, int], ...]:
    """Padding before and after each axis, in NumPy's short forms or in full."""
    full = np.broadcast_to(np.asarray(widths, dtype=int), (ndim, 2))
    return tuple((int(before), int(after)) for before, after in full)


def _pad(x: Any, widths: Any, value: float = 0.0) -> Any:
    return np.pad(x, pad_widths(widths, x.ndim), constant_values=x.dtype.type(value))


def _pad_rule(m: Any, g: Any, y: Any, x: Any, widths: Any, value: float) -> Any:
    pairs = zip(pad_widths(widths, len(x.shape)), x.shape, strict=True)
    return m.getitem(g, tuple(slice(before, before + n) for (before, _), n in pairs))


def _flip(x: Any, axis: Any = None) -> Any:
    return np.flip(x, axis if axis is None or isinstance(axis, int) else tuple(axis))


def _roll(x: Any, shift: Any, axis: Any = None) -> Any:
    return np.roll(x, shift, axis)


def _roll_rule(m: Any, g: Any, y: Any, x: Any, shift: Any, axis: Any) -> Any:
    back = tuple(-s for s in shift) if isinstance(shift, (tuple, list)) else -shift
    return m.roll(g, shift=back, axis=axis)


def _cast(x: Any, dtype: Any) -> Any:
    return x.astype(dtype)


def _cast_rule(m: Any, g: Any, y: Any, x: Any, dtype: Any) -> Any:
    # A complex gradient has no imaginary part left to give to a real source.
    if g.dtype.kind == "c" and np.dtype(x.dtype).kind != "c":
        g = m.real(g)
    return m.cast(g, dtype=x.dtype) if np.dtype(x.dtype).kind in "fc" else None


def _tril(x: Any, k: int = 0) -> Any:
    return np.tril(x, k)


def _triu(x: Any, k: int = 0) -> Any:
    return np.triu(x, k)


def _reshape_back(m: Any, g: Any, y: Any, x: Any, *_: Any, **__: Any) -> Any:
    return m.reshape(g, x.shape)


# fmt: off
S23: Any = ((2, 3),)
MOVES: dict[str, Any] = {"keeps": ""}

reshape      = op("reshape", _reshape, _reshape_back, formula=r"\operatorname{reshape} x",
                  vjps=(r"\operatorname{reshape} \bar y",), examples=((S23, {"shape": (3, 2)}),
                                                                      (((4,),), {"shape": (2, -1)}),
                                                                      (((1,),), {"shape": ()})), **MOVES)
transpose    = op("transpose", _transpose, _transpose_rule, formula=r"x^{\mathsf T}", vjps=(r"\bar y^{\mathsf T}",),
                  examples=((S23, {"axes": None}), (((2, 3, 4),), {"axes": (2, 0, 1)})), **MOVES)
swapaxes     = op("swapaxes", _swapaxes,
                  lambda m, g, y, x, axis1, axis2: m.swapaxes(g, axis1=axis1, axis2=axis2),
                  formula=r"\operatorname{swap} x", vjps=(r"\operatorname{swap} \bar y",),
                  examples=((((2, 3, 4),), {"axis1": 0, "axis2": -1}),), **MOVES)
moveaxis     = op("moveaxis", _moveaxis,
                  lambda m, g, y, x, source, destination: m.moveaxis(g, source=destination, destination=source),
                  formula=r"\operatorname{move} x", vjps=(r"\operatorname{move}^{-1} \bar y",),
                  examples=((((2, 3, 4),), {"source": 0, "destination": 2}),), **MOVES)
expand_dims  = op("expand_dims", _expand_dims, _reshape_back, formula="x", vjps=(r"\bar y",),
                  examples=((S23, {"axis": 1}), (((),), {"axis": 0})), **MOVES)
squeeze      = op("squeeze", _squeeze, _reshape_back, formula="x", vjps=(r"\bar y",),
                  examples=((((1, 3, 1),), {"axis": None}), (((1, 3, 1),), {"axis": 2})), **MOVES)
broadcast_to = op("broadcast_to", _broadcast_to, lambda m, g, y, x, shape: m.sum_to(g, shape=x.shape),
                  formula=r"\operatorname{broadcast} x", vjps=(r"\sum \bar y",),
                  examples=((((3,),), {"shape": (2, 3)}), (((2, 1),), {"shape": (2, 3)}),
                            (((),), {"shape": (2, 2)})), **MOVES)
sum_to       = op("sum_to", _sum_to, lambda m, g, y, x, shape: m.broadcast_to(g, shape=x.shape),
                  formula=r"\sum x", vjps=(r"\operatorname{broadcast} \bar y",),
                  examples=((S23, {"shape": (3,)}), (S23, {"shape": (2, 1)}), (S23, {"shape": ()})), **MOVES)
concatenate  = op("concatenate", _concatenate, _concatenate_rule, variadic=True, arguments="xs",
                  formula=r"[x_0, x_1, \dots]", vjps=(r"\bar y_{[k]}",),
                  examples=((((2, 3), (1, 3)), {"axis": 0}), (((2, 1), (2, 3), (2, 2)), {"axis": -1})), **MOVES)
stack        = op("stack", _stack, _stack_rule, variadic=True, arguments="xs", formula=r"[x_0, x_1, \dots]",
                  vjps=(r"\bar y_{[k]}",), examples=((((2, 3), (2, 3)), {"axis": 1}), (((), ()), {"axis": 0})),
                  **MOVES)
split        = op("split", _split, _split_rule, many=True, formula=r"(x_{[0]}, x_{[1]}, \dots)",
                  vjps=(r"[\bar y_0, \bar y_1, \dots]",),
                  examples=((((4, 2),), {"sections": 2, "axis": 0}), (((2, 5),), {"sections": (1, 3), "axis": 1})),
                  **MOVES)
unstack      = op("unstack", _unstack, lambda m, g, y, x, axis: m.joined("stack", g, axis=axis), many=True,
                  formula=r"(x_0, x_1, \dots)", vjps=(r"[\bar y_0, \bar y_1, \dots]",),
                  examples=((((3, 2),), {"axis": 0}), (((2, 3),), {"axis": -1})), **MOVES)
tile         = op("tile", _tile, _tile_rule, formula=r"\operatorname{tile} x", vjps=(r"\sum_{\mathrm{copies}} \bar y",),
                  examples=((S23, {"reps": (2, 1)}), (((3,),), {"reps": (2, 2)}), (S23, {"reps": 2})), **MOVES)
repeat       = op("repeat", _repeat, _repeat_rule, formula=r"\operatorname{repeat} x",
                  vjps=(r"\sum_{\mathrm{copies}} \bar y",),
                  examples=((S23, {"repeats": 2, "axis": 1}), (((3,),), {"repeats": 3, "axis": 0})), **MOVES)
pad          = op("pad", _pad, _pad_rule, formula=r"\operatorname{pad} x", vjps=(r"\bar y_{\mathrm{inside}}",),
                  examples=((S23, {"widths": ((1, 0), (0, 2)), "value": 0.0}), (((3,),), {"widths": 1, "value": 2.0})),
                  **MOVES)
flip         = op("flip", _flip, lambda m, g, y, x, axis: m.flip(g, axis=axis), formula=r"\operatorname{flip} x",
                  vjps=(r"\operatorname{flip} \bar y",), examples=((S23, {"axis": None}), (S23, {"axis": 1})), **MOVES)
roll         = op("roll", _roll, _roll_rule, formula=r"\operatorname{roll} x",
                  vjps=(r"\operatorname{roll}^{-1} \bar y",),
                  examples=((S23, {"shift": 1, "axis": None}), (S23, {"shift": -2, "axis": 1})), **MOVES)
cast         = op("cast", _cast, _cast_rule, formula=r"x", vjps=(r"\bar y",),
                  examples=((S23, {"dtype": "float64"}),), **MOVES)
tril         = op("tril", _tril, lambda m, g, y, x, k: m.tril(g, k=k), formula=r"\operatorname{tril} x",
                  vjps=(r"\operatorname{tril} \bar y",), examples=((((3, 3),), {"k": 0}),), **MOVES)
triu         = op("triu", _triu, lambda m, g, y, x, k: m.triu(g, k=k), formula=r"\operatorname{triu} x",
                  vjps=(r"\operatorname{triu} \bar y",), examples=((((3, 3),), {"k": 1}),), **MOVES)
