"""The statistics of a tensor as a small table, and its histogram in decades."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from tapeviz.analysis.arrays import Decades, Summary
from tapeviz.analysis.format import count, percent, sci
from tapeviz.gui.painting import colour, guarded, pen
from tapeviz.gui.theme import Theme
from tapeviz.recording.schema import State

Row = tuple[str, str, bool]      # word, number, whether it is bad news


def rows_of(summary: Summary, dtype: str, shape: str) -> list[Row]:
    """The statistics in words; a count that is bad news says which share of the elements it is."""
    def number(x: float) -> str:
        return "–" if math.isnan(x) else sci(x, 3, true_minus=True)

    def share(n: int) -> str:
        return f"{count(n)} ({percent(n / summary.n)})" if n and summary.n else "0"

    inf = summary.posinf + summary.neginf
    return [
        ("shape", shape, False), ("dtype", dtype, False), ("elements", count(summary.n), False),
        ("norm", number(summary.norm), False), ("rms", number(summary.rms), False),
        ("mean", number(summary.mean), False), ("min", number(summary.low), False),
        ("max", number(summary.high), False), ("zeros", share(summary.zeros), False),
        ("NaN", share(summary.nan), summary.nan > 0), ("Inf", share(inf), inf > 0),
        ("subnormal", share(summary.subnormal), summary.subnormal > 0),
    ]


def recorded_rows(stat: np.void | None, dtype: str, shape: str) -> list[Row]:
    """The same from a statistics record, where the elements themselves were not kept."""
    if stat is None or int(stat["state"]) != State.OK:
        return [("shape", shape, False), ("dtype", dtype, False)]
    n, bad = int(stat["n"]), int(stat["nan"]) + int(stat["posinf"]) + int(stat["neginf"])
    finite = max(n - bad, 0)
    norm = float(stat["l2"])
    return rows_of(Summary(
        n=n, norm=norm, rms=norm / math.sqrt(finite) if finite else math.nan, low=float(stat["min"]),
        high=float(stat["max"]), mean=float(stat["mean"]), zeros=int(stat["zero"]), nan=int(stat["nan"]),
        posinf=int(stat["posinf"]), neginf=int(stat["neginf"]), subnormal=int(stat["subnormal"])), dtype, shape)


class Statistics(QWidget):
    """Words and numbers in as many columns as fit."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: Sequence[Row] = ()
        self._theme: Theme | None = None
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("Statistics")

    def show_rows(self, rows: Sequence[Row], theme: Theme) -> None:
        """Show other statistics."""
        self._rows, self._theme = rows, theme
        self.setAccessibleDescription("; ".join(f"{word} {number}" for word, number, _ in rows))
        self.updateGeometry()
        self.update()

    @property
    def texts(self) -> dict[str, str]:
        """The numbers by their words."""
        return {word: number for word, number, _ in self._rows}

    def _columns(self, width: int) -> int:
        theme = self._theme
        if theme is None or not self._rows:
            return 1
        metrics, mono = QFontMetricsF(theme.ui_font(12)), QFontMetricsF(theme.mono_font(11.5))
        need = max(metrics.horizontalAdvance(w) for w, _, _ in self._rows) + max(
            mono.horizontalAdvance(n) for _, n, _ in self._rows) + theme.px(28)
        return max(1, min(3, int(width // need)))

    @guarded(True)
    def hasHeightForWidth(self) -> bool:
        return True

    @guarded(60)
    def heightForWidth(self, width: int) -> int:
        if self._theme is None:
            return 0
        columns = self._columns(width)
        return self._theme.px(20) * -(-len(self._rows) // columns) + 2

    @guarded(QSize(100, 60))
    def sizeHint(self) -> QSize:
        width = max(self.width(), 100)
        return QSize(width, self.heightForWidth(width))

    @guarded(QSize(60, 20))
    def minimumSizeHint(self) -> QSize:
        return QSize(60, 20)

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme
        if theme is None or not self._rows:
            return
        painter = QPainter(self)
        columns = self._columns(self.width())
        height = -(-len(self._rows) // columns)
        gap = theme.px(20)
        width = (self.width() - gap * (columns - 1)) / columns
        for number, (word, text, bad) in enumerate(self._rows):
            box = QRectF((number // height) * (width + gap), (number % height) * theme.px(20), width, theme.px(20))
            painter.setFont(theme.ui_font(12, 600 if bad else 400))
            painter.setPen(colour(theme.error if bad else theme.muted))
            painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, word)
            painter.setFont(theme.mono_font(11.5, 600 if bad else 400))
            painter.setPen(colour(theme.error if bad else theme.text))
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        painter.end()


class DecadeBars(QWidget):
    """How many elements lie in each power of ten of magnitude."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._decades = Decades(0, ())
        self._theme: Theme | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Elements per decade of magnitude")

    def show_decades(self, decades: Decades, theme: Theme) -> None:
        """Show another histogram."""
        self._decades, self._theme = decades, theme
        said = ", ".join(f"1e{decades.first + i}: {n}" for i, n in enumerate(decades.counts))
        self.setAccessibleDescription(said)
        self.setToolTip(f"Elements per decade of |x|\n{said}" if said else "")
        self.update()

    @guarded(QSize(100, 60))
    def sizeHint(self) -> QSize:
        return QSize(100, self._theme.px(62) if self._theme is not None else 62)

    @guarded(QSize(60, 40))
    def minimumSizeHint(self) -> QSize:
        return QSize(60, self.sizeHint().height())

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        theme, decades = self._theme, self._decades
        if theme is None or not decades.counts:
            return
        painter = QPainter(self)
        label = theme.px(16)
        body = QRectF(0, 2, self.width(), self.height() - label - 2)
        step = min(body.width() / len(decades.counts), theme.px(34))
        most = max(decades.counts)
        metrics = QFontMetricsF(theme.mono_font(10.5))
        stride = max(1, math.ceil((metrics.horizontalAdvance("1e-00") + 6) / step))
        painter.setFont(theme.mono_font(10.5))
        for number, n in enumerate(decades.counts):
            exponent = decades.first + number
            if n:
                tall = max(2.0, body.height() * n / most)
                bar = QRectF(number * step + 1, body.bottom() - tall, step - 2, tall)
                painter.fillRect(bar, colour(theme.muted))
            if (len(decades.counts) - 1 - number) % stride == 0:
                painter.setPen(colour(theme.muted))
                box = QRectF(number * step - 30 + step / 2, body.bottom() + 2, 60, label)
                if box.left() < -14:
                    box.moveLeft(0)
                    painter.drawText(box, Qt.AlignmentFlag.AlignLeft, f"1e{exponent}")
                else:
                    painter.drawText(box, Qt.AlignmentFlag.AlignHCenter, f"1e{exponent}".replace("-", "−"))
        painter.setPen(pen(theme.control))
        painter.drawLine(0, int(body.bottom()), self.width(), int(body.bottom()))
        painter.end()
