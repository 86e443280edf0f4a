"""What waits to be written, and the transaction that writes it whole or not at all."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tapeviz.recording.database import in_words
from tapeviz.recording.dictionary import Row
from tapeviz.recording.schema import KIND_CODE

# Every row brings its id, so that a transaction can be repeated.
_COLUMNS = {
    "meta": 2, "chunk": 5, "blob": 2, "name": 2, "source": 4, "loc": 7, "scope": 5, "variable": 6, "kind": 6,
    "op_extra": 4, "event": 6,
}
_SQL = {table: f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * n)})" for table, n in _COLUMNS.items()}


class Outbox:
    """Rows on their way into the file; the caller keeps threads apart.

    size: bytes waiting, roughly; written: whether anything was written since this was last set to False
    failed: None, or why nothing is written any more
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection
        self._rows: list[tuple[str, Row]] = []
        self._chunks = 0
        self.size = 0
        self.written = False
        self.failed: str | None = None

    def __bool__(self) -> bool:
        return bool(self._rows)

    def add(self, table: str, row: Row, size: int = 64) -> None:
        """A row of a table."""
        self._rows.append((table, row))
        self.size += size

    def add_chunk(self, kind: str, count: int, data: bytes) -> None:
        """Packed records of one kind."""
        self._chunks += 1
        self.add("chunk", (self._chunks, KIND_CODE[kind], count, zlib.crc32(data), data), len(data))

    def drop(self) -> None:
        """Forget what waits."""
        self._rows.clear()
        self.size = 0

    def write_last(self, meta: Mapping[str, str]) -> None:
        """Facts about the run, although writing has failed. Raises sqlite3.Error if it still does."""
        self._connection.executemany(_SQL["meta"], meta.items())

    def write(self) -> None:
        """Write what waits. An SQLite error (the disk is full) ends all writing and is told by `failed`."""
        if not self._rows:
            return
        if self.failed is not None:
            self.drop()
            return
        connection, count = self._connection, len(self._rows)
        try:
            connection.execute("BEGIN IMMEDIATE")
            for table, row in self._rows[:count]:
                connection.execute(_SQL[table], row)
            connection.execute("COMMIT")
            del self._rows[:count]
            self.size = 0
            self.written = True
        except (sqlite3.Error, ValueError, OverflowError) as error:
            why = in_words(error) if isinstance(error, sqlite3.Error) else str(error)
            self.failed = f"recording to {self._path} has stopped: {why}. What was recorded until now can be opened."
            self.drop()
        finally:
            if connection.in_transaction:   # also after Ctrl+C in the middle: the rows are still here
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
