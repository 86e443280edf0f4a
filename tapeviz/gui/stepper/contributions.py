"""The list of contributions into one gradient: a bar and a signed norm each, and what their sum cancels."""

from __future__ import annotations

import math

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from tapeviz.analysis.format import TRUE_MINUS, percent, sci
from tapeviz.analysis.steps import Accumulation, Contribution
from tapeviz.gui.painting import brush, colour, crisp, draw_focus_ring, elided, guarded, pen
from tapeviz.gui.theme import Theme

ROW, MOST = 23, 8
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class ContributionList(QWidget):
    """One row per contribution that has arrived, the chosen step's in bold; a click goes to the row's step."""

    step_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sum: Accumulation | None = None
        self._step = 0
        self._theme: Theme | None = None
        self._row = -1
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setMouseTracking(True)

    def show_sum(self, accumulation: Accumulation | None, step: int, theme: Theme) -> None:
        """Show the contributions into one gradient up to this step; `step` is the one in focus."""
        self._sum, self._step, self._theme = accumulation, step, theme
        rows = self.rows()
        self._row = next((i for i, c in enumerate(rows) if c.step == step), -1)
        self.setAccessibleName("Contributions")
        self.setAccessibleDescription("; ".join(self.texts()))
        self.updateGeometry()
        self.update()

    def rows(self) -> list[Contribution]:
        """What is listed: everything when it fits, else the first ones and the one in focus."""
        if self._sum is None:
            return []
        every = list(self._sum.contributions)
        if len(every) <= MOST:
            return every
        kept = every[:MOST]
        here = [c for c in every[MOST:] if c.step == self._step]
        return kept[:-1] + here if here else kept

    def texts(self) -> list[str]:
        """The rows as a screen reader says them."""
        said = [f"{c.order} {c.op_name} line {c.line} {_signed(c)}" for c in self.rows()]
        if self._sum is not None:
            said.append(f"sum {self._sum.running.size.text} {self._cancelled()}".strip())
        return said

    def _cancelled(self) -> str:
        cancelled = self._sum.cancelled if self._sum is not None else None
        return f"cancelled {percent(cancelled)}" if cancelled is not None and math.isfinite(cancelled) else ""

    @guarded(QSize(100, 60))
    def sizeHint(self) -> QSize:
        if self._theme is None or self._sum is None:
            return QSize(100, 0)
        more = len(self._sum.contributions) > len(self.rows())
        return QSize(200, self._theme.px(ROW) * (len(self.rows()) + 1 + more) + 4)

    @guarded(QSize(100, 60))
    def minimumSizeHint(self) -> QSize:
        return QSize(100, self.sizeHint().height())

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        theme, total = self._theme, self._sum
        if theme is None or total is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        height, y = theme.px(ROW), 0
        arrived = {c.step for c in total.contributions[:total.arrived]}
        for number, entry in enumerate(self.rows()):
            self._paint_row(painter, QRectF(0, y, self.width(), height), entry, entry.step in arrived, theme)
            if self.hasFocus() and number == self._row:
                draw_focus_ring(painter, QRectF(0, y, self.width(), height), theme, 3)
            y += height
        left_out = len(total.contributions) - len(self.rows())
        if left_out:
            painter.setFont(theme.ui_font(11.5))
            painter.setPen(colour(theme.muted))
            painter.drawText(QRectF(theme.px(22), y, self.width(), height), _LEFT, f"{left_out} more")
            y += height
        painter.setPen(pen(theme.border))
        painter.drawLine(0, y + 1, self.width(), y + 1)
        self._paint_sum(painter, QRectF(0, y + 2, self.width(), height), total, theme)
        painter.end()

    def _paint_row(self, painter: QPainter, row: QRectF, entry: Contribution, arrived: bool, theme: Theme) -> None:
        here = entry.step == self._step
        number = QFontMetricsF(theme.mono_font(11.5)).horizontalAdvance("+ 0.0e-00") + theme.px(4)
        wide = row.width() > theme.px(360)
        name_left, name_width = row.left() + theme.px(22), theme.px(70 if wide else 62)
        line_left = name_left + name_width + theme.px(2)
        line_width = theme.px(58)
        bar = QRectF(line_left + line_width, row.center().y() - theme.px(5.5), 0, theme.px(11))
        bar.setRight(row.right() - number - theme.px(8))
        painter.setPen(colour(theme.muted))
        painter.setFont(theme.mono_font(11.5))
        painter.drawText(QRectF(row.left(), row.top(), theme.px(20), row.height()), _LEFT, str(entry.order))
        line = f"line {entry.line}" if entry.line else ""
        painter.drawText(QRectF(line_left, row.top(), line_width, row.height()), _LEFT, line)
        font = theme.ui_font(12, 600 if here else 400)
        painter.setFont(font)
        painter.setPen(colour(theme.text if arrived else theme.muted))
        name = elided(entry.op_name, font, name_width)
        painter.drawText(QRectF(name_left, row.top(), name_width, row.height()), _LEFT, name)
        if bar.width() > 8:
            painter.setPen(pen(theme.border))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(crisp(bar), 2, 2)
            share = entry.share if math.isfinite(entry.share) else 0.0
            if arrived and share > 0:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(brush(theme.accent if here else theme.muted))
                bar.setWidth(max(2.0, bar.width() * share))
                painter.drawRoundedRect(bar, 2, 2)
        painter.setFont(theme.mono_font(11.5))
        painter.setPen(colour(theme.text if arrived else theme.muted))
        painter.drawText(row, _RIGHT, _signed(entry) if arrived else "later")

    def _paint_sum(self, painter: QPainter, row: QRectF, total: Accumulation, theme: Theme) -> None:
        number = QFontMetricsF(theme.mono_font(11.5)).horizontalAdvance("+ 0.0e-00") + theme.px(12)
        painter.setFont(theme.mono_font(11.5))
        painter.setPen(colour(theme.muted))
        painter.drawText(row, _LEFT, "=")
        painter.setFont(theme.ui_font(12))
        painter.setPen(colour(theme.text))
        painter.drawText(row.adjusted(theme.px(22), 0, 0, 0), _LEFT, "sum")
        painter.setPen(colour(theme.muted))
        painter.drawText(row.adjusted(0, 0, -number, 0), _RIGHT, self._cancelled())
        painter.setPen(colour(theme.text))
        painter.setFont(theme.mono_font(11.5))
        painter.drawText(row, _RIGHT, total.running.size.text)

    def _row_at(self, y: float) -> int:
        number = int(y // self._theme.px(ROW)) if self._theme is not None else -1
        return number if 0 <= number < len(self.rows()) else -1

    @guarded()
    def mousePressEvent(self, event: QMouseEvent) -> None:
        row = self._row_at(event.position().y())
        if row >= 0 and event.button() == Qt.MouseButton.LeftButton:
            self.step_chosen.emit(self.rows()[row].step)
        else:
            super().mousePressEvent(event)

    @guarded()
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        over = self._row_at(event.position().y()) >= 0
        self.setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.ArrowCursor)

    @guarded()
    def keyPressEvent(self, event: QKeyEvent) -> None:
        rows = self.rows()
        key = Qt.Key(event.key())
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down) and rows:
            self._row = min(max(self._row + (1 if key == Qt.Key.Key_Down else -1), 0), len(rows) - 1)
            self.update()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and 0 <= self._row < len(rows):
            self.step_chosen.emit(rows[self._row].step)
        else:
            super().keyPressEvent(event)


def _signed(entry: Contribution) -> str:
    size = entry.target.size
    if size.special is not None:
        return size.text
    return f"{'+' if entry.sign >= 0 else TRUE_MINUS} {sci(size.norm)}"
