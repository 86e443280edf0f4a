"""Opening a file that may be anything: what it is, said in one sentence, before anything in it is believed."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from tapeviz.recording.database import MAGIC, settle
from tapeviz.recording.process import is_running
from tapeviz.recording.rows import RecordingError
from tapeviz.recording.schema import FORMAT, VERSION

# A message of SQLite's that quotes a damaged name cannot be decoded: Python raises that instead.
READ_ERRORS = (sqlite3.Error, UnicodeDecodeError)
_DAMAGE = ("malformed", "corrupt", "no such", "file format")   # in the messages of SQLite
_MAX_META = 1 << 20    # characters in one entry of table meta
_TABLES = {
    "meta": "key value", "chunk": "id kind n crc data", "blob": "id data", "name": "id s",
    "source": "id path sha256 text", "loc": "id source line end_line col end_col function",
    "scope": "id parent kind name loc", "variable": "id name shape dtype trainable loc",
    "kind": "id name formula arguments vjps flags", "op_extra": "id op key value",
    "event": "id t kind op pass data",
}   # fmt: skip


def open_database(path: Path) -> tuple[sqlite3.Connection, dict[str, object]]:
    """A read-only connection to a recording, and its meta table. Raises RecordingError with what is wrong."""
    _check_file(path)
    connection = connect_reader(path)
    try:
        _check_tables(connection)
        meta = read_meta(connection)
        _check_version(meta)
        if is_beside(path, "-wal") and not (meta.get("status") == "running" and writer_runs(meta)):
            connection.close()   # nobody writes it any more: one single file again, if that is allowed
            settle(path)
            connection = connect_reader(path)
    except RecordingError as error:
        connection.close()
        raise RecordingError(f"{path}: {error}") from None
    except READ_ERRORS as error:
        connection.close()
        raise RecordingError(f"{path}: {in_words(error)}") from None
    return connection, meta


def in_words(error: Exception) -> str:
    """What an error while reading means for a person, and what to do."""
    text = str(error)
    if "not a database" in text:
        return "it is not a recording (or its beginning is damaged); record the script again with `tapeviz run`"
    if "unable to open" in text or "readonly" in text:
        return ("it cannot be opened; a recording that was being written when its program died needs a folder that can "
                "be written to: copy it there with the files *-wal beside it")
    if isinstance(error, UnicodeDecodeError) or any(word in text for word in _DAMAGE):
        return "it is damaged; copy it again from where it came, with the file *-wal beside it, or record again"
    if "locked" in text or "busy" in text:
        return "another program holds it locked; close that program and open it again"
    return f"it cannot be read ({text}); copy it again from where it came, or record again"


def read_meta(connection: sqlite3.Connection) -> dict[str, object]:
    """Table meta, decoded. Raises RecordingError if it is not what a writer writes."""
    meta: dict[str, object] = {}
    rows = connection.execute("SELECT key, substr(value, 1, ?) FROM meta LIMIT 1000", (_MAX_META,))
    for key, value in rows:
        try:
            meta[str(key)] = json.loads(value)
        except (ValueError, TypeError, RecursionError):
            raise RecordingError(f"it is damaged (meta {key!r} cannot be read); copy it again") from None
    return meta


def writer_runs(meta: dict[str, object]) -> bool:
    """Whether the process that writes the recording still lives."""
    return is_running(meta.get("process"), meta.get("heartbeat"))


def is_beside(path: Path, suffix: str) -> bool:
    """Whether SQLite keeps another file beside a recording: it is being written, or was when its writer died."""
    return path.with_name(path.name + suffix).exists()


def _check_file(path: Path) -> None:
    """Raises RecordingError if a look at the first bytes and the length shows that this is no whole recording."""
    try:
        with path.open("rb") as file:
            head = file.read(100)
            size = file.seek(0, 2)
    except FileNotFoundError:
        raise RecordingError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise RecordingError(f"{path}: it is a folder; open a recording (*.tapeviz) in it") from None
    except PermissionError:
        what = "it is a folder; open a recording (*.tapeviz) in it" if path.is_dir() else "no permission to read it"
        raise RecordingError(f"{path}: {what}") from None
    except OSError as error:
        raise RecordingError(f"{path}: it cannot be read ({error.strerror})") from None
    if not head:
        raise RecordingError(f"{path}: it is empty; if a run is just starting, open it again in a second")
    if not head.startswith(MAGIC[: len(head)]):
        raise RecordingError(f"{path}: it is not a recording; make one with `tapeviz run SCRIPT`")
    page = int.from_bytes(head[16:18], "big")
    expected = int.from_bytes(head[28:32], "big") * (65536 if page == 1 else page)
    if len(head) < 100 or (size < expected and not is_beside(path, "-wal")):
        raise RecordingError(
            f"{path}: it is truncated ({size:,} of {max(expected, 100):,} bytes are there); "
            "copy it again from where it came"
        )


def connect_reader(path: Path) -> sqlite3.Connection:
    """A read-only connection.

    Never with immutable=1: it ignores the log beside a recording that is being written, or whose writer died.  Never
    with mmap_size: it makes opening hardly faster, and when another program cuts the file short, SIGBUS ends ours.
    """
    try:
        connection = sqlite3.connect(
            path.absolute().as_uri() + "?mode=ro", uri=True, timeout=2, isolation_level=None, check_same_thread=False
        )
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        connection.execute("PRAGMA query_only=1")
        connection.execute("PRAGMA trusted_schema=0")
        connection.execute("PRAGMA cell_size_check=1")
    except READ_ERRORS as error:
        raise RecordingError(f"{path}: {in_words(error)}") from None
    return connection


def _check_tables(connection: sqlite3.Connection) -> None:
    """Raises RecordingError unless the tables are plain tables: a view could compute for ever."""
    kinds = dict(connection.execute("SELECT name, type || ' ' || substr(sql, 1, 13) FROM sqlite_master LIMIT 1000"))
    if "meta" not in kinds or "chunk" not in kinds:
        raise RecordingError("it is an SQLite database, but not a recording; make one with `tapeviz run SCRIPT`")
    for table, columns in _TABLES.items():
        if kinds.get(table) != "table CREATE TABLE ":
            raise RecordingError(f"it is damaged (table {table} is missing or no plain table); copy it again")
        info = connection.execute("SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0", (table,))
        missing = set(columns.split()) - {name for (name,) in info}
        if missing:
            raise RecordingError(f"it is damaged (table {table} lacks {', '.join(sorted(missing))}); copy it again")


def _check_version(meta: dict[str, object]) -> None:
    if meta.get("format") != FORMAT:
        raise RecordingError("it is an SQLite database, but not a recording; make one with `tapeviz run SCRIPT`")
    version = meta.get("version")
    if not isinstance(version, int) or version < 1:
        raise RecordingError("it is damaged (no version); copy it again")
    if version > VERSION:
        raise RecordingError(
            f"it was written by a newer tapeviz (format {version}, this one reads up to {VERSION}); update tapeviz"
        )
