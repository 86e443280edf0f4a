"""Reductions over axes and what is made of them: sums, extremes, norms, cumulative sums, softmax.

`axis` is None (all), a number or a tuple; `keepdims` keeps reduced axes with length one.
A tie of max or min splits the gradient evenly, as in TensorFlow.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.ops.registry import nondifferentiable, op

__gradtape__ = True


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes as a tuple of non-negative numbers."""
    if axis is None:
        return tuple(range(ndim))
    if not isinstance(axis, (tuple, list)):
        axis = (axis,)
    return tuple(int(a) % ndim if ndim else 0 for a in axis)


def tupled(axis: Any) -> Any:
    """An axis argument as NumPy wants it: None, a number or a tuple of numbers."""
    return None if axis is None else tuple(int(a) for a in axis) if isinstance(axis, (tuple, list)) else int(axis)


def spread(m: Any, g: Any, shape: tuple[int, ...], axis: Any, keepdims: bool) -> Any:
    """A gradient of a reduction's result, with the reduced axes back and everything at its full size."""
    if not keepdims and len(g.shape) != len(shape):
        axes = axes_of(axis, len(shape))
        g = m.reshape(g, tuple(1 if k in axes else n for k, n in enumerate(shape)))
    return g if g.shape == shape else m.broadcast_to(g, shape)


def _kept(m: Any, y: Any, shape: tuple[int, ...], axis: Any, keepdims: bool) -> Any:
    """A reduction's result with the reduced axes back, length one."""
    if keepdims or len(y.shape) == len(shape):
        return y
    axes = axes_of(axis, len(shape))
    return m.reshape(y, tuple(1 if k in axes else n for k, n in enumerate(shape)))


def _count(shape: tuple[int, ...], axis: Any) -> int:
    n = 1
    for a in axes_of(axis, len(shape)):
        n *= shape[a]
    return n


def _sum(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.sum(x, axis=tupled(axis), keepdims=keepdims)


def _mean(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.mean(x, axis=tupled(axis), keepdims=keepdims)


def _max(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.max(x, axis=tupled(axis), keepdims=keepdims)


def _min(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.min(x, axis=tupled(axis), keepdims=keepdims)


def _prod(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.prod(x, axis=tupled(axis), keepdims=keepdims)


def _var(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.var(x, axis=tupled(axis), keepdims=keepdims)


def _std(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.std(x, axis=tupled(axis), keepdims=keepdims)


def _norm(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.sqrt(np.sum(np.square(x), axis=tupled(axis), keepdims=keepdims))


def _logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    axis = tupled(axis)
    top = np.max(x, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, x.dtype.type(0))
    y = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
    return y if keepdims else np.squeeze(y, axis=axis)


def _mean_rule(m: Any, g: Any, y: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    return spread(m, g / _count(x.shape, axis), x.shape, axis, keepdims)


def _extreme_rule(m: Any, g: Any, y: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    hit = m.cast(m.equal(x, _kept(m, y, x.shape, axis, keepdims)), x.dtype)
    share = hit / m.sum(hit, axis=axis, keepdims=True)
    return _kept(m, g, x.shape, axis, keepdims) * share


def _prod_rule(m: Any, g: Any, y: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    """Product of the others, by products from both sides: right with any number of zeros."""
    axes = axes_of(axis, len(x.shape))
    rest = tuple(k for k in range(len(x.shape)) if k not in axes)
    order = rest + axes
    moved = m.transpose(x, order)
    flat = m.reshape(moved, (*(x.shape[k] for k in rest), _count(x.shape, axis)))
    others = m.product_of_others(flat)
    back = m.transpose(m.reshape(others, moved.shape), tuple(int(k) for k in np.argsort(order)))
    return _kept(m, g, x.shape, axis, keepdims) * back


def _product_of_others(x: Any) -> Any:
    ones = np.ones_like(x[..., :1])
    before = np.cumprod(np.concatenate([ones, x[..., :-1]], axis=-1), axis=-1)
    after = np.cumprod(np.concatenate([ones, x[..., :0:-1]], axis=-1), axis=-1)[..., ::-1]
    return before * after


def _product_of_others_rule(m: Any, g: Any, y: Any, x: Any) -> Any:
    """d y_j / d x_i is the product of all but i and j; row i of `without` is x with x_i and the diagonal taken out."""
    n = x.shape[-1]
    eye = np.eye(n, dtype=bool)
    without = m.where(eye, 1.0, m.expand_dims(x, -2))           # [..., i, k], ones at k = i
    pairs = m.where(eye, 0.0, m.product_of_others(without))     # [..., i, j]: without i and j
    return m.sum(m.expand_dims(g, -2) * pairs, axis=-1, keepdims=False)


def _var_rule(m: Any, g: Any, y: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    centred = x - m.mean(x, axis=axis, keepdims=True)
    return _kept(m, g, x.shape, axis, keepdims) * centred * (2.0 / _count(x.shape, axis))


def _std_rule(m: Any, g: Any, y: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    centred = x - m.mean(x, axis=axis, keepdims=True)
    scale = _kept(m, g, x.shape, axis, keepdims) / _kept(m, y, x.shape, axis, keepdims)
    return scale * centred * (1.0 / _count(x.shape, axis))


def _norm_rule(m: Any, g: Any, y: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    return x * (_kept(m, g, x.shape, axis, keepdims) / _kept(m, y, x.shape, axis, keepdims))


def _logsumexp_rule(m: Any, g: Any, y: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    return _kept(m, g, x.shape, axis, keepdims) * m.exp(x - _kept(m, y, x.shape, axis, keepdims))


def _cumsum(x: Any, axis: int = 0, reverse: bool = False) -> Any:
    return np.flip(np.cumsum(np.flip(x, axis), axis=axis), axis) if reverse else np.cumsum(x, axis=axis)


def _cumprod(x: Any, axis: int = 0) -> Any:
    return np.cumprod(x, axis=axis)


def _cumprod_rule(m: Any, g: Any, y: Any, x: Any, axis: int) -> Any:
    return m.cumsum(g * y, axis=axis, reverse=True) / x


def softmax_of(x: Any, axis: int = -1) -> Any:
    """exp(x) / sum(exp(x)) along an axis; the largest element is taken off first."""
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    e /= np.sum(e, axis=axis, keepdims=True)
    return e


def _log_softmax(x: Any, axis: int = -1) -> Any:
    x = x - np.max(x, axis=axis, keepdims=True)
    return x - np.log(np.sum(np.exp(x), axis=axis, keepdims=True))


def _softmax_rule(m: Any, g: Any, y: Any, x: Any, axis: int) -> Any:
    return y * (g - m.sum(g * y, axis=axis, keepdims=True))


def _log_softmax_rule(m: Any, g: Any, y: Any, x: Any, axis: int) -> Any:
    return g - m.exp(y) * m.sum(g, axis=axis, keepdims=True)


def _sort(x: Any, axis: int = -1) -> Any:
    return np.sort(x, axis=axis)


def _sort_rule(m: Any, g: Any, y: Any, x: Any, axis: int) -> Any:
    back = m.argsort(m.argsort(x, axis=axis), axis=axis)
    return m.take_along_axis(g, back, axis=axis)


def _argmax(x: Any, axis: Any = None) -> Any:
    return np.argmax(x, axis=axis)


def _argmin(x: Any, axis: Any = None) -> Any:
    return np.argmin(x, axis=axis)


def _argsort(x: Any, axis: int = -1) -> Any:
    return np.argsort(x, axis=axis, kind="stable")


def _any(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.any(x, axis=tupled(axis), keepdims=keepdims)


def _all(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.all(x, axis=tupled(axis), keepdims=keepdims)


def _count_nonzero(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.count_nonzero(x, axis=tupled(axis), keepdims=keepdims)


REDUCED: Any = (
    (((4,),), {"axis": None, "keepdims": False}), (((2, 3),), {"axis": 0, "keepdims": False}),
    (((2, 3),), {"axis": 1, "keepdims": True}), (((2, 3, 2),), {"axis": (0, -1), "keepdims": False}),
)
SCALAR: Any = ((((),), {"axis": None, "keepdims": False}),)
ALONG: Any = ((((4,),), {"axis": 0}), (((2, 3),), {"axis": -1}), (((3, 2, 2),), {"axis": 1}))

# fmt: off
sum_      = op("sum",  _sum, lambda m, g, y, x, axis, keepdims: spread(m, g, x.shape, axis, keepdims), keeps="",
               formula=r"\sum x", vjps=(r"\bar y \, \mathbf{1}",), examples=REDUCED + SCALAR)
mean      = op("mean", _mean, _mean_rule, keeps="", formula=r"\frac{1}{n} \sum x",
               vjps=(r"\frac{\bar y}{n} \mathbf{1}",), examples=REDUCED + SCALAR)
max_      = op("max",  _max, _extreme_rule, formula=r"\max x", vjps=(r"\bar y \, [x = y] / \#\{x = y\}",),
               examples=REDUCED + SCALAR)
min_      = op("min",  _min, _extreme_rule, formula=r"\min x", vjps=(r"\bar y \, [x = y] / \#\{x = y\}",),
               examples=REDUCED + SCALAR)
prod      = op("prod", _prod, _prod_rule, keeps="x", formula=r"\prod x",
               vjps=(r"\bar y \prod_{k \neq i} x_k",), examples=REDUCED + SCALAR)
product_of_others = op("product_of_others", _product_of_others, _product_of_others_rule, keeps="x",
                       formula=r"y_i = \prod_{k \neq i} x_k",
                       vjps=(r"\sum_{j \neq i} \bar y_j \prod_{k \neq i, j} x_k",), examples=((((4,),), {}),
                                                                                              (((2, 3),), {})))
var       = op("var",  _var, _var_rule, keeps="x", formula=r"\frac{1}{n} \sum (x - \bar x)^2",
               vjps=(r"\frac{2}{n} \bar y (x - \mathrm{mean}(x))",), examples=REDUCED)
std       = op("std",  _std, _std_rule, formula=r"\sqrt{\operatorname{var} x}",
               vjps=(r"\frac{\bar y}{n \, y} (x - \mathrm{mean}(x))",), examples=REDUCED)
norm      = op("norm", _norm, _norm_rule, formula=r"\sqrt{\sum x^2}", vjps=(r"\frac{\bar y}{y} x",),
               examples=REDUCED)
logsumexp = op("logsumexp", _logsumexp, _logsumexp_rule, formula=r"\ln \sum e^x", vjps=(r"\bar y \, e^{x - y}",),
               examples=REDUCED)
cumsum    = op("cumsum", _cumsum, lambda m, g, y, x, axis, reverse: m.cumsum(g, axis=axis, reverse=not reverse),
               keeps="", formula=r"y_i = \sum_{k \leq i} x_k", vjps=(r"\sum_{k \geq i} \bar y_k",), examples=ALONG)
cumprod   = op("cumprod", _cumprod, _cumprod_rule, formula=r"y_i = \prod_{k \leq i} x_k", domain=(0.5, 2.0),
               vjps=(r"\frac{1}{x_i} \sum_{k \geq i} \bar y_k y_k",), examples=ALONG)
softmax   = op("softmax", softmax_of, _softmax_rule, keeps="y", formula=r"\frac{e^{x_i}}{\sum_k e^{x_k}}",
               vjps=(r"y \, (\bar y - \sum_k \bar y_k y_k)",), examples=ALONG)
log_softmax = op("log_softmax", _log_softmax, _log_softmax_rule, keeps="y", formula=r"x_i - \ln \sum_k e^{x_k}",
                 vjps=(r"\bar y - e^y \sum_k \bar y_k",), examples=ALONG)
sort      = op("sort", _sort, _sort_rule, keeps="x", formula=r"\operatorname{sort} x",
               vjps=(r"\bar y \ \mathrm{in\ the\ order\ of}\ x",), examples=ALONG)
argmax    = nondifferentiable("argmax", _argmax, formula=r"\operatorname{argmax} x")
argmin    = nondifferentiable("argmin", _argmin, formula=r"\operatorname{argmin} x")
argsort   = nondifferentiable("argsort", _argsort, formula=r"\operatorname{argsort} x")
any_      = nondifferentiable("any", _any, formula=r"\bigvee x")
all_      = nondifferentiable("all", _all, formula=r"\bigwedge x")
count_nonzero = nondifferentiable("count_nonzero", _count_nonzero, formula=r"\#\{x \neq 0\}")
