"""The heat map of a matrix: an element is chosen by mouse or keys, bad values are glyphs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QImage, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from tapeviz.analysis.arrays import shrunk
from tapeviz.analysis.magnitude import Special
from tapeviz.gui.inspect.colours import NAN, NEGINF, POSINF, ZERO, colour_table, indices
from tapeviz.gui.painting import crisp, draw_focus_ring, draw_special, guarded, pen
from tapeviz.gui.theme import Theme

MOST_HEIGHT, LEAST_HEIGHT, LARGEST_CELL, GLYPHS = 190, 24, 26, 400
_SPECIAL = {NAN: Special.NAN, POSINF: Special.POSINF, NEGINF: Special.NEGINF, ZERO: Special.ZERO}


class HeatMap(QWidget):
    """Draws one matrix over a range of values; `chosen` carries (row, column)."""

    chosen = Signal(int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme: Theme | None = None
        self._matrix: NDArray[np.float64] | None = None
        self._low, self._high, self._log = 0.0, 1.0, False
        self._cell: tuple[int, int] | None = None
        self._image: QImage | None = None
        self._pixels: NDArray[np.uint8] | None = None     # QImage does not own its memory
        self._small: NDArray[np.float64] | None = None
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Heat map")

    def show_matrix(self, matrix: NDArray[np.float64] | None, theme: Theme) -> None:
        """Show another matrix."""
        self._matrix, self._theme = matrix, theme
        self._small = self._image = None
        self.updateGeometry()
        self.update()

    def show_range(self, low: float, high: float, log: bool) -> None:
        """Map low ... high (powers of ten if `log`) to the colours."""
        self._low, self._high, self._log = low, high, log
        self._image = None
        self.update()

    def mark(self, cell: tuple[int, int] | None) -> None:
        """Frame one element."""
        self._cell = cell
        self.update()

    # --- geometry --------------------------------------------------------------------------------

    def _size_for(self, width: int) -> tuple[float, float]:
        """Width and height of the map inside a widget of this width: square cells where they fit."""
        if self._matrix is None or self._theme is None:
            return 0.0, 0.0
        rows, columns = self._matrix.shape
        most = self._theme.px(MOST_HEIGHT)
        cell = min(self._theme.px(LARGEST_CELL), (width - 2) / max(columns, 1), most / max(rows, 1))
        # a long thin matrix would be a hair: it may be stretched across
        across, down = max(cell, min(width - 2, 8 * columns) / max(columns, 1)), cell
        down = max(down, min(most, self._theme.px(LEAST_HEIGHT)) / max(rows, 1)) if rows * cell < 12 else down
        return across * columns, down * rows

    def map_rect(self) -> QRectF:
        """Where the map is inside the widget."""
        width, height = self._size_for(self.width())
        return QRectF(1, 1, width, height)

    @guarded(True)
    def hasHeightForWidth(self) -> bool:
        return True

    @guarded(LEAST_HEIGHT)
    def heightForWidth(self, width: int) -> int:
        return int(self._size_for(width)[1]) + 3

    @guarded(QSize(200, LEAST_HEIGHT))
    def sizeHint(self) -> QSize:
        width = max(self.width(), 100)
        return QSize(width, self.heightForWidth(width))

    @guarded(QSize(60, LEAST_HEIGHT))
    def minimumSizeHint(self) -> QSize:
        return QSize(60, 10)

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        self._small = self._image = None
        super().resizeEvent(event)

    # --- painting --------------------------------------------------------------------------------

    def _picture(self, theme: Theme) -> QImage | None:
        if self._matrix is None or not self._matrix.size:
            return None
        if self._small is None:
            rect, ratio = self.map_rect(), self.devicePixelRatioF()
            self._small = shrunk(self._matrix, max(1, int(rect.height() * ratio)), max(1, int(rect.width() * ratio)))
        if self._image is None:
            self._pixels = np.ascontiguousarray(indices(self._small, self._low, self._high, self._log))
            rows, columns = self._pixels.shape
            self._image = QImage(self._pixels.data, columns, rows, columns, QImage.Format.Format_Indexed8)
            self._image.setColorTable(list(colour_table(theme)))
        return self._image

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme
        image = self._picture(theme) if theme is not None else None
        if theme is None or image is None or self._matrix is None:
            return
        painter = QPainter(self)
        rect = self.map_rect()
        painter.drawImage(rect, image, QRectF(image.rect()))
        self._paint_glyphs(painter, rect, theme)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(pen(theme.control))
        painter.drawRect(crisp(rect.adjusted(-1, -1, 1, 1)))
        if self._cell is not None:
            box = self._cell_rect(*self._cell)
            grown = max(0.0, (6 - box.width()) / 2), max(0.0, (6 - box.height()) / 2)
            box = box.adjusted(-grown[0], -grown[1], grown[0], grown[1])
            painter.setPen(pen("#000000", 3))
            painter.drawRect(box)
            painter.setPen(pen("#ffffff", 1.5))
            painter.drawRect(box)
        if self.hasFocus():
            draw_focus_ring(painter, rect.adjusted(-1, -1, 1, 1), theme)
        painter.end()

    def _paint_glyphs(self, painter: QPainter, rect: QRectF, theme: Theme) -> None:
        """NaN, Inf and (in decades) zero as patterns, where a cell has room for one."""
        pixels = self._pixels
        if pixels is None:
            return
        width, height = rect.width() / pixels.shape[1], rect.height() / pixels.shape[0]
        if width < 5 or height < 5:
            return
        for row, column in np.argwhere(pixels >= NAN)[:GLYPHS].tolist():
            box = QRectF(rect.left() + column * width, rect.top() + row * height, width, height)
            draw_special(painter, box, _SPECIAL[int(pixels[row, column])], theme)

    def _cell_rect(self, row: int, column: int) -> QRectF:
        rect = self.map_rect()
        rows, columns = self._matrix.shape if self._matrix is not None else (1, 1)
        width, height = rect.width() / columns, rect.height() / rows
        return QRectF(rect.left() + column * width, rect.top() + row * height, width, height)

    def centre_of(self, row: int, column: int) -> QPointF:
        """The point in the middle of an element."""
        return self._cell_rect(row, column).center()

    # --- choosing --------------------------------------------------------------------------------

    def cell_at(self, position: QPointF) -> tuple[int, int] | None:
        """Row and column under a point of the widget."""
        rect = self.map_rect()
        if self._matrix is None or not rect.contains(position) or not self._matrix.size:
            return None
        rows, columns = self._matrix.shape
        row = int((position.y() - rect.top()) / rect.height() * rows)
        column = int((position.x() - rect.left()) / rect.width() * columns)
        return min(row, rows - 1), min(column, columns - 1)

    @guarded()
    def mousePressEvent(self, event: QMouseEvent) -> None:
        cell = self.cell_at(event.position())
        if cell is not None:
            self.chosen.emit(*cell)

    @guarded()
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.mousePressEvent(event)

    @guarded()
    def keyPressEvent(self, event: QKeyEvent) -> None:
        moves = {Qt.Key.Key_Left: (0, -1), Qt.Key.Key_Right: (0, 1), Qt.Key.Key_Up: (-1, 0), Qt.Key.Key_Down: (1, 0)}
        step = moves.get(Qt.Key(event.key()))
        if step is None or self._matrix is None or not self._matrix.size:
            super().keyPressEvent(event)
            return
        rows, columns = self._matrix.shape
        row, column = self._cell or (0, 0)
        self.chosen.emit(min(max(row + step[0], 0), rows - 1), min(max(column + step[1], 0), columns - 1))

    @guarded(False)
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            cell = self.cell_at(QPointF(event.pos()))
            if cell is not None and self._matrix is not None:
                QToolTip.showText(event.globalPos(), f"[{cell[0]}, {cell[1]}] = {self._matrix[cell]:.6g}", self)
                return True
        return bool(super().event(event))
