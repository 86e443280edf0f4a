"""Cell codes of the health map and their reduction to pixel columns in which nothing bad disappears."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int8]

# Codes 0..8 are the bins of the magnitude scale.  The special values come after them in order of severity, so that a
# maximum over several iterations keeps the worst; a value that was not captured gives way to any that was.
NOT_CAPTURED, NONE, UNDERFLOW, ZERO, NEGINF, POSINF, NAN = -1, 9, 10, 11, 12, 13, 14
MIDDLE = 4
MAX_BUCKETS = 8192


class Cells:
    """Codes of rows x iterations that grow at the right, with the largest and smallest code of buckets of iterations.

    Buckets hold 1, 2, 4, ... iterations, as many as keep their number below MAX_BUCKETS: an appended iteration touches
    one bucket, and drawing a hundred thousand iterations reads eight thousand.
    """

    def __init__(self) -> None:
        self._clear(0)

    def _clear(self, rows: int) -> None:
        self._codes: Codes = np.empty((rows, 256), np.int8)
        self._size = 0
        self._bucket = 1
        self._high: Codes = np.empty((rows, MAX_BUCKETS), np.int8)
        self._low: Codes = np.empty((rows, MAX_BUCKETS), np.int8)

    @property
    def rows(self) -> int:
        return int(self._codes.shape[0])

    @property
    def iterations(self) -> int:
        return self._size

    @property
    def codes(self) -> Codes:
        """The codes, rows x iterations; do not change them."""
        return self._codes[:, : self._size]

    def update(self, codes: Codes) -> bool:
        """Take over a matrix that has grown; returns False if nothing changed.

        Only the columns from the first changed one on are reduced again: in a live run the last one or two.
        """
        rows, size = codes.shape
        if rows != self.rows or size < self._size:
            self._clear(rows)
        elif np.array_equal(codes[:, : self._size], self.codes):
            if size == self._size:
                return False
        else:
            changed = (codes[:, : self._size] != self.codes).any(axis=0)
            self._size = int(np.argmax(changed))
        start = self._size
        if size > self._codes.shape[1]:
            wider = np.empty((rows, max(size, 2 * self._codes.shape[1])), np.int8)
            wider[:, :start] = self._codes[:, :start]
            self._codes = wider
        self._codes[:, start:size] = codes[:, start:]
        self._size = size
        self._reduce(start)
        return True

    def columns(self, first: int, last: int, width: int) -> tuple[Codes, Codes]:
        """Largest and smallest code of `width` columns that show the iterations `first` .. `last` - 1.

        Specials appear in both.  Where the two are neighbours the one further from the middle stands for both: a
        wobble across the border of two bins is no news, and as two stripes it would hide what is.  `width` must not
        exceed the number of iterations shown.
        """
        if last - first <= MAX_BUCKETS or self._bucket == 1:
            high = low = self._codes[:, first:last]
        else:
            a, b = first // self._bucket, -(-last // self._bucket)
            high, low = self._high[:, a:b], self._low[:, a:b]
        starts = np.linspace(0, high.shape[1], width, endpoint=False).astype(np.int64)
        top, bottom = _worst(high, low, starts)
        far = np.where(np.abs(top - MIDDLE) >= np.abs(bottom - MIDDLE), top, bottom)
        close = (top - bottom == 1) & (bottom >= 0) & (top <= 8)
        return np.where(close, far, top), np.where(close, far, bottom)

    def _reduce(self, start: int) -> None:
        while -(-self._size // self._bucket) > MAX_BUCKETS:
            self._bucket *= 2
            start = 0
        a = start // self._bucket
        part = self._codes[:, a * self._bucket : self._size]
        if not part.shape[1]:
            return
        starts = np.arange(0, part.shape[1], self._bucket)
        high, low = _worst(part, part, starts)
        self._high[:, a : a + len(starts)] = high
        self._low[:, a : a + len(starts)] = low


def _worst(high: Codes, low: Codes, starts: NDArray[np.int64]) -> tuple[Codes, Codes]:
    top = np.maximum.reduceat(high, starts, axis=1)
    # A gap beside captured values is no minimum: lift it out of the way, and put it back where there is nothing else.
    bottom = np.minimum.reduceat(np.where(low == NOT_CAPTURED, np.int8(127), low), starts, axis=1)
    bottom[bottom == 127] = NOT_CAPTURED
    return top, np.where(top > 8, top, bottom)


def runs(line: Codes) -> list[tuple[int, int, int]]:
    """The special cells of one row of columns as (first, last + 1, code), neighbours with one code together."""
    cuts = np.flatnonzero(np.diff(line)) + 1
    starts = np.concatenate(([0], cuts))
    ends = np.concatenate((cuts, [len(line)]))
    codes = line[starts]
    wanted = (codes < 0) | (codes > 8)
    return list(zip(starts[wanted].tolist(), ends[wanted].tolist(), codes[wanted].tolist(), strict=True))
