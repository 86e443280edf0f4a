"""The operations panel: what ran in the iteration that is looked at, as a table with a filter."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from tapeviz.analysis.opcolumns import OpRows
from tapeviz.analysis.opfilter import filter_rows
from tapeviz.analysis.oplist import op_rows
from tapeviz.gui.icons import pixmap
from tapeviz.gui.oplist.model import COLUMNS, OperationsModel
from tapeviz.gui.oplist.table import OperationsTable
from tapeviz.gui.painting import guarded
from tapeviz.gui.session import Session
from tapeviz.gui.stagebar import Segments


class OperationsPanel(QWidget):
    """Choosing a row focuses its operation; the focus chooses the row."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._sort: tuple[int, bool] = (0, False)      # column, descending
        self._stale = True
        self._showing = False
        self._stepping = False
        self._problem = ""
        self.setAccessibleName("Operations")
        self.setProperty("role", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.model = OperationsModel(self)
        self.table = OperationsTable(session)
        self.table.setModel(self.model)
        self.filter = QLineEdit()
        self.filter.setPlaceholderText("op, output, line or shape")
        self.filter.setAccessibleName("Filter of the operations")
        self.filter.setToolTip(
            "Words are looked for in op, output, file:line and shape; conditions such as grad<1e-8, line:42, "
            "shape:*,64, health:vanishing narrow it down (Ctrl+F, /)")
        self.filter.setClearButtonEnabled(True)
        self.glass = QLabel()
        self.span = Segments(("Iteration", "Whole run"), "Operations of",
                             ("Operations of the iteration that is looked at", "Every operation that was recorded"))
        self.count = QLabel()
        self.count.setProperty("role", "small")
        self.empty = QLabel()
        self.empty.setProperty("role", "empty")
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setWordWrap(True)
        row = QHBoxLayout()
        row.setContentsMargins(8, 4, 8, 4)
        row.setSpacing(8)
        row.addWidget(self.span)
        row.addWidget(self.count)
        row.addStretch(1)
        row.addWidget(self.glass)
        row.addWidget(self.filter)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row)
        column.addWidget(self.table, 1)
        column.addWidget(self.empty, 1)
        self.filter.textChanged.connect(self._filter_changed)
        self.span.chosen.connect(self._span_chosen)
        self.table.horizontalHeader().sectionClicked.connect(self._sort_by)
        self.table.selectionModel().currentRowChanged.connect(self._row_chosen)
        session.recording_changed.connect(self._recording_changed)
        session.grew.connect(self.refresh)
        session.focus_changed.connect(self.refresh)
        session.theme_changed.connect(self._dress)
        self._dress()
        self.refresh()

    def start_search(self) -> None:
        """Put the keyboard into the filter."""
        self.filter.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.filter.selectAll()

    def set_stepping(self, stepping: bool) -> None:
        """While one steps, gradients that the pass has not reached yet are pending, and the last column says so."""
        if stepping != self._stepping:
            self._stepping = stepping
            self.refresh()

    # --- rows ----------------------------------------------------------------------------------

    def refresh(self, _: object = None) -> None:
        """The rows of the iteration in focus, and its operation chosen."""
        if not self.isVisible():
            self._stale = True
            return
        self._stale = False
        rows = self._rows()
        order = self._order(rows)
        bar = self.table.verticalScrollBar()
        scrolled = bar.value()
        self._showing = True        # what the table chooses meanwhile is not the user's choice
        try:
            if not self.model.show(rows, order, self._session.focus.step if self._stepping else None):
                bar.setValue(scrolled)
            self._choose_focus()
        finally:
            self._showing = False
        self._tell(rows, len(order))

    def _rows(self) -> OpRows | None:
        recording = self._session.recording
        if recording is None:
            return None
        return op_rows(recording, None if self.span.current == 1 else self._session.focus.iteration)

    def _order(self, rows: OpRows | None) -> np.ndarray:
        if rows is None:
            return np.empty(0, dtype=np.int64)
        text = self.filter.text().strip()
        self._problem = ""
        order = np.arange(len(rows))
        if text:
            found = filter_rows(rows, text)
            order, self._problem = np.flatnonzero(found.mask), found.problem
        column, descending = self._sort
        if column or descending:
            keys = COLUMNS[column].key(rows)[order]
            # Stable both ways: equal keys stay in the order in which they ran; NaN comes last.
            keys = -keys.astype(np.float64) if descending else keys
            order = order[np.argsort(keys, kind="stable")]
        return order

    def _tell(self, rows: OpRows | None, shown: int) -> None:
        total = len(rows) if rows is not None else 0
        text = self.filter.text().strip()
        self.count.setText(f"{shown:,} of {total:,}" if text else f"{total:,}")
        if rows is None:
            self.empty.setText("Run a script or open a recording to see its operations.")
        elif not total:
            self.empty.setText("No operation was recorded in this iteration.")
        else:
            self.empty.setText(self._problem or f"No operation matches “{text}”.")
        self.table.setVisible(shown > 0)
        self.empty.setVisible(shown == 0)

    def _choose_focus(self) -> None:
        """Select the focused operation; the table scrolls only if its row is out of sight and not the one before."""
        op = self._session.focus.op
        row = self.model.row_of(op) if op is not None else -1
        before = self.table.currentIndex().row()
        if row < 0:
            self.table.clearSelection()
            self.table.setCurrentIndex(QModelIndex())
        elif row != before or not self.table.selectionModel().isRowSelected(row):
            self.table.selectRow(row)
            self.table.scrollTo(self.model.index(row, 0))
        self.table.viewport().update()

    # --- choices -------------------------------------------------------------------------------

    def _row_chosen(self, current: QModelIndex, _previous: QModelIndex) -> None:
        if current.isValid() and not self._showing:
            self._session.set_focus(op=self.model.op_at(current.row()))

    def _filter_changed(self, _: str) -> None:
        self.refresh()

    def _span_chosen(self, _: int) -> None:
        self.refresh()

    def _sort_by(self, column: int) -> None:
        """First click ascending, second descending, third as executed."""
        old, descending = self._sort
        if column != old or (column == 0 and not descending and old != 0):
            self._sort = (column, False)
        elif not descending:
            self._sort = (column, True)
        else:
            self._sort = (0, False)
        header = self.table.horizontalHeader()
        header.setSortIndicatorShown(self._sort != (0, False))
        order = Qt.SortOrder.DescendingOrder if self._sort[1] else Qt.SortOrder.AscendingOrder
        header.setSortIndicator(self._sort[0], order)
        self.refresh()

    def _recording_changed(self) -> None:
        self.filter.clear()
        self.refresh()

    def _dress(self, _: object = None) -> None:
        theme = self._session.theme
        self.glass.setPixmap(pixmap("find", theme.muted, theme.px(15), 2))
        self.filter.setFixedWidth(theme.px(240))
        self.table.dress()

    # --- Qt ------------------------------------------------------------------------------------

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self.refresh()

    @guarded()
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.filter.text():
            self.filter.clear()
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            super().keyPressEvent(event)
