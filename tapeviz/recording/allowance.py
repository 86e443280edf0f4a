"""A bound on what is read from one file: a crafted one can hold the same bytes many times over, and eat the memory."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tapeviz.recording.rows import RecordingError


class Allowance:
    """What has been read so far, and how much the file can hold at most."""

    def __init__(self, path: Path) -> None:
        self._paths = (path, path.with_name(path.name + "-wal"))
        self._spent = 0
        self._limit = 0

    def rows(self, cursor: sqlite3.Cursor) -> list[tuple[object, ...]]:
        """All rows of a query. Raises RecordingError once they are more than the file can hold."""
        found = []
        for row in cursor:
            self._spent += sum(len(column) for column in row if isinstance(column, (str, bytes)))
            if self._spent > self._limit:
                self._measure()
            found.append(row)
        return found

    def _measure(self) -> None:
        self._limit = sum(path.stat().st_size for path in self._paths if path.exists())
        if self._spent > self._limit:
            raise RecordingError("it is damaged (it claims to hold more than its size); copy it again")
