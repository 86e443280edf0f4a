"""How the fast forms are undone: `undo(g, entry, G, own)` adds the contributions of g to the list G.

Each function is registered with its entry's layout: how many positions it starts with, and how to read the entry as
(row, positions, result, arguments, attributes), for the walks that go by the rows' rules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.entries import ARITY, Entry
from gradtape.ops import activations, elementwise, fused, linalg, reductions
from gradtape.ops.registry import Ghost, Op, add
from gradtape.ops.shapes import sum_to
from gradtape.walk import FORMS, PARSERS, Parsed

__gradtape__ = True

_reduce = np.add.reduce
_sum_to = sum_to.forward
_empty = np.empty


def layout(undo: Callable[..., None], row: Op, arity: int, parse: Callable[[Entry], Parsed], before: int = 0) -> None:
    """Register how the entries of an undo function are laid out: `before` arguments of the row have no position."""
    ARITY[undo] = arity
    PARSERS[undo] = parse
    FORMS[undo] = (row, (-1,) * before, arity + 1, (-1,) * (row.count - before - arity))


# Rows of ones by length, for column sums: their product with a small matrix costs a third of add.reduce.
_ONES4 = {n: np.ones(n, np.float32) for n in range(1, 257)}
_ONES8 = {n: np.ones(n, np.float64) for n in range(1, 257)}
_F4 = np.dtype(np.float32)
_F8 = np.dtype(np.float64)


def narrow(g: Any, shape: tuple[int, ...]) -> Any:
    """Sum a gradient down to an operand's shape; a bias under a matrix is the common case."""
    present = g.shape
    if present == shape:
        return g
    if len(shape) == 1 and len(present) == 2 and shape[0] == present[1]:
        ones = (_ONES4 if g.dtype is _F4 else _ONES8 if g.dtype is _F8 else {}).get(present[0])
        return _reduce(g, 0) if ones is None else ones.dot(g)
    return _sum_to(g, shape)


def total(v: Any) -> Any:
    """Sum of all elements."""
    ones = (_ONES4 if v.dtype is _F4 else _ONES8 if v.dtype is _F8 else {}).get(v.size)
    return _reduce(v, None) if ones is None else ones.dot(v.ravel())


def undo_pass(g: Any, e: Entry, G: list[Any], own: bytearray) -> None:
    """y = x + number: (undo, x, number)."""
    i = e[1]
    if G[i] is None:
        G[i] = g
    else:
        add(G, own, i, g)


def undo_minus(g: Any, e: Entry, G: list[Any], own: bytearray) -> None:
    """y = x - number: (undo, x, number)."""
    undo_pass(g, e, G, own)


def undo_scale(g: Any, e: Entry, G: list[Any], own: bytearray) -> None:
    """y = x * number: (undo, x, number)."""
    i = e[1]
    c = g * e[2]
    if G[i] is None:
        G[i] = c
    else:
        add(G, own, i, c)


def undo_add(g: Any, e: Entry, G: list[Any], own: bytearray) -> None:
    """y = a + b of one shape: (undo, a, b)."""
    _, ia, ib = e
    if ia >= 0:
        p = G[ia]
        if p is None:
            G[ia] = g
        elif own[ia]:
            p += g
            G[ia] = p
        else:
            G[ia] = p + g
            own[ia] = 1
    if ib >= 0:
        p = G[ib]
        if p is None:
            G[ib] = g
        elif own[ib]:
            p += g
            G[ib] = p
        else:
            G[ib] = p + g
            own[ib] = 1


def undo_add_wide(g: Any, e: Entry, G: list[Any], own: bytearray) -> None:
    """y = a + b with broadcasting: (undo, a, b, shape of a, shape of b)."""
    _, ia, ib, sa, sb = e
    if ia >= 0:
        c = g if g.shape == sa else narrow(g, sa)
        if G[ia] is None:
            G[ia] = c
        else:
            add(G, own, ia, c)
    if ib >= 0:
        c = narrow(g, sb)
        if G[ib] is None:
            G[ib] = c
        else:
            add(G, own, ib, c)


def undo_subtract(g: Any, e: Entry, G: list[Any], own: bytearray) -> None:
    """y = a - b: (undo, a, b, shape of a, shape of b)."""
    _, ia, ib, sa, sb = e
    if ia >= 0:
        c = g if g.shape == sa else narrow(g, sa)
        if G[ia] is None:
            G[ia] = c
        else:
            add(G, own, ia, c)
    if ib >= 0:
        add(G, own, ib, narrow(-g, sb))


def undo_multiply(g: Any, e: Entry, G: list[Any], own: bytearray) -> None:
    """y = a * b of one shape: (undo, a, b, value of a, value of b)."""
    _, ia, ib, av, bv = e
    if ia >= 0:
        c = g * bv
        p = G[ia]
        if p is None:
            G[ia] = c
        elif own[ia]:
            p += c
            G[ia] = p
        else:
            G[ia] = p + c
            own[ia] = 1
    if ib >= 0:
        c = g * av
        p = G[ib]
        if p is None:
            G[ib] = c
        elif own[ib]:
            p += c
            G[ib] = p
        else:
            G[ib] = p + c
            own[ib] = 1


def undo_multiply_wide(g: Any, e: Entry, G: list[Any], own: bytearray) -> None:
    """y = a * b with broadcasting: (undo, a, b, value of a, value of b)."""
    _, ia, ib, av, bv = e
    if ia >= 0:
        add(G, own, ia, narrow(g * bv, av.shape))
    if ib >= 0:
        add(G, own, ib, narrow(g * av, bv.shape))


def undo_divide(g: Any, e: Entry, G: list[Any], own: bytearray) -> None:
    """y = a / b: (undo, a, b, shape of a, value of b, result)."""
    _, ia, ib, sa, bv, r = e
    if ia >= 0:
        add(G, own, ia, narrow(g / bv, sa))
    if ib >= 0:
        add(G, own, ib, narrow(-g * r / bv, bv.shape))


def undo_power(g: Any, e: Entry, G: list[Any], own: bytearray) -> None:
    """y = x ** number: (undo, x, number, value of x, result)."""
    _, i, n, v, _ = e
    c = g * (v + v) if n == 2 else g * n * v ** (n - 1)
    if G[i] is None:
        G[i] = c
    else:
        add(G, own, i, c)


def undo_matmul(g: Any, e: Entry, G: list[Any], own: bytearray) -> None:
    """y = a b, matrices or vectors: (undo, a, b, value of a, value of b)."""
    _, ia, ib, av, bv = e
    if av.ndim == 2:
        if ia >= 0:
            c = g.dot(bv.T) if bv.ndim == 2 else np.multiply.outer(g, bv)
            if G[ia] is None:
                G[ia] = c
            else:
                add(G, own, ia, c)
        if ib >= 0:
            c = av.T.dot(g)
            if G[ib] is None:
                G[ib] = c
            else:
                add(G, own, ib, c)
    else:
        if ia >= 0:
            add(G, own, ia, bv.dot(g) if bv.ndim == 2 else g * bv)
        if ib >= 0:
            add(G, own, ib, np.multiply.outer(av, g) if bv.ndim == 2 else g * av)


def undo_sin(g: Any, e: Entry, G: list[Any], own: bytearray) -> None:
    """y = sin x: (undo, x, value of x)."""
    i = e[1]
    c = g * np.cos(e[2])
    if G[i] is None:
        G[i] = c
    else:
        add(G, own, i, c)


def undo_cos(g: Any, e: Entry, G: list[Any], own: bytearray) -> None:
    """y = cos x: (undo, x, value of x)."""
    add(G, own, e[1], -g * np.sin(e[2]))


def undo_tanh(g: Any, e: Entry, G: list[Any], own: bytearray) -> None:
    """y = tanh x: (undo, x, result)."""
    i = e[1]
    y = e[2]
    c = g * y
    c *= y
    c = g - c
    if G[i] is None:
        G[i] = c
    else:
        add(G, own, i, c)


def undo_exp(g: Any, e: Entry, G: list[Any], own: bytearray) -> None:
    """y = exp x: (undo, x, result)."""
    i = e[1]
    c = g * e[2]
    if G[i] is None:
        G[i] = c
    else:
        add(G, own, i, c)


def undo_log(g: Any, e: Entry, G: list[Any], own: bytearray) -> None:
    """y = ln x: (undo, x, value of x)."""
    i = e[1]
    c = g / e[2]
    if G[i] is None:
        G[i] = c
    else:
        add(G, own, i, c)


def undo_sigmoid(g: Any, e: Entry, G: list[Any], own: bytearray) -> None:
    """y = sigmoid x: (undo, x, result)."""
    i = e[1]
    y = e[2]
    c = g * y
    c = c - c * y
    if G[i] is None:
        G[i] = c
    else:
        add(G, own, i, c)


def undo_relu(g: Any, e: Entry, G: list[Any], own: bytearray) -> None:
    """y = max(x, 0): (undo, x, result)."""
    i = e[1]
    c = g * (e[2] > 0)
    if G[i] is None:
        G[i] = c
    else:
        add(G, own, i, c)


def undo_square(g: Any, e: Entry, G: list[Any], own: bytearray) -> None:
    """y = x * x: (undo, x, value of x)."""
    i = e[1]
    c = e[2] * g
    c += c
    if G[i] is None:
        G[i] = c
    else:
        add(G, own, i, c)


def undo_sum(g: Any, e: Entry, G: list[Any], own: bytearray) -> None:
    """y = sum of all: (undo, x, shape of x, dtype)."""
    i = e[1]
    c = _empty(e[2], e[3])
    c.fill(g)
    if G[i] is None:
        G[i] = c
    else:
        add(G, own, i, c)


def undo_mean(g: Any, e: Entry, G: list[Any], own: bytearray) -> None:
    """y = mean of all: (undo, x, shape of x, dtype, number of elements)."""
    i = e[1]
    c = _empty(e[2], e[3])
    c.fill(g / e[4])
    if G[i] is None:
        G[i] = c
    else:
        add(G, own, i, c)


def undo_cross_entropy(g: Any, e: Entry, G: list[Any], own: bytearray) -> None:
    """y = softmax cross-entropy of rows: (undo, logits, labels, softmax, value of logits)."""
    c = e[3] - e[2]
    c *= g[:, None]
    add(G, own, e[1], c)


def _like(x: Any) -> Ghost:
    return Ghost(x.shape, x.dtype)


def _binary(row: Any) -> Callable[[Entry], Parsed]:
    return lambda e: (row, e[1:3], None, (e[3], e[4]), {})


def _of_shapes(row: Any) -> Callable[[Entry], Parsed]:
    return lambda e: (row, e[1:3], None, (Ghost(e[3], None), Ghost(e[4], None)), {})


def _from_value(row: Any) -> Callable[[Entry], Parsed]:
    return lambda e: (row, (e[1],), None, (e[2],), {})


def _from_result(row: Any) -> Callable[[Entry], Parsed]:
    return lambda e: (row, (e[1],), e[2], (_like(e[2]),), {})


ALL = {"axis": None, "keepdims": False}

layout(undo_pass, elementwise.add, 1, lambda e: (elementwise.add, (e[1], -1), None, (None, e[2]), {}))
layout(undo_minus, elementwise.subtract, 1, lambda e: (elementwise.subtract, (e[1], -1), None, (None, e[2]), {}))
layout(undo_scale, elementwise.multiply, 1, lambda e: (elementwise.multiply, (e[1], -1), None, (None, e[2]), {}))
layout(undo_add, elementwise.add, 2, lambda e: (elementwise.add, e[1:3], None, (None, None), {}))
layout(undo_add_wide, elementwise.add, 2, _of_shapes(elementwise.add))
layout(undo_subtract, elementwise.subtract, 2, _of_shapes(elementwise.subtract))
layout(undo_multiply, elementwise.multiply, 2, _binary(elementwise.multiply))
layout(undo_multiply_wide, elementwise.multiply, 2, _binary(elementwise.multiply))
layout(undo_divide, elementwise.divide, 2, lambda e: (elementwise.divide, e[1:3], e[5], (Ghost(e[3], None), e[4]), {}))
layout(undo_power, elementwise.power, 1, lambda e: (elementwise.power, (e[1], -1), e[4], (e[3], e[2]), {}))
layout(undo_matmul, linalg.matmul, 2, _binary(linalg.matmul))
layout(undo_sin, elementwise.sin, 1, _from_value(elementwise.sin))
layout(undo_cos, elementwise.cos, 1, _from_value(elementwise.cos))
layout(undo_tanh, elementwise.tanh, 1, _from_result(elementwise.tanh))
layout(undo_exp, elementwise.exp, 1, _from_result(elementwise.exp))
layout(undo_log, elementwise.log, 1, _from_value(elementwise.log))
layout(undo_sigmoid, activations.sigmoid, 1, _from_result(activations.sigmoid))
layout(undo_relu, activations.relu, 1, _from_result(activations.relu))
layout(undo_square, elementwise.square, 1, _from_value(elementwise.square))
layout(undo_sum, reductions.sum_, 1, lambda e: (reductions.sum_, (e[1],), None, (Ghost(e[2], e[3]),), ALL))
layout(undo_mean, reductions.mean, 1, lambda e: (reductions.mean, (e[1],), None, (Ghost(e[2], e[3]),), ALL))
layout(undo_cross_entropy, fused.softmax_cross_entropy, 1,
       lambda e: (fused.softmax_cross_entropy, (-1, e[1]), None, (e[2], e[4]), {}), before=1)
