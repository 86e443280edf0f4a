"""TensorFlow's functions where their signature or default dtype differs from gradtape's.

Python floats make float32 tensors and Python integers int32 ones, as in TensorFlow; arrays keep their dtype.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.ops.registry import bare
from gradtape.tensor import make

__gradtape__ = True

FLOAT = np.dtype("float32")
INT = np.dtype("int32")
INDEX = np.dtype("int64")


def tensor(value: Any, dtype: Any = None) -> Any:
    """A tensor of a value, with TensorFlow's default dtypes for Python numbers and lists of them."""
    if isinstance(value, gt.Tensor):
        return gt.convert(value, dtype)
    if isinstance(value, (list, tuple)) and any(isinstance(v, gt.Tensor) for v in _leaves(value)):
        return stack([tensor(v, dtype) for v in value])
    array = bare(value)
    if dtype is None and not any(isinstance(v, (np.ndarray, np.generic)) for v in _leaves(value)):
        dtype = FLOAT if array.dtype == np.float64 else INT if array.dtype == np.int64 else None
    return gt.constant(array, dtype)


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [leaf for v in value for leaf in _leaves(v)]
    return [value]


def adapted(function: Callable[..., Any], **renamed: str) -> Callable[..., Any]:
    """A gradtape function as TensorFlow calls it: other keywords (theirs=ours), name= is accepted."""

    @functools.wraps(function, updated=())
    def call(*args: Any, name: str | None = None, **kwargs: Any) -> Any:
        if not kwargs and args and isinstance(args[0], gt.Tensor):
            return function(*args)
        kwargs = {renamed.get(key, key): value for key, value in kwargs.items()}
        if not any(isinstance(a, gt.Tensor) for a in (*args, *kwargs.values())):
            args = tuple(tensor(a) if k == 0 or isinstance(a, (float, np.ndarray)) else a for k, a in enumerate(args))
        elif args and isinstance(args[0], (list, tuple)):
            args = (tensor(args[0]), *args[1:])
        return function(*args, **kwargs)

    return call


def reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    """A gradtape reduction under TensorFlow's signature."""

    @functools.wraps(function, updated=())
    def call(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
        return function(tensor(input_tensor), axis=bare(axis) if isinstance(axis, gt.Tensor) else axis,
                        keepdims=keepdims)

    return call


def reduce_mean(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """Mean; in float16 the count is a float16 too, so that more than 65504 elements give 0, as in TensorFlow."""
    x = tensor(input_tensor)
    if x.dtype == np.float16 and x.size:
        total = gt.sum(gt.cast(x, FLOAT), axis=axis, keepdims=keepdims)
        with np.errstate(over="ignore"):
            count = np.float32(np.float16(x.size / max(total.size, 1)))
        return gt.cast(total / gt.constant(count), np.float16)
    return gt.mean(x, axis=axis, keepdims=keepdims)


def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, name: str | None = None) -> Any:
    """Matrix product; either side may be transposed first."""
    a = gt.swapaxes(tensor(a), -1, -2) if transpose_a else a if isinstance(a, np.ndarray) else tensor(a)
    b = gt.swapaxes(tensor(b), -1, -2) if transpose_b else b if isinstance(b, np.ndarray) else tensor(b)
    if np.ndim(bare(a)) < 2 or np.ndim(bare(b)) < 2:
        raise gt.errors.ShapeError(f"matmul: shapes {np.shape(bare(a))} and {np.shape(bare(b))}; tf.matmul needs "
                                   "matrices on both sides, tf.linalg.matvec takes a vector")
    return gt.matmul(a, b)


def matvec(a: Any, b: Any, name: str | None = None) -> Any:
    """Matrix times vector."""
    return gt.squeeze(gt.matmul(tensor(a), gt.expand_dims(tensor(b), -1)), -1)


def concat(values: Any, axis: Any = 0, name: str | None = None) -> Any:
    """Join along an axis that exists."""
    return gt.concatenate([tensor(v) for v in values], axis=int(axis))


def stack(values: Any, axis: int = 0, name: str | None = None) -> Any:
    """Join along a new axis."""
    return gt.stack([tensor(v) for v in values], axis=axis)


def split(value: Any, num_or_size_splits: Any, axis: int = 0, name: str | None = None) -> list[Any]:
    """Parts of equal size, or of the given sizes, along an axis."""
    if isinstance(num_or_size_splits, int):
        return list(gt.split(tensor(value), num_or_size_splits, axis))
    return list(gt.split(tensor(value), tuple(int(k) for k in np.cumsum(num_or_size_splits)[:-1]), axis))


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """x where the condition holds, y elsewhere; without both the indices of the true elements."""
    if x is None and y is None:
        return gt.constant(np.argwhere(bare(condition)))
    if not isinstance(x, gt.Tensor) and not isinstance(y, gt.Tensor):
        x = tensor(x)
    return gt.where(condition, x, y)


def gather(params: Any, indices: Any, axis: int | None = None, batch_dims: int = 0, name: str | None = None) -> Any:
    """Slices at integer positions along an axis; batch_dims leading axes are gone through together."""
    x, picked = tensor(params), bare(indices)
    if not batch_dims:
        return gt.gather(x, picked, axis=axis or 0)
    axis = batch_dims if axis is None else axis % x.ndim
    grid = np.ogrid[tuple(slice(n) for n in picked.shape[:batch_dims])]
    lead = tuple(g.reshape(g.shape + (1,) * (picked.ndim - batch_dims)) for g in grid)
    if axis != batch_dims:
        raise gt.errors.InvalidArgumentError("gather: axis must be equal to batch_dims here")
    return x[(*lead, picked)]


def one_hot(indices: Any, depth: Any, on_value: float = 1.0, off_value: float = 0.0, axis: int = -1,
            dtype: Any = FLOAT, name: str | None = None) -> Any:
    """Rows of zeros with a one at the index; an index out of range gives zeros."""
    return gt.one_hot(bare(indices), int(depth), on_value, off_value, axis, dtype)


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """The same numbers in another dtype."""
    x = tensor(x)
    return gt.convert(x) if x.dtype == np.dtype(dtype) else gt.cast(x, np.dtype(dtype))


def zeros(shape: Any, dtype: Any = FLOAT, name: str | None = None) -> Any:
    """A tensor of zeros."""
    return make(np.zeros(_shape(shape), dtype))


def ones(shape: Any, dtype: Any = FLOAT, name: str | None = None) -> Any:
    """A tensor of ones."""
    return make(np.ones(_shape(shape), dtype))


def fill(dims: Any, value: Any, name: str | None = None) -> Any:
    """A tensor of one value."""
    return make(np.full(_shape(dims), bare(tensor(value))))


def eye(num_rows: int, num_columns: int | None = None, dtype: Any = FLOAT, name: str | None = None) -> Any:
    """An identity matrix."""
    return make(np.eye(num_rows, num_columns, dtype=dtype))


def range_(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str | None = None) -> Any:
    """Evenly spaced numbers below a limit."""
    if limit is None:
        start, limit = 0, start
    array = np.arange(bare(start), bare(limit), bare(delta))
    return tensor(array.tolist() if dtype is None else array, dtype) if array.size else make(array.astype(dtype or INT))


def linspace(start: Any, stop: Any, num: int, name: str | None = None) -> Any:
    """Evenly spaced numbers, both ends included."""
    first = tensor(start)
    return make(np.linspace(bare(first), bare(stop), num).astype(first.dtype))


def shape(input: Any, out_type: Any = INT, name: str | None = None) -> Any:
    """The shape as an integer tensor."""
    return make(np.asarray(np.shape(bare(input)), out_type))


def reshape(tensor_: Any, shape: Any, name: str | None = None) -> Any:
    """The same elements in another shape; -1 is worked out."""
    return gt.reshape(tensor(tensor_), _shape(shape))


def _shape(given: Any) -> Any:
    given = bare(given) if isinstance(given, gt.Tensor) else given
    if isinstance(given, (int, np.integer)):
        return int(given)
    return tuple(int(n) for n in given)


def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str | None = None) -> Any:
    """Axes in another order, reversed by default."""
    return gt.transpose(tensor(a), axes=None if perm is None else _shape(perm))


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """Elements limited to an interval; the gradient passes at its bounds."""
    return gt.clip(tensor(t), float(clip_value_min), float(clip_value_max))


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """A tensor scaled so that its norm is at most clip_norm; zeros stay zeros, with gradient one."""
    x = tensor(t)
    squares = gt.sum(x * x, axis=axes, keepdims=True)
    positive = bare(squares) > 0
    norm = gt.where(positive, gt.sqrt(gt.where(positive, squares, 1.0)), squares)
    return x * clip_norm / gt.maximum(norm, float(clip_norm))


def norm(tensor_: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool = False,
         name: str | None = None) -> Any:
    """Euclidean norm, or the sum of absolute values (1), or the largest (inf)."""
    x = tensor(tensor_)
    if ord in ("euclidean", 2, "fro"):
        return gt.norm(x, axis, keepdims)
    if ord in (1, np.inf):
        return (gt.sum if ord == 1 else gt.max)(gt.abs(x), axis=axis, keepdims=keepdims)
    raise gt.errors.InvalidArgumentError(f"norm: ord={ord!r} is not supported; 'euclidean', 1 and inf are")


def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None) -> Any:
    """x divided by its norm; the norm is at least sqrt(epsilon)."""
    x = tensor(x)
    return x * gt.rsqrt(gt.maximum(gt.sum(gt.square(x), axis=axis, keepdims=True), epsilon))


def moments(x: Any, axes: Any, keepdims: bool = False, name: str | None = None) -> tuple[Any, Any]:
    """Mean and variance over axes."""
    x = tensor(x)
    axes = tuple(axes) if isinstance(axes, (list, tuple)) else axes
    return gt.mean(x, axes, keepdims), gt.var(x, axes, keepdims)


def add_n(inputs: Any, name: str | None = None) -> Any:
    """Sum of a list of tensors."""
    first, *rest = [tensor(x) for x in inputs]
    return functools.reduce(gt.add, rest, first)


def argmax(input: Any, axis: int = 0, output_type: Any = INDEX, name: str | None = None) -> Any:
    """Index of the largest element along an axis (the first by default)."""
    return gt.cast(gt.argmax(tensor(input), axis), output_type)


def argmin(input: Any, axis: int = 0, output_type: Any = INDEX, name: str | None = None) -> Any:
    """Index of the smallest element along an axis (the first by default)."""
    return gt.cast(gt.argmin(tensor(input), axis), output_type)


def leaky_relu(features: Any, alpha: float = 0.2, name: str | None = None) -> Any:
    """x above zero, alpha x below."""
    return gt.leaky_relu(tensor(features), alpha)


def softmax_cross_entropy_with_logits(labels: Any, logits: Any, axis: int = -1, name: str | None = None) -> Any:
    """Cross-entropy of rows of probabilities."""
    logits = tensor(logits)
    return gt.nn.softmax_cross_entropy(_like(labels, logits), logits)


def sparse_softmax_cross_entropy_with_logits(labels: Any, logits: Any, name: str | None = None) -> Any:
    """Cross-entropy of class numbers."""
    return gt.nn.sparse_softmax_cross_entropy(bare(labels), tensor(logits))


def sigmoid_cross_entropy_with_logits(labels: Any, logits: Any, name: str | None = None) -> Any:
    """Cross-entropy of independent yes-or-no labels."""
    logits = tensor(logits)
    return gt.nn.sigmoid_cross_entropy(_like(labels, logits), logits)


def _like(labels: Any, logits: Any) -> Any:
    return labels if isinstance(labels, gt.Tensor) else np.asarray(bare(labels), dtype=logits.dtype)


def function(func: Any = None, **_: Any) -> Any:
    """tf.function: returns the function itself; everything runs eagerly."""
    return (lambda f: f) if func is None else func
