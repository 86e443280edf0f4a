"""The list of curves beside the plot: line sample, name, value at the cursor; outside, so that it covers no data."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from tapeviz.analysis.format import sci
from tapeviz.analysis.magnitude import OK, WORDS, Special
from tapeviz.gui.painting import elided, guarded
from tapeviz.gui.plots.lines import Lines
from tapeviz.gui.plots.palette import curve_style
from tapeviz.gui.theme import Theme

WIDTH, ROW = 196, 22
SAMPLE, VALUE = 26, 62


def value_text(lines: Lines, row: int, iteration: int) -> str:
    """The exact value of a curve, or the word of what stands in its place."""
    column = lines.column_of(iteration)
    if column is None:
        return ""
    state = int(lines.state[row, column])
    return sci(float(lines.y[row, column])) if state == OK else WORDS[Special(state)]


class Legend(QWidget):
    """Click: that curve; click on its sample: hide or show it."""

    row_chosen = Signal(int)
    row_hovered = Signal(int)          # -1: none
    hidden_changed = Signal(object)    # frozenset of rows

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._lines: Lines | None = None
        self._iteration = 0
        self._strong: int | None = None
        self._hidden: frozenset[int] = frozenset()
        self._hovered = -1
        self.setMouseTracking(True)
        self.setAccessibleName("Curves")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.MinimumExpanding)

    def set_lines(self, lines: Lines | None) -> None:
        names = self._lines.names if self._lines is not None else ()
        self._lines = lines
        if lines is None or lines.names != names:
            self._hidden = frozenset()
            self.hidden_changed.emit(self._hidden)
        self.setMinimumHeight(self.sizeHint().height())
        self.updateGeometry()
        self.update()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.setMinimumHeight(self.sizeHint().height())
        self.update()

    def set_iteration(self, iteration: int) -> None:
        if iteration != self._iteration:
            self._iteration = iteration
            self.update()

    def set_strong(self, row: int | None) -> None:
        if row != self._strong:
            self._strong = row
            self.update()

    @guarded(default=QSize())
    def sizeHint(self) -> QSize:
        rows = len(self._lines.names) if self._lines is not None else 0
        return QSize(self._theme.px(WIDTH), rows * self._theme.px(ROW) + self._theme.px(8))

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(theme.surface))
        lines = self._lines
        if lines is not None:
            height = theme.px(ROW)
            visible = event.rect()
            for row in range(len(lines.names)):
                if (row + 1) * height >= visible.top() and row * height <= visible.bottom():
                    self._paint_row(painter, lines, row, QRectF(0, row * height, self.width(), height))
        painter.end()

    def _paint_row(self, painter: QPainter, lines: Lines, row: int, box: QRectF) -> None:
        theme = self._theme
        if row == self._strong:
            painter.fillRect(box, QColor(theme.selection))
            painter.fillRect(QRectF(box.left(), box.top(), theme.px(3), box.height()), QColor(theme.accent))
        elif row == self._hovered:
            tint = QColor(theme.text)
            tint.setAlphaF(0.06)
            painter.fillRect(box, tint)
        hidden = row in self._hidden
        colour, dashes = curve_style(row, theme)
        if not hidden:
            pen = QPen(QColor(colour), 2.5 if row == self._strong else 2.0)
            if dashes:
                pen.setDashPattern([d / pen.widthF() for d in dashes])
                pen.setCapStyle(Qt.PenCapStyle.FlatCap)
            painter.setPen(pen)
            y = box.center().y()
            painter.drawLine(QPointF(box.left() + theme.px(8), y), QPointF(box.left() + theme.px(8 + SAMPLE), y))
        ink = QColor(theme.muted if hidden else theme.text)
        font = theme.ui_font(12, 600 if row == self._strong else 400)
        painter.setFont(font)
        painter.setPen(ink)
        left = box.left() + theme.px(8 + SAMPLE + 8)
        room = box.right() - theme.px(VALUE + 8) - left
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRectF(left, box.top(), room, box.height()), middle,
                         elided(lines.names[row], font, room, middle=True))
        painter.setFont(theme.mono_font(11))
        painter.drawText(box.adjusted(0, 0, -theme.px(8), 0), middle | Qt.AlignmentFlag.AlignRight,
                         "hidden" if hidden else value_text(lines, row, self._iteration))

    def _row_at(self, y: float) -> int:
        row = int(y // self._theme.px(ROW))
        return row if self._lines is not None and 0 <= row < len(self._lines.names) else -1

    @guarded()
    def mousePressEvent(self, event: QMouseEvent) -> None:
        row = self._row_at(event.position().y())
        if row < 0:
            return
        if event.position().x() < self._theme.px(8 + SAMPLE + 4):
            self._hidden = self._hidden ^ {row}
            self.hidden_changed.emit(self._hidden)
            self.update()
        else:
            self.row_chosen.emit(row)

    @guarded()
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self._row_at(event.position().y()))

    @guarded()
    def leaveEvent(self, event: QEvent) -> None:
        self._hover(-1)

    def _hover(self, row: int) -> None:
        if row != self._hovered:
            self._hovered = row
            self.row_hovered.emit(row)
            self.update()

    @guarded(default=False)
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            row = self._row_at(event.pos().y())
            if row >= 0 and self._lines is not None:
                QToolTip.showText(event.globalPos(), f"{self._lines.names[row]}\nClick the line to hide or show it.",
                                  self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)
