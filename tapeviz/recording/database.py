"""The SQLite side of writing: making the file, its settings, checkpoints, and errors in words."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from tapeviz.recording.process import is_running
from tapeviz.recording.rows import RecordingError
from tapeviz.recording.schema import SCHEMA

MAGIC = b"SQLite format 3\0"


def create(path: Path, meta: dict[str, str]) -> sqlite3.Connection:
    """A new recording in place of an older one. Raises RecordingError, and then nothing has been lost."""
    _clear_the_place(path)
    try:
        connection = connect(path)
        try:
            connection.execute("PRAGMA page_size=8192")
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")     # the process may die at any time without a loss
            connection.execute("PRAGMA wal_autocheckpoint=0")   # on this thread it would stall the script for 0.2 s
            statements = [part for part in SCHEMA.split(";") if part.strip()]
            connection.execute("BEGIN")
            for statement in statements:
                connection.execute(statement)
            connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
            connection.execute("COMMIT")
        except BaseException:
            connection.close()
            raise
    except sqlite3.Error as error:
        raise RecordingError(f"cannot write the recording {path}: {in_words(error)}") from None
    return connection


def connect(path: Path) -> sqlite3.Connection:
    """A connection for writing that makes its own transactions."""
    return sqlite3.connect(path, timeout=5, isolation_level=None, check_same_thread=False)


def companions(path: Path) -> list[Path]:
    """The files that SQLite keeps beside a recording while it is being written."""
    return [path.with_name(path.name + suffix) for suffix in ("-wal", "-shm", "-journal")]


def _clear_the_place(path: Path) -> None:
    if path.is_dir():
        raise RecordingError(f"cannot write the recording {path}: it is a folder; name a file in it")
    if not path.parent.is_dir():
        raise RecordingError(f"cannot write the recording {path}: there is no folder {path.parent}; make it first")
    try:
        if path.exists():
            _refuse_to_lose(path)
        for file in (path, *companions(path)):
            file.unlink(missing_ok=True)
    except OSError as error:
        raise RecordingError(
            f"cannot write the recording {path}: {error.strerror or error}; choose another place"
        ) from None


def _refuse_to_lose(path: Path) -> None:
    """Raises RecordingError if the file there is anything but an older recording that nobody writes."""
    with path.open("rb") as file:
        start = file.read(len(MAGIC))
    if not start:
        return
    meta: dict[str, str] = {}
    if start == MAGIC:
        address = path.absolute().as_uri() + "?mode=ro"
        with suppress(sqlite3.Error, UnicodeDecodeError), closing(sqlite3.connect(address, uri=True)) as old:
            meta = dict(old.execute("SELECT key, value FROM meta LIMIT 1000"))
    if "format" not in meta:
        raise RecordingError(f"cannot write the recording {path}: a file that is no recording is there; name another")
    if meta.get("status") == '"running"' and is_running(*map(_decoded, (meta.get("process"), meta.get("heartbeat")))):
        raise RecordingError(f"cannot write the recording {path}: another run is writing it; stop that or name another")


def _decoded(text: str | None) -> object:
    try:
        return json.loads(text or "null")
    except ValueError:
        return None


def in_words(error: sqlite3.Error) -> str:
    """What an SQLite error means for a person, and what to do."""
    text = str(error)
    if "full" in text:
        return "the disk is full; free some space or record to another place"
    if "unable to open" in text or "readonly" in text or "authorization" in text:
        return "no permission to write there; choose another place"
    if "disk I/O" in text:
        return "the disk does not take any more (I/O error, full, or over a size limit); record to another place"
    return text


def checkpoint(connection: sqlite3.Connection, mode: str = "PASSIVE") -> None:
    """Copy what is in the write-ahead log into the file, as far as readers allow."""
    connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchall()


def settle(path: Path) -> bool:
    """Make a recording that nobody writes any more one single file; returns whether it is.

    Fails quietly: a reader may hold the file, or it may be on a read-only medium, and both are fine.
    """
    try:
        with closing(sqlite3.connect(path.absolute().as_uri() + "?mode=rw", timeout=0, uri=True)) as connection:
            checkpoint(connection, "TRUNCATE")
            mode = connection.execute("PRAGMA journal_mode=DELETE").fetchone()
            return bool(mode == ("delete",))
    except (sqlite3.Error, UnicodeDecodeError):
        return False
