"""The table of operations: columns for the rows of one iteration or of the whole run, and the filter over them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class OpRows:
    """Columns; row i of every array is one operation.  Texts are dictionary-coded: names[name[i]].

    op: id; number: position within its iteration, from 1; step: backward step from 1, 0 = not undone by the pass
    line: 0 where unknown; grad: L2 of the cotangent; code, bin: as in magnitude; duration: nanoseconds
    """

    op: np.ndarray
    number: np.ndarray
    iteration: np.ndarray
    step: np.ndarray
    name: np.ndarray
    output: np.ndarray
    shape: np.ndarray
    file: np.ndarray
    line: np.ndarray
    value: np.ndarray
    value_code: np.ndarray
    grad: np.ndarray
    code: np.ndarray
    bin: np.ndarray
    reference: np.ndarray
    duration: np.ndarray
    names: tuple[str, ...]
    outputs: tuple[str, ...]
    shapes: tuple[str, ...]
    files: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.op)
