"""The navigator: the script and its variables from the loss to the input; a click looks at one."""

from __future__ import annotations

from pathlib import PurePath

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QLabel, QListView, QStackedLayout, QVBoxLayout, QWidget

from tapeviz.analysis.focus import variable_tensor
from tapeviz.analysis.structure import StructureRow, structure_rows
from tapeviz.gui.navigator.rows import StructureDelegate, StructureModel
from tapeviz.gui.painting import guarded
from tapeviz.gui.session import Session
from tapeviz.gui.stagebar import EmptyState
from tapeviz.recording.schema import NONE

EMPTY = "The variables of a run appear here."


class NavigatorPanel(QWidget):
    """Lists what analysis.structure finds; bound to the focus both ways."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._stale = True
        self.setAccessibleName("Structure")
        self.script = QLabel()
        self.script.setProperty("role", "title")
        self.script.setContentsMargins(12, 8, 8, 6)
        self.script.setTextFormat(Qt.TextFormat.PlainText)
        self.model = StructureModel()
        self.delegate = StructureDelegate(session.theme)
        self.list = QListView()
        self.list.setAccessibleName("Variables")
        self.list.setModel(self.model)
        self.list.setItemDelegate(self.delegate)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.setMouseTracking(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.script)
        column.addWidget(self.list, 1)
        self._stack = QStackedLayout(self)
        self.setProperty("role", "page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._stack.addWidget(EmptyState(EMPTY))
        self._stack.addWidget(page)
        self.list.selectionModel().currentChanged.connect(self._row_chosen)
        self.list.clicked.connect(self._row_clicked)
        session.recording_changed.connect(self._changed)
        session.grew.connect(self._changed)
        session.focus_changed.connect(self._changed)
        session.theme_changed.connect(self._theme_changed)
        self.refresh()

    def settle(self) -> None:
        """Bring everything up to date now, for pictures."""
        self.refresh()

    def _changed(self, _: object = None) -> None:
        if self.isVisible():
            self.refresh()
        else:
            self._stale = True

    def _theme_changed(self, _: object = None) -> None:
        self.delegate.theme = self._session.theme
        self.list.scheduleDelayedItemsLayout()
        self.list.viewport().update()

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self.refresh()

    def refresh(self) -> None:
        """Read the recording again and show it."""
        self._stale = False
        recording, focus = self._session.recording, self._session.focus
        rows = structure_rows(recording, focus.iteration) if recording is not None else []
        self._stack.setCurrentIndex(1 if rows else 0)
        self.model.show_rows(rows)
        if recording is not None:
            script = str(recording.meta.get("script") or recording.path)
            self.script.setText(PurePath(script.replace("\\", "/")).name)
            self.script.setToolTip(script)
        self._select_focus()

    def _select_focus(self) -> None:
        number = next((i for i, row in enumerate(self.model.rows) if self._is_focus(row)), -1)
        index = self.model.index(number) if number >= 0 else QModelIndex()
        if index != self.list.currentIndex():
            selection = self.list.selectionModel()
            selection.blockSignals(True)
            self.list.setCurrentIndex(index)
            selection.blockSignals(False)
            self.list.viewport().update()
            if index.isValid():
                self.list.scrollTo(index)

    def _is_focus(self, row: StructureRow) -> bool:
        recording, tensor = self._session.recording, self._session.focus.tensor
        if recording is None or tensor is None or tensor >= len(recording.tensors):
            return False
        if row.variable is None:
            return tensor == self._loss_tensor()
        return int(recording.tensors["variable"][tensor]) == row.variable

    def _loss_tensor(self) -> int | None:
        recording, pass_ = self._session.recording, self._session.focus.pass_
        if recording is None or pass_ is None:
            return None
        target = int(recording.passes["target"][pass_])
        return target if target != NONE else None

    def _row_clicked(self, index: QModelIndex) -> None:
        self._row_chosen(index, QModelIndex())

    def _row_chosen(self, index: QModelIndex, _: QModelIndex) -> None:
        recording = self._session.recording
        if recording is None or not index.isValid():
            return
        row = self.model.rows[index.row()]
        if self._is_focus(row):
            return
        if row.variable is None:
            tensor = self._loss_tensor()
        else:
            tensor = variable_tensor(recording, self._session.focus.iteration, row.variable)
        if tensor is not None:
            self._session.set_focus(tensor=tensor)
