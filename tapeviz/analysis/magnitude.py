"""How large a gradient is, in decades: nine bins around a reference, and the special values that no bin can hold.

Relative mode compares with a reference (by default the median over the variables of the same iteration): bin =
round(log10 ratio), clamped to -4 ... +4.  Absolute mode cuts 1e-12 ... 1e4 into nine bins with the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from tapeviz.analysis.format import sci
from tapeviz.recording.schema import State

BINS = range(-4, 5)
LIMIT = 4
ABSOLUTE_LOW, ABSOLUTE_HIGH = -12.0, 4.0      # decades covered by the nine bins of absolute mode
VANISHING_RATIO = 1e-2                        # below this share of the reference the health word is "vanishing"
EXPLODING_RATIO, EXPLODING_NORM = 1e2, 1e2    # above both the health word is "exploding"
OK = 0                                        # in arrays of states: an ordinary number, its bin says the rest


class Special(Enum):
    """What a quantity is when it is not an ordinary number; the values are the codes in arrays of states."""

    NONE = 1           # no gradient: not connected
    NAN = 2
    POSINF = 3
    NEGINF = 4
    ZERO = 5           # every element exactly zero
    UNDERFLOW = 6      # not zero, but only subnormal elements (or the norm itself is not representable)
    NOT_CAPTURED = 7   # the recording does not say


WORDS = {
    Special.NONE: "None", Special.NAN: "NaN", Special.POSINF: "Inf", Special.NEGINF: "-Inf", Special.ZERO: "0",
    Special.UNDERFLOW: "underflow", Special.NOT_CAPTURED: "not captured",
}
# The worst member gives a group its colour: broken numbers, then lost ones, then how far a bin is from the middle.
_SEVERITY = {
    Special.NAN: 100, Special.POSINF: 90, Special.NEGINF: 90, Special.ZERO: 60, Special.UNDERFLOW: 50,
    Special.NONE: -10, Special.NOT_CAPTURED: -20,
}


@dataclass(frozen=True, slots=True)
class Magnitude:
    """The size of one quantity, ready for colouring.

    norm: L2 norm of the finite elements; NaN where nothing is known
    bin: -4 ... 4; None when `special` says what it is
    clamped: -1 when the ratio is below the lowest bin, +1 when it is above the highest, else 0
    """

    norm: float
    bin: int | None
    special: Special | None
    clamped: int = 0

    @property
    def code(self) -> int | Special:
        """The bin or the special value."""
        return self.special if self.bin is None and self.special is not None else int(self.bin or 0)

    @property
    def text(self) -> str:
        """"4.3e-1", or the word of the special value."""
        return WORDS[self.special] if self.special is not None else sci(self.norm)

    @property
    def known(self) -> bool:
        """Whether the recording says anything about it."""
        return self.special is not Special.NOT_CAPTURED


NOT_CAPTURED = Magnitude(math.nan, None, Special.NOT_CAPTURED)
NO_GRADIENT = Magnitude(math.nan, None, Special.NONE)


def log_ratio_bin(value: float, reference: float) -> int:
    """The bin -4 ... 4 of `value` relative to `reference`; 0 when there is no usable reference."""
    if not (value > 0 and reference > 0 and math.isfinite(reference)):
        return 0 if value > 0 or math.isnan(value) else -LIMIT
    if math.isinf(value):
        return LIMIT
    # the difference of logarithms: the quotient of two extreme numbers could overflow
    return max(-LIMIT, min(LIMIT, _round(math.log10(value) - math.log10(reference))))


def clamped(value: float, reference: float) -> int:
    """-1 or +1 when `value` lies outside the end bins of the relative scale, else 0."""
    if not (value > 0 and reference > 0 and math.isfinite(reference) and math.isfinite(value)):
        return 0
    decade = _round(math.log10(value) - math.log10(reference))
    return (decade > LIMIT) - (decade < -LIMIT)


def absolute_bin(value: float) -> int:
    """The bin -4 ... 4 of `value` on the absolute scale 1e-12 ... 1e4."""
    if not value > 0:
        return -LIMIT
    share = (math.log10(value) - ABSOLUTE_LOW) / (ABSOLUTE_HIGH - ABSOLUTE_LOW) if math.isfinite(value) else 1.0
    return max(-LIMIT, min(LIMIT, math.floor(share * len(BINS)) - LIMIT))


def special_of(stat: Any) -> Special | None:
    """The special value of one statistics record (None: an ordinary number); no record is "not captured"."""
    if stat is None:
        return Special.NOT_CAPTURED
    state = int(stat["state"])
    if state == State.NONE:
        return Special.NONE
    if state == State.NOT_RECORDED:
        return Special.NOT_CAPTURED
    if stat["nan"]:
        return Special.NAN
    if stat["posinf"]:
        return Special.POSINF
    if stat["neginf"]:
        return Special.NEGINF
    n, zero, subnormal, l2 = int(stat["n"]), int(stat["zero"]), int(stat["subnormal"]), float(stat["l2"])
    if state == State.ZERO_UNCONNECTED or n == 0:
        return Special.ZERO
    # the counts may come from a sample, the norm never does: it decides whether all is zero
    if l2 == 0:
        return Special.ZERO if zero >= n else Special.UNDERFLOW
    if subnormal and subnormal + zero >= n:
        return Special.UNDERFLOW
    return None


def classify(stat: Any, reference: float = 1.0) -> int | Special:
    """The bin or special value of a statistics record: NaN before Inf before zero before underflow."""
    special = special_of(stat)
    return special if special is not None else log_ratio_bin(float(stat["l2"]), reference)


def magnitude(stat: Any, reference: float = 1.0) -> Magnitude:
    """Norm, bin, special value and clamping of a statistics record (None: not captured)."""
    special = special_of(stat)
    if special is None:
        return of_norm(float(stat["l2"]), reference)
    if special is Special.NOT_CAPTURED:
        return NOT_CAPTURED
    return Magnitude(float(stat["l2"]) if special is not Special.NONE else math.nan, None, special)


def of_norm(norm: float, reference: float = 1.0) -> Magnitude:
    """The magnitude of something of which only the norm is known."""
    if math.isnan(norm):
        return Magnitude(norm, None, Special.NAN)
    if math.isinf(norm):
        return Magnitude(norm, None, Special.POSINF)
    if norm == 0:
        return Magnitude(0.0, None, Special.ZERO)
    return Magnitude(norm, log_ratio_bin(norm, reference), None, clamped(norm, reference))


def special_codes(stats: np.ndarray) -> np.ndarray:
    """`special_of` for a whole array of statistics records: OK or the code of the special value, uint8."""
    codes = np.zeros(len(stats), dtype=np.uint8)
    n, zero, l2, state = stats["n"], stats["zero"], stats["l2"], stats["state"]
    subnormal = stats["subnormal"]
    # from the weakest to the strongest, each overwriting the one before; the sums are 64 bits wide on purpose
    codes[(subnormal > 0) & (subnormal.astype(np.int64) + zero >= n)] = Special.UNDERFLOW.value
    codes[l2 == 0] = Special.UNDERFLOW.value
    codes[((l2 == 0) & (zero >= n)) | (n == 0) | (state == State.ZERO_UNCONNECTED)] = Special.ZERO.value
    codes[stats["neginf"] > 0] = Special.NEGINF.value
    codes[stats["posinf"] > 0] = Special.POSINF.value
    codes[stats["nan"] > 0] = Special.NAN.value
    codes[state == State.NOT_RECORDED] = Special.NOT_CAPTURED.value
    codes[state == State.NONE] = Special.NONE.value
    return codes


def ratio_bins(norms: np.ndarray, reference: np.ndarray | float) -> np.ndarray:
    """`log_ratio_bin` for arrays that broadcast against each other, int8."""
    norms, reference = np.broadcast_arrays(np.asarray(norms, float), np.asarray(reference, float))
    with np.errstate(divide="ignore", invalid="ignore"):
        decade = np.log10(norms) - np.log10(reference)
    usable = (reference > 0) & np.isfinite(reference)
    decade = np.where(usable, decade, np.where(norms > 0, 0.0, -np.inf))
    rounded = np.sign(decade) * np.floor(np.abs(decade) + 0.5)
    rounded = np.nan_to_num(rounded, nan=0.0, posinf=LIMIT, neginf=-LIMIT)
    return np.asarray(np.clip(rounded, -LIMIT, LIMIT), dtype=np.int8)


def absolute_bins(norms: np.ndarray) -> np.ndarray:
    """`absolute_bin` for an array, int8."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (np.log10(np.asarray(norms, float)) - ABSOLUTE_LOW) / (ABSOLUTE_HIGH - ABSOLUTE_LOW)
    share = np.nan_to_num(share, nan=0.0, posinf=1.0, neginf=0.0)
    return np.asarray(np.clip(np.floor(share * len(BINS)) - LIMIT, -LIMIT, LIMIT), dtype=np.int8)


def median_norm(norms: np.ndarray, codes: np.ndarray) -> float:
    """The reference: the median of the ordinary, non-zero norms; NaN when there is none."""
    usable = norms[(codes == OK) & (norms > 0) & np.isfinite(norms)]
    # of an even number the geometric mean of the middle two, since everything here is in decades
    return float(np.exp(np.median(np.log(usable)))) if usable.size else math.nan


def severity(code: int | Special) -> int:
    """How bad a bin or special value is; larger is worse.  Equally far out, vanishing beats exploding."""
    if isinstance(code, Special):
        return _SEVERITY[code]
    return 2 * abs(code) + (code < 0)


def worst(members: Iterable[Magnitude]) -> Magnitude:
    """The magnitude that a group of quantities is shown with."""
    return max(members, key=lambda m: severity(m.code), default=NOT_CAPTURED)


def health_word(size: Magnitude, reference: float) -> str:
    """"NaN", "Inf", "zero", "underflow", "none", "vanishing", "exploding", "typical", or "" when not captured."""
    if size.special is not None:
        return {Special.ZERO: "zero", Special.NONE: "none", Special.NOT_CAPTURED: ""}.get(
            size.special, WORDS[size.special])
    if not (reference > 0 and math.isfinite(reference)):
        return "typical"
    if size.norm < VANISHING_RATIO * reference:
        return "vanishing"
    return "exploding" if size.norm > max(EXPLODING_NORM, EXPLODING_RATIO * reference) else "typical"


def _round(x: float) -> int:
    """To the nearest whole number, halves away from zero (Python's round() goes to even)."""
    return int(math.copysign(math.floor(abs(x) + 0.5), x))
