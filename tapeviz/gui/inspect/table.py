"""The elements of a matrix as a table: only what is on screen is turned into text."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetricsF
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from tapeviz.analysis.format import fixed, matrix_decimals, sci
from tapeviz.gui.painting import guarded
from tapeviz.gui.theme import Theme

# The long names once: a look-up in an enumeration costs half a microsecond, and this is asked for every cell.
_DISPLAY, _TIP = Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole
_ALIGN = Qt.ItemDataRole.TextAlignmentRole
_GROUND, _INK = Qt.ItemDataRole.BackgroundRole, Qt.ItemDataRole.ForegroundRole
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_Index = QModelIndex | QPersistentModelIndex
MOST_COLUMNS = 100_000      # Qt keeps a size for every column


class MatrixModel(QAbstractTableModel):
    """A NumPy matrix; numbers in one form for all of them, NaN and Inf white on black."""

    def __init__(self) -> None:
        super().__init__()
        self._matrix: NDArray[np.generic] = np.zeros((0, 0))
        self._decimals: int | None = 3
        self._black, self._white = QBrush(QColor("#000000")), QBrush(QColor("#ffffff"))

    def show_matrix(self, matrix: NDArray[np.generic]) -> None:
        """Show another matrix."""
        self.beginResetModel()
        self._matrix = matrix[:, :MOST_COLUMNS]
        self._decimals = matrix_decimals(matrix)
        self.endResetModel()

    @property
    def matrix(self) -> NDArray[np.generic]:
        return self._matrix

    def text(self, row: int, column: int) -> str:
        """The element as it is shown."""
        x = float(self._matrix[row, column])
        if self._decimals is None or not math.isfinite(x):
            return sci(x, 3, true_minus=True)
        return fixed(x, self._decimals + (1 if self._decimals else 0), true_minus=True)

    @guarded(0)
    def rowCount(self, parent: _Index = QModelIndex()) -> int:   # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else int(self._matrix.shape[0])

    @guarded(0)
    def columnCount(self, parent: _Index = QModelIndex()) -> int:   # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else int(self._matrix.shape[1])

    @guarded()
    def data(self, index: _Index, role: int = _DISPLAY) -> Any:
        if not index.isValid():
            return None
        row, column = index.row(), index.column()
        if role == _DISPLAY:
            return self.text(row, column)
        if role == _ALIGN:
            return _RIGHT
        if role in (_GROUND, _INK) and not math.isfinite(float(self._matrix[row, column])):
            return self._black if role == _GROUND else self._white
        if role == _TIP:
            return f"[{row}, {column}] = {self._matrix[row, column]!s}"
        return None

    @guarded()
    def headerData(self, section: int, orientation: Qt.Orientation, role: int = _DISPLAY) -> Any:
        return str(section) if role == _DISPLAY else None


class MatrixTable(QTableView):
    """The view: the numbers of rows and columns stay in sight while it scrolls."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.matrix_model = MatrixModel()
        self.setModel(self.matrix_model)
        self.setAccessibleName("Values")
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setShowGrid(False)
        self.setCornerButtonEnabled(False)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerItem)
        for header in (self.horizontalHeader(), self.verticalHeader()):
            header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
            header.setHighlightSections(True)
            header.setDefaultAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.dress(theme)

    def dress(self, theme: Theme) -> None:
        """Fonts and sizes of a theme."""
        font = theme.mono_font(11.5)
        # a style sheet wins over setFont, so the font goes into one of its own
        size = f"{font.pointSizeF():.3f}pt"
        self.setStyleSheet(f'QTableView, QHeaderView::section {{ font-family: "{font.family()}"; font-size: {size}; }}'
                           f"QHeaderView::section {{ padding: 0 {theme.px(5)}px; }}"
                           "QHeaderView::section:vertical { border: none; }")
        self.verticalHeader().setDefaultSectionSize(theme.px(22))
        self.horizontalHeader().setFixedHeight(theme.px(24))
        self._fit(theme)

    def show_matrix(self, matrix: NDArray[np.generic], theme: Theme) -> None:
        """Show another matrix."""
        self.matrix_model.show_matrix(matrix)
        self._fit(theme)

    def _fit(self, theme: Theme) -> None:
        model = self.matrix_model
        rows, columns = model.matrix.shape
        metrics = QFontMetricsF(theme.mono_font(11.5))
        texts = [model.text(r, c) for r in range(min(rows, 20)) for c in range(min(columns, 8))]
        longest = max((metrics.horizontalAdvance(t) for t in [*texts, "−0.000", str(columns)]), default=40.0)
        self.horizontalHeader().setDefaultSectionSize(int(longest) + theme.px(16))
        self.verticalHeader().setFixedWidth(int(metrics.horizontalAdvance(str(max(rows - 1, 0)))) + theme.px(16))

    def go_to(self, row: int, column: int) -> None:
        """Select an element and bring it into view."""
        index = self.matrix_model.index(row, column)
        if index != self.currentIndex():
            self.setCurrentIndex(index)
            self.scrollTo(index)
