"""The rows of the health map as the view needs them: cell codes, names and texts, from analysis' HealthMap."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from tapeviz.analysis.format import sci
from tapeviz.analysis.magnitude import OK, WORDS, Special, absolute_bins
from tapeviz.analysis.series import HealthMap
from tapeviz.gui.health.cells import MIDDLE, NAN, NEGINF, NONE, NOT_CAPTURED, POSINF, UNDERFLOW, ZERO, Codes
from tapeviz.gui.theme import Theme

_CODES = {
    Special.NONE: NONE, Special.NAN: NAN, Special.POSINF: POSINF, Special.NEGINF: NEGINF, Special.ZERO: ZERO,
    Special.UNDERFLOW: UNDERFLOW, Special.NOT_CAPTURED: NOT_CAPTURED,
}
SPECIALS = {code: special for special, code in _CODES.items()}
_LUT = np.zeros(max(s.value for s in Special) + 1, np.int8)
for _special, _code in _CODES.items():
    _LUT[_special.value] = _code


def _empty() -> np.ndarray:
    return np.empty((0, 0))


@dataclass(frozen=True)
class Rows:
    """What is drawn; everything per cell is asked by (row, column)."""

    names: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()
    variables: tuple[int, ...] = ()
    absolute: bool = False
    codes: Codes = field(default_factory=lambda: np.empty((0, 0), np.int8))
    l2: np.ndarray = field(default_factory=_empty)
    state: np.ndarray = field(default_factory=_empty)
    median: np.ndarray = field(default_factory=lambda: np.empty(0))

    @property
    def title(self) -> str:
        if self.absolute:
            return "Gradient norm, absolute"
        return "Gradient norm relative to the median layer of the same iteration"

    @property
    def short_title(self) -> str:
        return "Gradient norm" if self.absolute else "Gradient norm / median"

    def value_text(self, row: int, column: int) -> str:
        """"1.1e-5", or the word of what it is instead of a number."""
        if not 0 <= column < self.l2.shape[1]:
            return ""
        state = int(self.state[row, column])
        return sci(float(self.l2[row, column])) if state == OK else WORDS[Special(state)]

    def decades(self, row: int, column: int) -> float | None:
        """log10 of the ratio to the median of the iteration; None where there is no ratio."""
        if not 0 <= column < self.l2.shape[1] or self.state[row, column] != OK:
            return None
        norm, median = float(self.l2[row, column]), float(self.median[column])
        return math.log10(norm) - math.log10(median) if norm > 0 and median > 0 else None

    def reach(self) -> float:
        """Decades from the median that the values go, held between 2 and 6: the scale of the bars."""
        norms = np.where(self.state == OK, self.l2, np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            decades = np.abs(np.log10(norms) - np.log10(self.median))
        decades = decades[np.isfinite(decades)]
        return float(np.clip(decades.max(), 2.0, 6.0)) if decades.size else 2.0

    def colours(self, row: int, column: int, theme: Theme) -> tuple[str, str]:
        """Fill and ink of an ordinary cell."""
        code = int(self.codes[row, column])
        if self.absolute:
            return theme.absolute_bins[code], theme.absolute_bin_text[code]
        return theme.bins[code], theme.bin_text[code]

    def describe(self, row: int, column: int) -> str:
        """One line for the tooltip, the readout and a screen reader."""
        text = f"{self.names[row]}, iteration {column}: {self.value_text(row, column)}"
        decades = self.decades(row, column)
        if decades is None:
            return text
        code = int(self.codes[row, column])
        if self.absolute or code == MIDDLE:
            return text
        side = "above" if decades > 0 else "below"
        return f"{text}, {abs(decades):.1f} decades {side} the median"


def rows_of(health: HealthMap, absolute: bool) -> Rows:
    """Cell codes of a health map in relative or absolute mode."""
    bins = absolute_bins(health.l2) if absolute else health.bins
    codes = np.where(health.state == OK, bins + np.int8(MIDDLE), _LUT[health.state]).astype(np.int8)
    return Rows(health.names, health.shapes, health.variables, absolute, codes, health.l2, health.state,
                health.median)
