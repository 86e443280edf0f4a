"""Jacobians: all rows in one walk where nobody listens, else a backward pass for every element of the target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.batched import walk_batched
from gradtape.entries import Entries, active, find
from gradtape.errors import ShapeError
from gradtape.observers import CallKind, GradientCall, Observer, seam
from gradtape.ops.shapes import reshape, stack, transpose
from gradtape.tensor import Tensor, make
from gradtape.walk import Calling, walk

if TYPE_CHECKING:
    from gradtape.tape import GradientTape

__gradtape__ = True


def jacobian_of(tape: GradientTape, entries: Entries, target: Tensor, sources: list[Tensor],
                zeros: bool) -> list[Tensor | None]:
    """One jacobian per source, of shape target.shape + source.shape; None (or zeros) where there is no path."""

    def all_rows(call: GradientCall | None, observer: Observer | None) -> list[Tensor | None]:
        if target.dtype.kind not in "fc":
            return [_of_nothing(target, s, zeros) for s in sources]
        if not target._value.size or (call is None and active() is None):
            return _batched(tape, entries, target, sources, zeros)
        rows = [walk(tape, entries, [target], [seed], sources, False, call, observer)
                for seed in _unit_seeds(target)]
        return [_assembled([row[k] for row in rows], target, s, zeros) for k, s in enumerate(sources)]

    return _observed(tape, "jacobian", [target], sources, all_rows)


ELEMENTS = 1 << 22      # a batch of gradients of the largest source or target has at most so many elements


def _batched(tape: GradientTape, entries: Entries, target: Tensor, sources: list[Tensor],
             zeros: bool) -> list[Tensor | None]:
    """The rows of all jacobians by walks whose gradients carry a leading axis, as many rows at once as are sensible."""
    live = tape.members(entries) if entries.shared else None
    top = find(target, entries)
    wanted = [find(s, entries) for s in sources]
    wanted = [-1 if i > top or (i >= 0 and live is not None and not live[i]) or s.dtype.kind not in "fc" else i
              for s, i in zip(sources, wanted, strict=True)]
    size, shape, dtype = target._value.size, target._shape, target.dtype
    low = min((i for i in wanted if i >= 0), default=-1)
    if top < 0 or low < 0 or (live is not None and not live[top]):
        low, top = 0, -1
    keep = {i for i in wanted if i >= 0}
    at_once = max(1, ELEMENTS // max(size, *(s.size for s in sources), 1)) if sources else size
    parts: list[list[Any]] = [[] for _ in sources]
    for start in range(0, max(size, 1), at_once):       # once for an empty target: is there a path?
        stop = min(size, start + at_once)
        seeds = np.eye(stop - start, size, start, dtype=dtype).reshape(stop - start, *shape)
        G = walk_batched(entries, top, low, seeds, keep, live) if top >= 0 else []
        for part, s, i in zip(parts, sources, wanted, strict=True):
            part.append(G[i] if G and i >= 0 else seeds if s is target else None)
    return [_of_nothing(target, s, zeros) if part[0] is None
            else make(np.concatenate(part).reshape(shape + s._shape))
            for s, part in zip(sources, parts, strict=True)]


def _of_nothing(target: Tensor, source: Tensor, zeros: bool) -> Tensor | None:
    return make(np.zeros(target._shape + source._shape, source.dtype)) if zeros else None


def _unit_seeds(target: Tensor) -> Any:
    """One array of the target's shape per element, one there and zero elsewhere."""
    value = target._value
    if not value.ndim:
        yield type(value)(1)
        return
    for k in range(value.size):
        seed = np.zeros(value.shape, value.dtype)
        seed.flat[k] = 1
        yield seed


def _assembled(rows: list[Tensor | None], target: Tensor, source: Tensor, zeros: bool) -> Tensor | None:
    """The rows of a jacobian as one tensor; a path that some elements do not have is a row of zeros."""
    if all(row is None for row in rows):
        return _of_nothing(target, source, zeros)
    full = [make(np.zeros(source._shape, source.dtype)) if row is None else row for row in rows]
    return reshape(stack(full, axis=0), target._shape + source._shape)      # type: ignore[no-any-return]


def batch_jacobian_of(tape: GradientTape, entries: Entries, target: Tensor, source: Tensor) -> Tensor:
    """The jacobian of each row: shape (batch, *target row, *source row); zeros where there is no path."""
    if target.ndim < 2 or source.ndim < 2:
        raise ShapeError(f"batch_jacobian: target of shape {target._shape} and source of shape {source._shape} both "
                         "need a batch axis and at least one more")
    if target._shape[0] != source._shape[0]:
        raise ShapeError(f"batch_jacobian: Need first dimension of target shape {target._shape} and source shape "
                         f"{source._shape} to match")
    inner, shape = target._shape[1:], source._shape

    def all_rows(call: GradientCall | None, observer: Observer | None) -> list[Tensor | None]:
        rows: list[Tensor | None] = []
        for place in np.ndindex(*inner):
            seed = np.zeros(target._shape, target.dtype)
            seed[(slice(None), *place)] = 1
            rows += walk(tape, entries, [target], [seed], [source], True, call, observer)
        if not rows:
            return [make(np.zeros((shape[0], *inner, *shape[1:]), source.dtype))]
        stacked = stack(rows, axis=0)                                # (target row, batch, *source row)
        order = (1, 0, *range(2, stacked.ndim))
        return [reshape(transpose(stacked, axes=order), (shape[0], *inner, *shape[1:]))]

    result = _observed(tape, "batch_jacobian", [target], [source], all_rows)[0]
    assert result is not None
    return result


def _observed(tape: GradientTape, kind: CallKind, targets: list[Tensor], sources: list[Tensor],
              compute: Any) -> list[Tensor | None]:
    observer = seam.observer
    if observer is None:
        return compute(None, None)      # type: ignore[no-any-return]  # one of the functions above
    with Calling(tape, kind, targets, sources, None, observer) as call:
        call.results = compute(call.call, observer)
    return call.results


