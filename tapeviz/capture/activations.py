"""Facts about the outputs of activation functions: units that never fire, units driven to their limits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tapeviz.capture.statistics import Array

# Outputs for which "zero or less for every example" means that a unit is dead.
_RECTIFIERS = frozenset({
    "relu", "relu6", "leaky_relu", "elu", "selu", "gelu", "silu", "swish", "softplus", "maximum", "prelu", "crelu",
})
# Output -> which elements sit at a limit, where the slope is next to nothing.
_LIMITS: dict[str, Callable[[Array], Array]] = {
    "tanh": lambda y: np.abs(y) > 0.99,
    "sigmoid": lambda y: (y < 1e-3) | (y > 1 - 1e-3),
    "softmax": lambda y: y.max(axis=-1) > 0.999,
}
_LIMITS["hard_sigmoid"] = lambda y: (y <= 0) | (y >= 1)
_LIMITS["softsign"] = _LIMITS["tanh"]
NAMES = _RECTIFIERS | _LIMITS.keys()


def low_share(op: str, output: Array) -> float:
    """Share of the units (last axis) that are <= 0 for every example; NaN if `op` is no rectifier or has no batch."""
    if op not in _RECTIFIERS or output.ndim < 2 or output.size == 0 or output.dtype.kind not in "fiu":
        return float("nan")
    units = output.reshape(-1, output.shape[-1])
    return float(np.mean((units <= 0).all(axis=0)))


def saturated_share(op: str, output: Array) -> float:
    """Share of a sigmoid's or tanh's elements, or of a softmax's rows, at a limit; NaN for any other op."""
    limit = _LIMITS.get(op)
    if limit is None or output.ndim == 0 or output.size == 0 or output.dtype.kind != "f":
        return float("nan")
    return float(np.mean(limit(output)))
