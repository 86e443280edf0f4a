"""What the user looks at: one iteration, operation, backward step, tensor and element that agree with each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tapeviz.analysis.index import iteration_count, iteration_in_range, main_pass, pass_index
from tapeviz.recording.reader import Recording
from tapeviz.recording.schema import NONE


@dataclass(frozen=True, slots=True)
class Focus:
    """The one focus of the window.  Ids are those of the recording; None: nothing chosen."""

    iteration: int = 0
    op: int | None = None
    pass_: int | None = None
    step: int | None = None
    tensor: int | None = None
    element: tuple[int, ...] | None = None


def move(recording: Recording, focus: Focus, **change: Any) -> Focus:
    """The focus after choosing the given parts; the others follow.

    The most telling part given decides: step, then op, then tensor, then pass_, then iteration.  A step brings its
    op; an op the step that undoes it (None if the pass does not); a tensor the op that made it; a pass or iteration
    the same place in it as before.  What does not exist is brought into range, or dropped.
    """
    unknown = change.keys() - Focus.__slots__
    if unknown:
        raise TypeError(f"focus has no {', '.join(sorted(unknown))}; it has {', '.join(Focus.__slots__)}")
    if not iteration_count(recording):
        return Focus()
    iteration, op, pass_, step = _place(recording, focus, change)
    tensor = _tensor(recording, focus, change, iteration, op)
    element = change.get("element", focus.element)
    return Focus(iteration, op, pass_, step, tensor, _element(recording, element, tensor, "element" in change,
                                                             tensor == focus.tensor or op == focus.op))


_Place = tuple[int, int | None, int | None, int | None]


def _place(recording: Recording, focus: Focus, change: dict[str, Any]) -> _Place:
    """Iteration, op, pass and step."""
    op, tensor = change.get("op"), change.get("tensor")
    if change.get("step") is not None:
        return _at_step(recording, focus, change)
    if op is None and tensor is not None and "op" not in change and 0 <= tensor < len(recording.tensors):
        maker = int(recording.tensors["op"][tensor])
        op = maker if maker != NONE and "iteration" not in change else None
    if op is not None and 0 <= op < len(recording.ops):
        iteration = recording.iteration_of(op)
        pass_ = change.get("pass_", focus.pass_)
        return (iteration, op, *_undone(recording, iteration, op, pass_))
    if change.get("pass_") is not None and "iteration" not in change and 0 <= change["pass_"] < len(recording.passes):
        iteration, pass_ = recording.iteration_of_pass(change["pass_"]), change["pass_"]
    else:
        iteration, pass_ = change.get("iteration", focus.iteration), change.get("pass_")
    iteration = iteration_in_range(recording, iteration)
    return _same_place(recording, focus, change, iteration, pass_)


def _at_step(recording: Recording, focus: Focus, change: dict[str, Any]) -> _Place:
    """The step asked for, in the pass asked for (else the present one, or the main one of the iteration)."""
    pass_ = change.get("pass_")
    if pass_ is None and "iteration" in change:
        iteration = iteration_in_range(recording, change["iteration"])
        pass_ = main_pass(recording, iteration)
    elif pass_ is None:
        iteration = iteration_in_range(recording, focus.iteration)
        pass_ = focus.pass_ if focus.pass_ is not None else main_pass(recording, iteration)
    if pass_ is None or not 0 <= pass_ < len(recording.passes):
        return iteration_in_range(recording, focus.iteration), focus.op, None, None
    rows = pass_index(recording, pass_).rows
    if not len(rows):
        return recording.iteration_of_pass(pass_), focus.op, pass_, None
    step = max(0, min(int(change["step"]), len(rows) - 1))
    return recording.iteration_of_pass(pass_), int(rows["op"][step]), pass_, step


def _same_place(recording: Recording, focus: Focus, change: dict[str, Any], iteration: int,
                pass_: int | None) -> _Place:
    """What corresponds to the present focus in another iteration."""
    if pass_ not in recording.passes_of(iteration):
        pass_ = _same_pass(recording, focus, iteration)
    op = None if "op" in change else _same_op(recording, focus, iteration)
    step: int | None = None
    if pass_ is not None and "step" not in change:
        index = pass_index(recording, pass_)
        if op is not None:
            step = index.step_of.get(op)
        elif focus.step is not None and len(index.rows) and "op" not in change:
            step = min(focus.step, len(index.rows) - 1)
            op = int(index.rows["op"][step])
    return iteration, op, pass_, step


def _same_pass(recording: Recording, focus: Focus, iteration: int) -> int | None:
    passes = recording.passes_of(iteration)
    if focus.pass_ in passes:
        return focus.pass_
    if focus.pass_ is not None and focus.pass_ < len(recording.passes):
        before = recording.passes_of(recording.iteration_of_pass(focus.pass_))
        if len(before) == len(passes) and focus.pass_ in before:
            return passes[before.index(focus.pass_)]
    return main_pass(recording, iteration)


def _same_op(recording: Recording, focus: Focus, iteration: int) -> int | None:
    """The op at the same position if it is of the same kind, else the n-th of that kind on the same line."""
    if focus.op is None or focus.op >= len(recording.ops):
        return None
    ops = recording.ops
    here = recording.ops_of(recording.iteration_of(focus.op))
    there = recording.ops_of(iteration)
    op = there.start + (focus.op - here.start)
    if op in there and ops["kind"][op] == ops["kind"][focus.op] and ops["loc"][op] == ops["loc"][focus.op]:
        return op
    same = _like(ops[here.start:here.stop], ops[focus.op]) + here.start
    others = _like(ops[there.start:there.stop], ops[focus.op]) + there.start
    if not len(others):
        return None
    nth = int(np.searchsorted(same, focus.op))
    return int(others[min(nth, len(others) - 1)])


def _like(ops: np.ndarray, op: Any) -> np.ndarray:
    return np.flatnonzero((ops["kind"] == op["kind"]) & (ops["loc"] == op["loc"]))


def _undone(recording: Recording, iteration: int, op: int, pass_: int | None) -> tuple[int | None, int | None]:
    """The pass and step that undo an op: the present pass if it does, else the iteration's main pass, else any."""
    passes = recording.passes_of(iteration)
    main = main_pass(recording, iteration)
    for candidate in [pass_, main, *reversed(passes)]:
        if candidate in passes and candidate is not None:
            step = pass_index(recording, candidate).step_of.get(op)
            if step is not None:
                return candidate, step
    return (pass_ if pass_ in passes else main), None


def _tensor(recording: Recording, focus: Focus, change: dict[str, Any], iteration: int, op: int | None) -> int | None:
    """The tensor asked for; else the present one's counterpart; else the output of the op."""
    if "tensor" in change:
        tensor: int | None = change["tensor"]
        return tensor if tensor is not None and 0 <= tensor < len(recording.tensors) else None
    tensors, old = recording.tensors, focus.tensor
    if old is not None and old < len(tensors):
        maker = int(tensors["op"][old])
        variable = int(tensors["variable"][old])
        if op == focus.op and op is not None:
            return old
        moved_in_time = op is None or focus.op is None or recording.iteration_of(op) != recording.iteration_of(focus.op)
        if maker != NONE and maker == focus.op and op is not None and moved_in_time:
            nth = old - int(recording.ops["output"][maker])
            return int(recording.ops["output"][op]) + nth if nth < int(recording.ops["nout"][op]) else output_of(
                recording, op)
        if variable != NONE and moved_in_time:
            return variable_tensor(recording, iteration, variable)
    return output_of(recording, op)


def output_of(recording: Recording, op: int | None) -> int | None:
    """The first output of an op; None when it has none (it raised)."""
    if op is None or not int(recording.ops["nout"][op]):
        return None
    return int(recording.ops["output"][op])


def variable_tensor(recording: Recording, iteration: int, variable: int) -> int | None:
    """The tensor that stands for a variable in the operations of an iteration; None if none reads it."""
    span = recording.ops_of(iteration)
    inputs: Sequence[int] = np.unique(recording.ops["inputs"][span.start:span.stop]).tolist()
    owners = recording.tensors["variable"]
    for tensor in inputs:
        if tensor != NONE and tensor < len(owners) and int(owners[tensor]) == variable:
            return tensor
    return None


def _element(recording: Recording, element: tuple[int, ...] | None, tensor: int | None, asked: bool,
             same: bool) -> tuple[int, ...] | None:
    """The element if the tensor has it; it stays chosen only while the tensor means the same thing."""
    if element is None or tensor is None or not (asked or same):
        return None
    shape = recording.shape(int(recording.tensors["shape"][tensor]))
    inside = len(shape) == len(element) and all(0 <= i < n for i, n in zip(element, shape, strict=True))
    return tuple(int(i) for i in element) if inside else None
