"""A matrix with its heading, and the small chips that stand for the other results of a step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from tapeviz.analysis.magnitude import Magnitude
from tapeviz.gui.flow import FlowRow
from tapeviz.gui.formula import FormulaLabel, formula, plain
from tapeviz.gui.painting import draw_chip, draw_focus_ring, guarded
from tapeviz.gui.stepper.matrix import MatrixView
from tapeviz.gui.theme import Theme

SYMBOL_PX = 14


class MatrixBlock(QWidget):
    """A heading (symbol and words) over a matrix."""

    def __init__(self, cell_width: int, interactive: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.symbol = FormulaLabel(SYMBOL_PX, bold=True, centred=False)
        self.words = QLabel()
        self.words.setProperty("role", "heading")
        self.matrix = MatrixView(cell_width, interactive)
        self.head = FlowRow()
        self.head.add(self.symbol)
        self.head.add(self.words)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4)
        self._column.addWidget(self.head)
        self._column.addWidget(self.matrix)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_block(self, latex: str, words: str, value: NDArray[np.generic] | None, missing: str,
                   theme: Theme) -> None:
        """Show a value under its symbol; `missing` is the sentence where there is no value."""
        self.symbol.setVisible(bool(latex))
        self.symbol.show_formula(latex, theme)
        self.words.setText(words)
        self.matrix.show_value(f"{plain(latex)} {words}".strip(), value, missing, theme)

    def settle(self) -> None:
        """Lay out now what has changed."""
        self._column.activate()

    def head_height(self, width: int) -> int:
        """From the top of the block to the top of its matrix, if the block is that wide."""
        return self.head.heightForWidth(width) + self._column.spacing()

    @guarded(QSize(100, 60))
    def sizeHint(self) -> QSize:
        hint, head = self.matrix.sizeHint(), self._column.sizeHint()
        words = self.symbol.sizeHint().width() + self.words.sizeHint().width() + 14
        return QSize(max(hint.width(), words), head.height())


class Chip(QWidget):
    """The symbol of a gradient and its norm on the fill of its decade; a click chooses it."""

    clicked = Signal(int)

    def __init__(self, slot: int, latex: str, name: str, size: Magnitude, theme: Theme,
                 parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._slot, self._latex, self._size, self._theme = slot, latex, size, theme
        self.setAccessibleName(f"gradient of {name}: {size.text}")
        self.setToolTip(f"Gradient of {name}, norm {size.text}: show what this step adds to it")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def _widths(self) -> tuple[float, float]:
        theme = self._theme
        picture = formula(self._latex, SYMBOL_PX * theme.scale, theme.text, True)
        metrics = QFontMetricsF(theme.mono_font(10.5))
        symbol = picture.viewBoxF().width() if picture is not None else metrics.horizontalAdvance(plain(self._latex))
        return symbol + 4, max(metrics.horizontalAdvance(self._size.text) + theme.px(10), theme.px(50))

    @guarded(QSize(80, 22))
    def sizeHint(self) -> QSize:
        return QSize(round(sum(self._widths())) + 4, self._theme.px(22))

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        symbol, chip = self._widths()
        picture = formula(self._latex, SYMBOL_PX * theme.scale, theme.text, True)
        if picture is not None:
            box = picture.viewBoxF()
            place = QRectF(2, (self.height() - box.height()) / 2, box.width(), box.height())
            picture.render(painter, place)
        else:
            painter.setFont(theme.mono_font(10.5))
            painter.drawText(QRectF(2, 0, symbol, self.height()), Qt.AlignmentFlag.AlignVCenter, plain(self._latex))
        height = theme.px(16)
        rect = QRectF(symbol + 2, (self.height() - height) / 2, chip, height)
        draw_chip(painter, rect, self._size.text, self._size.code, theme)
        if self.hasFocus():
            draw_focus_ring(painter, QRectF(self.rect()), theme, 3)
        painter.end()

    @guarded()
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.clicked.emit(self._slot)

    @guarded()
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.clicked.emit(self._slot)
        else:
            super().keyPressEvent(event)
