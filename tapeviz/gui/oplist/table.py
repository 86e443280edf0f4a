"""The view of the operations table: fixed rows, painted chips, an accent bar at the focused row."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from tapeviz.analysis.magnitude import Special
from tapeviz.analysis.oplist import PENDING
from tapeviz.gui.oplist.model import CHIP, COLUMNS, OperationsModel
from tapeviz.gui.painting import brush, colour, draw_chip, guarded
from tapeviz.gui.session import Session

ROW, HEADER = 22, 24
_SELECTED = QStyle.StateFlag.State_Selected
_HOVER = QStyle.StateFlag.State_MouseOver
_RIGHT_ELIDE, _MIDDLE_ELIDE = Qt.TextElideMode.ElideRight, Qt.TextElideMode.ElideMiddle
_PAD = 6
_SOURCE = next(i for i, column in enumerate(COLUMNS) if column.stretch)
_OP = next(i for i, column in enumerate(COLUMNS) if column.title == "Op")


class OperationDelegate(QStyledItemDelegate):
    """Paints a cell from the model's columns."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._session = session

    @guarded()
    def paint(self, painter: QPainter, option: QStyleOptionViewItem,
              index: QModelIndex | QPersistentModelIndex) -> None:
        theme = self._session.theme
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        selected = bool(state & _SELECTED)
        if selected:
            painter.fillRect(rect, brush(theme.selection))
        elif state & _HOVER:
            painter.fillRect(rect, brush(theme.text, 0.06))
        column = index.column()
        if selected and column == 0:
            painter.fillRect(QRect(rect.left(), rect.top(), 3, rect.height()), brush(theme.accent))
        model = index.model()
        if column == CHIP and isinstance(model, OperationsModel):
            self._paint_chip(painter, rect, model, index.row())
            return
        text = index.data() or ""
        spec = COLUMNS[column]
        font = theme.mono_font(11.5) if spec.mono else theme.ui_font(12, 600 if column == _OP else 400)
        painter.setFont(font)
        painter.setPen(colour(theme.text if column != 0 or selected else theme.muted))
        box = rect.adjusted(_PAD, 0, -_PAD, 0)
        mode = _MIDDLE_ELIDE if column == _SOURCE else _RIGHT_ELIDE
        painter.drawText(box, int(spec.align), QFontMetricsF(font).elidedText(text, mode, box.width()))

    def _paint_chip(self, painter: QPainter, rect: QRect, model: OperationsModel, row: int) -> None:
        theme = self._session.theme
        if model.rows is None:
            return
        i = int(model.order[row])
        found = model.rows.gradient(i)
        if found.special is Special.NOT_CAPTURED:
            return
        pending = model.pending(i)
        text = PENDING if pending else found.text
        font = theme.mono_font(10.5)
        width = max(theme.px(54), round(QFontMetricsF(font).horizontalAdvance(text)) + theme.px(8))
        chip = QRectF(0, 0, min(width, rect.width() - 4), theme.px(16))
        chip.moveCenter(QRectF(rect).center())
        draw_chip(painter, chip, text, Special.NONE if pending else found.code, theme)

    @guarded(QSize(60, ROW))
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(60, self._session.theme.px(ROW))


class OperationsTable(QTableView):
    """A QTableView with rows of one height; nothing is edited, one row is chosen."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setItemDelegate(OperationDelegate(session, self))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerItem)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setMouseTracking(True)
        self.setTabKeyNavigation(False)
        self.setAccessibleName("Operations")
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.verticalHeader().setVisible(False)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsMovable(True)
        header.setSortIndicatorShown(False)
        header.setSectionsClickable(True)
        header.setAccessibleName("Columns: click to sort")

    def dress(self) -> None:
        """Row heights and column widths of the current scale."""
        theme = self._session.theme
        self.verticalHeader().setMinimumSectionSize(theme.px(ROW))
        self.verticalHeader().setDefaultSectionSize(theme.px(ROW))
        header = self.horizontalHeader()
        header.setFixedHeight(theme.px(HEADER))
        header.setMinimumSectionSize(theme.px(30))
        for i, column in enumerate(COLUMNS):
            header.setSectionResizeMode(i, QHeaderView.ResizeMode.Stretch if column.stretch
                                        else QHeaderView.ResizeMode.Interactive)
            if not column.stretch:
                self.setColumnWidth(i, theme.px(column.width))
