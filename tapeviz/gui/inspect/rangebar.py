"""The range of the heat map: a histogram over a strip of the colours, with a handle at either end."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QImage, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from tapeviz.analysis.format import plain
from tapeviz.gui.inspect.colours import STEPS, colour_table
from tapeviz.gui.painting import brush, colour, crisp, draw_focus_ring, guarded, pen
from tapeviz.gui.theme import Theme

_BARS, _STRIP, _LABELS = 26, 10, 16


class RangeBar(QWidget):
    """Two handles choose low and high; a double click fits them to the values again."""

    changed = Signal(float, float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme: Theme | None = None
        self._least, self._most = 0.0, 1.0
        self._low, self._high, self._log = 0.0, 1.0, False
        self._counts: NDArray[np.int64] = np.zeros(0, np.int64)
        self._held = -1        # 0: low, 1: high
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Range of the heat map")
        self.setToolTip("Drag the ends to see more contrast; double-click to fit. Keys: left and right move the lower "
                        "end, with Shift the upper one")

    def show_values(self, counts: NDArray[np.int64], span: tuple[float, float], log: bool, theme: Theme) -> None:
        """Show another histogram over `span`, the range fitted to it."""
        self._counts, self._log, self._theme = counts, log, theme
        self._least, self._most = self._low, self._high = span
        self.update()

    @property
    def range(self) -> tuple[float, float]:
        return self._low, self._high

    def fit(self) -> None:
        """From the lowest to the highest value."""
        self._set(self._least, self._most)

    def _set(self, low: float, high: float) -> None:
        narrowest = (self._most - self._least) / 1000
        low = min(max(low, self._least), self._most - narrowest)
        high = max(min(high, self._most), low + narrowest)
        self._low, self._high = low, high
        self.update()
        self.changed.emit(low, high)

    def _track(self) -> QRectF:
        theme = self._theme
        bars = theme.px(_BARS) if theme is not None else _BARS
        return QRectF(6, 1, max(1, self.width() - 12), bars)

    def x_of(self, value: float) -> float:
        """Where a value is, in pixels."""
        track = self._track()
        return track.left() + (value - self._least) / (self._most - self._least) * track.width()

    @guarded(QSize(200, 54))
    def sizeHint(self) -> QSize:
        px = self._theme.px if self._theme is not None else round
        return QSize(200, px(_BARS) + px(_STRIP) + px(_LABELS) + 4)

    @guarded(QSize(80, 54))
    def minimumSizeHint(self) -> QSize:
        return QSize(80, self.sizeHint().height())

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme
        if theme is None:
            return
        painter = QPainter(self)
        track = self._track()
        if len(self._counts) and self._counts.max() > 0:
            # square root: one element must stay visible beside a million
            heights = np.sqrt(self._counts / self._counts.max()) * (track.height() - 2)
            width = track.width() / len(heights)
            painter.setPen(Qt.PenStyle.NoPen)
            for number, height in enumerate(heights.tolist()):
                left = track.left() + number * width
                inside = left + width > self.x_of(self._low) and left < self.x_of(self._high)
                if height > 0:
                    painter.fillRect(QRectF(left, track.bottom() - height, max(1.0, width - 1), height),
                                     colour(theme.muted if inside else theme.border))
        strip = QRectF(self.x_of(self._low), track.bottom() + 1, 0, theme.px(_STRIP))
        strip.setRight(self.x_of(self._high))
        line = np.arange(STEPS, dtype=np.uint8)
        image = QImage(line.data, STEPS, 1, STEPS, QImage.Format.Format_Indexed8)
        image.setColorTable(list(colour_table(theme)))
        painter.drawImage(strip, image)
        painter.setPen(pen(theme.control))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(crisp(QRectF(track.left(), strip.top(), track.width(), strip.height())))
        self._paint_handles(painter, strip, theme)
        if self.hasFocus():
            draw_focus_ring(painter, QRectF(self.rect()), theme, 3)
        painter.end()

    def _paint_handles(self, painter: QPainter, strip: QRectF, theme: Theme) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for x in (strip.left(), strip.right()):
            painter.setPen(pen(theme.surface))
            painter.setBrush(brush(theme.text))
            painter.drawRoundedRect(QRectF(x - 3, strip.top() - 3, 6, strip.height() + 6), 2, 2)
        painter.setFont(theme.mono_font(10.5))
        painter.setPen(colour(theme.muted))
        labels = QRectF(2, strip.bottom() + 3, self.width() - 4, theme.px(_LABELS))
        painter.drawText(labels, Qt.AlignmentFlag.AlignLeft, self.text_of(self._low))
        painter.drawText(labels, Qt.AlignmentFlag.AlignRight, self.text_of(self._high))
        middle = "log |x|" if self._log else "linear"
        painter.drawText(labels, Qt.AlignmentFlag.AlignHCenter, middle)

    def text_of(self, value: float) -> str:
        """An end of the range in words."""
        return f"1e{value:.1f}" if self._log else plain(value, 3, true_minus=True)

    # --- dragging --------------------------------------------------------------------------------

    def _value_at(self, position: QPointF) -> float:
        track = self._track()
        return self._least + (position.x() - track.left()) / track.width() * (self._most - self._least)

    @guarded()
    def mousePressEvent(self, event: QMouseEvent) -> None:
        x = event.position().x()
        self._held = 0 if abs(x - self.x_of(self._low)) <= abs(x - self.x_of(self._high)) else 1
        self.mouseMoveEvent(event)

    @guarded()
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        value = self._value_at(event.position())
        if self._held == 0:
            self._set(min(value, self._high), self._high)
        elif self._held == 1:
            self._set(self._low, max(value, self._low))

    @guarded()
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._held = -1

    @guarded()
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.fit()

    @guarded()
    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = (self._most - self._least) / 50
        sign = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if event.key() == Qt.Key.Key_Home:
            self.fit()
        elif sign and event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._set(self._low, self._high + sign * step)
        elif sign:
            self._set(self._low + sign * step, self._high)
        else:
            super().keyPressEvent(event)
