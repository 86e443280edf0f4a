"""Gradient calls into records: passes, steps, cotangents, contributions and results."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import CodeType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeviz.capture.statistics import Array
from tapeviz.capture.tensors import OpRef, VariableState
from tapeviz.recording.schema import NONE, PassKind, Role, State, Status, What

if TYPE_CHECKING:
    from tapeviz.capture.recorder import Recorder, TapeState

__gradtape__ = True   # the frames of this module are not the user's

_KINDS = {"gradient": PassKind.GRADIENT, "jacobian": PassKind.JACOBIAN, "batch_jacobian": PassKind.BATCH_JACOBIAN}


@dataclass
class PassState:
    """A gradient call that is running."""

    id: int
    call: Any
    tape: TapeState | None
    parent: int
    order: int
    loc: int
    at_op: int
    t: int
    targets: list[int]
    entries: Any                  # the tape's list, which it may let go of
    code: CodeType | None         # where the call is, in the user's program
    lasti: int
    steps: int = 0
    position: int = -1            # on that list, of the step before
    reached: set[int] = field(default_factory=set)            # tensors to which anything was contributed
    arrived: dict[int, int] = field(default_factory=dict)     # tensor -> contributions so far
    sums: dict[int, Array] = field(default_factory=dict)      # tensor -> their sum


class Backward:
    """Follows gradient calls; a part of the recorder."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._writer = recorder.writer
        self._put_step, self._put_pass = recorder.rows.appender("step"), recorder.rows.appender("pass")
        self._put_result = recorder.rows.appender("result")
        self._states: dict[int, PassState] = {}       # by id() of the call, which the state holds
        self.count = 0

    @property
    def running(self) -> int:
        """The gradient call that began last and still runs, NONE if none does."""
        return max((state.id for state in self._states.values()), default=NONE)

    def progress(self, call: Any) -> tuple[int, int]:
        """Pass and number of steps made, of a running call."""
        state = self._states[id(call)]
        return state.id, state.steps

    def started(self, code: CodeType | None, lasti: int, ident: int, call: Any, entries: Any,
                names: dict[int, str], t: int) -> None:
        """A gradient call began. `names`: what the user's program calls its targets and plain sources, by id()."""
        recorder = self._recorder
        thread = recorder.thread(ident)
        tape = recorder.tape_of(call.tape)
        targets = []
        for target in call.targets:
            tensor = recorder.tensors.find(target)
            targets.append(recorder.leaf(target) if tensor is None else tensor)
        for x in (*call.targets, *call.sources):
            tensor = recorder.tensors.find(x)
            if id(x) in names and tensor is not None:
                recorder.tensors.rename(tensor, names[id(x)])
        parent = self._states.get(id(call.parent)) if call.parent is not None else None
        state = PassState(
            self.count, call, tape, parent.id if parent else NONE, 1 + (tape.inner_order if tape else 0),
            recorder.places.loc(code, lasti), recorder.ops, t - self._writer.start_ns, targets, entries, code, lasti)
        state.arrived.update(dict.fromkeys(targets, 1))   # the seed
        state.reached.update(targets)
        self.count += 1
        self._states[id(call)] = state
        thread.passes.append(state)
        self._write(state, Status.RUNNING, 0)

    def entered(self, call: Any, node: Any, cotangents: tuple[Array | None, ...], t: int) -> OpRef | None:
        """A node is about to be undone: its cotangents are complete."""
        state, recorder = self._states[id(call)], self._recorder
        if node.index >= state.position and state.steps:   # the next row of a jacobian: another walk
            state.arrived = dict.fromkeys(state.targets, 1)
            state.sums.clear()
        state.position = node.index
        ref = recorder.tensors.made_at(state.entries, node.output_positions[0])
        if ref is None or not recorder.with_stats:
            return ref
        for tensor, cotangent in zip(ref.outputs, cotangents, strict=False):
            state.sums.pop(tensor, None)
            if cotangent is not None:
                recorder.quantity(tensor, What.COTANGENT, cotangent, pass_=state.id)
        return ref

    def undone(self, call: Any, ref: OpRef | None, contributions: tuple[Array | None, ...], t: int, dur: int) -> None:
        """A node was undone: what it contributed to its inputs."""
        state, recorder = self._states[id(call)], self._recorder
        if ref is None:   # an op from before the recording began
            return
        given = 0
        for slot, (tensor, part) in enumerate(zip(ref.inputs, contributions, strict=False)):
            if part is None:
                continue
            given += 1
            before = state.arrived.get(tensor, 0)
            state.arrived[tensor] = before + 1
            state.reached.add(tensor)
            if recorder.with_stats:
                request = recorder.quantity(tensor, What.CONTRIBUTION, part, ref.id, state.id, slot)
                self._accumulate(state, tensor, part, request)
        arrived = max((state.arrived.get(tensor, 0) for tensor in ref.outputs), default=0)
        self._put_step((state.id, state.steps, ref.id, t - self._writer.start_ns, min(dur, NONE), min(arrived, 0xFFFF),
                        min(given, 0xFFFF)))
        state.steps += 1

    def _accumulate(self, state: PassState, tensor: int, part: Array, request: int) -> None:
        """Keep the running sum at a fan-in, and compare what arrives with it."""
        before = state.sums.get(tensor)
        if before is None:
            state.sums[tensor] = part
        elif before.shape == part.shape:
            self._recorder.batch.angle(request, part, before)
            with np.errstate(all="ignore"):
                state.sums[tensor] = before + part

    def ended(self, failed: bool, ident: int, call: Any, results: list[Any], t: int) -> None:
        """A gradient call ended, with one result per source or with an error."""
        state = self._states.pop(id(call))
        thread = self._recorder.thread(ident)
        if state in thread.passes:
            thread.passes.remove(state)
        variables = set()
        if not failed:
            for number, (source, result) in enumerate(zip(call.sources, results, strict=False)):
                variable = self._result(state, number, source, result)
                if variable != NONE:
                    variables.add(variable)
        if state.tape is not None:
            for tape in thread.tapes:
                if tape is not state.tape:
                    tape.inner_order = max(tape.inner_order, state.order)
            self._recorder.iterations.gradient_taken(state.tape.loc, variables)
        self._write(state, Status.ERROR if failed else Status.OK, t - self._writer.start_ns)

    def _result(self, state: PassState, number: int, source: Any, result: Any) -> int:
        """Record what was returned for one source; returns the source's variable, NONE if it is a plain tensor."""
        recorder, tensors = self._recorder, self._recorder.tensors
        variable: VariableState | None = None
        if getattr(source, "_serial", 0):
            variable = recorder.variable_state(source)
            # The version that the tape has read, should it have been assigned to since.
            tensor = next((v for v in reversed(variable.versions) if v in state.reached), variable.tensor)
        else:
            found = tensors.find(source)
            tensor = recorder.leaf(source) if found is None else found
        connected = tensor in state.reached or not recorder.with_ops
        what = State.NONE if result is None else State.OK if connected else State.ZERO_UNCONNECTED
        number_of = variable.id if variable else NONE
        name = tensors.name_of(tensor) if variable is None else variable.name
        self._put_result((state.id, number, what, 0, tensor, number_of, tensors.name_id(name)))
        if result is None:
            recorder.batch.add((tensor, NONE, state.id, What.GRADIENT, 0), None)
            return number_of
        value = getattr(result, "_value", result)
        if variable is not None:
            variable.gradient = value
        if tensors.find(result) is None:
            made = tensors.new(value, Role.GRADIENT, variable=number_of,
                               name=tensors.name_id(self._gradient_name(state, number, name)))
            tensors.know(result, made)
            if recorder.with_stats:
                recorder.quantity(made, What.VALUE, value)
        recorder.quantity(tensor, What.GRADIENT, value, pass_=state.id)
        return number_of

    def _gradient_name(self, state: PassState, number: int, source_name: str) -> str:
        """What the program calls a result, else "dloss/dw"."""
        targets = self._recorder.places.result_names(state.code, state.lasti)
        if len(targets) == len(state.call.sources):
            return targets[number]
        if len(targets) == 1:
            return f"{targets[0]}[{number}]"
        target = self._recorder.tensors.name_of(state.targets[0]) if state.targets else ""
        return f"d{target or 'target'}/d{source_name or number}"

    def _write(self, s: PassState, status: Status, ended: int) -> None:
        tape = s.tape
        self._put_pass((
            s.id, tape.id if tape else NONE, s.parent, status, _KINDS[s.call.kind], tape.persistent if tape else 0,
            min(s.order, 255), s.targets[0] if s.targets else NONE, min(len(s.targets), 0xFFFF),
            min(len(s.call.sources), 0xFFFF), tape.enter_op if tape else NONE, s.at_op, s.loc, s.steps, s.t, ended))
