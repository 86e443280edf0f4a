"""An index over growing records: sorted runs that are merged as they grow, searched by bisection."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
Rows = NDArray[np.int64]


def packed(high: object, low: object) -> Keys:
    """Keys of two numbers, compared by `high` first."""
    return (np.asarray(high, np.uint64) << np.uint64(32)) | np.asarray(low, np.uint64)


class Lookup:
    """Finds rows by key; rows that have come since the last look are taken in by the next one, in any thread."""

    def __init__(self, keys_of: Callable[[NDArray[np.void]], Keys]) -> None:
        self._keys_of = keys_of
        self._runs: list[tuple[Keys, Rows]] = []
        self._count = 0
        self._lock = Lock()

    def between(self, records: NDArray[np.void], first: int, last: int) -> Rows:
        """The row numbers whose key is in first .. last (both included), in the order of the rows."""
        with self._lock:
            self._take_in(records)
            runs = list(self._runs)
        found = [
            rows[np.searchsorted(keys, np.uint64(first)) : np.searchsorted(keys, np.uint64(last), side="right")]
            for keys, rows in runs
        ]
        found = [rows for rows in found if len(rows)]
        if not found:
            return np.zeros(0, np.int64)
        rows = np.sort(found[0] if len(found) == 1 else np.concatenate(found))
        return rows[: np.searchsorted(rows, len(records))]   # another thread may have brought in longer arrays

    def _take_in(self, records: NDArray[np.void]) -> None:
        if len(records) <= self._count:
            return
        keys = self._keys_of(records[self._count :])
        rows = np.arange(self._count, len(records), dtype=np.int64)
        self._count = len(records)
        # Runs at least halve in length from first to last: about log2(n) of them, every row merged log2(n) times.
        while self._runs and len(self._runs[-1][0]) <= 2 * len(keys):
            earlier_keys, earlier_rows = self._runs.pop()
            keys, rows = np.concatenate([earlier_keys, keys]), np.concatenate([earlier_rows, rows])
        order = np.argsort(keys, kind="stable")
        self._runs.append((keys[order], rows[order]))
