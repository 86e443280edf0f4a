"""Arrays as text for the clipboard."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray


def as_numpy(value: NDArray[np.generic]) -> str:
    """A Python expression that makes the same array: every digit, and the element type."""
    with np.printoptions(threshold=max(value.size, 1) + 1, floatmode="unique"):
        body = np.array2string(value, separator=", ", max_line_width=110)
    body = body.replace("nan", "np.nan").replace("inf", "np.inf") if value.dtype.kind == "f" else body
    if value.size == 0:
        return f"np.zeros({value.shape}, dtype=np.{value.dtype})"
    return f"np.array({body}, dtype=np.{value.dtype})"


def as_csv(matrix: NDArray[np.generic]) -> str:
    """One line per row, every digit."""
    text = io.StringIO()
    for row in matrix.tolist():
        text.write(",".join(repr(x) for x in row) + "\n")
    return text.getvalue()
