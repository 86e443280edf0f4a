"""Thinning out for the screen, without ever hiding an extreme or a special value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tapeviz.analysis.magnitude import Special, severity


def _rank(special: Special) -> int:
    """Which state stands for a bucket that holds several: NaN, Inf, lost numbers, numbers (0), nothing known."""
    weak = special in (Special.NONE, Special.NOT_CAPTURED)
    return 2 * severity(special) + (0 if weak else 1000) - (special is Special.NEGINF)


_RANK = np.zeros(1 + len(Special), dtype=np.int32)      # by code
for _special in Special:
    _RANK[_special.value] = _rank(_special)
_BY_RANK = {int(rank): code for code, rank in enumerate(_RANK)}


@dataclass(frozen=True, slots=True)
class Envelope:
    """A series thinned out to buckets, extremes kept.

    x: first position of each bucket; low, high: smallest and largest ordinary number in it, NaN when there is none
    state: worst special code in the bucket (None and not captured only if there is no number); OK when there is none
    """

    x: np.ndarray
    low: np.ndarray
    high: np.ndarray
    state: np.ndarray


def bucket_starts(n: int, buckets: int) -> np.ndarray:
    """Where each of at most `buckets` nearly equal buckets over n points begins."""
    count = max(1, min(n, buckets))
    return np.arange(count, dtype=np.int64) * n // count


def thin(x: np.ndarray, y: np.ndarray, state: np.ndarray, buckets: int) -> Envelope:
    """At most `buckets` buckets; every minimum, maximum and special value of the series is in one of them."""
    n = len(y)
    if not n:
        return Envelope(x[:0], np.zeros(0), np.zeros(0), np.zeros(0, np.uint8))
    starts = bucket_starts(n, buckets)
    ordinary = np.where(np.isfinite(y), y, np.nan)
    ranks = np.maximum.reduceat(_RANK[state], starts)
    codes = np.array([_BY_RANK[int(rank)] for rank in ranks], dtype=np.uint8)
    return Envelope(x[starts], np.fmin.reduceat(ordinary, starts), np.fmax.reduceat(ordinary, starts), codes)
