"""Checks for gradients: against central differences, to any order, with a look-out for kinks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.errors import NondifferentiableError
from gradtape.ops.fast_unary import sum_
from gradtape.tape import GradientTape
from gradtape.tensor import Tensor, make

__gradtape__ = True


def check_gradients(fn: Callable[..., Any], *arrays: Any, order: int = 2, step: float = 1e-4, rtol: float = 1e-5,
                    atol: float = 1e-7, seed: int = 0) -> None:
    """Compare the gradients of a function with central differences, along random directions, in float64.

    fn: takes as many tensors as there are arrays, returns a tensor
    order: 1 checks the gradient, 2 also the gradient of the gradient, and so on
    Raises NondifferentiableError where they disagree, or where the point lies on a kink.
    """
    points = [np.array(a, dtype=np.float64) for a in arrays]
    rng = np.random.default_rng(seed)
    _check(fn, points, order, 1, step, rtol, atol, rng)


def _check(fn: Callable[..., Any], points: list[Any], order: int, level: int, step: float, rtol: float, atol: float,
           rng: np.random.Generator) -> None:
    result = fn(*(make(p) for p in points))
    weight = np.asarray(rng.uniform(0.5, 1.5, result.shape) * rng.choice([-1.0, 1.0], result.shape))
    ways = [np.asarray(rng.uniform(-1.0, 1.0, p.shape)) for p in points]

    def scalar(*xs: Tensor) -> Tensor:
        return sum_(fn(*xs) * weight)

    def gradient(*xs: Tensor) -> list[Tensor | None]:
        with GradientTape() as tape:
            tape.watch(list(xs))
            y = scalar(*xs)
        return tape.gradient(y, list(xs))       # type: ignore[no-any-return]  # a list for a list

    def moved(h: float) -> float:
        return float(scalar(*(make(np.asarray(p + h * w)) for p, w in zip(points, ways, strict=True))))

    middle, right, left = moved(0.0), moved(step), moved(-step)
    numeric = (right - left) / (2 * step)
    half = (moved(step / 2) - moved(-step / 2)) / step
    gradients = gradient(*(make(p) for p in points))
    exact = 0.0
    for k, (g, w) in enumerate(zip(gradients, ways, strict=True)):
        if g is None:
            continue
        if g.shape != w.shape:
            raise NondifferentiableError(f"order {level}: gradient {k} has shape {g.shape}, its argument {w.shape}")
        exact += float(np.sum(g.numpy() * w))
    scale = max(abs(exact), abs(numeric), 1.0)
    jump = abs((right - middle) - (middle - left)) / step
    if jump > 50 * step * scale and abs((right - middle) / step - (middle - left) / step) > 0.05 * scale:
        raise NondifferentiableError(f"order {level}: the slopes on both sides of the point differ by {jump:.3g}: "
                                     "it lies on a kink, where no derivative exists; choose another point")
    best = (4 * half - numeric) / 3      # Richardson: the error of second order in the step cancels
    if not abs(exact - best) <= rtol * scale + atol:
        raise NondifferentiableError(f"order {level}: the tape's derivative along a random direction is {exact:.9g}, "
                                     f"central differences give {best:.9g}")
    if order > 1:
        present = [k for k, g in enumerate(gradients) if g is not None]
        if present:
            _check(lambda *xs: _joined([gradient(*xs)[k] for k in present]), points, order - 1, level + 1, step,
                   rtol, atol, rng)


def _joined(gradients: list[Any]) -> Tensor:
    """All gradients as one number, each element with a weight of its own."""
    total: Any = None
    for k, g in enumerate(gradients):
        weights = np.cos(np.arange(1.0, g.size + 1.0) + k).reshape(g.shape)
        part = sum_(g * weights)
        total = part if total is None else total + part
    return total       # type: ignore[no-any-return]  # a tensor: there is at least one gradient
