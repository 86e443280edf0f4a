"""Hand-specialised forms of the hot ops of one argument and of the cross-entropy; see `fast.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.entries import active, locate
from gradtape.observers import seam
from gradtape.ops import activations, elementwise, fused, reductions
from gradtape.ops.registry import RECORDED, Op, slow
from gradtape.ops.undo import (
    total,
    undo_cos,
    undo_cross_entropy,
    undo_exp,
    undo_log,
    undo_mean,
    undo_relu,
    undo_sigmoid,
    undo_sin,
    undo_square,
    undo_sum,
    undo_tanh,
)
from gradtape.tensor import Tensor, make
from gradtape.variable import Variable

__gradtape__ = True

_new = object.__new__
_reduce = np.add.reduce
ndarray = np.ndarray


def _fast(row: Op, forward: Any, undo: Any, saves_result: bool, doc: str) -> Any:
    """A fast form of an elementwise row with one argument; it saves either the argument or the result."""

    def function(x: Any, told: bool = False) -> Tensor:
        t = type(x)
        if (t is Tensor or t is Variable) and (told or seam.observer is None):
            v = x._value
            r = forward(v)
            entries = active()
            if entries is None:
                return make(r)
            i = x._index
            if x._entries is not entries:
                i = locate(x, entries)
            if i < 0 or r.dtype is not v.dtype:
                return make(r)
            y = _new(Tensor)
            y._value = r
            y._shape = x._shape
            y._entries = entries
            y._index = len(entries)
            entries.append((undo, i, r if saves_result else v))
            return y
        return slow(row, (x,), {}, told)

    function.__name__ = function.__qualname__ = row.name
    function.__doc__ = doc
    row.fast = function
    setattr(RECORDED, row.name, function)
    return function


_ZERO = {char: np.zeros((), char) for char in "efdg"}


def _relu(v: Any) -> Any:
    zero = _ZERO.get(v.dtype.char)
    return np.maximum(v, v.dtype.type(0) if zero is None else zero)


sin = _fast(elementwise.sin, np.sin, undo_sin, False, "Sine, elementwise.")
cos = _fast(elementwise.cos, np.cos, undo_cos, False, "Cosine, elementwise.")
tanh = _fast(elementwise.tanh, np.tanh, undo_tanh, True, "Hyperbolic tangent, elementwise.")
exp = _fast(elementwise.exp, np.exp, undo_exp, True, "Exponential function, elementwise.")
log = _fast(elementwise.log, np.log, undo_log, False, "Natural logarithm, elementwise; log(0) is -inf.")
square = _fast(elementwise.square, np.square, undo_square, False, "Square, elementwise.")
relu = _fast(activations.relu, _relu, undo_relu, True, "max(x, 0), elementwise; the derivative at 0 is 0.")
sigmoid = _fast(activations.sigmoid, activations.stable_sigmoid, undo_sigmoid, True, "1 / (1 + exp(-x)), elementwise.")


def sum_(x: Any, axis: Any = None, keepdims: bool = False, told: bool = False) -> Tensor:
    """Sum over all elements or over axes."""
    t = type(x)
    if axis is None and not keepdims and (t is Tensor or t is Variable) and (told or seam.observer is None):
        v = x._value
        r = total(v) if v.ndim else v
        entries = active()
        if entries is None:
            return make(r)
        i = x._index
        if x._entries is not entries:
            i = locate(x, entries)
        if i >= 0 and v.dtype.kind in "fc":
            y = _new(Tensor)
            y._value = r
            y._shape = ()
            y._entries = entries
            y._index = len(entries)
            entries.append((undo_sum, i, x._shape, v.dtype))
            return y
        return make(r)
    return slow(reductions.sum_, (x,), {"axis": axis, "keepdims": keepdims}, told)


def mean(x: Any, axis: Any = None, keepdims: bool = False, told: bool = False) -> Tensor:
    """Mean over all elements or over axes."""
    t = type(x)
    if axis is None and not keepdims and (t is Tensor or t is Variable) and (told or seam.observer is None):
        v = x._value
        dtype = v.dtype
        if (dtype.char == "f" or dtype.char == "d") and v.size:
            r = total(v) / dtype.type(v.size)
            entries = active()
            if entries is None:
                return make(r)
            i = x._index
            if x._entries is not entries:
                i = locate(x, entries)
            if i < 0:
                return make(r)
            y = _new(Tensor)
            y._value = r
            y._shape = ()
            y._entries = entries
            y._index = len(entries)
            entries.append((undo_mean, i, x._shape, dtype, v.size))
            return y
    return slow(reductions.mean, (x,), {"axis": axis, "keepdims": keepdims}, told)


def softmax_cross_entropy(labels: Any, logits: Any, told: bool = False) -> Tensor:
    """Cross-entropy between softmax(logits) and rows of probabilities, one number per row.

    labels: (..., classes), each row sums to 1; logits: the same shape, unnormalised log-probabilities
    Gradient: g * (softmax(logits) - labels) to the logits, -g * log softmax(logits) to the labels, as in TensorFlow.
    """
    t = type(logits)
    if (t is Tensor or t is Variable) and type(labels) is ndarray and (told or seam.observer is None):
        v = logits._value
        if v.ndim == 2 and labels.shape == v.shape and labels.dtype is v.dtype:
            shifted = v - np.maximum.reduce(v, 1, keepdims=True)
            e = np.exp(shifted)
            total = _reduce(e, 1, keepdims=True)
            shifted -= np.log(total)
            shifted *= labels
            r = -_reduce(shifted, 1)
            entries = active()
            if entries is None:
                return make(r)
            i = logits._index
            if logits._entries is not entries:
                i = locate(logits, entries)
            if i < 0:
                return make(r)
            e /= total
            y = make(r, entries, len(entries))
            entries.append((undo_cross_entropy, i, labels.copy(), e, v))
            return y
    return slow(fused.softmax_cross_entropy, (labels, logits), {}, told)


for _row, _form in ((reductions.sum_, sum_), (reductions.mean, mean),
                    (fused.softmax_cross_entropy, softmax_cross_entropy)):
    _row.fast = _form
    setattr(RECORDED, _row.name, _form)
