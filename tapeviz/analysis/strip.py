"""The time strip: per column of pixels the range of the loss and the worst gradient of its iterations."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tapeviz.analysis.index import iteration_count
from tapeviz.analysis.magnitude import BINS, LIMIT, OK, Special, severity
from tapeviz.analysis.series import HealthMap, Series, health, loss_series
from tapeviz.recording.reader import Recording

_BIN_SCORE = np.array([severity(b) for b in BINS], dtype=np.int32)
_SPECIAL_SCORE = np.array([0, *(severity(s) for s in Special)], dtype=np.int32)    # by code; 0 is OK
_CODES = 64            # bins are stored as 0 ... 8, special values as 16 + code
_NOT_CAPTURED = Special.NOT_CAPTURED.value


@dataclass(frozen=True, slots=True)
class Strip:
    """Columns from the first to the last iteration.

    count: iterations; first: first iteration of each column, ascending
    low, high: range of the loss in the column, NaN where there is no ordinary number
    bin: worst bin, valid where special is OK; special: code of the worst special value
    """

    count: int
    first: np.ndarray
    low: np.ndarray
    high: np.ndarray
    bin: np.ndarray
    special: np.ndarray
    loss: np.ndarray | None

    def has_loss(self, iteration: int) -> bool:
        """Whether the loss of an iteration is known, be it a number or NaN."""
        return self.loss is not None and 0 <= iteration < len(self.loss) and not np.isneginf(self.loss[iteration])

    def loss_at(self, iteration: int) -> float:
        """The loss of one iteration; NaN if it was NaN."""
        return float(self.loss[iteration]) if self.loss is not None else math.nan


def make_strip(recording: Recording, columns: int) -> Strip:
    """The whole run in at most `columns` columns; a spike or a NaN of a single iteration is never lost."""
    count = iteration_count(recording)
    columns = max(1, min(columns, count))
    first = (np.arange(columns, dtype=np.int64) * count) // columns
    if not count:
        nothing = np.empty(0)
        return Strip(0, first[:0], nothing, nothing, np.empty(0, np.int8), np.empty(0, np.uint8), None)
    loss = _loss_by_iteration(loss_series(recording), count)
    worst = _worst_by_iteration(health(recording), count)
    code = np.maximum.reduceat(worst, first) % _CODES
    ordinary = code < 16
    if loss is None:
        low = high = np.full(columns, np.nan)
    else:
        finite = np.where(np.isfinite(loss), loss, np.nan)
        low, high = np.fmin.reduceat(finite, first), np.fmax.reduceat(finite, first)
    return Strip(
        count, first, low, high, np.where(ordinary, code - LIMIT, 0).astype(np.int8),
        np.where(ordinary, OK, code - 16).astype(np.uint8), loss,
    )


def _loss_by_iteration(series: Series, count: int) -> np.ndarray | None:
    """Indexed by iteration; NaN and infinity where that is what it was, minus infinity where none was recorded."""
    if not len(series.x):
        return None
    loss = np.full(count, -np.inf)
    inside = (series.x >= 0) & (series.x < count)
    value = np.where(series.state == OK, series.y, -np.inf)
    value[series.state == Special.NAN.value] = np.nan
    value[series.state == Special.POSINF.value] = np.inf
    # A loss of exactly zero is a special value of gradients, but a number here.
    value[series.state == Special.ZERO.value] = 0.0
    loss[series.x[inside].astype(np.int64)] = value[inside]
    return loss


def _worst_by_iteration(map_: HealthMap, count: int) -> np.ndarray:
    """score * 64 + code: the maximum of any of them is the worst, and says what it is."""
    lowest = (_score(_NOT_CAPTURED) + 64) * _CODES + 16 + _NOT_CAPTURED
    worst = np.full(count, lowest, dtype=np.int32)
    if map_.l2.size:
        ordinary = map_.state == OK
        bins = np.clip(map_.bins.astype(np.int32), -LIMIT, LIMIT) + LIMIT
        score = np.where(ordinary, _BIN_SCORE[bins], _SPECIAL_SCORE[map_.state])
        code = np.where(ordinary, bins, 16 + map_.state.astype(np.int32))
        keys = ((score + 64) * _CODES + code).max(axis=0)
        inside = (map_.iterations >= 0) & (map_.iterations < count)
        worst[map_.iterations[inside].astype(np.int64)] = keys[inside]
    return worst


def _score(code: int) -> int:
    return int(_SPECIAL_SCORE[code])
