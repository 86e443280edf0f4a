"""The list that a tape is: entries in execution order, shared by all tapes that record at the same time.

An entry is a tuple whose first element undoes it: `undo(g, entry, G, own)` adds the contributions of `g`, the gradient
of the entry's output, to the list `G` at the positions of the inputs (`own[i]`: slot i holds a sum that was made
here, so it may be added to in place).  Further elements are the inputs' positions (-1: constant), then whatever undo
needs.  Position on the list = execution order = topological order, so the way back is one reverse loop.

A tensor knows the list it is on and its position there: whether an op has to be recorded is one identity test.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from gradtape.observers import seam

if TYPE_CHECKING:
    from gradtape.tensor import Tensor
    from gradtape.variable import Variable

__gradtape__ = True

Entry = tuple[Any, ...]
LEAF: Entry = (None,)       # a watched tensor or variable: nothing to undo


class Recorder(Protocol):
    """What records on a list: a tape, or the probe of a custom gradient."""

    watch_accessed: bool
    watched: dict[int, Variable]            # by serial
    watches: list[tuple[int, int]]          # (length of the list at that time, position watched)

    def saw(self, variable: Variable) -> None:
        """A trainable variable was read for the first time, and somebody observes."""

    def mark(self, position: int) -> None:
        """Recording starts, or stops, at this length of the list."""


class Entries(list[Entry]):
    """A tape's list, with who uses it and where variables sit on it."""

    __slots__ = ("aliases", "attached", "cached", "moved", "places", "recording", "shared")

    def __init__(self) -> None:
        self.recording: list[Recorder] = []          # who records now
        self.attached = 0                            # tapes that still need the list
        self.shared = False                          # more than one tape was ever attached
        self.places: dict[int, int] = {}             # variable serial -> position
        self.cached: list[Variable] = []             # variables that remember their position here
        self.aliases: dict[int, tuple[int, Tensor]] | None = None   # by id: tensors that live on another list
        self.moved: tuple[Entries, int, dict[int, int]] | None = None   # appended to another list at this offset

    __hash__ = object.__hash__      # type: ignore[assignment]  # two lists are never the same tape

    def invalidate(self) -> None:
        """Make all variables report their next read: a tape that does not know them has begun to record."""
        for variable in self.cached:
            if variable._entries is self:
                variable._entries = None
        self.cached.clear()

    def drop(self) -> None:
        """Forget everything; called when no tape needs the list any more."""
        self.clear()
        self.places.clear()
        self.cached.clear()
        self.aliases = None

    def absorb(self, other: Entries) -> None:
        """Append another list to this one, so that the tapes of both can record together."""
        offset, same = len(self), {}
        for serial, position in other.places.items():
            if serial in self.places:
                same[position] = self.places[serial]
            else:
                self.places[serial] = position + offset

        def move(position: int) -> int:
            return -1 if position < 0 else same.get(position, position + offset)

        for recorder in self.recording:         # what is put in is not theirs
            recorder.mark(offset)
        self.extend(shifted(entry, move) for entry in other)
        for recorder in self.recording:
            recorder.mark(len(self))
        if other.aliases:
            aliases = {key: (move(position), tensor) for key, (position, tensor) in other.aliases.items()}
            self.aliases = {**aliases, **(self.aliases or {})}
        self.attached += other.attached
        self.shared = True
        other.invalidate()
        self.invalidate()
        other.moved = (self, offset, same)
        other.clear()


_ACTIVE: ContextVar[Entries | None] = ContextVar("gradtape_active", default=None)
active = _ACTIVE.get              # the list that records in this thread, or None
activate = _ACTIVE.set

# How entries are laid out, by their undo function: number of input positions, which follow it directly.
# None: the positions are the tuple entry[2].
ARITY: dict[Callable[..., Any] | None, int | None] = {None: 0}


def positions(entry: Entry) -> tuple[int, ...]:
    """Positions of an entry's inputs."""
    arity = ARITY[entry[0]]
    return entry[2] if arity is None else entry[1:1 + arity]


def shifted(entry: Entry, move: Callable[[int], int]) -> Entry:
    """The same entry with its input positions renumbered."""
    arity = ARITY[entry[0]]
    if arity is None:
        return (*entry[:2], tuple(move(i) for i in entry[2]), *entry[3:])
    return (entry[0], *(move(i) for i in entry[1:1 + arity]), *entry[1 + arity:])


def home(entries: Entries | None, position: int) -> tuple[Entries | None, int]:
    """Follow a place to the list that its own was appended to."""
    while entries is not None and entries.moved is not None:
        entries, offset, same = entries.moved
        position = same.get(position, position + offset)
    return entries, position


def find(x: Tensor, entries: Entries) -> int:
    """Position of a tensor on a list, -1 if it is not there; reads nothing, so watches nothing."""
    serial = x._serial
    if serial:
        return entries.places.get(serial, -1)
    if x._entries is entries:
        return x._index
    if entries.aliases:
        alias = entries.aliases.get(id(x))
        if alias is not None:
            return alias[0]
    where, position = home(x._entries, x._index)
    return position if where is entries else -1


def locate(x: Tensor, entries: Entries) -> int:
    """Position of an operand on the active list, -1 for a constant; a trainable variable is watched by being read."""
    serial = x._serial
    if not serial:
        return -1 if x._entries is None and entries.aliases is None else find(x, entries)
    variable: Any = x
    places = entries.places
    position = places.get(serial, -1)
    if variable._trainable:
        for recorder in entries.recording:
            if recorder.watch_accessed:
                if position < 0:
                    places[serial] = position = len(entries)
                    entries.append(LEAF)
                if serial not in recorder.watched:
                    recorder.watched[serial] = variable
                    recorder.watches.append((len(entries), position))
                    if seam.observer is not None:
                        recorder.saw(variable)
    if position >= 0 and variable._entries is not entries:
        # Another thread may be reading the pair: it takes the position first and then checks the list.
        variable._entries = None
        variable._index = position
        variable._entries = entries
        entries.cached.append(variable)
    return position


def add_leaf(x: Tensor, entries: Entries) -> int:
    """Give a tensor or variable that has no place on a list one; returns its position."""
    position = len(entries)
    entries.append(LEAF)
    if x._serial:
        entries.places[x._serial] = position
        return position
    where, _ = home(x._entries, x._index)
    if where is None or not where.attached:
        x._entries, x._index = entries, position
    else:                                   # it is still needed on the list where it was made
        if entries.aliases is None:
            entries.aliases = {}
        entries.aliases[id(x)] = (position, x)      # kept alive, so that the id stays its own
    return position
