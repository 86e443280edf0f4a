"""Where elements were kept: the iterations whose backward passes can be looked into."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tapeviz.recording.reader import Recording
from tapeviz.recording.schema import NONE, What

_BACKWARD = (What.COTANGENT, What.CONTRIBUTION)


def captured_iterations(recording: Recording) -> NDArray[np.int64]:
    """The iterations of which cotangents or contributions were kept, ascending."""
    values = recording.values
    passes = np.unique(values["pass"][np.isin(values["what"], _BACKWARD) & (values["pass"] != NONE)])
    firsts = recording.iterations["first_pass"]
    if not len(firsts):
        return np.zeros(min(len(passes), 1), np.int64)
    return np.unique(np.maximum(np.searchsorted(firsts, passes, side="right") - 1, 0)).astype(np.int64)


def nearest_captured(recording: Recording, iteration: int) -> int | None:
    """The captured iteration closest to this one (itself if it is captured); None if there is none."""
    captured = captured_iterations(recording)
    if not len(captured):
        return None
    return int(captured[np.argmin(np.abs(captured - iteration))])
