"""A matrix with brackets and real numbers, in which one element can be chosen by mouse and keys."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from tapeviz.analysis.arrays import FULL, Summary, plane, summarize
from tapeviz.analysis.format import shape_text
from tapeviz.analysis.magnitude import Special
from tapeviz.gui.painting import brush, colour, crisp, draw_focus_ring, draw_special, guarded, pen
from tapeviz.gui.stepper.grid import BRACKET, NUMBER_PX, Grid, lay_out
from tapeviz.gui.theme import Theme

CELL_HEIGHT, SERIF, LINE_HEIGHT = 22, 5, 18


class MatrixView(QWidget):
    """Shows the last two axes of an array; `chosen` carries the full index of the element that was clicked."""

    chosen = Signal(object)

    def __init__(self, cell_width: int = 44, interactive: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cell_width, self._interactive = cell_width, interactive
        self._theme: Theme | None = None
        self._value: NDArray[np.generic] | None = None
        self._missing, self._name = "", ""
        self._element: tuple[int, ...] | None = None
        self._row: int | None = None
        self._column: int | None = None
        self._lead: tuple[int, ...] = ()
        self._summary: Summary | None = None
        self._grid: Grid | None = None
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        if interactive:
            self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    # --- what is shown ---------------------------------------------------------------------------

    def show_value(self, name: str, value: NDArray[np.generic] | None, missing: str, theme: Theme) -> None:
        """Show another array, or the sentence why there is none."""
        if value is not self._value:
            self._summary = summarize(value) if value is not None and _shortened(value) else None
        self._value, self._missing, self._theme, self._name = value, missing, theme, name
        shape = shape_text(value.shape) if value is not None else missing
        self.setAccessibleName(f"{name}, {shape}")
        self._relayout()

    def mark(self, element: tuple[int, ...] | None = None, row: int | None = None, column: int | None = None,
             lead: tuple[int, ...] = ()) -> None:
        """Frame one element, tint a row or a column, show the plane at the leading indices."""
        self._element, self._row, self._column, self._lead = element, row, column, lead
        if element is not None:
            self.setAccessibleDescription(f"element {list(element)}: {self.text_of(element)}")
        self._relayout()

    def text_of(self, element: tuple[int, ...]) -> str:
        """The number at an index as the matrix shows it; "" where the index does not exist."""
        if self._value is None or len(element) != self._value.ndim:
            return ""
        grid = self._laid_out()
        return grid.texts.get(self._cell_of(element), "") if grid is not None else ""

    def shown_texts(self) -> list[list[str]]:
        """The visible numbers row by row, an ellipsis where something was left out."""
        grid = self._laid_out()
        if grid is None:
            return []
        return [["…" if r is None or c is None else grid.texts[r, c] for c in grid.columns] for r in grid.rows]

    @property
    def note(self) -> str:
        """The lines under a matrix that is not shown in full."""
        grid = self._laid_out()
        return " ".join(grid.lines) if grid is not None else self._missing

    # --- layout ----------------------------------------------------------------------------------

    def _relayout(self) -> None:
        self._grid = None
        self.updateGeometry()
        self.update()

    def _laid_out(self, width: float | None = None) -> Grid | None:
        if width is None:
            if self._grid is None:
                self._grid = self._layout(self.width())
            return self._grid
        return self._layout(width)

    def _layout(self, width: float) -> Grid | None:
        if self._theme is None or self._value is None:
            return None
        here = self._cell_of(self._element) if self._element is not None else (self._row, self._column)
        return lay_out(plane(self._value, self._lead), here, width, self._cell_width, self._summary, self._theme)

    def _height(self, grid: Grid | None) -> int:
        theme = self._theme
        if theme is None:
            return 0
        if grid is None:
            return theme.px(40) if self._missing else 0
        rows = sum(theme.px(14) if r is None else theme.px(CELL_HEIGHT) for r in grid.rows)
        return int(grid.top + rows + len(grid.lines) * theme.px(LINE_HEIGHT)) + 6

    @guarded(True)
    def hasHeightForWidth(self) -> bool:
        return True

    @guarded(40)
    def heightForWidth(self, width: int) -> int:
        return self._height(self._laid_out(width))

    @guarded(QSize(100, 40))
    def sizeHint(self) -> QSize:
        grid = self._laid_out(10_000)
        if grid is None or self._theme is None:
            return QSize(200, self._height(grid))
        width = grid.left + grid.width() + 2 * self._theme.px(BRACKET) + 2
        return QSize(int(width), self._height(grid))

    @guarded(QSize(60, 20))
    def minimumSizeHint(self) -> QSize:
        return QSize(60, 20)

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        self._grid = None
        super().resizeEvent(event)

    # --- painting --------------------------------------------------------------------------------

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme
        if theme is None:
            return
        painter = QPainter(self)
        grid = self._laid_out()
        if grid is None:
            self._paint_missing(painter, theme)
        else:
            self._paint_grid(painter, grid, theme)
        painter.end()

    def _paint_missing(self, painter: QPainter, theme: Theme) -> None:
        if not self._missing:
            return
        box = QRectF(self.rect())
        draw_special(painter, box, Special.NOT_CAPTURED, theme)
        painter.setFont(theme.ui_font(11.5))
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        inner = box.adjusted(6, 3, -6, -3)
        text = painter.boundingRect(inner, flags, self._missing).adjusted(-5, -2, 5, 2)
        painter.fillRect(text, colour(theme.surface))
        painter.setPen(colour(theme.muted))
        painter.drawText(inner, flags, self._missing)

    def _paint_grid(self, painter: QPainter, grid: Grid, theme: Theme) -> None:
        plain_font, bold_font = theme.mono_font(NUMBER_PX), theme.mono_font(NUMBER_PX, 600)
        small = theme.mono_font(10.5)
        chosen = self._cell_of(self._element) if self._element is not None else None
        bottom = grid.top
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for r in grid.rows:
            height = theme.px(14) if r is None else theme.px(CELL_HEIGHT)
            if grid.left and r is not None:
                painter.setFont(small)
                painter.setPen(colour(theme.muted))
                painter.drawText(QRectF(0, bottom, grid.left - theme.px(4), height), right, str(r))
            x = grid.left + theme.px(BRACKET)
            for c in grid.columns:
                width = grid.gap if c is None else grid.cell
                rect = QRectF(x, bottom, width, height)
                x += width
                tinted = (r is not None and r == self._row) or (c is not None and c == self._column)
                if tinted or (chosen is not None and (r, c) == chosen):
                    painter.fillRect(rect, colour(theme.selection))
                if r is None or c is None:
                    painter.setFont(plain_font)
                    painter.setPen(colour(theme.muted))
                    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, "⋮" if c is not None else "⋯" if r is not None
                                     else "⋱")
                    continue
                text = grid.texts[r, c]
                if text in ("NaN", "Inf", "-Inf", "−Inf"):
                    special = {"NaN": Special.NAN, "Inf": Special.POSINF}.get(text, Special.NEGINF)
                    draw_special(painter, rect.adjusted(3, 2, -3, -2), special, theme)
                else:
                    painter.setFont(bold_font if (r, c) == chosen else plain_font)
                    painter.setPen(colour(theme.text))
                    painter.drawText(rect.adjusted(0, 0, -theme.px(4), 0), right, text)
                if (r, c) == chosen:
                    painter.setPen(pen(theme.accent, 1.5))
                    painter.setBrush(Qt.BrushStyle.NoBrush)
                    painter.drawRoundedRect(crisp(rect, 1.5), 2, 2)
            bottom += height
        self._paint_labels(painter, grid, bottom, theme)
        body = QRectF(grid.left, grid.top, grid.width() + 2 * theme.px(BRACKET), bottom - grid.top)
        _paint_brackets(painter, body, theme)
        if self.hasFocus():
            draw_focus_ring(painter, body.adjusted(0, 0, 0, 2), theme, 4)

    def _paint_labels(self, painter: QPainter, grid: Grid, bottom: float, theme: Theme) -> None:
        painter.setPen(colour(theme.muted))
        painter.setFont(theme.mono_font(10.5))
        if grid.top:
            x = grid.left + theme.px(BRACKET)
            for c in grid.columns:
                width = grid.gap if c is None else grid.cell
                if c is not None:
                    box = QRectF(x, 0, width - theme.px(4), grid.top)
                    painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(c))
                x += width
        for number, line in enumerate(grid.lines):
            box = QRectF(0, bottom + 3 + number * theme.px(LINE_HEIGHT), self.width(), theme.px(LINE_HEIGHT))
            painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, line)

    # --- choosing --------------------------------------------------------------------------------

    def _cell_of(self, element: tuple[int, ...]) -> tuple[int, int]:
        pair = (0, 0, *element)[-2:]
        return pair[0], pair[1]

    def _element_of(self, row: int, column: int) -> tuple[int, ...]:
        assert self._value is not None
        lead = (*self._lead, *(0,) * self._value.ndim)[:max(0, self._value.ndim - 2)]
        return (*lead, row, column)[len(lead) + 2 - min(2, self._value.ndim):] if self._value.ndim < 2 else (
            *lead, row, column)

    def element_at(self, position: QPointF) -> tuple[int, ...] | None:
        """Index of the element under a point of the widget."""
        grid, theme = self._laid_out(), self._theme
        if grid is None or theme is None:
            return None
        y = grid.top
        for r in grid.rows:
            height = theme.px(14) if r is None else theme.px(CELL_HEIGHT)
            x = grid.left + theme.px(BRACKET)
            for c in grid.columns:
                width = grid.gap if c is None else grid.cell
                if QRectF(x, y, width, height).contains(position):
                    return None if r is None or c is None else self._element_of(r, c)
                x += width
            y += height
        return None

    def centre_of(self, element: tuple[int, ...]) -> QPointF | None:
        """The point in the middle of a shown element."""
        grid, theme = self._laid_out(), self._theme
        if grid is None or theme is None:
            return None
        row, column = self._cell_of(element)
        if row not in grid.rows or column not in grid.columns:
            return None
        y = grid.top + sum(theme.px(14 if r is None else CELL_HEIGHT) for r in grid.rows[:grid.rows.index(row)])
        x = grid.left + theme.px(BRACKET) + sum(
            grid.gap if c is None else grid.cell for c in grid.columns[:grid.columns.index(column)])
        return QPointF(x + grid.cell / 2, y + theme.px(CELL_HEIGHT) / 2)

    @guarded()
    def mousePressEvent(self, event: QMouseEvent) -> None:
        element = self.element_at(event.position()) if self._interactive else None
        if element is not None and event.button() == Qt.MouseButton.LeftButton:
            self.setFocus(Qt.FocusReason.MouseFocusReason)
            self.chosen.emit(element)
        else:
            super().mousePressEvent(event)

    @guarded()
    def keyPressEvent(self, event: QKeyEvent) -> None:
        moves = {Qt.Key.Key_Left: (0, -1), Qt.Key.Key_Right: (0, 1), Qt.Key.Key_Up: (-1, 0), Qt.Key.Key_Down: (1, 0)}
        step = moves.get(Qt.Key(event.key()))
        if not self._interactive or self._value is None or self._element is None or step is None:
            super().keyPressEvent(event)
            return
        rows, columns = plane(self._value, self._lead).shape
        row, column = self._cell_of(self._element)
        row, column = min(max(row + step[0], 0), rows - 1), min(max(column + step[1], 0), columns - 1)
        self.chosen.emit(self._element_of(row, column))
        event.accept()

    @guarded(False)
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            element = self.element_at(QPointF(event.pos()))
            if element is not None and self._value is not None:
                text = f"[{', '.join(map(str, element))}] = {self._value[element]!s}"
                QToolTip.showText(event.globalPos(), text, self)
                return True
        return bool(super().event(event))


def _shortened(value: NDArray[np.generic]) -> bool:
    rows, columns = plane(value).shape
    return bool(rows > FULL or columns > FULL)   # it may be shortened at some width


def _paint_brackets(painter: QPainter, body: QRectF, theme: Theme) -> None:
    painter.setPen(pen(theme.muted, 1.25))
    painter.setBrush(brush(theme.surface, 0.0))
    box, serif = crisp(body, 1.25), theme.px(SERIF)
    for edge, inward in ((box.left(), serif), (box.right(), -serif)):
        painter.drawPolyline(QPolygonF([
            QPointF(edge + inward, box.top()), QPointF(edge, box.top()), QPointF(edge, box.bottom()),
            QPointF(edge + inward, box.bottom())]))
