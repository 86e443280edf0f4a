"""Events of the engine into records: the slow half of the recorder, which works through a batch at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import numpy as np

from tapeviz.capture import activations
from tapeviz.capture.backward import Backward, PassState
from tapeviz.capture.batch import StatBatch, first_nonfinite
from tapeviz.capture.iterations import Iterations
from tapeviz.capture.rows import Rows
from tapeviz.capture.source import Places
from tapeviz.capture.statistics import Array
from tapeviz.capture.tensors import OpRef, Tensors, VariableState, as_array, drop_unheld
from tapeviz.capture.values import ValueKeeper
from tapeviz.recording.schema import NONE, AssignKind, OpFlag, Phase, Role, TensorFlag, What
from tapeviz.recording.writer import Writer

__gradtape__ = True   # the frames of this module are not the user's

LEVELS = ("params", "tape", "stats", "values")
TEXT_LIMIT = 64 << 20       # characters of output that are recorded
_ASSIGN_KINDS = {"assign": AssignKind.ASSIGN, "add": AssignKind.ADD, "sub": AssignKind.SUB}
_LONGEST_ATTRIBUTE = 200


@dataclass
class TapeState:
    """A tape as far as the queue of events has been worked through."""

    id: int
    loc: int
    persistent: int
    enter_op: int
    t: int
    thread: int
    parent: int = NONE
    entered: int = 0
    inner_order: int = 0     # highest order of a gradient call made while this tape was listening


@dataclass(frozen=True)
class Mark:
    """Where a recorder stands: what has gathered in this batch, the next ids, variables and their versions."""

    rows: dict[str, int]
    requests: int
    counters: dict[str, int]
    variables: dict[int, tuple[int, int]]     # serial -> tensor, version


@dataclass
class ThreadState:
    """Open tapes and running gradient calls of one thread of the script."""

    number: int
    tapes: list[TapeState] = field(default_factory=list)
    passes: list[PassState] = field(default_factory=list)


class Recorder:
    """Takes events in order (methods named after them) and appends records; statistics follow with `end_batch`."""

    def __init__(self, writer: Writer, level: str, value_budget: int) -> None:
        rank = LEVELS.index(level)
        self.writer = writer
        self.with_ops, self.with_stats = rank >= 1, rank >= 2
        self.places = Places(writer)
        self.rows = Rows(writer)
        self.tensors = Tensors(writer, self.rows)
        self.values = ValueKeeper(writer, value_budget, everything=rank >= 3)
        self.batch = StatBatch(writer)
        self.iterations = Iterations(writer, writer.now())
        self.backward = Backward(self)
        self.ops = 0
        self.tapes = 0
        self.threads: dict[int, ThreadState] = {}
        self.names: dict[int, str] = {}                  # of variables, by serial, found in the user's frames
        self.used_tape = False
        self._tape_states: dict[int, tuple[Any, TapeState]] = {}
        self._put_op, self._put_tape = self.rows.appender("op"), self.rows.appender("tape")
        self._put_watch, self._put_assign = self.rows.appender("watch"), self.rows.appender("assign")
        self._unplaced: list[tuple[Any, ...]] = []       # watches by being read: they happen where the next op is
        self._kinds: dict[int, tuple[Any, int, int]] = {}
        self._attrs: dict[object, int] = {}
        self._scopes: dict[tuple[str, ...], int] = {(): NONE}
        self._created: dict[int, tuple[Any, Any, CodeType | None, int]] = {}
        self._texts: list[tuple[str, list[str], int]] = []
        self._text_left = TEXT_LIMIT
        self._found_nonfinite = self._said_degraded = False
        self._request_iterations = [(0, 0)]      # first request of the batch, iteration
        self._start = writer.start_ns

    # --- batches ----------------------------------------------------------------------------------------------

    def end_batch(self) -> None:
        """Compute the statistics that were asked for; make everything visible to readers."""
        self._place_watches(NONE)
        self.rows.write()
        records = self.batch.write()
        if not self._found_nonfinite and len(records):
            self._look_for_nonfinite(records)
        self.values.settle()
        if self.values.degraded and not self._said_degraded:
            self._said_degraded = True
            self.writer.event("level", {"level": "stats", "why": self.values.degraded}, self.last_op)
        self._request_iterations = [(0, self.iterations.current)]
        self._write_texts()
        self.writer.flush()

    def _look_for_nonfinite(self, records: np.ndarray[Any, np.dtype[np.void]]) -> None:
        """The iteration in which the first NaN or infinity appears is kept in full, with the one before it."""
        first = first_nonfinite(records)
        if first is not None:
            self._found_nonfinite = True
            self.values.freeze(next(it for start, it in reversed(self._request_iterations) if start <= first))

    def finish(self) -> None:
        """The run has ended, in whatever way: write what was waiting for that."""
        for variable, *_ in list(self._created.values()):   # those that were never used
            self.variable_state(variable)
        self.values.freeze()
        self.writer.set_meta("used_tape", self.used_tape)
        self.end_batch()

    def quantity(self, tensor: int, what: What, array: Any, op: int = NONE, pass_: int = NONE, slot: int = 0) -> int:
        """A quantity was computed: statistics for it, and maybe its value. Returns the number of the request."""
        if not isinstance(array, (np.ndarray, np.generic)):
            array = as_array(array)
        self.values.offer(tensor, what, array, pass_, op, slot)
        return self.batch.add((tensor, op, pass_, what, slot), array)

    def thread(self, ident: int) -> ThreadState:
        """What is known of a thread."""
        found = self.threads.get(ident)
        if found is None:
            found = self.threads[ident] = ThreadState(len(self.threads))
        return found

    # --- operations -------------------------------------------------------------------------------------------

    def op(self, row: Any, code: CodeType | None, lasti: int, recorded: bool, scope: tuple[str, ...], ident: int,
           error: str, attrs: dict[str, Any], inputs: tuple[Any, ...], outputs: tuple[Any, ...], started: int,
           ended: int) -> None:
        """An op ran (or raised: no outputs, `error`)."""
        if not self.with_ops:
            return
        number = self.ops
        self.ops = number + 1
        thread = self.thread(ident)
        loc = self.places.loc(code, lasti)
        if self._unplaced:
            self._place_watches(loc)
        known = self._kinds.get(id(row))
        kind, flags = (known[1], known[2]) if known else self._kind(row)
        if recorded:
            flags |= OpFlag.RECORDED
        if error:
            flags |= OpFlag.FAILED
            self.writer.op_extra(number, "error", error)
        find = self.tensors.find
        read = []
        for slot, x in enumerate(inputs):
            tensor = find(x)
            read.append(self.leaf(x, row, slot, code, lasti) if tensor is None else tensor)
        made = tuple([self._output(row, number, k, y, code, lasti) for k, y in enumerate(outputs)])
        count = len(read)
        four = (*read, NONE, NONE, NONE, NONE)[:4] if count <= 4 else tuple(read[:4])
        if count > 4:
            self.writer.op_extra(number, "inputs", read)
        passes, tapes = thread.passes, thread.tapes
        phase = (Phase.BACKWARD if passes else Phase.FORWARD if tapes
                 else Phase.UPDATE if self.iterations.gradient_seen else Phase.OUTSIDE)
        self._put_op((
            number, kind, phase, flags, self._scopes[scope] if scope in self._scopes else self._scope(scope),
            loc, thread.number, min(count, 255), len(made), *four, made[0] if made else NONE,
            started - self._start, min(ended - started, NONE), tapes[-1].id if tapes else NONE,
            passes[-1].id if passes else NONE, self._attrs_id(attrs) if attrs else NONE))
        if recorded:
            ref = OpRef(number, tuple(read), made)
            for y, tensor in zip(outputs, made, strict=True):
                self.tensors.place(y._entries, y._index, tensor, ref)

    def _output(self, row: Any, op: int, k: int, y: Any, code: CodeType | None, lasti: int) -> int:
        value = y._value
        name = self.places.result_name(code, lasti, k)
        tensor = self.tensors.new(value, Role.INTERMEDIATE, op, name=self.tensors.name_id(name))
        self.tensors.know(y, tensor)
        if self.with_stats:
            request = self.quantity(tensor, What.VALUE, value, op)
            if row.name in activations.NAMES:
                self.batch.activation(request, row.name, value)
        return tensor

    def leaf(self, x: Any, row: Any = None, slot: int = 0, code: CodeType | None = None, lasti: int = -1) -> int:
        """The tensor of something no op has made: a variable, a constant, an array, a number."""
        if getattr(x, "_serial", 0):
            return self.variable_state(x).tensor
        argument = row.arguments[min(slot, len(row.arguments) - 1)] if row is not None and row.arguments else ""
        name = self.places.operand_name(code, lasti, row.name, slot, argument) if row is not None else ""
        tensor, value = self.tensors.constant(x, name)
        if self.with_stats:
            self.quantity(tensor, What.VALUE, value)
        return tensor

    def _kind(self, row: Any) -> tuple[int, int]:
        flags = (0 if row.differentiable else OpFlag.NONDIFFERENTIABLE) | (
            OpFlag.STOPS_GRADIENT if row.stops_gradient else 0)
        number = self.writer.kind(row.name, row.formula, row.arguments, row.vjp_formulas, flags)
        if len(self._kinds) > 10_000:   # rows made on the fly by custom gradients
            self._kinds.clear()
        self._kinds[id(row)] = (row, number, flags)
        return number, flags

    def _scope(self, names: tuple[str, ...]) -> int:
        parent = self._scopes[names[:-1]] if names[:-1] in self._scopes else self._scope(names[:-1])
        found = self._scopes[names] = self.writer.scope_id(parent, "name", names[-1])
        return found

    def _attrs_id(self, attrs: dict[str, Any]) -> int:
        try:
            key = tuple(attrs.items())
            found = self._attrs.get(key)
        except TypeError:   # lists and arrays are no keys
            return self.writer.attrs_id({k: plain(v) for k, v in attrs.items()})
        if found is None:
            found = self._attrs[key] = self.writer.attrs_id({k: plain(v) for k, v in attrs.items()})
        return found

    # --- variables --------------------------------------------------------------------------------------------

    def created(self, variable: Any, value: Any, code: CodeType | None, lasti: int) -> None:
        """A variable was created; its record waits until it is used and so may have got its name."""
        self._created[variable._serial] = (variable, value, code, lasti)

    def variable_state(self, variable: Any) -> VariableState:
        """What is known of a variable; its records are written when it is first used."""
        serial = variable._serial
        state = self.tensors.variables.get(serial)
        if state is None:
            _, value, code, lasti = self._created.pop(serial, (variable, variable._value, None, -1))
            found = self.names.pop(serial, "") or self.places.result_name(code, lasti)
            name = found if has_default_name(variable) and found else variable.name
            trainable = bool(variable.trainable)
            number = self.writer.variable(name, value.shape, value.dtype, trainable, self.places.loc(code, lasti))
            tensor = self._version(number, 0, value, trainable)
            state = self.tensors.variables[serial] = VariableState(
                variable, number, name, 0, tensor, value, trainable, [tensor])
        return state

    def _version(self, variable: int, version: int, value: Array, trainable: bool) -> int:
        flags = TensorFlag.TRAINABLE | TensorFlag.WATCHED if trainable else 0
        tensor = self.tensors.new(value, Role.VARIABLE, variable=variable, version=version, flags=flags)
        self.quantity(tensor, What.VALUE, value)
        return tensor

    def assigned(self, kind: str, code: CodeType | None, lasti: int, ident: int, variable: Any, given: Any,
                 before: Any, after: Any, t: int) -> None:
        """A variable was assigned to."""
        state = self.variable_state(variable)
        source = self.tensors.find(given)
        by = self.tensors.producer(source)
        state.version += 1
        state.tensor = tensor = self._version(state.id, state.version, after, state.trainable)
        state.value = after
        state.versions = [*state.versions[-3:], tensor]
        self._put_assign((state.id, state.version, tensor, by, self.places.loc(code, lasti), self.ops,
                          t - self._start, _ASSIGN_KINDS[kind], 0))
        if after.dtype.kind in "fc" and after.shape == before.shape:
            with np.errstate(all="ignore"):
                update = after - before
            request = self.quantity(tensor, What.UPDATE, update, by)
            gradient = state.gradient
            if gradient is not None and gradient.shape == update.shape:
                self.batch.angle(request, update, gradient, opposite=True)
        self.iterations.assigned(state.id)

    def skip_versions(self, variable: Any, value: Array, count: int) -> None:
        """A variable was assigned to so many times while nothing was recorded; `value` is what it has now."""
        state = self.variable_state(variable)
        state.version += count
        state.tensor = self._version(state.id, state.version, value, state.trainable)
        state.versions = [*state.versions[-3:], state.tensor]
        state.gradient = None

    def leaving(self, x: Any, how: str, code: CodeType | None, lasti: int) -> None:
        """A tensor or variable became plain data, which no tape follows."""
        tensor = self.variable_state(x).tensor if x._serial else self.tensors.find(x)
        if tensor is not None:
            variable = self.variable_state(x).id if x._serial else NONE
            self.event("left", {"tensor": tensor, "variable": variable, "how": how,
                                "loc": self.places.loc(code, lasti)})

    # --- tapes ------------------------------------------------------------------------------------------------

    def tape_of(self, tape: Any) -> TapeState:
        """What is known of a tape; one that was entered before the recording began becomes known now."""
        known = self._tape_states.get(id(tape))
        return known[1] if known else self._new_tape(tape, NONE, bool(tape.persistent), self.writer.now(), 0)

    def _new_tape(self, tape: Any, loc: int, persistent: bool, t: int, thread: int) -> TapeState:
        state = TapeState(self.tapes, loc, persistent, self.ops, t, thread)
        self.tapes += 1
        self._tape_states[id(tape)] = (tape, state)
        return state

    def entered(self, persistent: bool, code: CodeType | None, lasti: int, ident: int, tape: Any, t: int) -> None:
        """A tape was entered."""
        self.used_tape = True
        thread, loc = self.thread(ident), self.places.loc(code, lasti)
        if not any(other.tapes or other.passes for other in self.threads.values()):
            self.open_outermost(loc, t)
        known = self._tape_states.get(id(tape))
        state = known[1] if known else self._new_tape(tape, loc, persistent, t - self._start, thread.number)
        state.parent = thread.tapes[-1].id if thread.tapes else NONE
        state.entered += 1
        thread.tapes.append(state)
        self._write_tape(state, 1, NONE)

    def would_begin(self, loc: int) -> bool:
        """Whether an iteration would begin with a tape that is entered there."""
        busy = any(thread.tapes or thread.passes for thread in self.threads.values())
        return not busy and self.iterations.would_begin(loc)

    def open_outermost(self, loc: int, t: int) -> bool:
        """A tape is entered while none is open; returns whether an iteration has begun with it."""
        if not self.iterations.tape_opened(loc, self.ops, self.backward.count, t - self._start):
            return False
        # Nothing of the iteration before is needed any more, but for its newest values.
        self.tensors.sweep()
        drop_unheld(self._tape_states)   # an open one is held by its with statement
        self.values.begin(self.iterations.current)
        self._request_iterations.append((len(self.batch), self.iterations.current))
        return True

    def counters(self) -> dict[str, int]:
        """The next id of everything that is numbered."""
        return {"op": self.ops, "tensor": self.tensors.count, "pass": self.backward.count, "tape": self.tapes}

    def advance(self, counts: dict[str, int]) -> None:
        """So many ids of each sort have been given by somebody else."""
        self.ops += counts["op"]
        self.tensors.count += counts["tensor"]
        self.backward.count += counts["pass"]
        self.tapes += counts["tape"]

    def mark(self) -> Mark:
        """Where everything stands."""
        variables = {serial: (state.tensor, state.version) for serial, state in self.tensors.variables.items()}
        return Mark(self.rows.counts(), len(self.batch), self.counters(), variables)

    def left(self, ident: int, tape: Any) -> None:
        """A tape was left."""
        state, thread = self.tape_of(tape), self.thread(ident)
        if state in thread.tapes:
            thread.tapes.remove(state)
        self._write_tape(state, 0, self.ops)

    def watched(self, explicit: bool, position: int, code: CodeType | None, lasti: int, tape: Any, tensor: Any,
                entries: Any) -> None:
        """A tensor is watched, or a variable was read for the first time on a tape, and has this place there."""
        known = self._tape_states.get(id(tape))
        if known is None or not self.with_ops:
            return
        number = self.tensors.find(tensor)
        if number is None:
            number = self.leaf(tensor)
        if position >= 0 and self.tensors.made_at(entries, position) is None:
            self.tensors.place(entries, position, number)
        variable = self.variable_state(tensor).id if tensor._serial else NONE
        row = (known[1].id, number, variable, self.ops)
        if code is None:
            self._unplaced.append(row)
        else:
            self._put_watch((*row, self.places.loc(code, lasti), int(explicit), 0))

    def _place_watches(self, loc: int) -> None:
        for row in self._unplaced:
            self._put_watch((*row, loc, 0, 0))
        self._unplaced.clear()

    def _write_tape(self, s: TapeState, is_open: int, exit_op: int) -> None:
        self._put_tape((s.id, s.parent, s.persistent, is_open, s.thread, s.loc, s.enter_op, exit_op, s.t, s.entered))

    # --- what the script says ---------------------------------------------------------------------------------

    def text(self, stream: str, text: str, ops: int | None = None) -> None:
        """The script printed something after so many operations; neighbouring pieces become one event."""
        ops = self.ops if ops is None else ops
        if self._texts and self._texts[-1][0] == stream and self._texts[-1][2] == ops:
            self._texts[-1][1].append(text)
        else:
            self._texts.append((stream, [text], ops))

    def event(self, kind: str, data: dict[str, Any]) -> None:
        """Something else that happened once."""
        self._write_texts()
        self.writer.event(kind, data, self.last_op, self.backward.running)

    @property
    def last_op(self) -> int:
        """The operation that ran last, NONE before the first."""
        return self.ops - 1 if self.ops else NONE

    def _write_texts(self) -> None:
        texts, self._texts = self._texts, []
        for stream, pieces, ops in texts:
            text = "".join(pieces)
            if self._text_left <= 0:
                continue
            self._text_left -= len(text)
            if self._text_left <= 0:
                text = text[:self._text_left] + "\n… (the rest of the output is not recorded)\n"
            self.writer.event(stream, {"text": text}, ops - 1 if ops else NONE)


def has_default_name(variable: Any) -> bool:
    """Whether the user has given a variable no name."""
    return bool(variable.name == f"Variable:{variable._serial - 1}")


def plain(value: Any) -> Any:
    """An op's attribute as JSON can hold it."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)) and len(value) <= 32:
        return [plain(part) for part in value]
    text = repr(value)
    return text if len(text) <= _LONGEST_ATTRIBUTE else text[:_LONGEST_ATTRIBUTE] + "…"
