"""The steps of a backward pass: the table of all of them and the card that explains one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tapeviz.analysis.magnitude import Magnitude


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
    share: its norm / the sum of the norms of all contributions into the same tensor
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

    arrived: how many contributions are in after this step ("2 of 2" with `total`)
    running: the sum of those; total_size, total_value: of all of them
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
    node_op: int | None
    variable: int | None


@dataclass(frozen=True, slots=True)
class Rule:
    """The vector-Jacobian product of one argument, with the user's names.

    latex: r"\\bar{h_{8}} \\mathrel{+}= \\bar{Y} W_{9}^{\\top}"; empty when the op has no formula for it
    shapes: "[4,5] += [4,4] . [4,5]"
    """

    slot: int
    argument: str
    latex: str
    shapes: str


@dataclass(frozen=True, slots=True)
class StepCard:
    """One backward step, explained: what came in, by which rule, what went out and what has added up.

    title: "matmul  h8 @ W9"; step counts from 0, count is the number of steps of the pass
    formula: LaTeX of the op with the operands' names; cotangents: one per output of the op
    contributions: one per argument that received something; accumulations: one per tensor that received
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
