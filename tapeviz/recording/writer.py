"""The writer of a recording: takes records from any thread and puts them into the file about 60 times a second.

The thread that makes the records also writes them (an own writing thread starves: it never gets the interpreter lock
in time, and the window falls seconds behind).  A helper thread writes only what lies about when nothing happens, and
moves the write-ahead log into the file.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import sqlite3
import threading
import time
import weakref
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tapeviz.recording.database import checkpoint, connect, create
from tapeviz.recording.dictionary import Dictionary
from tapeviz.recording.outbox import Outbox
from tapeviz.recording.packing import Record, convert, layouts_to_json, pack
from tapeviz.recording.process import myself
from tapeviz.recording.rows import RecordingError
from tapeviz.recording.schema import (
    BLOB_BYTES,
    CHUNK_RECORDS,
    DTYPES,
    FORMAT,
    NONE,
    OTHER_DTYPE,
    RECORDS,
    VERSION,
)

FLUSH_NS = 16_000_000          # one frame of the window
IDLE_NS = 25_000_000           # the helper writes what has waited for so long
LOOK_EVERY = 256               # records between two looks at the clock
HELPER_SECONDS = 0.02
CHECKPOINT_SECONDS = 1.0
PENDING_BYTES = 4 << 20        # so much is written at once, whatever the clock says
MAX_VALUE_BYTES = 900_000_000  # SQLite takes blobs of up to 1e9 bytes

_DTYPE_CODES = {np.dtype(name): code for code, name in enumerate(DTYPES)}
_DICTIONARIES = ("name", "source", "loc", "scope", "variable", "kind")


def dtype_code(dtype: np.dtype[np.generic]) -> int:
    """The number of an element type in records (position in schema.DTYPES); byte order does not count."""
    return _DTYPE_CODES.get(dtype.newbyteorder("="), OTHER_DTYPE)


def shape_text(shape: Sequence[int]) -> str:
    """A shape as it stands in table name: "2x3"; "" for a scalar."""
    return "x".join(map(str, shape))


class Writer:
    """Writes one recording; every method may be called from any thread.

    When the disk fills up nothing is raised: `failed` says it, what was written stays, and the script can go on.
    """

    def __init__(self, path: str | os.PathLike[str], meta: Mapping[str, object] | None = None) -> None:
        """Makes the file. Raises RecordingError if that cannot be done."""
        self.path = Path(path).absolute()
        self.closed = False
        self.start_ns = time.perf_counter_ns()
        own = {"format": FORMAT, "version": VERSION, "records": layouts_to_json(), "status": "running",
               "process": myself(), "started": time.time(), "heartbeat": time.time(), "numpy": np.__version__}
        self._connection = create(self.path, {k: json.dumps(v) for k, v in {**(meta or {}), **own}.items()})
        self._outbox = Outbox(self.path, self._connection)
        self._lock = threading.RLock()
        self._writing = False
        self._buffers: dict[str, list[Record]] = {kind: [] for kind in RECORDS}
        self._put: dict[str, Callable[[Record], None]] = {k: b.append for k, b in self._buffers.items()}
        self._until_look = LOOK_EVERY
        self._last_flush = self.start_ns
        self._tables = {name: Dictionary(self._lock) for name in _DICTIONARIES}
        self._blobs = 0
        self._blob = bytearray()
        self._events = 0
        self._extras = 0
        self._stop = threading.Event()
        self._helper = threading.Thread(target=self._help, name="tapeviz-recording", daemon=True)
        self._helper.start()
        atexit.register(self._at_exit)
        _writers.add(self)

    @property
    def failed(self) -> str | None:
        """Why nothing is written any more, as a sentence for the user; None while all is well."""
        return self._outbox.failed

    def now(self) -> int:
        """Nanoseconds since the start of the run."""
        return time.perf_counter_ns() - self.start_ns

    # --- small numbers for things that recur ------------------------------------------------------------------

    def name_id(self, text: str) -> int:
        """The number of a text."""
        found = self._tables["name"].find(text)
        return self._tables["name"].add(text, text) if found is None else found

    def shape_id(self, shape: Sequence[int]) -> int:
        """The number of a shape: that of its text "2x3" in table name."""
        return self.name_id(shape_text(shape))

    def attrs_id(self, attrs: Mapping[str, object]) -> int:
        """The number of an operation's attributes: that of their JSON text in table name; NONE if there are none."""
        return self.name_id(json.dumps(attrs, default=repr)) if attrs else NONE

    def source_id(self, path: str, text: str) -> int:
        """The number of a source file with this content."""
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return self._tables["source"].add((path, digest), path, digest, text)

    def loc_id(self, source: int, line: int, end_line: int, col: int, end_col: int, function: str) -> int:
        """The number of a stretch of source; lines count from 1, columns from 0, -1 where unknown."""
        key = (source, line, end_line, col, end_col, function)
        found = self._tables["loc"].find(key)
        return self._tables["loc"].add(key, *key) if found is None else found

    def scope_id(self, parent: int, kind: str, name: str, loc: int = NONE) -> int:
        """The number of a scope inside another (NONE: outermost)."""
        return self._tables["scope"].add((parent, kind, name), parent, kind, name, loc)

    def variable(self, name: str, shape: Sequence[int], dtype: object, trainable: bool, loc: int = NONE) -> int:
        """The number of a new variable; two may have the same name."""
        text = json.dumps(list(shape))
        return self._tables["variable"].add(object(), name, text, str(dtype), int(trainable), loc)

    def kind(self, name: str, formula: str = "", arguments: Sequence[str] = (), vjps: Sequence[str] = (),
             flags: int = 0) -> int:
        """The number of a kind of operation."""
        key = (name, formula, tuple(arguments), tuple(vjps), flags)
        return self._tables["kind"].add(key, name, formula, json.dumps(list(arguments)), json.dumps(list(vjps)), flags)

    # --- records ----------------------------------------------------------------------------------------------

    def append(self, kind: str, record: Record) -> None:
        """Add one record: its numbers in field order, array fields flat or as a tuple."""
        self._until_look -= 1
        if self._until_look <= 0:   # before adding: the file then ends with whole groups of records, mostly
            self._look()
        self._put[kind](record)

    def appender(self, kind: str) -> Callable[[Record], None]:
        """The bare append of a kind, for hot paths (30 ns); they must call `tick` now and then."""
        return self._put[kind]

    def tick(self) -> None:
        """Write what has gathered if a frame's time has passed."""
        if time.perf_counter_ns() - self._last_flush >= FLUSH_NS and self._lock.acquire(blocking=False):
            try:
                self.flush()
            finally:
                self._lock.release()

    def append_array(self, kind: str, records: NDArray[np.void]) -> None:
        """Add many records: a structured array of schema.RECORDS[kind], or one with fields of the same names."""
        packed = np.ascontiguousarray(convert(records, kind))
        with self._lock:
            self._collect_buffer(kind)
            for start in range(0, len(packed), CHUNK_RECORDS):
                part = packed[start : start + CHUNK_RECORDS]
                self._outbox.add_chunk(kind, len(part), part.tobytes())
                self._flush_if_much()

    def op(self, *record: object) -> None:
        """Add an operation (fields of schema.RECORDS["op"] in order); so do the following for their kinds."""
        self.append("op", record)

    def tensor(self, *record: object) -> None: self.append("tensor", record)
    def stat(self, *record: object) -> None: self.append("stat", record)
    def step(self, *record: object) -> None: self.append("step", record)
    def pass_(self, *record: object) -> None: self.append("pass", record)
    def result(self, *record: object) -> None: self.append("result", record)
    def assign(self, *record: object) -> None: self.append("assign", record)
    def tape(self, *record: object) -> None: self.append("tape", record)
    def watch(self, *record: object) -> None: self.append("watch", record)
    def iteration(self, *record: object) -> None: self.append("iteration", record)

    def value(self, tensor: int, what: int, array: object, pass_: int = NONE, op: int = NONE, slot: int = 0,
              flags: int = 0) -> bool:
        """Keep the elements of a quantity (What) of a tensor; the same quantity twice is the caller's to avoid.

        Returns False if they cannot be kept: no plain numbers, over 0.9 GB, or writing has failed.
        """
        elements = np.asarray(array)
        code = dtype_code(elements.dtype)
        if code == OTHER_DTYPE or elements.nbytes > MAX_VALUE_BYTES or self.failed:
            return False
        data = elements.astype(elements.dtype.newbyteorder("<"), copy=False).tobytes()
        shape = self.shape_id(elements.shape)
        with self._lock:
            if self._blob and len(self._blob) + len(data) > BLOB_BYTES:
                self._collect_blob()
            record = (tensor, op, pass_, int(what), slot, flags, 0, code, shape, self._blobs, len(self._blob),
                      len(data), zlib.crc32(data))
            self._blob += data
            self.append("value", record)
            self._flush_if_much()
        return True

    def event(self, kind: str, data: Mapping[str, object], op: int = NONE, pass_: int = NONE) -> None:
        """Note something that happened: output, a warning, an exception, a pause."""
        with self._lock:
            text = json.dumps(data, default=repr)
            self._outbox.add("event", (self._events, self.now(), kind, int(op), int(pass_), text), len(text))
            self._events += 1
            self._flush_if_much()
        self.tick()   # what comes next may be a long call into C, in which the helper cannot run

    def op_extra(self, op: int, key: str, value: object) -> None:
        """Note something rare of an operation: "inputs" if there are more than four, "error" if it raised."""
        with self._lock:
            text = json.dumps(value, default=repr)
            self._outbox.add("op_extra", (self._extras, int(op), key, text), len(text))
            self._extras += 1

    def set_meta(self, key: str, value: object) -> None:
        """Say something of the run as a whole."""
        with self._lock:
            self._outbox.add("meta", (key, json.dumps(value, default=repr)))

    # --- writing ----------------------------------------------------------------------------------------------

    def flush(self) -> None:
        """Make everything that was added visible to readers."""
        with self._lock:
            if self._writing:   # a signal handler that came in the middle of a transaction
                return
            if self.closed or self.failed is not None:
                self._drop()
                return
            self._writing = True
            try:
                self._collect()
                self._outbox.write()
            finally:
                self._writing = False
                self._last_flush = time.perf_counter_ns()

    def close(self, status: str = "finished") -> None:
        """Write what is left, say how the run ended (schema.FINAL), and make the recording one single file."""
        if self.closed:
            return
        self._stop.set()
        if threading.current_thread() is not self._helper:
            self._helper.join(timeout=5)
        atexit.unregister(self._at_exit)
        self.set_meta("status", status)
        self.set_meta("duration", self.now() / 1e9)
        with self._lock:
            self.flush()
            self.closed = True
            if self.failed is not None:
                with suppress(sqlite3.Error):   # these few bytes mostly fit where the failed transaction was
                    self._outbox.write_last({"status": json.dumps(status), "failed": json.dumps(self.failed)})
            with suppress(sqlite3.Error):   # a reader is looking: it will do this when it sees that the run is over
                self._connection.execute("PRAGMA busy_timeout=0")
                checkpoint(self._connection, "TRUNCATE")
                self._connection.execute("PRAGMA journal_mode=DELETE").fetchone()
            with suppress(sqlite3.Error):   # an unfinished transaction on a full disk: undone when the file is opened
                self._connection.close()

    def abandon(self) -> None:
        """In a forked child: forget the file, which belongs to the parent, and take no further part in it."""
        self.closed = True
        self._lock = threading.RLock()   # the old one may be held by a thread that does not exist here
        for table in self._tables.values():
            table.lock = self._lock
        atexit.unregister(self._at_exit)
        self._drop()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.close("finished" if kind is None else "failed")

    def _look(self) -> None:
        self._until_look = LOOK_EVERY
        self.tick()

    def _flush_if_much(self) -> None:
        if self._outbox.size > PENDING_BYTES:
            self.flush()

    def _drop(self) -> None:
        for buffer in self._buffers.values():
            buffer.clear()
        self._blob.clear()
        self._outbox.drop()

    def _collect(self) -> None:
        # Records first, then blobs and names: what a record refers to is then always written with it or before it.
        for kind in RECORDS:
            self._collect_buffer(kind)
        self._collect_blob()
        for table, dictionary in self._tables.items():
            rows = list(dictionary.pending)
            for row in rows:
                self._outbox.add(table, row)
            del dictionary.pending[: len(rows)]   # last: Ctrl+C in between must not lose a name

    def _collect_buffer(self, kind: str) -> None:
        buffer = self._buffers[kind]
        while buffer:
            batch = buffer[:CHUNK_RECORDS]
            try:
                self._outbox.add_chunk(kind, len(batch), pack(kind, batch))
            except RecordingError:
                del buffer[: len(batch)]   # one malformed record must not come back for ever
                raise
            del buffer[: len(batch)]   # not a new list: appenders hold this one

    def _collect_blob(self) -> None:
        if self._blob:
            self._outbox.add("blob", (self._blobs, bytes(self._blob)), len(self._blob))
            self._blobs += 1
            self._blob = bytearray()

    # --- the helper thread ------------------------------------------------------------------------------------

    def _help(self) -> None:
        own = connect(self.path)
        next_checkpoint = time.monotonic() + CHECKPOINT_SECONDS
        try:
            while not self._stop.wait(HELPER_SECONDS) and self.failed is None:
                if time.perf_counter_ns() - self._last_flush >= IDLE_NS and self._has_news():
                    self._flush_in_helper()
                if time.monotonic() >= next_checkpoint:
                    self._checkpoint(own)
                    next_checkpoint = time.monotonic() + CHECKPOINT_SECONDS
        finally:
            own.close()

    def _has_news(self) -> bool:
        return bool(self._outbox or self._blob or any(self._buffers.values())
                    or any(table.pending for table in self._tables.values()))

    def _flush_in_helper(self) -> None:
        try:
            self.flush()
        except RecordingError as error:   # a malformed record: nobody waits here for the exception
            self._outbox.failed = str(error)

    def _checkpoint(self, own: sqlite3.Connection) -> None:
        # The log is reused from its start only when a checkpoint has caught up with the writer, which a passive one
        # beside a busy writer never does.  So: most of it beside the writer, the last few frames under its lock.
        self.set_meta("heartbeat", time.time())
        if not self._outbox.written:
            return
        with suppress(sqlite3.Error):   # a full disk: the next transaction will say it
            checkpoint(own)
            with self._lock:
                self._outbox.written = False
                checkpoint(own)

    def _at_exit(self) -> None:
        self.close("stopped")


_writers: weakref.WeakSet[Writer] = weakref.WeakSet()


def _after_fork() -> None:
    for writer in list(_writers):
        writer.abandon()


if hasattr(os, "register_at_fork"):   # not on Windows, which cannot fork
    os.register_at_fork(after_in_child=_after_fork)
