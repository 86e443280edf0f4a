"""Operators and methods of Tensor, and functions that are made of rows: dot, einsum with all its notations, norms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradtape.errors import InvalidArgumentError, ShapeError
from gradtape.ops import activations, elementwise, fast, fast_unary, indexing, linalg, reductions, shapes
from gradtape.ops.registry import bare
from gradtape.tensor import Tensor, install

__gradtape__ = True


def take(x: Any, indices: Any, axis: Any = None) -> Tensor:
    """Elements at integer positions along an axis; of the flattened tensor where no axis is given."""
    if axis is None:
        x, axis = shapes.reshape(x, (-1,)), 0
    return indexing.gather(x, indices, axis)        # type: ignore[no-any-return]  # an op returns Any


def repeat(x: Any, repeats: Any, axis: Any = None) -> Tensor:
    """Each element several times in a row; `repeats` is a number, or one number per element."""
    if axis is None:
        x, axis = shapes.reshape(x, (-1,)), 0
    if isinstance(repeats, (int, np.integer)):
        return shapes.repeat(x, int(repeats), axis)     # type: ignore[no-any-return]
    picked = np.repeat(np.arange(np.shape(bare(x))[axis]), bare(repeats))
    return indexing.gather(x, picked, axis)             # type: ignore[no-any-return]


def dot(a: Any, b: Any) -> Tensor:
    """NumPy's dot: products of scalars, vectors and matrices; the last axis of a with the last but one of b."""
    a_ndim, b_ndim = np.ndim(bare(a)), np.ndim(bare(b))
    if not a_ndim or not b_ndim:
        return fast.multiply(a, b)
    if a_ndim <= 2 and b_ndim <= 2:
        return fast.matmul(a, b)
    return tensordot(a, b, ((a_ndim - 1,), (max(b_ndim - 2, 0),)))


def tensordot(a: Any, b: Any, axes: Any = 2) -> Tensor:
    """Sum of products over axes: a number of axes (last of a, first of b) or a pair of lists of axes."""
    if isinstance(axes, (int, np.integer)):
        n = np.ndim(bare(a))
        axes = (tuple(range(n - int(axes), n)), tuple(range(int(axes))))
    pairs = tuple((k,) if isinstance(k, (int, np.integer)) else tuple(k) for k in axes)
    if len(pairs) != 2 or len(pairs[0]) != len(pairs[1]):
        raise ShapeError(f"tensordot: axes {axes!r} should name as many axes of a as of b")
    return linalg.tensordot(a, b, axes=pairs)       # type: ignore[no-any-return]


def inner(a: Any, b: Any) -> Tensor:
    """Sum of products over the last axes."""
    return tensordot(a, b, ((-1,), (-1,))) if np.ndim(bare(a)) and np.ndim(bare(b)) else fast.multiply(a, b)


def einsum(equation: str, *operands: Any) -> Tensor:
    """Einstein's sum; ellipses and repeated letters are allowed, the result may be left to NumPy's rule."""
    left, arrow, out = equation.replace(" ", "").partition("->")
    letters = left.split(",")
    if len(letters) != len(operands):
        raise InvalidArgumentError(f"einsum: {equation!r} names {len(letters)} operands, {len(operands)} were given")
    if "..." in left:
        letters, out = _spelled_out(letters, out, arrow, operands)
    elif not arrow:
        joined = "".join(letters)
        out = "".join(sorted(l for l in set(joined) if joined.count(l) == 1))
    plain = []
    for position, operand in enumerate(operands):
        while len(set(letters[position])) < len(letters[position]):
            operand, letters[position] = _diagonal_of(operand, letters[position])
        plain.append(operand)
    return linalg.einsum_(plain, equation=f"{','.join(letters)}->{out}")        # type: ignore[no-any-return]


def _spelled_out(letters: list[str], out: str, arrow: str, operands: tuple[Any, ...]) -> tuple[list[str], str]:
    """Letters instead of the ellipses; unused capitals stand for their axes, the last axes share names."""
    used = set("".join(letters) + out)
    free = [c for c in "ZYXWVUTSRQPONMLKJIHGFEDCBA" if c not in used]
    longest = 0
    spelled = []
    for l, x in zip(letters, operands, strict=True):
        n = np.ndim(bare(x)) - len(l.replace("...", "")) if "..." in l else 0
        longest = max(longest, n)
        spelled.append(l.replace("...", "".join(reversed(free[:n]))))
    axes = "".join(reversed(free[:longest]))
    if not arrow:
        joined = "".join(letters).replace("...", "")
        out = "..." + "".join(sorted(l for l in set(joined) if joined.count(l) == 1))
    return spelled, out.replace("...", axes)


def _diagonal_of(operand: Any, letters: str) -> tuple[Any, str]:
    """An operand with one repeated letter taken out of its two axes, and put last."""
    double = next(l for l in letters if letters.count(l) > 1)
    first, second = (k for k, l in enumerate(letters) if l == double)
    rest = [k for k in range(len(letters)) if k not in (first, second)]
    moved = shapes.transpose(operand, axes=(*rest, first, second))
    return linalg.diagonal(moved), "".join(letters[k] for k in rest) + double


def diag(x: Any) -> Tensor:
    """A vector as a diagonal matrix; the diagonal of a matrix."""
    n = np.shape(bare(x))
    return linalg.diagonal_matrix(x, (n[0], n[0])) if len(n) == 1 else linalg.diagonal(x)  # type: ignore[no-any-return]


def slogdet(x: Any) -> tuple[Any, Tensor]:
    """Sign and logarithm of the absolute value of a determinant; the sign is a constant."""
    return np.linalg.slogdet(bare(x))[0], linalg.logabsdet(x)


def _getitem(x: Tensor, key: Any) -> Tensor:
    return indexing.getitem(x, key=indexing.plain_key(key))     # type: ignore[no-any-return]


def _iterate(x: Tensor) -> Iterator[Tensor]:
    if not x.shape:
        raise TypeError("a scalar tensor cannot be iterated over")
    return (x[k] for k in range(x.shape[0]))


def _reshape(x: Tensor, *shape: Any) -> Tensor:
    return shapes.reshape(x, shape[0] if len(shape) == 1 else shape)        # type: ignore[no-any-return]


def _transpose(x: Tensor, *axes: Any) -> Tensor:
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
        axes = tuple(axes[0] or ())
    return shapes.transpose(x, axes=axes or None)        # type: ignore[no-any-return]


def _method(function: Any) -> Any:
    """A plain function, which Python binds as a method; rows are objects, which it does not."""
    def method(x: Tensor, *args: Any, **attrs: Any) -> Any:
        return function(x, *args, **attrs)

    return method


def _swapped(function: Any) -> Any:
    def method(x: Tensor, other: Any) -> Any:
        return function(other, x)

    return method


def _comparison(row: Any, otherwise: Any) -> Any:
    def method(x: Tensor, other: Any) -> Any:
        return otherwise if other is None or isinstance(other, str) else row(x, other)

    return method


install({
    "__add__": fast.add, "__sub__": fast.subtract, "__mul__": fast.multiply, "__truediv__": fast.divide,
    "__matmul__": fast.matmul, "__pow__": fast.power,
    "__radd__": fast.add_to, "__rsub__": _swapped(fast.subtract), "__rmul__": fast.multiply_by,
    "__rtruediv__": _swapped(fast.divide), "__rmatmul__": _swapped(fast.matmul), "__rpow__": _swapped(fast.power),
    "__floordiv__": _method(activations.floor_divide), "__rfloordiv__": _swapped(activations.floor_divide),
    "__mod__": _method(elementwise.floormod), "__rmod__": _swapped(elementwise.floormod),
    "__neg__": _method(elementwise.negative), "__pos__": _method(elementwise.identity),
    "__abs__": _method(activations.abs_), "__invert__": _method(activations.logical_not),
    "__and__": _method(activations.logical_and), "__or__": _method(activations.logical_or),
    "__xor__": _method(activations.logical_xor),
    "__lt__": _method(activations.less), "__le__": _method(activations.less_equal),
    "__gt__": _method(activations.greater), "__ge__": _method(activations.greater_equal),
    "__eq__": _comparison(activations.equal, False), "__ne__": _comparison(activations.not_equal, True),
    "__getitem__": _getitem, "__iter__": _iterate,
    "sum": _method(fast_unary.sum_), "mean": _method(fast_unary.mean), "max": _method(reductions.max_),
    "min": _method(reductions.min_), "prod": _method(reductions.prod), "var": _method(reductions.var),
    "std": _method(reductions.std), "argmax": _method(reductions.argmax), "argmin": _method(reductions.argmin),
    "cumsum": _method(reductions.cumsum), "reshape": _reshape, "transpose": _transpose,
    "T": property(_method(shapes.transpose)), "astype": _method(shapes.cast), "dot": dot,
    "ravel": lambda x: shapes.reshape(x, (-1,)), "flatten": lambda x: shapes.reshape(x, (-1,)),
    "squeeze": _method(shapes.squeeze), "clip": _method(activations.clip), "trace": _method(linalg.trace),
    "diagonal": _method(linalg.diagonal), "round": _method(activations.round_),
})
