"""Strips above and below a plot with what no axis can show: NaN, Inf, exact zeros, underflow, None."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolTip, QWidget

from tapeviz.analysis.magnitude import WORDS, Special
from tapeviz.gui.painting import draw_special, guarded
from tapeviz.gui.plots.lines import Lines
from tapeviz.gui.theme import Theme

ABOVE = (Special.POSINF, Special.NEGINF, Special.NAN)
BELOW = (Special.UNDERFLOW, Special.ZERO, Special.NONE)
LANE = 14


class Lanes(QWidget):
    """One lane per special value that occurs; hidden where none does."""

    iteration_chosen = Signal(int)

    def __init__(self, kinds: Sequence[Special], theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kinds = tuple(kinds)
        self._theme = theme
        self._lines: Lines | None = None
        self._found: dict[Special, np.ndarray] = {}
        self._left = self._right = 0.0      # the plot's edges in pixels
        self._span = (0.0, 1.0)             # the iterations at them
        self.setAccessibleName("Special values")
        self.hide()

    @property
    def lanes(self) -> tuple[Special, ...]:
        return tuple(kind for kind in self._kinds if kind in self._found)

    def set_lines(self, lines: Lines | None) -> None:
        self._lines = lines
        self._found = lines.specials() if lines is not None else {}
        self.setFixedHeight(max(1, len(self.lanes) * self._theme.px(LANE)))
        self.setVisible(bool(self.lanes))
        self.update()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.set_lines(self._lines)

    def align(self, left: float, right: float, span: tuple[float, float]) -> None:
        """Follow the plot's view."""
        if (left, right, span) != (self._left, self._right, self._span):
            self._left, self._right, self._span = left, right, span
            self.update()

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        theme, lines = self._theme, self._lines
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(theme.surface))
        if lines is None or self._span[1] <= self._span[0]:
            painter.end()
            return
        height = theme.px(LANE)
        per = (self._right - self._left) / (self._span[1] - self._span[0])
        for lane, kind in enumerate(self.lanes):
            top = float(lane * height)
            painter.setPen(QColor(theme.muted))
            painter.setFont(theme.ui_font(10.5))
            painter.drawText(QRectF(0, top, self._left - theme.px(6), height),
                             Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, WORDS[kind])
            painter.fillRect(QRectF(self._left, top + 1, self._right - self._left, height - 2),
                             QColor(theme.window))
            marked = lines.x[self._found[kind]]
            pixels = self._left + (marked - self._span[0]) * per
            width = max(4.0, min(per, 12.0))
            inside = (pixels >= self._left) & (pixels <= self._right)
            # neighbours that overlap are one mark: a thousand NaN iterations are one black bar
            for a, b in _merged(pixels[inside] - width / 2, width):
                a, b = max(a, self._left), min(b, self._right)
                draw_special(painter, QRectF(a, top + 2, b - a, height - 4), kind, theme)
        painter.end()

    def iteration_at(self, x: float) -> int | None:
        """The marked iteration nearest to x, within a few pixels."""
        if self._lines is None or self._right <= self._left:
            return None
        per = (self._right - self._left) / max(self._span[1] - self._span[0], 1e-9)
        columns = np.zeros(len(self._lines.x), bool)
        for kind in self.lanes:
            columns |= self._found[kind]
        marked = self._lines.x[columns]
        if not len(marked):
            return None
        pixels = self._left + (marked - self._span[0]) * per
        nearest = int(np.abs(pixels - x).argmin())
        return int(marked[nearest]) if abs(pixels[nearest] - x) <= max(8.0, per / 2) else None

    @guarded()
    def mousePressEvent(self, event: QMouseEvent) -> None:
        iteration = self.iteration_at(event.position().x())
        if iteration is not None:
            self.iteration_chosen.emit(iteration)

    @guarded(default=False)
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            text = self.tip_at(QPointF(event.pos()))
            if text:
                QToolTip.showText(event.globalPos(), text, self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    def tip_at(self, at: QPointF) -> str:
        """Which curves have what at the iteration under the mouse."""
        lines, iteration = self._lines, self.iteration_at(at.x())
        lane = int(at.y() // self._theme.px(LANE))
        if lines is None or iteration is None or not 0 <= lane < len(self.lanes):
            return ""
        column = lines.column_of(iteration)
        kind = self.lanes[lane]
        if column is None:
            return ""
        names = [lines.names[row] for row in np.flatnonzero(lines.state[:, column] == kind.value)]
        if not names:
            return ""
        shown = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
        return f"{WORDS[kind]} at iteration {iteration}: {shown}"


def _merged(starts: np.ndarray, width: float) -> list[tuple[float, float]]:
    if not len(starts):
        return []
    cuts = np.flatnonzero(np.diff(starts) > width + 0.5) + 1
    first = starts[np.concatenate(([0], cuts))]
    last = starts[np.concatenate((cuts - 1, [len(starts) - 1]))] + width
    return list(zip(first.tolist(), last.tolist(), strict=True))
