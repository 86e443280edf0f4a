"""The loss of a recording that is not open, for the cards of the start page."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tapeviz.analysis.series import loss_series
from tapeviz.recording.reader import open_recording
from tapeviz.recording.rows import RecordingError

_NOTHING = np.empty(0)
_POINTS = 120
_MOST_BYTES = 30_000_000      # larger files take too long to read for a picture


def losses_of(path: Path) -> np.ndarray:
    """Up to 120 losses of a recording; empty if there is none, or nothing to read in it."""
    if not path.exists() or path.stat().st_size > _MOST_BYTES:
        return _NOTHING
    try:
        with open_recording(path) as recording:
            series = loss_series(recording)
    except RecordingError:
        return _NOTHING
    values: np.ndarray = series.y[np.isfinite(series.y)]
    if len(values) > _POINTS:
        values = values[np.linspace(0, len(values) - 1, _POINTS).astype(int)]
    return values
