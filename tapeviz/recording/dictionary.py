"""Dictionary coding: every distinct name, source, location, ... is written once and then known by a small number."""

from __future__ import annotations

from collections.abc import Hashable
from threading import RLock
from typing import SupportsInt, cast

Row = tuple[object, ...]


class Dictionary:
    """The rows of one small table, numbered from 0 in the order in which they were first seen."""

    def __init__(self, lock: RLock) -> None:
        self._ids: dict[Hashable, int] = {}
        self.lock = lock
        self.pending: list[Row] = []

    def find(self, key: Hashable) -> int | None:
        """The number of a row that is already there."""
        return self._ids.get(key)

    def add(self, key: Hashable, *columns: object) -> int:
        """The number of the row with this key, made now if it is new."""
        with self.lock:
            found = self._ids.get(key)
            if found is None:
                found = len(self._ids)
                # In this order: Ctrl+C in between leaves a row that the next one with this number replaces, not a gap.
                self.pending.append((found, *map(plain, columns)))
                self._ids[key] = found
            return found


def plain(column: object) -> str | int:
    """A column as SQLite takes it: NumPy's numbers as ints, None (an unknown line) as -1, any text as valid UTF-8."""
    if isinstance(column, str):   # lone surrogates come from undecodable file names and output
        return column.encode("utf-8", "backslashreplace").decode("utf-8")
    return -1 if column is None else int(cast(SupportsInt, column))
