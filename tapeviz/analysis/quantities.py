"""Which quantities of a tensor a recording has: value, cotangent, what a step added, what gradient() returned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tapeviz.analysis.focus import Focus
from tapeviz.analysis.names import op_number
from tapeviz.recording.reader import Recording
from tapeviz.recording.schema import NONE, What


@dataclass(frozen=True, slots=True)
class Asked:
    """One quantity of one tensor, as the recording is asked for it.

    label: "Value", "Cotangent", "Contribution", "Gradient"; kept: whether its elements are in the recording
    stat: its statistics record, or None
    """

    label: str
    what: What
    tensor: int
    pass_: int | None
    op: int | None
    slot: int | None
    kept: bool
    stat: np.void | None

    def elements(self, recording: Recording) -> NDArray[np.generic] | None:
        """The elements, or None if they were not kept."""
        return recording.value(self.tensor, self.what, self.pass_, self.op, self.slot)


def quantities(recording: Recording, focus: Focus) -> list[Asked]:
    """What there is to see of the tensor in focus, for the pass and step in focus; always its value first."""
    tensor = focus.tensor
    if tensor is None or not 0 <= tensor < len(recording.tensors):
        return []
    asked: list[tuple[str, What, int | None, int | None, int | None]] = [("Value", What.VALUE, None, None, None)]
    if focus.pass_ is not None:
        asked.append(("Cotangent", What.COTANGENT, focus.pass_, None, None))
        if focus.step is not None and focus.op is not None:
            inputs = recording.op_inputs(focus.op)
            asked += [("Contribution", What.CONTRIBUTION, focus.pass_, focus.op, slot)
                      for slot, one in enumerate(inputs) if one == tensor][:1]
        asked.append(("Gradient", What.GRADIENT, focus.pass_, None, None))
    found = []
    for label, what, pass_, op, slot in asked:
        kept = recording.has_value(tensor, what, pass_, op, slot)
        stat = recording.stat(tensor, what, pass_, op, slot)
        if kept or stat is not None or what is What.VALUE:
            found.append(Asked(label, what, tensor, pass_, op, slot, kept, stat))
    return found


def made_by(recording: Recording, tensor: int) -> str:
    """"matmul 25" for the result of an operation, else what the tensor is."""
    op = int(recording.tensors["op"][tensor])
    if op != NONE and op < len(recording.ops):
        return f"{recording.op_name(op)} {op_number(recording, op)}"
    return "variable" if int(recording.tensors["variable"][tensor]) != NONE else "constant"
