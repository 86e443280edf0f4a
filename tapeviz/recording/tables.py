"""The small tables of a recording, read row by row as they grow."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from typing import TypeVar

from tapeviz.recording.allowance import Allowance
from tapeviz.recording.rows import Event, Kind, Location, RecordingError, Scope, Source, VariableRow

_BATCH = 4096
Row = tuple[object, ...]
T = TypeVar("T")


class Tables:
    """Names, sources, locations, scopes, variables, kinds, extras and events read so far; the row of id i is at i."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.sources: list[Source] = []
        self.locs: list[Location] = []
        self.scopes: list[Scope] = []
        self.variables: list[VariableRow] = []
        self.kinds: list[Kind] = []
        self.events: list[Event] = []
        self.extras: dict[int, dict[str, object]] = {}
        self._extras_read = 0

    def poll(self, connection: sqlite3.Connection, allowance: Allowance) -> bool:
        """Read what is new; True if there was anything. Raises RecordingError if a row is damaged."""
        before = self._extras_read
        def read(query: str, into: list[T], make: Callable[[Row], T]) -> bool:
            return _read(connection, allowance, query, into, make)

        news = [
            read("SELECT id, s FROM name", self.names, lambda row: str(row[1])),
            read("SELECT id, path, sha256, text FROM source", self.sources, _source),
            read("SELECT id, source, line, end_line, col, end_col, function FROM loc", self.locs, self._location),
            read("SELECT id, parent, kind, name, loc FROM scope", self.scopes, _scope),
            read("SELECT id, name, shape, dtype, trainable, loc FROM variable", self.variables, _variable),
            read("SELECT id, name, formula, arguments, vjps, flags FROM kind", self.kinds, _kind),
            read("SELECT id, t, kind, op, pass, data FROM event", self.events, _event),
        ]
        for row in _rows(connection, allowance, "SELECT id, op, key, value FROM op_extra", self._extras_read):
            self.extras.setdefault(_int(row[1]), {})[str(row[2])] = _json(row[3])
            self._extras_read = _int(row[0]) + 1
        return any(news) or self._extras_read != before

    def _location(self, row: Row) -> Location:
        _, source, line, end_line, col, end_col, function = row
        at = _int(source)
        path = self.sources[at].path if 0 <= at < len(self.sources) else ""
        return Location(path, _int(line), _int(end_line), _int(col), _int(end_col), str(function), at)


def _read(connection: sqlite3.Connection, allowance: Allowance, query: str, into: list[T],
          make: Callable[[Row], T]) -> bool:
    before = len(into)
    for row in _rows(connection, allowance, query, before):
        if row[0] != len(into):
            raise RecordingError(f"it is damaged ({query.split()[-1]} {len(into)} is missing); copy it again")
        into.append(make(row))
    return len(into) != before


def _rows(connection: sqlite3.Connection, allowance: Allowance, query: str, first: int) -> Iterator[Row]:
    """Rows from id `first` on, in short queries: a reader that holds one open keeps the writer's log growing."""
    while True:
        batch = allowance.rows(connection.execute(f"{query} WHERE id >= ? ORDER BY id LIMIT ?", (first, _BATCH)))
        yield from batch
        if len(batch) < _BATCH:
            return
        first = _int(batch[-1][0]) + 1


def _int(number: object) -> int:
    if not isinstance(number, int):
        raise RecordingError(f"it is damaged (a number was expected, not {str(number)[:40]!r}); copy it again")
    return number


def _json(text: object) -> object:
    try:
        return json.loads(str(text))
    except (ValueError, RecursionError):
        raise RecordingError(f"it is damaged (not JSON: {str(text)[:40]!r}); copy it again") from None


def _list(text: object) -> list[object]:
    found = _json(text)
    return found if isinstance(found, list) else []


def _source(row: Row) -> Source:
    number, path, digest, text = row
    return Source(_int(number), str(path), str(digest), str(text))


def _scope(row: Row) -> Scope:
    number, parent, kind, name, loc = row
    return Scope(_int(number), _int(parent), str(kind), str(name), _int(loc))


def _variable(row: Row) -> VariableRow:
    number, name, shape, dtype, trainable, loc = row
    return VariableRow(_int(number), str(name), tuple(map(_int, _list(shape))), str(dtype), bool(trainable), _int(loc))


def _kind(row: Row) -> Kind:
    number, name, formula, arguments, vjps, flags = row
    return Kind(_int(number), str(name), str(formula), tuple(map(str, _list(arguments))), tuple(map(str, _list(vjps))),
                _int(flags))


def _event(row: Row) -> Event:
    number, t, kind, op, pass_, text = row
    data = _json(text)
    return Event(_int(number), _int(t), str(kind), _int(op), _int(pass_), data if isinstance(data, dict) else {})
