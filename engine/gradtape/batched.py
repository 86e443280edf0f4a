"""The walk for jacobians: gradients carry a leading axis, one row per element of the target.

Elementwise entries undo a batch as they undo one gradient; products and sums have forms of their own here; what a row
recorded is undone row by row by its rules, since its axes count from the front.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.entries import Entries, Entry
from gradtape.ops import undo
from gradtape.ops.registry import RAW, add, undo_part, undo_row, undo_rows
from gradtape.ops.shapes import sum_to
from gradtape.walk import explain

__gradtape__ = True

Batch = Any         # an array whose first axis counts the rows of the jacobian


def narrow(g: Batch, shape: tuple[int, ...]) -> Batch:
    """Sum a batch of gradients down to an operand's shape."""
    rows = len(g)
    if g.shape[1:] == shape:
        return g
    lead = g.ndim - 1 - len(shape)
    if lead > 0:
        g = np.add.reduce(g, axis=tuple(range(1, 1 + lead)))
    return sum_to.forward(g, (rows, *shape))


def _wide(value: Any, g: Batch) -> Any:
    """A saved value with axes put in front, as many as it lacks below the batch axis."""
    missing = g.ndim - 1 - np.ndim(value)
    return np.asarray(value)[(None,) * missing] if missing > 0 and np.ndim(value) else value


def _add(g: Batch, e: Entry) -> tuple[Batch | None, ...]:
    _, ia, ib, sa, sb = e
    return narrow(g, sa) if ia >= 0 else None, narrow(g, sb) if ib >= 0 else None


def _subtract(g: Batch, e: Entry) -> tuple[Batch | None, ...]:
    _, ia, ib, sa, sb = e
    return narrow(g, sa) if ia >= 0 else None, narrow(-g, sb) if ib >= 0 else None


def _multiply(g: Batch, e: Entry) -> tuple[Batch | None, ...]:
    _, ia, ib, av, bv = e
    return (narrow(g * _wide(bv, g), av.shape) if ia >= 0 else None,
            narrow(g * _wide(av, g), bv.shape) if ib >= 0 else None)


def _divide(g: Batch, e: Entry) -> tuple[Batch | None, ...]:
    _, ia, ib, sa, bv, r = e
    b = _wide(bv, g)
    return narrow(g / b, sa) if ia >= 0 else None, narrow(-g * r / b, bv.shape) if ib >= 0 else None


def _matmul(g: Batch, e: Entry) -> tuple[Batch | None, ...]:
    _, ia, ib, av, bv = e
    a = b = None
    if av.ndim == 2 and bv.ndim == 2:
        a = g @ bv.T if ia >= 0 else None
        b = av.T @ g if ib >= 0 else None
    elif av.ndim == 2:
        a = g[:, :, None] * bv if ia >= 0 else None
        b = g.dot(av) if ib >= 0 else None
    elif bv.ndim == 2:
        a = g.dot(bv.T) if ia >= 0 else None
        b = av[:, None] * g[:, None, :] if ib >= 0 else None
    else:
        a = g[:, None] * bv if ia >= 0 else None
        b = g[:, None] * av if ib >= 0 else None
    return a, b


def _sum(g: Batch, e: Entry) -> tuple[Batch | None, ...]:
    return (np.broadcast_to(g.reshape(-1, *[1] * len(e[2])), (len(g), *e[2])),)


def _mean(g: Batch, e: Entry) -> tuple[Batch | None, ...]:
    return (np.broadcast_to((g / e[4]).reshape(-1, *[1] * len(e[2])), (len(g), *e[2])),)


def _cross_entropy(g: Batch, e: Entry) -> tuple[Batch | None, ...]:
    return ((e[3] - e[2]) * g[:, :, None],)


OWN_FORM: dict[Callable[..., None], Callable[[Batch, Entry], tuple[Batch | None, ...]]] = {
    undo.undo_add_wide: _add, undo.undo_subtract: _subtract, undo.undo_multiply_wide: _multiply,
    undo.undo_divide: _divide, undo.undo_matmul: _matmul, undo.undo_sum: _sum, undo.undo_mean: _mean,
    undo.undo_cross_entropy: _cross_entropy,
}


def walk_batched(entries: Entries, top: int, low: int, seeds: Batch, keep: set[int],
                 live: bytearray | None) -> list[Any]:
    """Walk back with a batch of gradients of the entry `top`; the list holds those of the wanted positions."""
    G: list[Any] = [None] * (top + 1)
    own = bytearray(top + 1)
    G[top] = seeds
    for k in range(top, low, -1):
        g = G[k]
        e = entries[k]
        function = e[0]
        if g is None or function is None or (live is not None and not live[k]):
            continue
        if k not in keep:
            G[k] = None
        try:
            form = OWN_FORM.get(function)
            if form is not None:
                for i, c in zip(e[1:], form(g, e), strict=False):
                    if c is not None:
                        add(G, own, i, c)
            elif function is undo_row or function is undo_rows:
                _by_rules(g, e, G, own, len(seeds))
            else:
                function(g, e, G, own)      # elementwise, or a part of several results
        except Exception as error:
            if function is not undo_part:
                explain(error, entries, k)
            raise
    return G


def _by_rules(g: Any, e: Entry, G: list[Any], own: bytearray, rows: int) -> None:
    """Undo one entry for each row of the batch on its own."""
    _, row, indices, y, xs, attrs = e
    found: list[list[Any]] = []
    for k in range(rows):
        if e[0] is undo_rows:
            one: Any = tuple(np.zeros(r.shape, r.dtype) if part is None else part[k]
                             for part, r in zip(g, y, strict=True))
        else:
            one = g[k]
        found.append(row.contributions(RAW, indices, one, y, xs, attrs))
    for position, i in enumerate(indices):
        if i >= 0 and not rows:
            add(G, own, i, np.zeros((0, *xs[position].shape), xs[position].dtype))
        elif i >= 0 and found[0][position] is not None:
            add(G, own, i, np.stack([contributions[position] for contributions in found]))
