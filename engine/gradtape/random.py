"""Random tensors from one seeded generator, and initial values for weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.tensor import Tensor, make

__gradtape__ = True


class _State:
    """The generator behind the functions of this module; `set_seed` replaces it."""

    generator = np.random.default_rng()


def set_seed(seed: int | None) -> None:
    """Start the generator again: the same seed gives the same numbers."""
    _State.generator = np.random.default_rng(seed)


def generator() -> np.random.Generator:
    """The NumPy generator that is in use."""
    return _State.generator


def normal(shape: Any = (), mean: float = 0.0, stddev: float = 1.0, dtype: Any = "float64") -> Tensor:
    """Normally distributed numbers."""
    return _made(_State.generator.normal(mean, stddev, shape), dtype)


def uniform(shape: Any = (), low: float = 0.0, high: float = 1.0, dtype: Any = "float64") -> Tensor:
    """Uniformly distributed numbers, `high` excluded; integers for an integer dtype."""
    if np.dtype(dtype).kind in "iu":
        return _made(_State.generator.integers(int(low), int(high), shape), dtype)
    return _made(_State.generator.uniform(low, high, shape), dtype)


def truncated_normal(shape: Any = (), mean: float = 0.0, stddev: float = 1.0, dtype: Any = "float64") -> Tensor:
    """Normally distributed numbers; those further than two standard deviations away are drawn again."""
    x = np.asarray(_State.generator.normal(size=shape))
    far = np.abs(x) > 2
    while far.any():
        x = np.where(far, _State.generator.normal(size=shape), x)
        far = np.abs(x) > 2
    return _made(mean + stddev * x, dtype)


def permutation(n: int) -> Tensor:
    """The numbers 0 to n - 1 in random order."""
    return make(_State.generator.permutation(n))


def glorot_uniform(shape: tuple[int, ...], dtype: Any = "float64") -> Tensor:
    """Weights with equal variance forward and backward (Glorot and Bengio 2010); for tanh and sigmoid."""
    fan_in, fan_out = _fans(shape)
    limit = (6.0 / (fan_in + fan_out)) ** 0.5
    return uniform(shape, -limit, limit, dtype)


def glorot_normal(shape: tuple[int, ...], dtype: Any = "float64") -> Tensor:
    """The same, normally distributed and truncated."""
    fan_in, fan_out = _fans(shape)
    return truncated_normal(shape, 0.0, (2.0 / (fan_in + fan_out)) ** 0.5 / 0.87962566103423978, dtype)


def he_normal(shape: tuple[int, ...], dtype: Any = "float64") -> Tensor:
    """Weights that keep the variance through relu (He et al. 2015), truncated."""
    return truncated_normal(shape, 0.0, (2.0 / _fans(shape)[0]) ** 0.5 / 0.87962566103423978, dtype)


def he_uniform(shape: tuple[int, ...], dtype: Any = "float64") -> Tensor:
    """The same, uniformly distributed."""
    limit = (6.0 / _fans(shape)[0]) ** 0.5
    return uniform(shape, -limit, limit, dtype)


def _fans(shape: tuple[int, ...]) -> tuple[float, float]:
    """Numbers of inputs and outputs of a weight; the axes before the last two are a convolution's window."""
    if len(shape) < 2:
        n = float(shape[0]) if shape else 1.0
        return n, n
    window = float(np.prod(shape[:-2]))
    return window * shape[-2], window * shape[-1]


def _made(values: Any, dtype: Any) -> Tensor:
    return make(np.asarray(values).astype(dtype))
