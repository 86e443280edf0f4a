"""The columns of the operation table."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from tapeviz.analysis.magnitude import NOT_CAPTURED, WORDS, Magnitude, Special, clamped, health_word


@dataclass(frozen=True, slots=True)
class OpRows:
    """Columns; row i of every array is one operation.  Texts are dictionary-coded: names[name[i]].

    op: id; number: position within its iteration, from 1; step: backward step from 1, 0 = not undone by a pass
    line: 0 where unknown; value, grad: L2 norms of output and cotangent, NaN where there is none
    value_code, code: OK or the code of a Special; bin: of the gradient, relative to `reference` of its iteration
    arrived: step from 1 at which the first contribution to the cotangent came, 0 = never; duration: nanoseconds
    """

    op: np.ndarray
    number: np.ndarray
    iteration: np.ndarray
    step: np.ndarray
    arrived: np.ndarray
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

    def gradient(self, row: int) -> Magnitude:
        """The gradient of a row, for its chip."""
        code = int(self.code[row])
        if code == Special.NOT_CAPTURED.value:
            return NOT_CAPTURED
        if code:
            return Magnitude(float(self.grad[row]), None, Special(code))
        norm, reference = float(self.grad[row]), float(self.reference[row])
        return Magnitude(norm, int(self.bin[row]), None, clamped(norm, reference))

    def word(self, row: int) -> str:
        """The health of a row in one word ("vanishing", "typical", ...); a value that is not finite comes first."""
        if self.value_code[row] in _BROKEN:
            return WORDS[Special(int(self.value_code[row]))]
        return health_word(self.gradient(row), float(self.reference[row]))


_BROKEN = tuple(special.value for special in (Special.NAN, Special.POSINF, Special.NEGINF))
_CODED = {"name": "names", "output": "outputs", "shape": "shapes", "file": "files"}


def joined(first: OpRows, second: OpRows) -> OpRows:
    """The rows of one table after those of another; their texts get one numbering."""
    if not len(first) or not len(second):
        return second if not len(first) else first
    columns: dict[str, Any] = {}
    for column, dictionary in _CODED.items():
        mine, theirs = getattr(first, dictionary), getattr(second, dictionary)
        number = {text: code for code, text in enumerate(dict.fromkeys((*mine, *theirs)))}
        moved = np.array([number[text] for text in theirs], dtype=np.int32)
        columns[column] = np.concatenate([getattr(first, column), moved[getattr(second, column)]])
        columns[dictionary] = tuple(number)
    for field in fields(OpRows):
        if field.name not in columns:
            columns[field.name] = np.concatenate([getattr(first, field.name), getattr(second, field.name)])
    return OpRows(**columns)
