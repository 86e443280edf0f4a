"""GradientTape, with the behaviour of TensorFlow's: what is recorded, what is watched, and when a tape is used up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gradtape.entries import LEAF, Entries, activate, active, add_leaf, find, home, positions
from gradtape.errors import RecordingStateError, SourceError, TapeStateError, WatchError, warn
from gradtape.jacobians import batch_jacobian_of, jacobian_of
from gradtape.nests import flatten, pack
from gradtape.observers import seam
from gradtape.tensor import Tensor
from gradtape.variable import Variable
from gradtape.walk import gradients_of, seeds_of, walk_simple, zeros_wanted

if TYPE_CHECKING:
    from types import TracebackType

__gradtape__ = True

USED_UP = ("this tape was used up by its first gradient(): a non-persistent GradientTape can only be used to compute "
           "one set of gradients (or jacobians); write GradientTape(persistent=True) to call it again")
NEVER_ENTERED = ("this tape has recorded nothing: open it with `with GradientTape() as tape:` before the computation "
                 "(a GradientTape can only be used after its block was entered)")
DELETED = "this tape was deleted by delete(); open a new one, or enter it again"


class GradientTape:
    """Records operations in its block, for their gradients.

    persistent: gradient() may be called any number of times; the memory is held until the tape is deleted
    watch_accessed_variables: watch trainable variables when they are read
    """

    __slots__ = ("__weakref__", "_entries", "_gone", "_known", "_recording", "_spans", "persistent",
                 "watch_accessed", "watched", "watches")

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self.persistent = persistent
        self.watch_accessed = watch_accessed_variables
        self._recording = False
        self._gone = NEVER_ENTERED                      # why gradient() cannot be called; "" when it can
        self._entries: Entries | None = None
        self._known: tuple[bytearray, int, int] | None = None    # members() so far: entries, how many, how many watches
        self._spans: list[int] = []                     # start, stop, start, ... of recording, as list positions
        self.watches: list[tuple[int, int]] = []       # (length of the list at that time, position watched)
        self.watched: dict[int, Variable] = {}         # by serial: the order of construction

    # --- the block -------------------------------------------------------------------------------

    def __enter__(self) -> GradientTape:
        if self._recording:
            raise RecordingStateError("Tape is still recording: leave its block before you enter it again")
        if self._entries is None:
            if self.watched:
                self.watched = {}
            if active() is None:            # the common case: a fresh tape and no other
                self._entries = entries = Entries()
                entries.attached = 1
                entries.recording.append(self)
                activate(entries)
                self._gone = ""
                self._spans.append(0)
                self._recording = True
            else:
                self._start()
        else:
            self._start()
        if seam.observer is not None:
            seam.observer.on_tape_enter(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        if self._recording:
            self._stop()
        if seam.observer is not None:
            seam.observer.on_tape_exit(self)

    def _start(self) -> None:
        """Record from now on, on the list that this thread records on already, if there is one."""
        entries, now = self._home(), active()
        if entries is None:
            if now is None:
                entries = Entries()
                activate(entries)
            else:
                entries = now
                entries.shared = True
                entries.invalidate()
            entries.attached += 1
            self._entries = entries
            self._gone = ""
        elif now is None:
            if entries.shared:
                entries.invalidate()
            activate(entries)
        elif now is not entries:
            now.absorb(entries)
            entries = self._home()
            assert entries is not None
        else:
            entries.invalidate()
        entries.recording.append(self)
        self._spans.append(len(entries))
        self._recording = True

    def _stop(self) -> None:
        entries = self._entries
        self._recording = False
        if entries is None:
            return
        if entries.moved is not None:
            entries = self._home()
            assert entries is not None
        self._spans.append(len(entries))
        entries.recording.remove(self)
        if not entries.recording:
            if not entries.shared:
                entries.cached.clear()
            if active() is entries:
                activate(None)

    def _home(self) -> Entries | None:
        """This tape's list, after it was appended to another one if that happened."""
        entries = self._entries
        while entries is not None and entries.moved is not None:
            into, offset, _ = entries.moved
            self._spans = [k + offset for k in self._spans]
            self.watches = [(time + offset, home(entries, k)[1]) for time, k in self.watches]
            self._entries = entries = into
            self._known = None
        return entries

    def _release(self, why: str) -> None:
        """Give up the list; its contents go when no other tape needs them."""
        entries = self._entries if self._entries is None or self._entries.moved is None else self._home()
        first = self._spans[0] if self._spans else 0
        self._entries = None
        self._gone = why
        self._spans.clear()
        self.watches.clear()
        if entries is not None:
            entries.attached -= 1
            if not entries.attached:
                entries.drop()
            else:
                self._known = None
                _forget(entries, first)

    def __del__(self) -> None:
        if self._entries is not None:
            if self._recording:
                self._stop()
            self._release(DELETED)

    # --- what is watched -------------------------------------------------------------------------

    def watch(self, tensor: Any) -> None:
        """Watch a tensor, a variable or a nest of them: what is computed from them later will be recorded."""
        for x in flatten(tensor):
            if not isinstance(x, Tensor):
                raise WatchError(f"watch: {x!r:.60} is of type {type(x).__name__}, only tensors and variables can be "
                                 "watched; make one with gt.constant(...) and compute with it")
            entries = self._home()
            if entries is None:
                raise TapeStateError("watch: open the tape first, `with GradientTape() as tape: tape.watch(x)`"
                                     if self._gone == NEVER_ENTERED else f"watch: {self._gone}")
            if x.dtype.kind not in "fc":
                warn(f"the dtype of the watched tensor must be floating (e.g. float32), got {x.dtype}: "
                     "its gradient will be None")
            index = find(x, entries)
            if index < 0:
                index = add_leaf(x, entries)
            self.watches.append((len(entries), index))
            if isinstance(x, Variable):
                self.watched[x._serial] = x
                if not x.trainable:
                    x._entries = None
            if seam.observer is not None:
                seam.observer.on_watch(self, x, True)

    def saw(self, variable: Variable) -> None:
        """A trainable variable was read for the first time while this tape records."""
        if seam.observer is not None:
            seam.observer.on_watch(self, variable, False)

    def _is_recording(self) -> bool:
        return self._recording

    def mark(self, position: int) -> None:
        """Start, or stop, to own what is on the list from this position on."""
        self._spans.append(position)

    def watched_variables(self) -> tuple[Variable, ...]:
        """The variables watched so far, in the order in which they were made."""
        return tuple(self.watched[serial] for serial in sorted(self.watched))

    # --- pauses ----------------------------------------------------------------------------------

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Suspend recording on this tape inside the block; what is watched stays watched."""
        if self._gone == NEVER_ENTERED:
            raise TapeStateError(f"stop_recording: {NEVER_ENTERED}")
        if not self._recording:
            raise RecordingStateError("Tape is not recording.")
        self._stop()
        try:
            yield
        finally:
            if not self._is_recording():
                self._start()

    def reset(self) -> None:
        """Forget everything recorded and watched, and go on recording."""
        if not self._recording:
            raise RecordingStateError("Tape is not recording.")
        self._stop()
        self._release(NEVER_ENTERED)
        self.watched = {}
        self._start()

    def delete(self) -> None:
        """Release everything the tape holds, now; entering it again starts a fresh recording."""
        if self._recording:
            self._stop()
        self._release(DELETED)

    # --- gradients -------------------------------------------------------------------------------

    def _begin(self, what: str) -> Entries:
        """Checks that come before everything else; a non-persistent tape stops recording for good."""
        entries = self._home()
        if entries is None:
            raise TapeStateError(f"{what}: {self._gone}")
        if self._recording:
            if not self.persistent:
                self._stop()
            else:
                warn(f"{what}() of a persistent tape inside its own block records the backward pass too, which is "
                     "significantly less efficient; call it after the block unless you want higher derivatives")
        return entries

    def gradient(self, target: Any, sources: Any, output_gradients: Any = None,
                 unconnected_gradients: Any = "none") -> Any:
        """Gradient of the sum of all targets with respect to each source, in the structure of `sources`.

        target, sources: a tensor, a variable or a nest of them
        output_gradients: one per target, of its shape; ones by default
        unconnected_gradients: "none" or "zero": what to return where there is no path
        """
        entries = self._entries
        if entries is None or self._recording or entries.moved is not None:
            entries = self._begin("gradient")
        kind = type(sources)
        if (type(target) is Tensor and (kind is list or kind is Variable) and output_gradients is None
                and unconnected_gradients == "none" and not entries.shared and seam.observer is None
                and active() is None):
            simple = walk_simple(entries, target, sources if kind is list else [sources])
            if simple is not None:
                if not self.persistent:
                    self._release(USED_UP)
                return simple if kind is list else simple[0]
        if target is None:
            raise TypeError("gradient: target is None; it should be a tensor or a nest of tensors")
        zeros = unconnected_gradients != "none" and zeros_wanted(unconnected_gradients)
        targets = [target] if type(target) is Tensor else tensors_of(target, "target")
        flat = tensors_of(sources, "source")
        seeds = seeds_of(target, targets, output_gradients)
        results = gradients_of(self, entries, targets, seeds, flat, zeros, output_gradients is not None)
        if not self.persistent:
            self._release(USED_UP)
        if type(sources) is list and len(flat) == len(sources):
            return results
        return pack(sources, results)

    def jacobian(self, target: Tensor, sources: Any, unconnected_gradients: Any = "none",
                 parallel_iterations: int | None = None, experimental_use_pfor: bool = True) -> Any:
        """All partial derivatives of a tensor: one result per source, of shape target.shape + source.shape.

        The cost is that of target.size backward passes.  The last two parameters are TensorFlow's and change nothing,
        except that experimental_use_pfor=False needs a persistent tape, as there.
        """
        entries = self._begin("jacobian")
        self._needs_persistent(experimental_use_pfor)
        if not isinstance(target, Tensor):
            raise SourceError(f"jacobian: target is a {type(target).__name__}; it must be one tensor or variable")
        zeros = zeros_wanted(unconnected_gradients)
        flat = tensors_of(sources, "source")
        results = jacobian_of(self, entries, target, flat, zeros)
        if not self.persistent:
            self._release(USED_UP)
        return pack(sources, results)

    def batch_jacobian(self, target: Tensor, source: Tensor, unconnected_gradients: Any = "none",
                       parallel_iterations: int | None = None, experimental_use_pfor: bool = True) -> Tensor:
        """Jacobian of each row of target with respect to the same row of source: shape (batch, target, source).

        Rows are not checked to be independent: the result is the gradient of the sum over the batch.
        """
        entries = self._begin("batch_jacobian")
        self._needs_persistent(experimental_use_pfor)
        for name, x in (("target", target), ("source", source)):
            if not isinstance(x, Tensor):
                raise SourceError(f"batch_jacobian: {name} is a {type(x).__name__}; it must be one tensor or variable")
        zeros_wanted(unconnected_gradients)
        result = batch_jacobian_of(self, entries, target, source)
        if not self.persistent:
            self._release(USED_UP)
        return result

    def _needs_persistent(self, vectorised: bool) -> None:
        if not vectorised and not self.persistent:
            raise TapeStateError("experimental_use_pfor=False needs a persistent tape: GradientTape(persistent=True)")

    def members(self, entries: Entries) -> bytearray | None:
        """Which entries of a shared list are this tape's: made while it recorded, from something it watched.

        None: all of them, since no other tape ever recorded on the list.  What was found out stays known: a list only
        grows, so each entry is looked at once.
        """
        if not entries.shared:
            return None
        n = len(entries)
        live, known, seen = self._known or (bytearray(), 0, 0)
        live.extend(bytes(n - known))
        spans = self._spans if len(self._spans) % 2 == 0 else [*self._spans, n]
        watches = iter([*self.watches[seen:], (n + 1, -1)])
        time, watched = next(watches)
        for start, stop in zip(spans[::2], spans[1::2], strict=True):
            for k in range(max(start, known), stop):
                while time <= k:
                    live[watched] = 1
                    time, watched = next(watches)
                for i in positions(entries[k]):
                    if i >= 0 and live[i]:
                        live[k] = 1
                        break
        while time <= n:
            live[watched] = 1
            time, watched = next(watches)
        self._known = (live, n, len(self.watches))
        return live


def _forget(entries: Entries, first: int) -> None:
    """Empty the entries from `first` on that none of the remaining tapes has a part in, if all of those record now."""
    others = [recorder for recorder in entries.recording if isinstance(recorder, GradientTape)]
    if len(others) == entries.attached:
        lives = [tape.members(entries) for tape in others]
        for k in range(first, len(entries)):
            if not any(live is None or live[k] for live in lives):
                entries[k] = LEAF


def tensors_of(nest: Any, what: str) -> list[Tensor]:
    """The flat list of a nest, which must hold tensors only."""
    if type(nest) is list:
        for x in nest:
            if not isinstance(x, Tensor):
                break
        else:
            return nest
    flat = flatten(nest)
    for x in flat:
        if not isinstance(x, Tensor):
            advice = "gradients are taken of tensors and variables"
            if isinstance(x, Mapping) or x is None:
                advice = f"is the {what} missing?"
            raise SourceError(f"gradient: the {what} {x!r:.60} is of type {type(x).__name__}; {advice}")
    return flat
