"""Arrays that grow by doubling, so that reading a live recording costs the same per record at any length."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tapeviz.recording.rows import RecordingError
from tapeviz.recording.schema import DENSE, RECORDS

_SLACK = 1 << 16   # how far ids may run ahead of the records seen: threads write in any order


class Growing:
    """The records of one kind read so far."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._dense = kind in DENSE
        self._seen = 0
        self._store = np.zeros(0, RECORDS[kind])
        self.records = _read_only(self._store)

    def extend(self, records: NDArray[np.void]) -> None:
        """Add records. Raises RecordingError if an id is absurd (a damaged file must not eat the memory)."""
        if not len(records):
            return
        self._seen += len(records)
        count = len(self.records)
        if not self._dense:
            self._reserve(count + len(records))
            self._store[count : count + len(records)] = records
            self.records = _read_only(self._store[: count + len(records)])
            return
        ids = records["id"].astype(np.int64)
        last = int(ids.max())
        if last >= self._seen + _SLACK:
            raise RecordingError(f"it is damaged: {self._kind} number {last:,} among {self._seen:,} records")
        self._reserve(last + 1)
        if ids[0] == count and len(ids) == last + 1 - count and bool((np.diff(ids) == 1).all()):
            self._store[count : last + 1] = records   # the usual case, 5 times as fast
        else:
            if count <= last:
                self._blank(count, last + 1)
            _, first_of_reversed = np.unique(ids[::-1], return_index=True)
            latest = len(ids) - 1 - first_of_reversed    # of equal ids the last one counts
            self._store[ids[latest]] = records[latest]
        self.records = _read_only(self._store[: max(count, last + 1)])

    def expect(self, count: int) -> None:
        """Make room for so many more records at once; saves the copies of doubling when a long file is opened."""
        self._reserve(len(self.records) + count)

    def _reserve(self, count: int) -> None:
        if count > len(self._store):
            longer = np.zeros(max(count, 2 * len(self._store), 64), self._store.dtype)
            longer[: len(self.records)] = self.records
            self._store = longer

    def _blank(self, start: int, stop: int) -> None:
        """Rows whose record has not come yet carry their id and point nowhere."""
        rows = self._store[start:stop]
        rows["id"] = np.arange(start, stop)
        for name in rows.dtype.names or ():
            if name != "id" and rows.dtype[name].base == np.dtype("<u4") and name not in ("dur", "version", "digest"):
                rows[name] = 0xFFFF_FFFF


def _read_only(array: NDArray[np.void]) -> NDArray[np.void]:
    view = array.view()
    view.flags.writeable = False
    return view
