"""A row of widgets that goes on in the next line where it is too narrow, as words do."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from tapeviz.gui.painting import guarded


class FlowRow(QWidget):
    """Lays its widgets out from the left; those added with `right` keep to the right edge of their line."""

    def __init__(self, spacing: int = 6, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._spacing = spacing
        self._items: list[tuple[QWidget, bool]] = []
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def add(self, widget: QWidget, right: bool = False) -> None:
        """Append a widget; it is visible unless it was hidden before."""
        decided = widget.testAttribute(Qt.WidgetAttribute.WA_WState_ExplicitShowHide) and widget.isHidden()
        widget.setParent(self)
        widget.setVisible(not decided)      # a child that comes after its parent was shown stays hidden otherwise
        self._items.append((widget, right))
        self.updateGeometry()
        self._place()

    def remove(self, widget: QWidget) -> None:
        """Take a widget out; it is not deleted."""
        self._items = [(w, r) for w, r in self._items if w is not widget]
        widget.setParent(None)
        self.updateGeometry()

    def _lines(self, width: int) -> list[list[tuple[QWidget, bool, int]]]:
        lines: list[list[tuple[QWidget, bool, int]]] = []
        x = 0
        for widget, right in self._items:
            if widget.isHidden():
                continue
            wide = min(_wanted(widget).width(), width)
            if not lines or x + wide > width:
                lines.append([])
                x = 0
            lines[-1].append((widget, right, wide))
            x += wide + self._spacing
        return lines

    def _arrange(self, width: int) -> tuple[list[tuple[QWidget, QRect]], int]:
        """The place of every visible widget, and the height of it all."""
        places: list[tuple[QWidget, QRect]] = []
        y = 0
        for line in self._lines(width):
            height = max(_height(widget, wide) for widget, _, wide in line)
            free = width - sum(wide for _, _, wide in line) - self._spacing * (len(line) - 1)
            x = 0
            for widget, right, wide in line:
                if right and free > 0:
                    x, free = x + free, 0
                tall = _height(widget, wide)
                places.append((widget, QRect(x, y + (height - tall) // 2, wide, tall)))
                x += wide + self._spacing
            y += height + 2
        return places, max(0, y - 2)

    def _place(self) -> None:
        for widget, rect in self._arrange(self.width())[0]:
            widget.setGeometry(rect)

    @guarded(True)
    def hasHeightForWidth(self) -> bool:
        return True

    @guarded(20)
    def heightForWidth(self, width: int) -> int:
        return self._arrange(width)[1]

    @guarded(QSize(100, 20))
    def sizeHint(self) -> QSize:
        shown = [_wanted(w).width() for w, _ in self._items if not w.isHidden()]
        width = sum(shown) + self._spacing * max(0, len(shown) - 1)
        return QSize(width, self._arrange(max(width, 1))[1])

    @guarded(QSize(20, 20))
    def minimumSizeHint(self) -> QSize:
        return QSize(20, 10)

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    @guarded(False)
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
            self._place()
        return bool(super().event(event))


def _wanted(widget: QWidget) -> QSize:
    """The size a widget asks for, within the limits that were set for it."""
    return widget.sizeHint().expandedTo(widget.minimumSize()).boundedTo(widget.maximumSize())


def _height(widget: QWidget, width: int) -> int:
    return widget.heightForWidth(width) if widget.hasHeightForWidth() else _wanted(widget).height()
