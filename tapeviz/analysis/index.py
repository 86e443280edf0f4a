"""What views look up again and again, gathered from the records once per revision of the recording."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import update_wrapper
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from tapeviz.recording.reader import Recording
from tapeviz.recording.schema import NONE, Phase, State, What

_P = ParamSpec("_P")
_R = TypeVar("_R")
_NEWEST = 512    # so many statistics at the end tell which iteration is the newest measured one
_KEPT = 32      # results per function and recording; older ones are computed again when asked for

_Results = dict[Any, Any]
_memory: WeakKeyDictionary[Recording, dict[str, tuple[int, _Results, _Results]]] = WeakKeyDictionary()


def remembered(function: Callable[Concatenate[Recording, _P], _R]) -> Callable[Concatenate[Recording, _P], _R]:
    """Keep the results of a function of a recording until the recording has grown."""
    return _remembering(function, None)


def remembered_of_iteration(
        function: Callable[Concatenate[Recording, _P], _R]) -> Callable[Concatenate[Recording, _P], _R]:
    """The same for a function of an iteration (its second argument): kept for good once the iteration is over.

    A live recording grows thirty times a second; what is shown of an earlier iteration must not be made anew each time.
    """
    return _remembering(function, lambda recording, iteration: iteration)


def remembered_of_pass(
        function: Callable[Concatenate[Recording, _P], _R]) -> Callable[Concatenate[Recording, _P], _R]:
    """The same for a function of a pass."""
    return _remembering(function, lambda recording, pass_: recording.iteration_of_pass(pass_))


def _remembering(function: Callable[Concatenate[Recording, _P], _R],
                 iteration_of: Callable[[Recording, Any], int | None] | None,
                 ) -> Callable[Concatenate[Recording, _P], _R]:
    name = f"{function.__module__}.{function.__qualname__}"

    def look_up(recording: Recording, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        functions = _memory.setdefault(recording, {})
        revision, passing, lasting = functions.get(name, (-1, {}, {}))
        if revision != recording.revision:
            passing = {}
            functions[name] = (recording.revision, passing, lasting)
        iteration = iteration_of(recording, args[0]) if iteration_of and args else None
        key = (args, tuple(sorted(kwargs.items())), None if iteration is None else _extent(recording, iteration))
        results = lasting if iteration is not None and is_over(recording, iteration) else passing
        if key not in results:
            result = function(recording, *args, **kwargs)
            if len(results) >= _KEPT:
                del results[next(iter(results))]
            results[key] = result
        found: _R = results[key]
        return found

    update_wrapper(look_up, function)
    return look_up


@dataclass(frozen=True, slots=True)
class PassIndex:
    """Everything the recording knows of one backward pass.

    rows: its step records, by step; step_of: the step that undoes an op
    cotangent: statistics by tensor; contribution: by (op, slot)
    received: for every tensor the (op, slot) whose steps added to its gradient, in order of arrival
    delivered: statistics of what the call returned, by tensor; results: its result records
    """

    pass_: int
    iteration: int
    rows: np.ndarray
    step_of: dict[int, int]
    cotangent: dict[int, Any]
    contribution: dict[tuple[int, int], Any]
    received: dict[int, list[tuple[int, int]]]
    delivered: dict[int, Any]
    results: np.ndarray


@remembered_of_pass
def pass_index(recording: Recording, pass_: int) -> PassIndex:
    """The index of one pass."""
    rows = recording.steps_of(pass_)
    rows = rows[np.argsort(rows["step"], kind="stable")]
    step_of = dict(zip(rows["op"].tolist(), rows["step"].tolist(), strict=True))
    cotangents = recording.stats_of(What.COTANGENT, pass_=pass_)
    given = recording.stats_of(What.GRADIENT, pass_=pass_)
    flows = recording.stats_of(What.CONTRIBUTION, pass_=pass_)
    ops, slots, tensors = flows["op"].tolist(), flows["slot"].tolist(), flows["tensor"].tolist()
    contribution = {(op, slot): row for op, slot, row in zip(ops, slots, flows, strict=True)}
    received: dict[int, list[tuple[int, int]]] = {}
    if len(flows):
        last = len(step_of)
        order = sorted(range(len(ops)), key=lambda i: (step_of.get(ops[i], last), slots[i]))
        for i in order:
            if int(flows["state"][i]) != State.NONE and (ops[i], slots[i]) not in received.get(tensors[i], ()):
                received.setdefault(tensors[i], []).append((ops[i], slots[i]))
    else:
        _from_inputs(recording, rows, received, step_of)
    return PassIndex(
        pass_, recording.iteration_of_pass(pass_), rows, step_of,
        dict(zip(cotangents["tensor"].tolist(), cotangents, strict=True)), contribution, received,
        dict(zip(given["tensor"].tolist(), given, strict=True)),
        recording.results_of(pass_))


def _from_inputs(recording: Recording, rows: np.ndarray, received: dict[int, list[tuple[int, int]]],
                 step_of: dict[int, int]) -> None:
    """Where no contribution was recorded: gradients went to inputs that the pass goes on with, or to variables."""
    tensors = recording.tensors
    for op in rows["op"].tolist():
        for slot, tensor in enumerate(recording.op_inputs(op)):
            if tensor != NONE and (int(tensors["op"][tensor]) in step_of or tensors["variable"][tensor] != NONE):
                received.setdefault(tensor, []).append((op, slot))


def main_pass(recording: Recording, iteration: int) -> int | None:
    """The pass that views show for an iteration: of those that no other pass started the one with most steps.

    The last one if several have as many; None without any.
    """
    passes = recording.passes_of(iteration)
    if len(passes) < 2:
        return passes[0] if passes else None
    outer = [p for p in passes if int(recording.passes["parent"][p]) == NONE] or passes
    return max(outer, key=lambda p: (int(recording.passes["steps"][p]), p))


def iteration_count(recording: Recording) -> int:
    """How many iterations there are so far; a script without a training loop is one iteration."""
    return len(recording.iterations) or int(len(recording.ops) > 0)


def iteration_in_range(recording: Recording, iteration: int) -> int:
    """The nearest iteration that exists (0 in an empty recording)."""
    return max(0, min(int(iteration), iteration_count(recording) - 1))


def _extent(recording: Recording, iteration: int) -> bytes:
    """Where an iteration begins and ends: it changes when iterations turn out to be micro-batches of one."""
    return recording.iterations["first_op"][max(iteration, 0):iteration + 2].tobytes()


@remembered
def _measured(recording: Recording) -> int:
    """The newest iteration of which statistics have come; they come in batches, later than the operations."""
    if recording.meta.get("level") == "tape":      # there will be none
        return iteration_count(recording) - 1
    passes = recording.stats["pass"][-_NEWEST:]
    passes = passes[passes != NONE]
    return recording.iteration_of_pass(int(passes.max())) if len(passes) else 0


def is_over(recording: Recording, iteration: int) -> bool:
    """Whether nothing will be added to an iteration any more."""
    return recording.finished or iteration < min(_measured(recording), iteration_count(recording) - 1)


def _undoes_backward_ops(recording: Recording, iteration: int) -> bool:
    pass_ = main_pass(recording, iteration)
    if pass_ is None:
        return False
    ops = recording.steps_of(pass_)["op"]
    return bool((recording.ops["phase"][ops[ops < len(recording.ops)]] == Phase.BACKWARD).any())


def shown_ops(recording: Recording, iteration: int, *, backward: bool | None = None) -> list[int]:
    """Operations of the iteration's forward part and, if `backward`, those made by backward rules.

    Not said: those of backward rules are shown if the main pass undoes some, that is, if it is of higher order.  An
    iteration in which no tape was open shows what ran at all.
    """
    if backward is None:
        backward = _undoes_backward_ops(recording, iteration)
    span = recording.ops_of(iteration)
    phase = recording.ops["phase"][span.start:span.stop]
    wanted = phase == Phase.FORWARD
    if backward:
        wanted |= phase == Phase.BACKWARD
    if not wanted.any():
        wanted = phase == Phase.OUTSIDE
    shown = np.flatnonzero(wanted) + span.start
    # while the run goes on an op may be there before its tensors: it is shown when it is whole
    ops = recording.ops[shown]
    whole = (ops["nout"] == 0) | (ops["output"].astype(np.int64) + ops["nout"] <= len(recording.tensors))
    return [int(op) for op in shown[whole]]
