"""The navigator's list: every variable in network order with the health of its gradient, and the loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tapeviz.analysis.magnitude import NOT_CAPTURED, OK, Magnitude, Special, clamped
from tapeviz.analysis.series import HealthMap, Series, health, loss_series
from tapeviz.recording.reader import Recording

SPARK_POINTS = 60      # a sparkline is some 60 px wide


@dataclass(frozen=True, slots=True)
class StructureRow:
    """One variable, or the loss (variable None).

    size: of the gradient in the iteration; value: the loss, or the gradient norm, NaN where there is none
    spark: log10 gradient norm (for the loss: its value) of the iterations up to this one, NaN where there is no number
    """

    name: str
    shape: str
    variable: int | None
    size: Magnitude
    spark: np.ndarray
    value: float


def structure_rows(recording: Recording, iteration: int) -> list[StructureRow]:
    """The variables in network order, closest to the loss first, then the loss."""
    shown = health(recording)
    rows = [_row(shown, i, iteration) for i in range(len(shown.names))]
    loss = loss_series(recording)
    if len(loss.y) and not (loss.state == Special.NOT_CAPTURED.value).all():
        rows.append(_loss_row(loss, iteration))
    return rows


def _row(shown: HealthMap, i: int, iteration: int) -> StructureRow:
    size = cell(shown, i, iteration)
    first = max(0, iteration + 1 - SPARK_POINTS)
    l2, state = shown.l2[i, first:iteration + 1], shown.state[i, first:iteration + 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        spark = np.where((state == OK) & (l2 > 0), np.log10(l2), np.nan)
    variable = shown.variables[i]
    return StructureRow(shown.names[i], shown.shapes[i], None if variable < 0 else variable, size, spark, size.norm)


def cell(shown: HealthMap, row: int, iteration: int) -> Magnitude:
    """One cell of the health map."""
    if not 0 <= iteration < len(shown.iterations):
        return NOT_CAPTURED
    code, norm = int(shown.state[row, iteration]), float(shown.l2[row, iteration])
    if code == Special.NOT_CAPTURED.value:
        return NOT_CAPTURED
    if code != OK:
        return Magnitude(norm, None, Special(code))
    return Magnitude(norm, int(shown.bins[row, iteration]), None, clamped(norm, float(shown.median[iteration])))


def _loss_row(loss: Series, iteration: int) -> StructureRow:
    at = min(max(iteration, 0), len(loss.y) - 1)
    code = int(loss.state[at])
    size = Magnitude(1.0, 0, None) if code == OK else Magnitude(float("nan"), None, Special(code))
    spark = loss.y[max(0, at + 1 - SPARK_POINTS):at + 1]
    return StructureRow("loss", "scalar", None, size, spark, float(loss.y[at]))
