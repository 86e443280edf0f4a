"""What a recording file gives: arrays and tables that grow with every poll, the status of the run, stored bytes."""

from __future__ import annotations

import threading
import time
import zlib
from pathlib import Path

import numpy as np

from tapeviz.recording.allowance import Allowance
from tapeviz.recording.database import settle
from tapeviz.recording.growing import Growing
from tapeviz.recording.opening import (
    READ_ERRORS,
    connect_reader,
    in_words,
    is_beside,
    open_database,
    read_meta,
    writer_runs,
)
from tapeviz.recording.packing import convert, layouts_from_json
from tapeviz.recording.rows import RecordingError
from tapeviz.recording.schema import FINAL, RECORDS
from tapeviz.recording.tables import Tables

_BATCH = 64              # chunks per query: at most 25 MB at once, and no query long enough to hold up the writer
_SETTLE_TRIES = 10       # one per poll, so a third of a second
_ALIVE_SECONDS = 1.0     # between two looks whether the writer still lives


class Feed:
    """The contents of one file; any thread may call. Every RecordingError names the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.status = "running"
        self.arrays = {kind: Growing(kind) for kind in RECORDS}
        self.tables = Tables()
        self._lock = threading.RLock()
        self._version = -1
        self._last_chunk: object = 0
        self._allowance = Allowance(path)
        self._settling = _SETTLE_TRIES
        self._looked = 0.0
        self._opened = self._identity()
        self._connection, self.meta = open_database(path)
        try:
            self._layouts = list(layouts_from_json(self.meta.get("records")).items())
            self._expect()
            self.poll()
        except RecordingError as error:
            self._connection.close()
            raise self._named(error) from None
        except READ_ERRORS as error:
            self._connection.close()
            raise RecordingError(f"{path}: {in_words(error)}") from None

    @property
    def finished(self) -> bool:
        """Whether nothing more will come."""
        return self.status != "running"

    def poll(self) -> bool:
        """Read what is new; True if anything came."""
        with self._lock:
            try:
                (version,) = self._connection.execute("PRAGMA data_version").fetchone()
                came = version != self._version and self._read()
                self._version = version
                came = self._look_at_status() or came
            except READ_ERRORS as error:
                if "locked" in str(error) or "busy" in str(error):
                    return False   # the writer is just turning it into one file: next time
                raise RecordingError(f"{self.path}: {in_words(error)}") from None
            except RecordingError as error:
                raise self._named(error) from None
            if self.finished and self._settling and is_beside(self.path, "-wal"):
                self._settle()
            return came

    def stored(self, blob: int, offset: int, count: int) -> bytes | None:
        """`count` bytes from `offset` of a blob, without reading the rest; None if the blob is not there."""
        with self._lock:
            try:
                query = "SELECT substr(data, ?, ?) FROM blob WHERE id = ?"
                row = self._connection.execute(query, (offset + 1, count, blob)).fetchone()
            except (*READ_ERRORS, OverflowError) as error:
                raise RecordingError(f"{self.path}: {in_words(error)}") from None
        return row[0] if row is not None and isinstance(row[0], bytes) else None

    def close(self) -> None:
        """Let go of the file; if the run is over and nobody else has it open, it becomes one single file."""
        with self._lock:
            self._connection.close()
            if self.finished and is_beside(self.path, "-wal") and self._identity() == self._opened:
                settle(self.path)

    def _settle(self) -> None:
        """Make it one single file; not while the writer is still letting go, nor beside another reader."""
        self._settling -= 1
        if self._identity() != self._opened:      # another run has taken the place of the file that we read
            self._settling = 0
            return
        self._connection.close()   # our own hold is in the way, too
        settle(self.path)
        self._connection = connect_reader(self.path)

    def _identity(self) -> tuple[int, int] | None:
        """Which file is at the path now."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _named(self, error: RecordingError) -> RecordingError:
        text = str(error)
        return RecordingError(text if text.startswith(f"{self.path}: ") else f"{self.path}: {text}")

    def _expect(self) -> None:
        """Reserve the room that opening will need, as far as the file can possibly hold so much."""
        size = self.path.stat().st_size
        for code, count in self._connection.execute("SELECT kind, sum(n) FROM chunk GROUP BY kind LIMIT 1000"):
            if isinstance(code, int) and isinstance(count, int) and 0 <= code < len(self._layouts) and count > 0:
                kind, layout = self._layouts[code]
                if kind in self.arrays:
                    self.arrays[kind].expect(min(count, size // layout.itemsize))

    def _read(self) -> bool:
        # Records before the small tables: the later query sees at least every name that the records refer to.
        came = False
        while True:
            query = "SELECT id, kind, n, crc, data FROM chunk WHERE id > ? ORDER BY id LIMIT ?"
            chunks = self._allowance.rows(self._connection.execute(query, (self._last_chunk, _BATCH)))
            for number, *chunk in chunks:
                self._take(number, *chunk)
                self._last_chunk = number
            came = came or bool(chunks)
            if len(chunks) < _BATCH:
                break
        came = self.tables.poll(self._connection, self._allowance) or came
        self.meta = read_meta(self._connection)
        return came

    def _take(self, number: object, code: object, count: object, crc: object, data: object) -> None:
        if not isinstance(code, int) or not 0 <= code < len(self._layouts):
            return   # a kind that a later version added: not needed for what this one shows
        kind, layout = self._layouts[code]
        if kind not in RECORDS:
            return
        if not isinstance(data, bytes) or count != len(data) / layout.itemsize or crc != zlib.crc32(data):
            raise RecordingError(f"it is damaged (chunk {number}, {kind}, is not as it was written); copy it again")
        self.arrays[kind].extend(convert(np.frombuffer(data, layout), kind))

    def _look_at_status(self) -> bool:
        if self.finished:
            return False
        said = self.meta.get("status")
        if said in FINAL:
            self._read()   # the status is read last: records may have come since the others were
            self.status = str(said)
        elif time.monotonic() - self._looked > _ALIVE_SECONDS:
            self._looked = time.monotonic()
            if not writer_runs(self.meta):
                self._read()   # its last words may have come between our look at the file and at the process
                said = self.meta.get("status")
                self.status = str(said) if said in FINAL else "killed"
        return self.finished
