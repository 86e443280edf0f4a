"""Hand-specialised forms of the hot ops: the results of their rows, at a fraction of the cost on small arrays.

A fast form handles what is common (tensors of one dtype, Python numbers, arrays) and leaves the rest to the row.  It
appends (undo, positions..., saved...) to the tape, laid out as its undo function (in `undo.py`) says.  Written out
instead of shared: a call more per op would cost a tenth of everything.  An array of the script's is copied when the
tape has to keep it: the script may write into it later.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.entries import active, locate
from gradtape.observers import seam
from gradtape.ops import elementwise, linalg
from gradtape.ops.registry import RECORDED, slow
from gradtape.ops.undo import (
    undo_add,
    undo_add_wide,
    undo_divide,
    undo_matmul,
    undo_minus,
    undo_multiply,
    undo_multiply_wide,
    undo_pass,
    undo_power,
    undo_scale,
    undo_subtract,
)
from gradtape.tensor import Tensor, make
from gradtape.variable import Variable

__gradtape__ = True

_new = object.__new__
ndarray = np.ndarray


def add(a: Any, b: Any, told: bool = False) -> Tensor:
    """a + b, elementwise with broadcasting."""
    ta = type(a)
    tb = type(b)
    if (ta is Tensor or ta is Variable) and (told or seam.observer is None):
        av = a._value
        if tb is Tensor or tb is Variable:
            bv = b._value
        elif tb is float or tb is int:
            r = av + b
            if r.dtype is av.dtype:
                entries = active()
                if entries is None:
                    return make(r)
                ia = a._index
                if a._entries is not entries:
                    ia = locate(a, entries)
                if ia < 0:
                    return make(r)
                y = _new(Tensor)
                y._value = r
                y._shape = a._shape
                y._entries = entries
                y._index = len(entries)
                entries.append((undo_pass, ia, b))
                return y
            return slow(elementwise.add, (a, b), {}, told)
        elif tb is ndarray and b.ndim:
            bv = b
        else:
            return slow(elementwise.add, (a, b), {}, told)
        if av.dtype is bv.dtype:
            try:
                r = av + bv
            except ValueError:
                return slow(elementwise.add, (a, b), {}, told)
            entries = active()
            if entries is None:
                return make(r)
            ia = a._index
            if a._entries is not entries:
                ia = locate(a, entries)
            if tb is ndarray:
                ib = -1
                sb = bv.shape
            else:
                ib = b._index
                if b._entries is not entries:
                    ib = locate(b, entries)
                sb = b._shape
            if ia < 0 and ib < 0:
                return make(r)
            y = _new(Tensor)
            y._value = r
            y._entries = entries
            y._index = len(entries)
            sa = a._shape
            if sa is sb or sa == sb:
                y._shape = sa
                entries.append((undo_add, ia, ib))
            else:
                y._shape = r.shape
                entries.append((undo_add_wide, ia, ib, sa, sb))
            return y
    elif ((tb is Tensor or tb is Variable) and (ta is ndarray or ta is float or ta is int)
          and (active() is None if told else seam.observer is None)):
        return add(b, a, told)
    return slow(elementwise.add, (a, b), {}, told)


def add_to(b: Any, a: Any) -> Tensor:
    """a + b for a on the left that is no tensor: the fast forms look for the tensor on their left."""
    return add(b, a) if seam.observer is None else slow(elementwise.add, (a, b), {}, False)


def subtract(a: Any, b: Any, told: bool = False) -> Tensor:
    """a - b, elementwise with broadcasting."""
    ta = type(a)
    tb = type(b)
    if (ta is Tensor or ta is Variable) and (told or seam.observer is None):
        av = a._value
        if tb is Tensor or tb is Variable:
            bv = b._value
        elif tb is ndarray and b.ndim:
            bv = b
        elif tb is float or tb is int:
            r = av - b
            if r.dtype is av.dtype:
                entries = active()
                if entries is None:
                    return make(r)
                ia = a._index
                if a._entries is not entries:
                    ia = locate(a, entries)
                if ia < 0:
                    return make(r)
                y = make(r, entries, len(entries))
                entries.append((undo_minus, ia, b))
                return y
            return slow(elementwise.subtract, (a, b), {}, told)
        else:
            return slow(elementwise.subtract, (a, b), {}, told)
        if av.dtype is bv.dtype:
            try:
                r = av - bv
            except ValueError:
                return slow(elementwise.subtract, (a, b), {}, told)
            entries = active()
            if entries is None:
                return make(r)
            ia = a._index
            if a._entries is not entries:
                ia = locate(a, entries)
            if tb is ndarray:
                ib = -1
            else:
                ib = b._index
                if b._entries is not entries:
                    ib = locate(b, entries)
            if ia < 0 and ib < 0:
                return make(r)
            y = _new(Tensor)
            y._value = r
            y._entries = entries
            y._index = len(entries)
            y._shape = r.shape
            entries.append((undo_subtract, ia, ib, a._shape, bv.shape))
            return y
    elif (tb is Tensor or tb is Variable) and (ta is float or ta is int) and (told or seam.observer is None):
        bv = b._value
        r = a - bv
        if r.dtype is bv.dtype:
            entries = active()
            if entries is None:
                return make(r)
            ib = b._index
            if b._entries is not entries:
                ib = locate(b, entries)
            if ib < 0:
                return make(r)
            y = make(r, entries, len(entries))
            entries.append((undo_subtract, -1, ib, (), b._shape))
            return y
    return slow(elementwise.subtract, (a, b), {}, told)


def multiply(a: Any, b: Any, told: bool = False) -> Tensor:
    """a * b, elementwise with broadcasting."""
    ta = type(a)
    tb = type(b)
    if (ta is Tensor or ta is Variable) and (told or seam.observer is None):
        av = a._value
        if tb is Tensor or tb is Variable:
            bv = b._value
        elif tb is float or tb is int:
            r = av * b
            if r.dtype is av.dtype:
                entries = active()
                if entries is None:
                    return make(r)
                ia = a._index
                if a._entries is not entries:
                    ia = locate(a, entries)
                if ia < 0:
                    return make(r)
                y = _new(Tensor)
                y._value = r
                y._shape = a._shape
                y._entries = entries
                y._index = len(entries)
                entries.append((undo_scale, ia, b))
                return y
            return slow(elementwise.multiply, (a, b), {}, told)
        elif tb is ndarray and b.ndim:
            bv = b
        else:
            return slow(elementwise.multiply, (a, b), {}, told)
        if av.dtype is bv.dtype:
            try:
                r = av * bv
            except ValueError:
                return slow(elementwise.multiply, (a, b), {}, told)
            entries = active()
            if entries is None:
                return make(r)
            ia = a._index
            if a._entries is not entries:
                ia = locate(a, entries)
            if tb is ndarray:
                ib = -1
                if ia < 0:
                    return make(r)
                bv = bv.copy()
                sb = bv.shape
            else:
                ib = b._index
                if b._entries is not entries:
                    ib = locate(b, entries)
                if ia < 0 and ib < 0:
                    return make(r)
                sb = b._shape
            y = _new(Tensor)
            y._value = r
            y._entries = entries
            y._index = len(entries)
            sa = a._shape
            if sa is sb or sa == sb:
                y._shape = sa
                entries.append((undo_multiply, ia, ib, av, bv))
            else:
                y._shape = r.shape
                entries.append((undo_multiply_wide, ia, ib, av, bv))
            return y
    elif ((tb is Tensor or tb is Variable) and (ta is ndarray or ta is float or ta is int)
          and (active() is None if told else seam.observer is None)):
        return multiply(b, a, told)
    return slow(elementwise.multiply, (a, b), {}, told)


def multiply_by(b: Any, a: Any) -> Tensor:
    """a * b for a on the left that is no tensor."""
    if seam.observer is None:
        if type(a) is float and active() is None:       # learning rate times gradient
            v = b._value
            r = v * a
            if r.dtype is v.dtype:
                y = _new(Tensor)
                y._value = r
                y._shape = b._shape
                y._entries = None
                y._index = -1
                return y
        return multiply(b, a)
    return slow(elementwise.multiply, (a, b), {}, False)


def divide(a: Any, b: Any, told: bool = False) -> Tensor:
    """a / b, elementwise with broadcasting; integers give float64."""
    ta = type(a)
    tb = type(b)
    if (ta is Tensor or ta is Variable) and (told or seam.observer is None):
        av = a._value
        if tb is Tensor or tb is Variable:
            bv = b._value
            if av.dtype is bv.dtype and av.dtype.kind in "fc":
                try:
                    r = av / bv
                except ValueError:
                    return slow(elementwise.divide, (a, b), {}, told)
                entries = active()
                if entries is None:
                    return make(r)
                ia = a._index
                if a._entries is not entries:
                    ia = locate(a, entries)
                ib = b._index
                if b._entries is not entries:
                    ib = locate(b, entries)
                if ia < 0 and ib < 0:
                    return make(r)
                y = _new(Tensor)
                y._value = r
                y._shape = r.shape
                y._entries = entries
                y._index = len(entries)
                entries.append((undo_divide, ia, ib, a._shape, bv, r))
                return y
        elif (tb is float or tb is int) and av.dtype.kind == "f" and b:
            r = av / b
            entries = active()
            if entries is None:
                return make(r)
            ia = a._index
            if a._entries is not entries:
                ia = locate(a, entries)
            if ia < 0:
                return make(r)
            y = make(r, entries, len(entries))
            entries.append((undo_divide, ia, -1, a._shape, b, r))
            return y
    elif (tb is Tensor or tb is Variable) and (ta is float or ta is int) and (told or seam.observer is None):
        bv = b._value
        if bv.dtype.kind == "f":
            r = a / bv
            entries = active()
            if entries is None:
                return make(r)
            ib = b._index
            if b._entries is not entries:
                ib = locate(b, entries)
            if ib < 0:
                return make(r)
            y = make(r, entries, len(entries))
            entries.append((undo_divide, -1, ib, (), bv, r))
            return y
    return slow(elementwise.divide, (a, b), {}, told)


def power(a: Any, b: Any, told: bool = False) -> Tensor:
    """a ** b, elementwise with broadcasting."""
    ta = type(a)
    tb = type(b)
    if (ta is Tensor or ta is Variable) and (tb is int or tb is float) and (told or seam.observer is None):
        av = a._value
        if av.dtype.kind == "f":
            r = av * av if b == 2 else av ** b
            entries = active()
            if entries is None:
                return make(r)
            ia = a._index
            if a._entries is not entries:
                ia = locate(a, entries)
            if ia < 0:
                return make(r)
            y = _new(Tensor)
            y._value = r
            y._shape = a._shape
            y._entries = entries
            y._index = len(entries)
            entries.append((undo_power, ia, b, av, r))
            return y
    return slow(elementwise.power, (a, b), {}, told)


def matmul(a: Any, b: Any, told: bool = False) -> Tensor:
    """Matrix product of the last two axes; vectors are rows on the left and columns on the right."""
    ta = type(a)
    tb = type(b)
    if (told or seam.observer is None):
        if ta is Tensor or ta is Variable:
            av = a._value
        elif ta is ndarray:
            av = a
        else:
            return slow(linalg.matmul, (a, b), {}, told)
        if tb is Tensor or tb is Variable:
            bv = b._value
        elif tb is ndarray:
            bv = b
        else:
            return slow(linalg.matmul, (a, b), {}, told)
        if av.dtype is bv.dtype and 0 < av.ndim < 3 and 0 < bv.ndim < 3 and av.dtype.kind == "f":
            try:
                r = av.dot(bv)      # a third cheaper than @ on small matrices
            except ValueError:
                return slow(linalg.matmul, (a, b), {}, told)
            entries = active()
            if entries is None:
                return make(r)
            if ta is ndarray:
                ia = -1
            else:
                ia = a._index
                if a._entries is not entries:
                    ia = locate(a, entries)
            if tb is ndarray:
                ib = -1
            else:
                ib = b._index
                if b._entries is not entries:
                    ib = locate(b, entries)
            if ia < 0 and ib < 0:
                return make(r)
            if ta is ndarray:
                av = av.copy()
            elif tb is ndarray:
                bv = bv.copy()
            y = _new(Tensor)
            y._value = r
            y._shape = r.shape
            y._entries = entries
            y._index = len(entries)
            entries.append((undo_matmul, ia, ib, av, bv))
            return y
    return slow(linalg.matmul, (a, b), {}, told)


for _row, _form in ((elementwise.add, add), (elementwise.subtract, subtract), (elementwise.multiply, multiply),
                    (elementwise.divide, divide), (elementwise.power, power), (linalg.matmul, matmul)):
    _row.fast = _form
    setattr(RECORDED, _row.name, _form)
