"""Many curves over the same iterations, with a pyramid of minima and maxima so that thinning out hides no spike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tapeviz.analysis.magnitude import OK, Special
from tapeviz.analysis.series import Series

_FACTOR = 8
Matrix = np.ndarray


@dataclass(frozen=True)
class Lines:
    """Curves as rows.

    x: iterations, increasing; y: curves x iterations, NaN where there is no ordinary number
    shown: what the axis shows of y: log10 of it or y itself; state: OK or the code of a Special
    """

    names: tuple[str, ...]
    variables: tuple[int | None, ...]
    x: Matrix
    y: Matrix
    shown: Matrix
    state: Matrix
    log: bool
    _levels: list[tuple[Matrix, Matrix]] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        low = high = self.shown
        while low.shape[1] > 4 * _FACTOR:
            low, high = _thinner(low, np.fmin), _thinner(high, np.fmax)
            self._levels.append((low, high))

    def range(self, first: int, last: int) -> tuple[float, float] | None:
        """Smallest and largest shown number in columns `first` .. `last` - 1; None when there is none."""
        # at the ends a few columns too many do no harm, so the coarsest level with enough detail will do
        low, high, bucket = self._level(last - first, 64)
        a, b = first // bucket, -(-last // bucket)
        lows, highs = low[:, a:b], high[:, a:b]
        if not np.isfinite(lows).any():
            return None
        return float(np.nanmin(lows)), float(np.nanmax(highs))

    def envelope(self, first: int, last: int, width: int) -> tuple[Matrix, Matrix, Matrix]:
        """At most `width` buckets of the columns `first` .. `last` - 1: first x, smallest and largest number of each.

        With no more columns than `width` each is a bucket of its own, and smallest and largest are equal.
        """
        low, high, bucket = self._level(last - first, width)
        a, b = first // bucket, min(-(-last // bucket), low.shape[1])
        lows, highs = low[:, a:b], high[:, a:b]
        x = self.x[a * bucket : b * bucket : bucket][: b - a]
        if lows.shape[1] > width:
            starts = np.linspace(0, lows.shape[1], width, endpoint=False).astype(np.int64)
            lows = np.fmin.reduceat(lows, starts, axis=1)
            highs = np.fmax.reduceat(highs, starts, axis=1)
            x = x[starts]
        return x, lows, highs

    def _level(self, columns: int, width: int) -> tuple[Matrix, Matrix, int]:
        low = high = self.shown
        bucket = 1
        for thin_low, thin_high in self._levels:
            if columns / (bucket * _FACTOR) < width:
                break
            low, high, bucket = thin_low, thin_high, bucket * _FACTOR
        return low, high, bucket

    def specials(self) -> dict[Special, Matrix]:
        """For each special value that occurs, in which columns it does."""
        found = {}
        for special in Special:
            columns = (self.state == special.value).any(axis=0)
            if columns.any():
                found[special] = columns
        return found

    def column_of(self, iteration: int) -> int | None:
        """The column of an iteration."""
        at = int(np.searchsorted(self.x, iteration))
        return at if at < len(self.x) and self.x[at] == iteration else None


def _thinner(values: Matrix, worst: np.ufunc) -> Matrix:
    starts = np.arange(0, values.shape[1], _FACTOR)
    return np.asarray(worst.reduceat(values, starts, axis=1))


def lines_of(series: Sequence[Series], log: bool) -> Lines:
    """Put series side by side; iterations that one of them lacks are marked as not captured there."""
    names, variables = tuple(s.name for s in series), tuple(s.variable for s in series)
    if series and all(s.x is series[0].x or np.array_equal(s.x, series[0].x) for s in series):
        x = np.asarray(series[0].x)     # the usual case; sorting millions of equal numbers takes seconds
        y, state = np.stack([s.y for s in series]), np.stack([s.state for s in series])
        shown = np.stack([s.log10 if log else s.y for s in series])
        shown[state != OK] = np.nan
        return Lines(names, variables, x, y, shown, state, log)
    x = np.unique(np.concatenate([s.x for s in series])) if series else np.empty(0, np.int64)
    y = np.full((len(series), len(x)), np.nan)
    shown = np.full_like(y, np.nan)
    state = np.full(y.shape, Special.NOT_CAPTURED.value, np.uint8)
    for row, one in enumerate(series):
        at = np.searchsorted(x, one.x)
        y[row, at], state[row, at] = one.y, one.state
        shown[row, at] = one.log10 if log else one.y
    shown[state != OK] = np.nan
    return Lines(names, variables, x, y, shown, state, log)
