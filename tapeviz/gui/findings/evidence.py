"""The evidence of a finding drawn small: bars for a row of layers, a sparkline for a course of iterations."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from tapeviz.analysis.evidence import Bars, Spark
from tapeviz.analysis.magnitude import OK, Special, log_ratio_bin, median_norm, of_norm
from tapeviz.gui.painting import brush, colour, crisp, draw_special, elided, guarded, pen
from tapeviz.gui.theme import Theme

BARS_HEIGHT, SPARK_HEIGHT, LABEL_HEIGHT = 36, 30, 15


class EvidencePicture(QWidget):
    """Draws Bars or a Spark."""

    def __init__(self, picture: Bars | Spark, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._picture, self._theme = picture, theme
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        if isinstance(picture, Bars):
            said = ", ".join(f"{n} {of_norm(v).text}" for n, v in zip(picture.names, picture.values, strict=True))
        else:
            said = picture.name
        self.setAccessibleName(f"Evidence: {said}")
        self.setToolTip(said.replace(", ", "\n") if isinstance(picture, Bars) else "")

    @guarded(QSize(100, 40))
    def sizeHint(self) -> QSize:
        px = self._theme.px
        return QSize(100, px(BARS_HEIGHT if isinstance(self._picture, Bars) else SPARK_HEIGHT) + px(LABEL_HEIGHT))

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
            draw_special(painter, QRectF(0, 0, self.width(), theme.px(SPARK_HEIGHT)), Special.NAN, theme)
            return
        # in decades when it spans more than two of them
        log = bool(finite.min() > 0 and finite.max() / finite.min() > 100)
        with np.errstate(divide="ignore", invalid="ignore"):
            shown = np.log10(values) if log else values
        good = shown[np.isfinite(shown)]
        low, high = float(good.min()), float(good.max())
        tall = self.height() - theme.px(LABEL_HEIGHT)
        height = tall - 6
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
        painter.drawPolyline(run)
        for begin, end, special in spark.gaps():
            left = 1 + (begin - 0.5) * across
            draw_special(painter, QRectF(left, 3, max(3.0, (end - begin + 1) * across), height), special, theme)
        if spark.cursor is not None:
            x = 1 + spark.cursor * across
            painter.fillRect(QRectF(x - 1, 0, 2, tall), colour(theme.accent))
        font = theme.ui_font(10.5)
        painter.setFont(font)
        painter.setPen(colour(theme.muted))
        labels = QRectF(0, tall, self.width(), theme.px(LABEL_HEIGHT))
        painter.drawText(labels, Qt.AlignmentFlag.AlignLeft, elided(spark.name, font, self.width()))
