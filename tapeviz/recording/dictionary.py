"""Dictionary coding: every distinct name, source, location, ... is written once and then known by a small number."""

from __future__ import annotations

from collections.abc import Hashable
from threading import RLock

Row = tuple[object, ...]


class Dictionary:
    """The rows of one small table, numbered from 0 in the order in which they were first seen."""

    def __init__(self, lock: RLock) -> None:
        self._ids: dict[Hashable, int] = {}
        self._lock = lock
        self.pending: list[Row] = []

    def find(self, key: Hashable) -> int | None:
        """The number of a row that is already there."""
        return self._ids.get(key)

    def add(self, key: Hashable, *columns: object) -> int:
        """The number of the row with this key, made now if it is new."""
        with self._lock:
            found = self._ids.get(key)
            if found is None:
                found = self._ids[key] = len(self._ids)
                self.pending.append((found, *columns))
            return found

    def take(self) -> list[Row]:
        """The rows that have not been written yet; the caller holds the lock."""
        rows, self.pending = self.pending, []
        return rows
