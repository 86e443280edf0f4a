"""Series over iterations: the health map, the gradient lines, the loss, and the time map of a recurrent net."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class HealthMap:
    """Gradient norm of every variable in every iteration.

    variables: ids, in the order of the rows: the layer closest to the loss on top
    names: unique; shapes: texts; iterations: ids of the columns
    l2: rows x iterations, NaN where there is no number; state: OK or the code of a Special
    bins: relative to the median of the same iteration; median: that reference per iteration
    """

    variables: tuple[int, ...]
    names: tuple[str, ...]
    shapes: tuple[str, ...]
    iterations: np.ndarray
    l2: np.ndarray
    state: np.ndarray
    bins: np.ndarray
    median: np.ndarray


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a plot over iterations.

    y: NaN where there is no ordinary number; state: OK or the code of a Special, so that gaps can be marked as what
    they are; log10: of y, NaN where y is not positive
    """

    name: str
    x: np.ndarray
    y: np.ndarray
    state: np.ndarray
    log10: np.ndarray
    variable: int | None = None


@dataclass(frozen=True, slots=True)
class Envelope:
    """A series thinned out to buckets, extremes kept.

    x: first iteration of each bucket; low, high: smallest and largest ordinary number, NaN when there is none
    state: worst special code in the bucket, OK when there is none
    """

    x: np.ndarray
    low: np.ndarray
    high: np.ndarray
    state: np.ndarray
