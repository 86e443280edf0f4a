"""What a view needs to know of the elements of one array: statistics, decades, extremes, and which cells to show."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FULL = 6        # an axis up to this length is shown in full, a longer one by its ends
ENDS = 2        # ... so many at each end


def visible_indices(n: int, chosen: int | None = None, limit: int = FULL) -> list[int | None]:
    """Which indices of an axis of length `n` to show; None stands for what was left out.

    A longer axis shows its two ends and, if that is somewhere else, the chosen index in place of one of each.
    """
    if n <= limit:
        return list(range(n))
    ends = max(1, min(ENDS, (limit - 1) // 2))
    shown = {*range(ends), *range(n - ends, n)}
    if chosen is not None and 0 <= chosen < n and chosen not in shown:
        shown = {0, chosen, n - 1} if ends == 1 else {0, chosen - 1, chosen, n - 1}
    result: list[int | None] = []
    for index in sorted(shown):
        if result and result[-1] != index - 1:
            result.append(None)
        result.append(index)
    return result


@dataclass(frozen=True, slots=True)
class Summary:
    """Statistics of an array; norm, rms, low, high and mean are over the finite elements (NaN if there are none)."""

    n: int
    norm: float
    rms: float
    low: float
    high: float
    mean: float
    zeros: int
    nan: int
    posinf: int
    neginf: int
    subnormal: int


def summarize(value: NDArray[np.generic]) -> Summary:
    """Statistics that neither overflow nor underflow: everything is scaled by the largest magnitude first."""
    flat = np.asarray(value).ravel()
    tiny = np.finfo(flat.dtype).tiny if np.issubdtype(flat.dtype, np.floating) else 0.0
    wide = flat.astype(np.float64)
    usable = np.isfinite(wide)
    finite = wide if usable.all() else wide[usable]
    magnitude = np.abs(finite)
    top = float(magnitude.max()) if finite.size else math.nan
    if finite.size and top > 0:
        # the smallest doubles cannot be divided by themselves after scaling; two powers of two are exact
        scaled = np.ldexp(finite, -math.frexp(top)[1])
        norm = float(np.ldexp(np.sqrt(np.dot(scaled, scaled)), math.frexp(top)[1]))
        mean = float(np.ldexp(scaled.mean(), math.frexp(top)[1]))
    else:
        norm = mean = 0.0 if finite.size else math.nan
    zeros = int(np.count_nonzero(finite == 0))
    return Summary(
        n=flat.size, norm=norm, rms=norm / math.sqrt(finite.size) if finite.size else math.nan,
        low=float(finite.min()) if finite.size else math.nan, high=float(finite.max()) if finite.size else math.nan,
        mean=mean, zeros=zeros, nan=int(np.count_nonzero(np.isnan(wide))),
        posinf=int(np.count_nonzero(wide == np.inf)), neginf=int(np.count_nonzero(wide == -np.inf)),
        subnormal=int(np.count_nonzero((magnitude > 0) & (magnitude < tiny))),
    )


@dataclass(frozen=True, slots=True)
class Decades:
    """How many elements have a magnitude in each power of ten: counts[i] of those from 10**(first + i) on."""

    first: int
    counts: tuple[int, ...]


def decades(value: NDArray[np.generic], most: int = 40) -> Decades:
    """The histogram of log10 |x| over the finite elements that are not zero; at most the `most` highest decades."""
    magnitude = np.abs(np.asarray(value).astype(np.float64).ravel())
    magnitude = magnitude[np.isfinite(magnitude) & (magnitude > 0)]
    if not magnitude.size:
        return Decades(0, ())
    exponents = np.floor(np.log10(magnitude)).astype(np.int64)
    last = int(exponents.max())
    first = max(int(exponents.min()), last - most + 1)
    counts = np.bincount(np.maximum(exponents, first) - first, minlength=last - first + 1)
    return Decades(first, tuple(int(c) for c in counts))


def first_nonfinite(value: NDArray[np.generic]) -> tuple[int, ...] | None:
    """Index of the first NaN, else of the first Inf, in C order."""
    wide = np.asarray(value)
    for found in (np.isnan(wide), np.isinf(wide)):
        if found.any():
            return tuple(int(i) for i in np.unravel_index(int(np.argmax(found)), wide.shape))
    return None


def extreme(value: NDArray[np.generic], largest: bool) -> tuple[int, ...] | None:
    """Index of the largest or smallest element that is not NaN."""
    array = np.asarray(value)
    if not array.size or (np.issubdtype(array.dtype, np.floating) and np.isnan(array).all()):
        return None
    pick = np.nanargmax if largest else np.nanargmin
    return tuple(int(i) for i in np.unravel_index(int(pick(array)), array.shape))


def shrunk(matrix: NDArray[np.float64], rows: int, columns: int) -> NDArray[np.float64]:
    """At most `rows` x `columns` cells, each the element of largest magnitude of its block; NaN and Inf win.

    So that a single bad element of a large matrix cannot disappear between the pixels.
    """
    result = matrix
    for axis, most in ((0, rows), (1, columns)):
        n = result.shape[axis]
        if n > most:
            starts = np.unique(np.arange(most) * n // most)
            high, low = np.fmax.reduceat(result, starts, axis=axis), np.fmin.reduceat(result, starts, axis=axis)
            bad = np.logical_or.reduceat(np.isnan(result), starts, axis=axis)
            result = np.where(np.abs(low) > np.abs(high), low, high)
            result[bad] = np.nan
    return result


def plane(value: NDArray[np.generic], lead: tuple[int, ...] = ()) -> NDArray[np.generic]:
    """The matrix of the last two axes at the leading indices; a vector is one row, a scalar one cell."""
    array = np.asarray(value)
    if array.ndim > 2:
        array = array[tuple(lead) + (0,) * (array.ndim - 2 - len(lead))]
    return array.reshape(1, -1) if array.ndim < 2 else array
