"""Tensors made from nothing: zeros, ones, ranges, identity matrices, under NumPy's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.tensor import Tensor, make

__gradtape__ = True


_arange: Any = np.arange        # NumPy's overloads want to know which kind of number


def zeros(shape: Any, dtype: Any = "float64") -> Tensor:
    """A tensor of zeros."""
    return make(np.zeros(shape, dtype))


def ones(shape: Any, dtype: Any = "float64") -> Tensor:
    """A tensor of ones."""
    return make(np.ones(shape, dtype))


def full(shape: Any, value: Any, dtype: Any = None) -> Tensor:
    """A tensor of one value."""
    return make(np.full(shape, value, dtype))


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Tensor:
    """Evenly spaced numbers below `stop`; with one argument from 0 up to it."""
    if stop is None:
        start, stop = 0, start
    return make(_arange(start, stop, step, dtype))


def linspace(start: float, stop: float, count: int = 50, dtype: Any = None) -> Tensor:
    """Evenly spaced numbers, both ends included."""
    return make(np.linspace(start, stop, count, dtype=dtype))


def eye(rows: int, columns: int | None = None, dtype: Any = "float64") -> Tensor:
    """An identity matrix."""
    return make(np.eye(rows, columns, dtype=dtype))
