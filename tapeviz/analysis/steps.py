"""The steps of a backward pass: the table of all of them and the card that explains one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tapeviz.analysis.formulas import Rule, formula, letters, rule, title
from tapeviz.analysis.graph import cancellation
from tapeviz.analysis.index import PassIndex, pass_index, remembered, remembered_of_pass
from tapeviz.analysis.magnitude import (
    NO_GRADIENT,
    OK,
    Magnitude,
    Special,
    magnitude,
    of_norm,
    ratio_bins,
    special_codes,
)
from tapeviz.analysis.names import tensor_text
from tapeviz.analysis.reference import reference_of
from tapeviz.recording.reader import Recording
from tapeviz.recording.schema import NONE, State, What

MOST_ELEMENTS = 4_000_000      # of contributions that are added up for the running sum


@dataclass(frozen=True, slots=True)
class StepTable:
    """Columns over the steps of one pass, in the order in which they ran.

    line: 0 where unknown; norm: L2 of the cotangent; code: OK or the code of a Special; bin: -4 ... 4
    arrived: how many contributions the cotangent was the sum of; contributions: how many the step produced
    """

    pass_: int
    iteration: int
    op: np.ndarray
    name: tuple[str, ...]
    line: np.ndarray
    norm: np.ndarray
    code: np.ndarray
    bin: np.ndarray
    arrived: np.ndarray
    contributions: np.ndarray
    duration: np.ndarray

    def __len__(self) -> int:
        return len(self.op)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A tensor, or a gradient, as the card shows it.

    name: "h8", else the op and its number ("matmul 25"); latex: the same for a formula, without a bar
    value: the elements, or None with the reason in `missing`
    """

    name: str
    latex: str
    tensor: int
    shape: tuple[int, ...]
    size: Magnitude
    value: np.ndarray | None
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one step added to the gradient of one tensor.

    target: the tensor that receives, as a Quantity of the contribution itself
    sign: -1 when it points against the sum of what arrived before, else 1
    share: its norm / the sum of the norms of all contributions into the same tensor, NaN where not known
    order: 1 for the first that arrived at the tensor
    """

    step: int
    op: int
    op_name: str
    line: int
    slot: int
    target: Quantity
    sign: int
    share: float
    order: int


@dataclass(frozen=True, slots=True)
class Accumulation:
    """The gradient of one tensor as it grows: every contribution into it, and where this step stands.

    contributions: all of them, in order of arrival; the first `arrived` are in after this step ("2 of 2" with `total`)
    running: the sum of those; complete: the whole gradient
    cancelled: 1 - norm of the sum / sum of the norms, over what has arrived; None while it is a single one
    """

    tensor: int
    name: str
    latex: str
    contributions: tuple[Contribution, ...]
    arrived: int
    total: int
    running: Quantity
    complete: Quantity
    cancelled: float | None
    variable: int | None


@dataclass(frozen=True, slots=True)
class StepCard:
    """One backward step, explained: what came in, by which rule, what went out and what has added up.

    title: "matmul  h8 @ W9"; step counts from 0, count is the number of steps of the pass
    formula: LaTeX of the op with the operands' names; cotangents: one per output of the op
    rules, contributions: for the arguments that received something; accumulations: one per tensor that received
    """

    pass_: int
    step: int
    count: int
    op: int
    op_name: str
    title: str
    iteration: int
    file: str
    line: int
    formula: str
    rules: tuple[Rule, ...]
    outputs: tuple[Quantity, ...]
    cotangents: tuple[Quantity, ...]
    operands: tuple[Quantity, ...]
    contributions: tuple[Contribution, ...]
    accumulations: tuple[Accumulation, ...]
    arrived: int
    attrs: dict[str, object]
    duration: int
    numeric_check: float | None = None


@remembered_of_pass
def steps_of(recording: Recording, pass_: int) -> StepTable:
    """All steps of a pass."""
    index = pass_index(recording, pass_)
    ops = index.rows["op"].astype(np.int64)
    norm = np.full(len(ops), np.nan)
    code = np.full(len(ops), Special.NOT_CAPTURED.value, dtype=np.uint8)
    target = int(recording.passes["target"][pass_])
    for i, op in enumerate(ops.tolist()):
        stats = [(t, index.cotangent[t]) for t in recording.op_outputs(op) if t in index.cotangent]
        if stats:
            stat = next((s for t, s in stats if t == target), stats[0][1])
            norm[i], code[i] = float(stat["l2"]), int(special_codes(np.array([stat]))[0])
    lines = np.array([recording.op_line(op)[1] for op in ops.tolist()], dtype=np.int32)
    bins = np.where(code == OK, ratio_bins(norm, reference_of(recording, index.iteration)), 0).astype(np.int8)
    names = tuple(recording.op_name(op) for op in ops.tolist())
    return StepTable(pass_, index.iteration, ops, names, lines, norm, code, bins, index.rows["arrived"],
                     index.rows["ncontributions"], index.rows["dur"])


@remembered
def step_card(recording: Recording, pass_: int, step: int) -> StepCard:
    """The card of one step.  Raises IndexError if the pass has no such step."""
    index = pass_index(recording, pass_)
    if not 0 <= step < len(index.rows):
        raise IndexError(f"pass {pass_} has {len(index.rows)} steps, there is no step {step}")
    return _Card(recording, index, step).card()


class _Card:
    """Gathers the parts of a card."""

    def __init__(self, recording: Recording, index: PassIndex, step: int) -> None:
        self.recording, self.index, self.step = recording, index, step
        self.op = int(index.rows["op"][step])
        self.reference = reference_of(recording, index.iteration)
        self.kind = recording.kind(int(recording.ops["kind"][self.op]))

    def card(self) -> StepCard:
        recording, op, index = self.recording, self.op, self.index
        inputs = recording.op_inputs(op)
        outputs = list(recording.op_outputs(op))
        named = letters(recording, op)
        slots = [slot for slot, tensor in enumerate(inputs) if (op, slot) in index.received.get(tensor, ())]
        accumulations = [self.accumulation(tensor) for tensor in dict.fromkeys(inputs[slot] for slot in slots)]
        mine = {(c.op, c.slot): c for a in accumulations for c in a.contributions}
        row = index.rows[self.step]
        file, line = recording.op_line(op)
        return StepCard(
            index.pass_, self.step, len(index.rows), op, self.kind.name, title(recording, op), index.iteration,
            file, line, formula(recording, op), tuple(rule(recording, op, slot) for slot in slots),
            tuple(self.quantity(t, latex, What.VALUE) for t, latex in zip(outputs, named.outputs, strict=True)),
            tuple(self.cotangent(t, latex) for t, latex in zip(outputs, named.outputs, strict=True)),
            tuple(self.quantity(t, latex, What.VALUE) for t, latex in zip(inputs, named.operands, strict=True)),
            tuple(mine[op, slot] for slot in slots), tuple(accumulations), int(row["arrived"]), recording.op_attrs(op),
            int(row["dur"]))

    def quantity(self, tensor: int, latex: str, what: What, op: int | None = None, slot: int | None = None,
                 load: bool = True) -> Quantity:
        """A quantity of a tensor with its statistics and, if they were kept, its elements."""
        recording = self.recording
        pass_ = None if what is What.VALUE else self.index.pass_
        if what is What.VALUE:
            stat = recording.stat(tensor, what)
        elif what is What.CONTRIBUTION:
            stat = self.index.contribution.get((int(op or 0), int(slot or 0)))
        else:
            stat = (self.index.cotangent if what is What.COTANGENT else self.index.delivered).get(tensor)
        value = recording.value(tensor, what, pass_, op, slot) if load else None
        return Quantity(
            tensor_text(recording, tensor), latex, tensor, recording.shape(int(recording.tensors["shape"][tensor])),
            magnitude(stat, self.reference), value, "" if value is not None else self.why_missing(stat))

    def why_missing(self, stat: Any) -> str:
        if stat is not None and int(stat["state"]) == State.NONE:
            return "There is no gradient: it is None."
        level = str(self.recording.meta.get("level", "stats"))
        if level in ("params", "tape"):
            return f"The elements were not captured: this run recorded at level {level}."
        return (f"The elements were not captured: at level {level} those of large tensors are kept for the newest "
                "iterations only.")

    def cotangent(self, tensor: int, latex: str) -> Quantity:
        """What came in for one output; an output that nothing depends on has no gradient."""
        found = self.quantity(tensor, latex, What.COTANGENT)
        if found.size.known or self.index.cotangent:
            return found if found.size.known else Quantity(
                found.name, latex, tensor, found.shape, NO_GRADIENT, None, "There is no gradient: it is None.")
        return found

    def accumulation(self, tensor: int) -> Accumulation:
        """Everything that flows into the gradient of a tensor that this step adds to."""
        recording, index = self.recording, self.index
        flows = index.received[tensor]
        steps = [index.step_of.get(op, len(index.rows)) for op, _ in flows]
        arrived = sum(step <= self.step for step in steps)
        latex = letters(recording, self.op).operands[recording.op_inputs(self.op).index(tensor)]
        elements = math.prod(recording.shape(int(recording.tensors["shape"][tensor])))
        # loading thousands of large contributions would stall the view: then only this step's elements are shown
        few = elements * arrived <= MOST_ELEMENTS
        parts = [
            self.quantity(tensor, latex, What.CONTRIBUTION, op, slot, (few and step <= self.step) or op == self.op)
            for (op, slot), step in zip(flows, steps, strict=True)]
        norms = [part.size.norm for part in parts]
        known = sum(norm for norm in norms if math.isfinite(norm))
        signs = self.signs(flows, parts)
        contributions = tuple(
            Contribution(steps[i], op, recording.op_name(op), recording.op_line(op)[1], slot, parts[i], signs[i],
                         norms[i] / known if known > 0 else math.nan, i + 1)
            for i, (op, slot) in enumerate(flows))
        complete = self.complete(tensor, latex, parts)
        running = self.running(tensor, latex, parts[:arrived], complete if arrived == len(flows) else None)
        variable = int(recording.tensors["variable"][tensor])
        return Accumulation(
            tensor, tensor_text(recording, tensor), latex, contributions, arrived, len(flows), running, complete,
            cancellation(running.size.norm, norms[:arrived]), variable if variable != NONE else None)

    def signs(self, flows: list[tuple[int, int]], parts: list[Quantity]) -> list[int]:
        """-1 for contributions that point against the sum before them: as recorded, else from the elements."""
        signs = []
        total: np.ndarray | None = None
        for flow, part in zip(flows, parts, strict=True):
            stat = self.index.contribution.get(flow)
            cosine = math.nan if stat is None else float(stat["cosine"])
            if math.isnan(cosine) and total is not None and part.value is not None:
                cosine = float(np.vdot(total, part.value.astype(np.float64)))
            signs.append(-1 if cosine < 0 else 1)
            if part.value is None or (total is None and signs[1:]):
                total = None
            else:
                total = part.value.astype(np.float64) if total is None else total + part.value
        return signs

    def complete(self, tensor: int, latex: str, parts: list[Quantity]) -> Quantity:
        """The whole gradient: the cotangent, else what the call returned, else the only contribution there is."""
        for what in (What.COTANGENT, What.GRADIENT):
            found = self.quantity(tensor, latex, what)
            if found.size.known:
                return found
        return parts[0] if len(parts) == 1 else found

    def running(self, tensor: int, latex: str, parts: list[Quantity], complete: Quantity | None) -> Quantity:
        """The sum of what has arrived; when that is everything it has the statistics of the whole gradient."""
        if len(parts) == 1 and complete is None:
            return parts[0]
        values = [part.value for part in parts]
        value = None
        if values and all(v is not None for v in values):
            value = np.sum([np.asarray(v, dtype=np.float64) for v in values], axis=0)
            value = value.astype(np.result_type(*[v for v in values if v is not None]))
        elif complete is not None:
            value = complete.value
        if complete is not None and complete.size.known:
            size = complete.size
        elif value is not None:
            size = size_of(value, self.reference)
        else:
            size = magnitude(None)
        shape = self.recording.shape(int(self.recording.tensors["shape"][tensor]))
        return Quantity(tensor_text(self.recording, tensor), latex, tensor, shape, size, value,
                        "" if value is not None else parts[-1].missing or "The elements were not captured.")


def size_of(value: np.ndarray, reference: float) -> Magnitude:
    """The magnitude of elements at hand."""
    wide = np.asarray(value, dtype=np.float64)
    for special, hit in ((Special.NAN, np.isnan(wide)), (Special.POSINF, np.isposinf(wide)),
                         (Special.NEGINF, np.isneginf(wide))):
        if hit.any():
            finite = wide[np.isfinite(wide)]
            return Magnitude(float(np.linalg.norm(finite)) if finite.size else math.nan, None, special)
    return of_norm(float(np.linalg.norm(wide)), reference)
