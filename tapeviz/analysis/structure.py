"""The navigator's list: every variable in network order with the health of its gradient, and the loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tapeviz.analysis.magnitude import Magnitude


@dataclass(frozen=True, slots=True)
class StructureRow:
    """One variable, or the loss (variable None).

    spark: log10 gradient norm (for the loss: its value) of the last iterations, NaN where there is no number
    """

    name: str
    shape: str
    variable: int | None
    size: Magnitude
    spark: np.ndarray
    value: float
