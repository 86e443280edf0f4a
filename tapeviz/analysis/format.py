"""Numbers, shapes, times and sizes as the words that every view shows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

TRUE_MINUS = "\u2212"
MISSING = "\u2013"            # en dash: nothing is known
_MICRO = "\u00b5s"


def special_word(x: float) -> str:
    """"NaN", "Inf" or "-Inf" for a number that is not finite, else ""."""
    if math.isnan(x):
        return "NaN"
    if math.isinf(x):
        return "Inf" if x > 0 else "-Inf"
    return ""


def sci(x: float, digits: int = 1, *, true_minus: bool = False) -> str:
    """`x` in scientific form with `digits` decimals: 0.0771 is "7.7e-2", 1 is "1.0e0", either zero is "0"."""
    x = float(x)
    text = special_word(x)
    if not text:
        if x == 0:
            return "0"
        mantissa, _, exponent = f"{x:.{digits}e}".partition("e")
        text = f"{mantissa}e{int(exponent)}"
    return text.replace("-", TRUE_MINUS) if true_minus else text


def fixed(x: float, decimals: int = 3, *, true_minus: bool = False) -> str:
    """`x` with a fixed number of decimals; what rounds to negative zero prints as zero."""
    x = float(x)
    text = special_word(x) or f"{x:.{decimals}f}"
    if text.startswith("-") and not text.strip("-0."):
        text = text[1:]
    return text.replace("-", TRUE_MINUS) if true_minus else text


def plain(x: float, digits: int = 4, *, true_minus: bool = False) -> str:
    """`x` as people write it: "1.402", "512", and scientific where that would be long."""
    x = float(x)
    if not math.isfinite(x) or (x != 0 and not 1e-3 <= abs(x) < 10.0**max(digits, 5)):
        return sci(x, true_minus=true_minus)
    text = f"{x:.{digits}g}"
    if "e" in text:
        text = f"{x:.0f}"
    if text == "-0":
        text = "0"
    return text.replace("-", TRUE_MINUS) if true_minus else text


def matrix_decimals(values: np.ndarray) -> int | None:
    """How many decimals show all of `values` in one fixed form, or None where scientific form is needed.

    Three significant digits of the largest element; None when that would need more than five decimals or when
    the largest has more than five digits before the point.
    """
    finite = np.abs(np.asarray(values, dtype=np.float64))
    finite = finite[np.isfinite(finite)]
    largest = float(finite.max()) if finite.size else 0.0
    if largest == 0:
        return 0 if finite.size == np.size(values) else 3
    if np.issubdtype(np.asarray(values).dtype, np.integer) and largest < 1e5:
        return 0
    exponent = math.floor(math.log10(largest))
    decimals = max(0, 2 - exponent)
    return None if decimals > 5 or exponent >= 5 else max(decimals, 1 if exponent < 2 else 0)


def cell_texts(values: np.ndarray, *, true_minus: bool = False) -> list[str]:
    """Every element of `values` (C order) in the one form that suits them all."""
    decimals = matrix_decimals(values)
    flat = np.asarray(values).ravel().tolist()
    if decimals is None:
        return [sci(x, true_minus=true_minus) for x in flat]
    return [fixed(x, decimals, true_minus=true_minus) for x in flat]


def shape_text(shape: Sequence[int] | None) -> str:
    """"[4,5]", "scalar", or a dash where the shape is not known."""
    if shape is None:
        return MISSING
    return f"[{','.join(str(n) for n in shape)}]" if len(shape) else "scalar"


def duration(nanoseconds: float) -> str:
    """"850 ns", "17 µs", "1.2 ms", "3.4 s", "2 min 05 s", "1 h 02 min"."""
    ns = float(nanoseconds)
    if not math.isfinite(ns):
        return MISSING
    for limit, unit, name in ((1e3, 1.0, "ns"), (1e6, 1e3, _MICRO), (1e9, 1e6, "ms"), (60e9, 1e9, "s")):
        value = ns / unit
        # 999.7 would round up to "1000": the next unit says it better
        if ns < limit and round(value) < limit / unit:
            return f"{value:.0f} {name}" if value >= 10 or name == "ns" else f"{value:.1f} {name}"
    seconds = round(ns / 1e9)
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60:02d} s"
    return f"{seconds // 3600} h {seconds % 3600 // 60:02d} min"


def byte_size(n: float) -> str:
    """"512 B", "4.1 MB" (powers of 1000, as disks and file managers count)."""
    value = float(n)
    for unit in ("B", "kB", "MB", "GB"):
        if abs(value) < 999.5:
            return f"{value:.0f} {unit}" if unit == "B" or abs(value) >= 99.95 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


def count(n: int) -> str:
    """"1,234"; from a million on "1.2 M"."""
    if abs(n) < 1_000_000:
        return f"{n:,}"
    return f"{n / 1e6:.1f} M" if abs(n) < 999_950_000 else f"{n / 1e9:.1f} G"


def plural(n: int, word: str) -> str:
    """"1 op", "23 ops"."""
    return f"{count(n)} {word}" if n == 1 else f"{count(n)} {word}s"


def percent(fraction: float) -> str:
    """"8 %"; what is not zero never reads "0 %", what is not all never "100 %"."""
    if not math.isfinite(fraction):
        return MISSING
    whole = round(100 * fraction)
    if whole == 0 and fraction > 0:
        return "< 1 %"
    if whole == 100 and fraction < 1:
        return "> 99 %"
    return f"{whole} %"
