"""The shape of a distribution in a few bars, for places where there is no room for more."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

LEAST = 0.1        # height of a bar that is not empty: one element of a million is still seen


def bars(value: NDArray[np.generic], count: int = 10) -> tuple[float, ...]:
    """Heights, 0 to 1, of `count` bars over the finite elements from the smallest to the largest; () without any."""
    flat: NDArray[np.floating[Any]] = np.asarray(value).astype(np.float64).ravel()
    flat = flat[np.isfinite(flat)]
    if not flat.size:
        return ()
    low, high = float(flat.min()), float(flat.max())
    if not low < high or not np.isfinite(high - low):
        return tuple(1.0 if i == count // 2 else 0.0 for i in range(count))
    # scaled first: edges between two numbers that differ in the last bits only would not be distinct
    shares = np.minimum((flat - low) / (high - low) * count, count - 1).astype(np.intp)
    counts = np.bincount(shares, minlength=count)
    return tuple(float(max(LEAST, n / counts.max())) if n else 0.0 for n in counts)
