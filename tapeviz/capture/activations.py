"""Facts about the outputs of activation functions: units that never fire, units driven to their limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tapeviz.capture.statistics import Array

# Outputs for which "zero or less for every example" means that a unit is dead.
_RECTIFIERS = frozenset({"relu", "relu6", "leaky_relu", "elu", "selu", "gelu", "silu", "softplus", "maximum"})
# Elementwise functions: which elements of the output sit at a limit, where the slope is next to nothing.
_LIMITS: dict[str, Callable[[Array], Array]] = {
    "tanh": lambda y: np.abs(y) > 0.99,
    "softsign": lambda y: np.abs(y) > 0.99,
    "sigmoid": lambda y: (y < 1e-3) | (y > 1 - 1e-3),
}
_SOFTMAX, _SOFTMAX_LIMIT = "softmax", 0.999
NAMES = _RECTIFIERS | _LIMITS.keys() | {_SOFTMAX}


def low_shares(op: str, outputs: Sequence[Array]) -> list[float]:
    """Share of the units (last axis) that are <= 0 for every example; NaN if `op` is no rectifier or has no batch."""
    return [_low_share(y) if op in _RECTIFIERS else float("nan") for y in outputs]


def _low_share(output: Array) -> float:
    if output.ndim < 2 or output.size == 0 or output.dtype.kind not in "fiu":
        return float("nan")
    units = output.reshape(-1, output.shape[-1])
    return float(np.mean((units <= 0).all(axis=0)))


def saturated_shares(op: str, outputs: Sequence[Array]) -> list[float]:
    """Share of a sigmoid's or tanh's elements, or of a softmax's rows, at a limit; NaN for any other op."""
    limit = _LIMITS.get(op)
    fit = [k for k, y in enumerate(outputs) if y.ndim and y.size and y.dtype.kind == "f"]
    shares = [float("nan")] * len(outputs)
    if limit is not None and fit:
        sizes = np.array([outputs[k].size for k in fit])
        at_limit = limit(np.concatenate([outputs[k] for k in fit], axis=None))
        counts = np.add.reduceat(at_limit, np.cumsum(sizes) - sizes, dtype=np.int64)
        for k, share in zip(fit, counts / sizes, strict=True):
            shares[k] = float(share)
    elif op == _SOFTMAX:
        for k in fit:
            shares[k] = float(np.mean(outputs[k].max(axis=-1) > _SOFTMAX_LIMIT))
    return shares
