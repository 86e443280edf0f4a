"""The view of the operations table: fixed rows, painted chips, an accent bar at the focused row."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QResizeEvent
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
from tapeviz.gui.theme import Theme

ROW, HEADER = 22, 24
_SELECTED = QStyle.StateFlag.State_Selected
_HOVER = QStyle.StateFlag.State_MouseOver
_RIGHT_ELIDE, _MIDDLE_ELIDE = Qt.TextElideMode.ElideRight, Qt.TextElideMode.ElideMiddle
_PAD = 6
_SOURCE = next(i for i, column in enumerate(COLUMNS) if column.stretch)
_OP = next(i for i, column in enumerate(COLUMNS) if column.title == "Op")


class Ink:
    """A font with what is asked of it for every cell; made once per theme, since the cells are many."""

    def __init__(self, font: QFont, mono: bool) -> None:
        self.font = font
        self._metrics = QFontMetricsF(font)
        self._advance = self._metrics.horizontalAdvance("0") if mono else 0.0

    def width(self, text: str) -> float:
        return len(text) * self._advance if self._advance else self._metrics.horizontalAdvance(text)

    def fitting(self, text: str, width: float, mode: Qt.TextElideMode) -> str:
        return text if self.width(text) <= width else self._metrics.elidedText(text, mode, width)


class OperationDelegate(QStyledItemDelegate):
    """Paints a cell from the model's columns."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._session = session
        self._theme: Theme | None = None
        self._inks: dict[str, Ink] = {}

    def _ink(self, kind: str) -> Ink:
        theme = self._session.theme
        if theme is not self._theme:
            self._theme = theme
            self._inks = {"mono": Ink(theme.mono_font(11.5), True), "chip": Ink(theme.mono_font(10.5), True),
                          "plain": Ink(theme.ui_font(12), False), "bold": Ink(theme.ui_font(12, 600), False)}
        return self._inks[kind]

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
        if not isinstance(model, OperationsModel):
            return
        if column == CHIP:
            self._paint_chip(painter, rect, model, index.row())
            return
        spec = COLUMNS[column]
        ink = self._ink("mono" if spec.mono else "bold" if column == _OP else "plain")
        painter.setFont(ink.font)
        painter.setPen(colour(theme.text if column != 0 or selected else theme.muted))
        box = rect.adjusted(_PAD, 0, -_PAD, 0)
        mode = _MIDDLE_ELIDE if column == _SOURCE else _RIGHT_ELIDE
        painter.drawText(box, int(spec.align), ink.fitting(model.text(index.row(), column), box.width(), mode))

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
        width = max(theme.px(54), round(self._ink("chip").width(text)) + theme.px(8))
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

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """The chosen row stays whole when the table gets lower."""
        super().resizeEvent(event)
        if self.currentIndex().isValid():
            self.scrollTo(self.currentIndex())

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
