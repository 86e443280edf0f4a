"""Two blocks and the operator between them: beside each other where there is room, else one under the other."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from tapeviz.gui.painting import guarded
from tapeviz.gui.stepper.blocks import MatrixBlock

GAP = 4


class Pair(QWidget):
    """Lays out two widgets by the width they ask for; the second may be hidden."""

    def __init__(self, left: MatrixBlock, right: MatrixBlock, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._blocks = left, right
        self._left, self._right = left, right
        self._operator = QLabel(self)
        self._operator.setProperty("role", "title")
        for child in (left, right):
            child.setParent(self)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def set_operator(self, text: str) -> None:
        """The sign between the blocks, "" for none."""
        self._operator.setText(text)
        self.relayout()

    def set_order(self, local_first: bool) -> None:
        """Whether the second widget stands before the first."""
        first, second = (self._blocks[1], self._blocks[0]) if local_first else self._blocks
        # with one block hidden the other is the left one
        self._left, self._right = (second, first) if first.isHidden() else (first, second)

    @property
    def operator(self) -> str:
        return self._operator.text()

    def relayout(self) -> None:
        """Measure again, after the blocks have changed."""
        self.updateGeometry()
        self._place()

    def _arrange(self, width: int) -> tuple[QRect, QRect, QRect, int]:
        """Places of left block, operator and right block, and the height of it all."""
        sign = self._operator.sizeHint() if self._operator.text() else QSize(0, 0)
        one = self._left.sizeHint().width()
        if not self._has_right():
            height = _height(self._left, width)
            return QRect(0, 0, width, height), QRect(), QRect(), height
        other = self._right.sizeHint().width()
        gap = sign.width() + 2 * GAP if sign.width() else 3 * GAP
        if one + gap + other <= width:
            # the matrices begin at one height, whatever stands in the headings
            heads = self._left.head_height(one), self._right.head_height(other)
            tops = max(heads) - heads[0], max(heads) - heads[1]
            heights = _height(self._left, one), _height(self._right, other)
            tallest = max(tops[0] + heights[0], tops[1] + heights[1])
            middle = (max(heads) + tallest - sign.height()) // 2
            return (QRect(0, tops[0], one, heights[0]), QRect(one + GAP, middle, sign.width(), sign.height()),
                    QRect(one + gap, tops[1], other, heights[1]), tallest)
        top = _height(self._left, width)
        indent = sign.width() + GAP if sign.width() else 0
        bottom = _height(self._right, width - indent)
        second = QRect(indent, top + 2 * GAP, width - indent, bottom)
        middle = second.top() + (self._right.head_height(width - indent) + bottom - sign.height()) // 2
        return QRect(0, 0, width, top), QRect(0, middle, sign.width(), sign.height()), second, second.bottom() + 1

    def _has_right(self) -> bool:
        return not self._right.isHidden()

    def _place(self) -> None:
        left, sign, right, _ = self._arrange(self.width())
        self._left.setGeometry(left)
        self._operator.setVisible(not sign.isEmpty())
        self._operator.setGeometry(sign)
        if self._has_right():
            self._right.setGeometry(right)

    @guarded(True)
    def hasHeightForWidth(self) -> bool:
        return True

    @guarded(60)
    def heightForWidth(self, width: int) -> int:
        return self._arrange(width)[3]

    @guarded(QSize(200, 60))
    def sizeHint(self) -> QSize:
        width = max(self.width(), 200)
        return QSize(width, self._arrange(width)[3])

    @guarded(QSize(60, 20))
    def minimumSizeHint(self) -> QSize:
        return QSize(60, 20)

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    @guarded(False)
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self.relayout()
        return bool(super().event(event))


def _height(widget: QWidget, width: int) -> int:
    return widget.heightForWidth(width) if widget.hasHeightForWidth() else widget.sizeHint().height()
