"""Picking elements and putting them back: indexing, gather, scatter; elements picked twice get both gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import InvalidArgumentError
from gradtape.ops.registry import bare, nondifferentiable, op
from gradtape.tensor import Tensor

__gradtape__ = True


def plain_key(key: Any) -> Any:
    """An index without tensors in it."""
    if isinstance(key, tuple):
        return tuple(plain_key(k) for k in key)
    if isinstance(key, Tensor):
        return key._value
    if isinstance(key, list):
        return np.asarray(bare(key)) if key else np.zeros(0, dtype=int)
    if isinstance(key, slice) and any(isinstance(k, Tensor) for k in (key.start, key.stop, key.step)):
        return slice(*(int(k) if isinstance(k, Tensor) else k for k in (key.start, key.stop, key.step)))
    return key


def _basic(key: Any) -> bool:
    """Whether an index picks no element twice: integers, slices, None, Ellipsis."""
    keys = key if isinstance(key, tuple) else (key,)
    return all(k is None or k is Ellipsis or isinstance(k, (int, slice, np.integer)) for k in keys)


def _getitem(x: Any, key: Any) -> Any:
    return x[key]


def _scatter(x: Any, key: Any, shape: Any) -> Any:
    """Zeros of a shape, with x added at an index."""
    y = np.zeros(shape, x.dtype)
    if _basic(key):
        y[key] = x
    else:
        np.add.at(y, key, x)
    return y


def _scatter_add(x: Any, updates: Any, key: Any) -> Any:
    y = np.array(x)
    np.add.at(y, key, updates)
    return y


def _gather(x: Any, indices: Any, axis: int = 0) -> Any:
    if np.asarray(indices).dtype.kind not in "iu":
        raise InvalidArgumentError(f"gather: indices are integers, not {np.asarray(indices).dtype}")
    return np.take(x, indices, axis=axis)


def _ungather(x: Any, indices: Any, shape: Any, axis: int) -> Any:
    """The transpose of gather: what was picked goes back and adds up."""
    axis %= len(shape)
    y = np.zeros(shape, x.dtype)
    np.add.at(y, (slice(None),) * axis + (indices,), x)
    return y


def _take_along_axis(x: Any, indices: Any, axis: int) -> Any:
    return np.take_along_axis(x, indices, axis=axis)


def _along(indices: Any, axis: int) -> tuple[Any, ...]:
    axis %= indices.ndim
    grid = np.ogrid[tuple(slice(n) for n in indices.shape)]
    return tuple(indices if k == axis else g for k, g in enumerate(grid))


def _untake_along_axis(x: Any, indices: Any, shape: Any, axis: int) -> Any:
    y = np.zeros(shape, x.dtype)
    np.add.at(y, _along(np.asarray(indices), axis), x)
    return y


def _one_hot(indices: Any, depth: int, on_value: float = 1.0, off_value: float = 0.0, axis: int = -1,
             dtype: Any = "float64") -> Any:
    hit = np.expand_dims(np.asarray(indices), axis) == np.arange(depth).reshape(
        [-1 if k == axis % (np.ndim(indices) + 1) else 1 for k in range(np.ndim(indices) + 1)])
    return np.where(hit, on_value, off_value).astype(dtype)


INDEX = np.array([2, 0, 2])
PAIRS = np.array([[0, 2], [1, 0]])

# fmt: off
getitem    = op("getitem", _getitem, lambda m, g, y, x, key: m.scatter(g, key=key, shape=x.shape), keeps="",
                formula=r"x_{[k]}", vjps=(r"\bar y \ \mathrm{at}\ k,\ 0\ \mathrm{elsewhere}",),
                examples=((((4, 3),), {"key": 1}), (((4, 3),), {"key": (slice(None, None, -2), 0)}),
                          (((4, 3),), {"key": INDEX}), (((4, 3),), {"key": (INDEX, PAIRS[0, 0])}),
                          (((3,),), {"key": np.array([True, False, True])}), (((2, 3),), {"key": (..., None, 1)}),
                          (((3, 3),), {"key": (PAIRS, slice(1, 3))})))
scatter    = op("scatter", _scatter, lambda m, g, y, x, key, shape: m.getitem(g, key=key), keeps="",
                formula=r"x \ \mathrm{at}\ k,\ 0\ \mathrm{elsewhere}", vjps=(r"\bar y_{[k]}",),
                examples=((((3,),), {"key": INDEX, "shape": (4,)}), (((2,),), {"key": slice(0, 2), "shape": (3,)})))
scatter_add = op("scatter_add", _scatter_add, lambda m, g, y, x, u, key: g,
                 lambda m, g, y, x, u, key: m.getitem(g, key=key), arguments="x updates", keeps="",
                 formula=r"x + u \ \mathrm{at}\ k", vjps=(r"\bar y", r"\bar y_{[k]}"),
                 examples=((((4,), (3,)), {"key": INDEX}), (((4, 2), (3, 2)), {"key": INDEX})))
gather     = op("gather", _gather,
                lambda m, g, y, x, indices, axis: m.ungather(g, indices, shape=x.shape, axis=axis), None,
                arguments="x indices", keeps="indices", formula=r"x_{[k]}",
                vjps=(r"\textstyle\sum \bar y \ \mathrm{at}\ k", ""),
                examples=((((4, 3), INDEX), {"axis": 0}), (((2, 3), INDEX), {"axis": 1}),
                          (((4,), PAIRS), {"axis": 0})))
ungather   = op("ungather", _ungather,
                lambda m, g, y, x, indices, shape, axis: m.gather(g, indices, axis=axis), None,
                arguments="x indices", keeps="indices", formula=r"\textstyle\sum x \ \mathrm{at}\ k",
                vjps=(r"\bar y_{[k]}", ""), examples=((((3, 2), INDEX), {"shape": (4, 2), "axis": 0}),))
take_along_axis = op("take_along_axis", _take_along_axis,
                     lambda m, g, y, x, indices, axis: m.untake_along_axis(g, indices, shape=x.shape, axis=axis),
                     None, arguments="x indices", keeps="indices", formula=r"x_{[k]}",
                     vjps=(r"\textstyle\sum \bar y \ \mathrm{at}\ k", ""),
                     examples=((((2, 3), PAIRS), {"axis": 1}),))
untake_along_axis = op("untake_along_axis", _untake_along_axis,
                       lambda m, g, y, x, indices, shape, axis: m.take_along_axis(g, indices, axis=axis), None,
                       arguments="x indices", keeps="indices", formula=r"\textstyle\sum x \ \mathrm{at}\ k",
                       vjps=(r"\bar y_{[k]}", ""), examples=((((2, 2), PAIRS), {"shape": (2, 3), "axis": 1}),))
one_hot    = nondifferentiable("one_hot", _one_hot, formula=r"[x = k]_k", arguments="indices")
