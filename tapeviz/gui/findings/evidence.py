"""The evidence of a finding as a small picture: bars for a row of layers, a sparkline for a course of iterations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from tapeviz.analysis.format import plain
from tapeviz.analysis.magnitude import OK, Special, log_ratio_bin, median_norm, of_norm
from tapeviz.gui.painting import brush, colour, crisp, draw_special, elided, guarded, pen
from tapeviz.gui.theme import Theme

BARS_HEIGHT, SPARK_HEIGHT, LABEL_HEIGHT = 36, 30, 15


@dataclass(frozen=True, slots=True)
class Bars:
    """A magnitude per name, in the order from input to output."""

    names: tuple[str, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Spark:
    """A course over iterations from `first` on; `cursor` is where the finding points to."""

    values: tuple[float, ...]
    first: int = 0
    cursor: int | None = None


def picture_of(evidence: Mapping[str, object], iteration: int) -> Bars | Spark | None:
    """What there is to draw in the evidence of a finding; None when it is words and single numbers only."""
    names, values = _names_and_numbers(evidence)
    if len(values) >= 2 and len(names) == len(values):
        return Bars(tuple(names), tuple(values))
    for key, value in evidence.items():
        numbers = _numbers(value)
        if len(numbers) >= 3:
            start = evidence.get("first_iteration", 0)
            first = start if isinstance(start, int) else 0
            cursor = iteration - first if 0 <= iteration - first < len(numbers) else None
            if key not in ("iterations", "steps"):
                return Spark(tuple(numbers), first, cursor)
    return None


def _names_and_numbers(evidence: Mapping[str, object]) -> tuple[list[str], list[float]]:
    for value in evidence.values():
        if isinstance(value, Mapping) and len(value) >= 2:
            numbers = _numbers(list(value.values()))
            if numbers:
                return [str(name) for name in value], numbers
    for value in evidence.values():
        if isinstance(value, Sequence) and not isinstance(value, str) and value and all(
                isinstance(name, str) for name in value):
            for other in evidence.values():
                numbers = _numbers(other)
                if len(numbers) == len(value):
                    return [str(name) for name in value], numbers
    return [], []


def _numbers(value: object) -> list[float]:
    """The numbers of a sequence, None as NaN; empty when it is anything else."""
    if isinstance(value, str) or not isinstance(value, (Sequence, np.ndarray)):
        return []
    if not all(x is None or (isinstance(x, (int, float, np.number)) and not isinstance(x, bool)) for x in value):
        return []
    return [math.nan if x is None else float(x) for x in value]


def lines_of(evidence: Mapping[str, object]) -> list[str]:
    """The evidence in words, one line per entry, for "Why"."""
    lines = []
    for key, value in evidence.items():
        name = key.replace("_", " ")
        numbers = _numbers(value)
        if isinstance(value, Mapping):
            lines.append(f"{name}: " + ", ".join(f"{k} {_word(v)}" for k, v in value.items()))
        elif len(numbers) > 8:
            finite = [x for x in numbers if math.isfinite(x)]
            ends = f"{_word(min(finite))} to {_word(max(finite))}" if finite else "none finite"
            lines.append(f"{name}: {len(numbers)} values, {ends}")
        elif isinstance(value, Sequence) and not isinstance(value, str):
            lines.append(f"{name}: " + ", ".join(_word(v) for v in value))
        else:
            lines.append(f"{name}: {_word(value)}")
    return lines


def _word(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        return str(value)
    return plain(float(value), true_minus=True)


class EvidencePicture(QWidget):
    """Draws Bars or a Spark."""

    def __init__(self, picture: Bars | Spark, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._picture, self._theme = picture, theme
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        if isinstance(picture, Bars):
            said = ", ".join(f"{n} {of_norm(v).text}" for n, v in zip(picture.names, picture.values, strict=True))
        else:
            said = f"{len(picture.values)} values"
        self.setAccessibleName(f"Evidence: {said}")
        self.setToolTip(said.replace(", ", "\n") if isinstance(picture, Bars) else "")

    @guarded(QSize(100, 40))
    def sizeHint(self) -> QSize:
        px = self._theme.px
        tall = px(BARS_HEIGHT) + px(LABEL_HEIGHT) if isinstance(self._picture, Bars) else px(SPARK_HEIGHT)
        return QSize(100, tall)

    @guarded(QSize(60, 30))
    def minimumSizeHint(self) -> QSize:
        return QSize(60, self.sizeHint().height())

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(self._picture, Bars):
            self._paint_bars(painter, self._picture)
        else:
            self._paint_spark(painter, self._picture)
        painter.end()

    def _paint_bars(self, painter: QPainter, bars: Bars) -> None:
        theme = self._theme
        values = np.array(bars.values)
        reference = median_norm(values, np.zeros(len(values), np.uint8) + OK)
        with np.errstate(divide="ignore", invalid="ignore"):
            decades = np.log10(values)
        usable = decades[np.isfinite(decades)]
        low = float(usable.min()) if usable.size else 0.0
        high = float(usable.max()) if usable.size else 1.0
        body, step = theme.px(BARS_HEIGHT), self.width() / len(values)
        gap = theme.px(4) if step > theme.px(14) else 1
        width = min(step - gap, theme.px(44))
        for number, value in enumerate(bars.values):
            size = of_norm(value, reference)
            share = (decades[number] - low) / (high - low) if high > low and np.isfinite(decades[number]) else 0.0
            tall = theme.px(9) + float(share) * (body - theme.px(10))
            rect = QRectF(number * step, body - tall, width, tall)
            if size.special is not None:
                draw_special(painter, QRectF(number * step, body - theme.px(16), width, theme.px(16)), size.special,
                             theme)
                continue
            painter.setPen(pen(theme.control))
            painter.setBrush(brush(theme.bin_fill(log_ratio_bin(value, reference))))
            painter.drawRoundedRect(crisp(rect), 2, 2)
        font = theme.ui_font(10.5)
        painter.setFont(font)
        painter.setPen(colour(theme.muted))
        labels = QRectF(0, body + 1, self.width() - step + width, theme.px(LABEL_HEIGHT))
        room = labels.width() / 2 - 4
        painter.drawText(labels, Qt.AlignmentFlag.AlignLeft, elided(bars.names[0], font, room))
        painter.drawText(labels, Qt.AlignmentFlag.AlignRight, elided(bars.names[-1], font, room))

    def _paint_spark(self, painter: QPainter, spark: Spark) -> None:
        theme = self._theme
        values = np.array(spark.values)
        finite = values[np.isfinite(values)]
        if not finite.size:
            draw_special(painter, QRectF(0, 0, self.width(), self.height()), Special.NAN, theme)
            return
        # in decades when it spans more than two of them
        log = bool(finite.min() > 0 and finite.max() / finite.min() > 100)
        with np.errstate(divide="ignore", invalid="ignore"):
            shown = np.log10(values) if log else values
        good = shown[np.isfinite(shown)]
        low, high = float(good.min()), float(good.max())
        height = self.height() - 6
        across = (self.width() - 2) / max(len(values) - 1, 1)
        painter.setPen(pen(theme.muted, 1.25))
        run = QPolygonF()
        for number, y in enumerate(shown.tolist()):
            if math.isfinite(y):
                share = (y - low) / (high - low) if high > low else 0.5
                run.append(QPointF(1 + number * across, 3 + (1 - share) * height))
            else:
                painter.drawPolyline(run)
                run = QPolygonF()
                x = 1 + number * across
                painter.fillRect(QRectF(x - 1.5, 3, 3, height), colour("#000000"))
        painter.drawPolyline(run)
        if spark.cursor is not None:
            x = 1 + spark.cursor * across
            painter.fillRect(QRectF(x - 1, 0, 2, self.height()), colour(theme.accent))
