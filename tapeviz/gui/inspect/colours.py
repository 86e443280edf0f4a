"""From numbers to pixels of a heat map: a perceptual map, linear or in decades, with bad values set apart."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tapeviz.gui.theme import Theme

STEPS = 252
NAN, POSINF, NEGINF, ZERO = 252, 253, 254, 255     # indices of what has no place on the map


@lru_cache(maxsize=8)
def colour_table(theme: Theme) -> tuple[int, ...]:
    """256 colours as 0xAARRGGBB: the map, then NaN, +Inf, -Inf and zero (which decades cannot show)."""
    anchors = np.array([[int(c[i:i + 2], 16) for i in (1, 3, 5)] for c in theme.absolute_bins], float)
    where = np.linspace(0, len(anchors) - 1, STEPS)
    channels = [np.interp(where, np.arange(len(anchors)), anchors[:, k]).round().astype(int) for k in range(3)]
    table = [0xFF000000 | (int(r) << 16) | (int(g) << 8) | int(b) for r, g, b in zip(*channels, strict=True)]
    surface = 0xFF000000 | int(theme.surface[1:], 16)
    return (*table, 0xFF000000, 0xFF000000, 0xFF000000, surface)


def transformed(values: NDArray[np.float64], log: bool) -> NDArray[np.float64]:
    """The numbers that the range of the map is in: themselves, or log10 of their magnitude (zero: -Inf)."""
    if not log:
        return values
    with np.errstate(divide="ignore"):
        return np.log10(np.abs(values))


def span(values: NDArray[np.float64], log: bool) -> tuple[float, float]:
    """Lowest and highest finite number after `transformed`; (0, 1) when there is none."""
    numbers = transformed(values, log)
    numbers = numbers[np.isfinite(numbers)]
    if not numbers.size:
        return 0.0, 1.0
    low, high = float(numbers.min()), float(numbers.max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def indices(values: NDArray[np.float64], low: float, high: float, log: bool) -> NDArray[np.uint8]:
    """Index into the colour table for every number; what lies outside low ... high takes the end colour."""
    numbers = transformed(values, log)
    with np.errstate(invalid="ignore", over="ignore"):
        share = (numbers - low) / (high - low) * (STEPS - 1)
    inside = np.clip(np.nan_to_num(share, nan=0.0, posinf=STEPS - 1, neginf=0.0), 0, STEPS - 1)
    result = np.rint(inside).astype(np.uint8)
    if log:
        result[values == 0] = ZERO
    result[np.isnan(values)] = NAN
    result[values == np.inf] = POSINF
    result[values == -np.inf] = NEGINF
    return result


def histogram(values: NDArray[np.float64], low: float, high: float, log: bool, bins: int = 48) -> NDArray[np.int64]:
    """How many finite numbers fall into each of `bins` equal parts of low ... high."""
    numbers = transformed(values, log)
    numbers = numbers[np.isfinite(numbers)]
    return np.histogram(numbers, bins=bins, range=(low, high))[0].astype(np.int64)
