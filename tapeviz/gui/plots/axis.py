"""Axes that label decades as 1e-3 and iterations as whole numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg

from tapeviz.analysis.format import plain, sci
from tapeviz.gui.painting import guarded

Ticks = list[tuple[float, list[float]]]
_STEPS = (1, 2, 3, 5, 10, 20, 50, 100)     # decades from label to label
LABEL_PX = 26      # vertical distance at which two labels can stand


class NumberAxis(pg.AxisItem):   # type: ignore[misc]   # pyqtgraph has no types
    """The y axis; `decades`: its values are logarithms to base 10."""

    decades = False

    @guarded(default=[])
    def tickValues(self, low: float, high: float, size: float) -> Ticks:
        if not self.decades:
            return list(super().tickValues(low, high, size))
        low, high = sorted((low, high))
        room = max(1.0, size / LABEL_PX)
        if high - low < 1.2:     # inside one decade: 1, 2, 5 or all nine digits are labelled
            digits = np.arange(1, 10) if high - low < 0.5 else np.array([1, 2, 5])
            decade = range(math.floor(low), math.ceil(high) + 1)
            values = [d + math.log10(v) for d in decade for v in digits]
            return [(1.0, [v for v in values if low <= v <= high])]
        needed = (high - low) / room
        step = next((s for s in _STEPS if s >= needed), math.ceil(needed))
        first = math.ceil(low / step) * step
        major = [float(v) for v in range(first, math.floor(high) + 1, step)]
        minor: list[float] = []
        if step == 1 and size / (high - low) > 40:
            minor = [d + math.log10(v) for d in range(math.floor(low), math.ceil(high)) for v in range(2, 10)]
        return [(float(step), major), (0.1, [v for v in minor if low <= v <= high])]

    @guarded(default=[])
    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        if not self.decades:
            return [plain(v * scale) for v in values]
        if spacing < 1:
            return [""] * len(values)
        return [sci(10.0**v, 0) for v in values]


class IterationAxis(pg.AxisItem):   # type: ignore[misc]
    """The x axis: only whole iterations are labelled."""

    @guarded(default=[])
    def tickValues(self, low: float, high: float, size: float) -> Ticks:
        return [(s, v) for s, v in super().tickValues(low, high, size) if s >= 1]

    @guarded(default=[])
    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        return [f"{round(v)}" if v >= 0 else "" for v in values]
