"""What the gradient magnitudes of an iteration are relative to."""

from __future__ import annotations

import math

import numpy as np

from tapeviz.analysis.index import main_pass, pass_index, remembered_of_iteration
from tapeviz.analysis.magnitude import median_norm, special_codes
from tapeviz.analysis.series import health
from tapeviz.recording.reader import Recording


@remembered_of_iteration
def reference_of(recording: Recording, iteration: int) -> float:
    """The median gradient norm over the sources of an iteration, as in the health map.

    Without any (no gradient was recorded for a source) the median over the cotangents of the main pass; NaN when
    nothing was differentiated.
    """
    median = health(recording).median
    norm = float(median[iteration]) if 0 <= iteration < len(median) else math.nan
    if not math.isnan(norm):
        return norm
    pass_ = main_pass(recording, iteration)
    stats = [] if pass_ is None else list(pass_index(recording, pass_).cotangent.values())
    if not stats:
        return math.nan
    rows = np.array(stats, dtype=stats[0].dtype)
    return median_norm(rows["l2"], special_codes(rows))

