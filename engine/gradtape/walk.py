"""The way back: one reverse loop over a tape's list, bare and fast, or row by row for observers and outer tapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.entries import LEAF, Entries, Entry, active, find
from gradtape.errors import InvalidArgumentError, MissingGradientError, ShapeError
from gradtape.nests import flatten
from gradtape.observers import CallKind, GradientCall, Node, Observer, seam
from gradtape.ops.registry import RAW, RECORDED, Op, add, adopt, undo_part, undo_row, undo_rows
from gradtape.tensor import Tensor, make
from gradtape.variable import Variable

if TYPE_CHECKING:
    from gradtape.tape import GradientTape

__gradtape__ = True

# (row, input positions, result, arguments, attributes) of an entry, by its undo function.
Parsed = tuple[Op, tuple[int, ...], Any, tuple[Any, ...], dict[str, Any]]
PARSERS: dict[Callable[..., Any], Callable[[Entry], Parsed]] = {
    undo_row: lambda e: e[1:],       # laid out like this
    undo_rows: lambda e: e[1:],
}

# Of the fast forms: (row, positions before, end of the entry's positions, positions after).
FORMS: dict[Callable[..., Any], tuple[Op, tuple[int, ...], int, tuple[int, ...]]] = {}

_new = object.__new__
ndarray = np.ndarray

_calls: ContextVar[GradientCall | None] = ContextVar("gradtape_calls", default=None)


def zeros_wanted(unconnected: Any) -> bool:
    """What unconnected_gradients asks for."""
    name = getattr(unconnected, "value", unconnected)
    if name not in ("none", "zero"):
        raise InvalidArgumentError(f"Unknown value for unconnected_gradients: {unconnected!r}; it is \"none\" or "
                                   "\"zero\"")
    return bool(name == "zero")


def seeds_of(target: Any, targets: list[Tensor], given: Any) -> list[Any]:
    """The gradient that enters at each target: ones, or what the caller gave, of the target's shape."""
    if given is None:
        return [_ones(t._value) for t in targets]
    if len(targets) == 1 and not (isinstance(given, (list, tuple)) and len(given) == 1):
        flat: list[Any] = [given]
    else:
        flat = flatten(given)
    if len(flat) != len(targets):
        raise InvalidArgumentError(f"gradient: {len(flat)} output_gradients for {len(targets)} targets; one per "
                                   "target is needed")
    seeds: list[Any] = []
    for k, (t, seed) in enumerate(zip(targets, flat, strict=True)):
        if seed is None:
            raise InvalidArgumentError(f"gradient: output_gradients[{k}] is None; give ones to let the gradient "
                                       "enter unchanged")
        if not isinstance(seed, Tensor):
            seed = adopt("output_gradients", seed, t._value.dtype)
        elif seed._value.dtype != t._value.dtype:
            raise InvalidArgumentError(f"gradient: output_gradients[{k}] is of dtype {seed.dtype}, its target of "
                                       f"{t.dtype}; cast it first")
        if seed.shape != t._shape:
            raise ShapeError(f"gradient: output_gradients[{k}] has shape {seed.shape}, its target {t._shape}; they "
                             "must be the same")
        seeds.append(seed)
    return seeds


def _ones(value: Any) -> Any:
    return np.ones(value.shape, value.dtype) if type(value) is np.ndarray else type(value)(1)


def gradients_of(tape: GradientTape, entries: Entries, targets: list[Tensor], seeds: list[Any],
                 sources: list[Tensor], zeros: bool, given: bool) -> list[Tensor | None]:
    """One gradient per source, None where there is no path (zeros if they are wanted)."""
    observer = seam.observer
    if observer is None:
        return walk(tape, entries, targets, seeds, sources, zeros, None, None)
    with_call = Calling(tape, "gradient", targets, sources, seeds if given else None, observer)
    with with_call as call:
        call.results = walk(tape, entries, targets, seeds, sources, zeros, call.call, observer)
    return call.results


class Calling:
    """Tells the observer that a gradient call starts and ends, whatever happens in between."""

    def __init__(self, tape: GradientTape, kind: CallKind, targets: list[Tensor], sources: list[Tensor],
                 seeds: list[Any] | None, observer: Observer) -> None:
        outputs: list[Tensor | None] | None = None
        if seeds is not None:
            outputs = [s if isinstance(s, Tensor) else make(s) for s in seeds]
        self.call = GradientCall(tape, kind, list(targets), list(sources), outputs, _calls.get())
        self.observer = observer
        self.results: list[Tensor | None] = []

    def __enter__(self) -> Calling:
        self.token = _calls.set(self.call)
        self.observer.on_gradient_start(self.call)
        return self

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        _calls.reset(self.token)
        self.observer.on_gradient_end(self.call, self.results, error)


def walk_simple(entries: Entries, target: Tensor, sources: list[Any]) -> list[Tensor | None] | None:
    """The walk of a training step: one target, leaves as sources, all on this list; None: take the general road."""
    top = target._index
    value = target._value
    if target._entries is not entries or value.dtype.kind not in "fc":
        return None
    low = top + 1
    wanted = []
    for s in sources:
        t = type(s)
        if t is not Variable and t is not Tensor:
            return None
        i = s._index                    # before the list: see `locate`
        if s._entries is not entries or i > top or entries[i] is not LEAF:
            return None
        if i < low:
            low = i
        wanted.append(i)
    G: list[Any] = [None] * (top + 1)
    G[top] = np.ones(value.shape, value.dtype) if type(value) is ndarray else type(value)(1)
    walk_bare(entries, top, low, G, bytearray(top + 1))
    results: list[Tensor | None] = []
    for s, i in zip(sources, wanted, strict=True):
        g = G[i]
        if g is None:
            results.append(None)
        elif g.dtype is not s._value.dtype:
            return None                     # integers, which have no gradient
        elif type(g) is ndarray and g.ndim:
            y = _new(Tensor)
            y._value = g
            y._shape = g.shape
            y._entries = None
            y._index = -1
            results.append(y)
        else:
            results.append(make(g))
    return results


def walk(tape: GradientTape, entries: Entries, targets: Sequence[Tensor], seeds: Sequence[Any],
         sources: Sequence[Tensor], zeros: bool, call: GradientCall | None,
         observer: Observer | None) -> list[Tensor | None]:
    """Walk back from the targets to the sources."""
    recorded = active() is not None
    live = tape.members(entries) if entries.shared else None
    starts: list[tuple[int, Any]] = []
    top = -1
    for t, seed in zip(targets, seeds, strict=True):
        i = t._index
        if t._entries is not entries:
            i = find(t, entries)
        if i >= 0 and (live is None or live[i]) and t._value.dtype.kind in "fc":
            starts.append((i, seed))
            top = max(top, i)
    wanted: list[int] = []
    low = top + 1
    for s in sources:
        i = s._index
        if s._entries is not entries:
            i = find(s, entries)
        if i > top or i < 0 or (live is not None and not live[i]) or s._value.dtype.kind not in "fc":
            i = -1
        elif i < low:
            low = i
        wanted.append(i)
    G: list[Any] = [None] * (top + 1)
    if low <= top:
        own = bytearray(top + 1)
        for i, seed in starts:
            if recorded:
                seed = seed if isinstance(seed, Tensor) else make(seed)
                G[i] = seed if G[i] is None else G[i] + seed
            else:
                add(G, own, i, seed._value if isinstance(seed, Tensor) else seed)
        keep = {i for i in wanted if i >= 0 and entries[i] is not LEAF}
        if recorded:
            walk_by_rows(entries, top, low, G, own, keep, live, call, observer, True)
        elif observer is not None and call is not None:
            walk_observed(entries, top, low, G, own, keep, live, call, observer)
        elif keep or live is not None:
            walk_marked(entries, top, low, G, own, keep, live)
        else:
            walk_bare(entries, top, low, G, own)
    results: list[Tensor | None] = []
    for s, i in zip(sources, wanted, strict=True):
        g = G[i] if i >= 0 else None
        if type(g) is np.ndarray and g.ndim:
            y = _new(Tensor)
            y._value = g
            y._shape = g.shape
            y._entries = None
            y._index = -1
            results.append(y)
        else:
            results.append(_result(s, i, g, targets, seeds, zeros))
    return results


def _result(source: Tensor, i: int, g: Any, targets: Sequence[Tensor], seeds: Sequence[Any],
            zeros: bool) -> Tensor | None:
    if i < 0:
        # A source that is a target itself has the gradient that enters there, on a tape or not.
        for t, seed in zip(targets, seeds, strict=True):
            if t is source:
                g = seed if g is None else g + seed
    if g is None:
        return make(np.zeros(source._shape, source._value.dtype)) if zeros else None
    return g if isinstance(g, Tensor) else make(g)


def walk_bare(entries: Entries, top: int, low: int, G: list[Any], own: bytearray) -> None:
    """The fast walk: no observer, no outer tape, every entry this tape's, sources are leaves."""
    k = top
    try:
        for k in range(top, low, -1):
            g = G[k]
            if g is not None:
                e = entries[k]
                undo = e[0]
                if undo is not None:
                    G[k] = None
                    undo(g, e, G, own)
    except Exception as error:
        explain(error, entries, k)
        raise


def walk_marked(entries: Entries, top: int, low: int, G: list[Any], own: bytearray, keep: set[int],
                live: bytearray | None) -> None:
    """The same where some gradients on the way are wanted, or some entries are other tapes'."""
    k = top
    try:
        for k in range(top, low, -1):
            g = G[k]
            if g is not None:
                e = entries[k]
                undo = e[0]
                if undo is not None and (live is None or live[k]):
                    if k not in keep:
                        G[k] = None
                    undo(g, e, G, own)
    except Exception as error:
        explain(error, entries, k)
        raise


def explain(error: Exception, entries: Entries, k: int) -> None:
    """Say at which op a backward rule raised."""
    if not isinstance(error, MissingGradientError):
        row = PARSERS[entries[k][0]](entries[k])[0]
        error.add_note(f"raised by the backward rule of {row.name!r}, entry {k} of the tape")


def walk_by_rows(entries: Entries, top: int, low: int, G: list[Any], own: bytearray, keep: set[int],
                 live: bytearray | None, call: GradientCall | None, observer: Observer | None,
                 recorded: bool) -> None:
    """The walk by the rows' rules: recorded when an outer tape listens, and told to the observer if there is one."""
    m = RECORDED if recorded else RAW
    for k in range(top, low, -1):
        g = G[k]
        if g is None:
            continue
        e = entries[k]
        undo = e[0]
        if undo is None or (live is not None and not live[k]):
            continue
        if k not in keep:
            G[k] = None
        if undo is undo_part:
            undo_part(g, e, G, own)
            continue
        row, indices, y, xs, attrs = PARSERS[undo](e)
        many = undo is undo_rows
        outputs = tuple(range(k + 1, k + 1 + len(y))) if many else (k,)
        parts = tuple(g) if many else (g,)
        node = Node(row, k, indices, outputs)
        if observer is not None and call is not None:
            observer.on_vjp_enter(call, node, tuple(_plain(part) for part in parts))
        if many:
            g = tuple(_zeros(part, result, recorded) for part, result in zip(parts, y, strict=True))
        if recorded:
            y = (tuple(_tensor(r, entries, i) for r, i in zip(y, outputs, strict=True)) if many
                 else _tensor(y, entries, k))
            xs = tuple(_tensor(x, entries, i) for x, i in zip(xs, indices, strict=True))
        try:
            contributions = row.contributions(m, indices, g, y, xs, attrs)
        except Exception as error:
            explain(error, entries, k)
            raise
        for i, c in zip(indices, contributions, strict=True):
            if c is not None:
                if recorded:
                    G[i] = c if G[i] is None else G[i] + c
                else:
                    add(G, own, i, c)
        if observer is not None and call is not None:
            observer.on_vjp_exit(call, node, tuple(_plain(c) for c in contributions))


def walk_observed(entries: Entries, top: int, low: int, G: list[Any], own: bytearray, keep: set[int],
                  live: bytearray | None, call: GradientCall, observer: Observer) -> None:
    """The walk that tells an observer what each entry contributes to each of its inputs.

    A fast form undoes its entry into an empty list, from where its contributions are read and added up; what the
    rows recorded, and an op that takes the same tensor twice, goes by the rules.
    """
    scratch: list[Any] = [None] * (top + 1)
    unused = bytearray(top + 1)
    for k in range(top, low, -1):
        g = G[k]
        if g is None:
            continue
        e = entries[k]
        undo = e[0]
        if undo is None or (live is not None and not live[k]):
            continue
        form = FORMS.get(undo)
        if form is None or (form[2] == 3 and e[1] == e[2]):
            walk_by_rows(entries, k, k - 1, G, own, keep, live, call, observer, False)
            continue
        if k not in keep:
            G[k] = None
        row, before, end, after = form
        indices = before + e[1:end] + after
        node = Node(row, k, indices, (k,))
        observer.on_vjp_enter(call, node, (g,))
        try:
            undo(g, e, scratch, unused)
        except Exception as error:
            explain(error, entries, k)
            raise
        contributions = tuple([scratch[i] if i >= 0 else None for i in indices])
        for i, c in zip(indices, contributions, strict=True):
            if i >= 0:
                scratch[i] = None
                p = G[i]
                if p is None:
                    G[i] = c
                else:
                    add(G, own, i, c)
        observer.on_vjp_exit(call, node, contributions)


def _plain(value: Any) -> Any:
    return value._value if isinstance(value, Tensor) else value


def _zeros(part: Any, result: Any, recorded: bool) -> Any:
    if part is not None:
        return part
    zeros = np.zeros(result.shape, result.dtype)
    return make(zeros) if recorded else zeros


def _tensor(value: Any, entries: Entries, index: int) -> Any:
    """A saved value as the tensor that it was, so that recorded rules continue its history."""
    if isinstance(value, (np.ndarray, np.generic)):
        return make(value, entries, index) if index >= 0 else make(value)
    return value
