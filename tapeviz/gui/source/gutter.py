"""The gutter of the editor: mark, line number, executed count, and the worst gradient of the line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QToolTip, QWidget

from tapeviz.analysis.format import plural
from tapeviz.analysis.magnitude import Magnitude, Special
from tapeviz.gui.painting import brush, colour, draw_severity, draw_special, guarded, pen
from tapeviz.gui.theme import Theme

if TYPE_CHECKING:
    from tapeviz.gui.source.editor import Editor

_MARK, _COUNT, _SWATCH, _GAP = 20, 32, 9, 8
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class Gutter(QWidget):
    """Paints beside the visible lines of its editor."""

    def __init__(self, editor: Editor) -> None:
        super().__init__(editor)
        self._editor = editor
        self.setAccessibleName("Lines: marks, numbers, counts and gradients")
        self.setCursor(Qt.CursorShape.ArrowCursor)

    def wanted_width(self) -> int:
        theme = self._editor.theme
        digits = max(3, len(str(self._editor.blockCount())))
        numbers = self._editor.fontMetrics().horizontalAdvance("8" * digits)
        return numbers + theme.px(_MARK + _COUNT + _SWATCH + 2 * _GAP)

    def _visible(self) -> Iterator[tuple[int, QRectF]]:
        """(line number, place) of every line that can be seen."""
        editor = self._editor
        block = editor.firstVisibleBlock()
        top = editor.blockBoundingGeometry(block).translated(editor.contentOffset()).top()
        while block.isValid() and top < self.height():
            height = editor.blockBoundingRect(block).height()
            if block.isVisible() and top + height > 0:
                yield block.blockNumber() + 1, QRectF(0, top, self.width(), height)
            top += height
            block = block.next()

    def line_at(self, y: float) -> int:
        """The line at a height, 0 below the last one."""
        return next((line for line, box in self._visible() if box.top() <= y < box.bottom()), 0)

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        editor, theme = self._editor, self._editor.theme
        painter = QPainter(self)
        painter.fillRect(self.rect(), colour(theme.surface))
        painter.setFont(editor.font())
        numbers_right = self.width() - theme.px(_COUNT + _SWATCH + 2 * _GAP)
        valid = editor.marks_valid
        for line, box in self._visible():
            current = valid and line == editor.marks.current
            if current:
                painter.fillRect(box, colour(theme.raised))
            painter.setFont(theme.mono_font(12, 600 if current else 400))
            painter.setPen(colour(theme.text if current else theme.muted))
            painter.drawText(QRectF(0, box.top(), numbers_right, box.height()), _RIGHT, str(line))
            if valid:
                self._paint_marks(painter, line, box, numbers_right, current)
        painter.end()

    def _paint_marks(self, painter: QPainter, line: int, box: QRectF, right: float, current: bool) -> None:
        marks, theme = self._editor.marks, self._editor.theme
        side = theme.px(14)
        place = QRectF(theme.px(3), box.center().y() - side / 2, side, side)
        if line in marks.findings:
            draw_severity(painter, place, marks.findings[line].severity, theme)
            if current:     # there is no room for both marks: the bar of a selected row
                painter.fillRect(QRectF(0, box.top(), theme.px(3), box.height()), colour(theme.accent))
        elif current:
            _draw_arrow(painter, place, theme)
        info = marks.lines.get(line)
        if info is None:
            return
        painter.setFont(theme.mono_font(10.5))
        painter.setPen(colour(theme.muted))
        count = f"{info.executed}×" if info.executed < 1000 else "999+"
        painter.drawText(QRectF(right, box.top(), theme.px(_COUNT), box.height()), _RIGHT, count)
        height = min(theme.px(16), box.height() - 2)
        swatch = QRectF(right + theme.px(_COUNT + 6), box.center().y() - height / 2, theme.px(_SWATCH), height)
        _draw_swatch(painter, swatch, info.worst, info.pending, theme)

    @guarded()
    def mousePressEvent(self, event: QMouseEvent) -> None:
        line = self.line_at(event.position().y())
        if line and event.button() == Qt.MouseButton.LeftButton:
            self._editor.line_clicked.emit(line)

    @guarded(False)
    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self._words(self.line_at(event.pos().y())), self)
            return True
        return super().event(event)

    @guarded(QSize(80, 0))
    def sizeHint(self) -> QSize:
        return QSize(self.wanted_width(), 0)

    def _words(self, line: int) -> str:
        marks = self._editor.marks
        if not line or not self._editor.marks_valid:
            return ""
        words = []
        if line in marks.findings:
            words.append(marks.findings[line].text)
        info = marks.lines.get(line)
        if info is not None:
            words.append(f"{plural(info.executed, 'operation')} in this iteration")
            words.append("not undone yet at this step" if info.pending else f"worst gradient norm {info.worst.text}")
        return "\n".join(words)


def _draw_arrow(painter: QPainter, box: QRectF, theme: Theme) -> None:
    """The pennant that points at the current line."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(brush(theme.accent))
    y, half = box.center().y(), box.height() * 0.32
    painter.drawPolygon(QPolygonF([
        QPointF(box.left(), y - half), QPointF(box.center().x() + 1, y - half), QPointF(box.right(), y),
        QPointF(box.center().x() + 1, y + half), QPointF(box.left(), y + half)]))
    painter.restore()


def _draw_swatch(painter: QPainter, box: QRectF, worst: Magnitude, pending: bool, theme: Theme) -> None:
    if pending or worst.special is Special.NONE:
        painter.setPen(pen(theme.muted, 1.0, (3, 2)))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5))
    elif worst.special is Special.NOT_CAPTURED:
        return
    elif worst.special is not None:
        draw_special(painter, box, worst.special, theme)
    else:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen(theme.control))
        painter.setBrush(brush(theme.bin_fill(worst.bin or 0)))
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 2, 2)
        painter.restore()
