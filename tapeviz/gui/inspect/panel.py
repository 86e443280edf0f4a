"""The tensor inspector: heat map, range, values and statistics of the tensor in focus."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QLabel,
    QMenu,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStackedLayout,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from tapeviz.analysis.arrays import decades, extreme, first_nonfinite, plane, summarize
from tapeviz.analysis.format import shape_text
from tapeviz.analysis.names import tensor_text
from tapeviz.analysis.quantities import Asked, made_by, quantities
from tapeviz.gui.flow import FlowRow
from tapeviz.gui.inspect.colours import histogram, span
from tapeviz.gui.inspect.copying import as_csv, as_numpy
from tapeviz.gui.inspect.heatmap import HeatMap
from tapeviz.gui.inspect.rangebar import RangeBar
from tapeviz.gui.inspect.statistics import DecadeBars, Statistics, recorded_rows, rows_of
from tapeviz.gui.inspect.table import MatrixTable
from tapeviz.gui.painting import guarded
from tapeviz.gui.session import Session
from tapeviz.gui.stagebar import EmptyState
from tapeviz.gui.stepper.choosers import ArgumentChooser, PlaneChooser
from tapeviz.recording.rows import RecordingError
from tapeviz.recording.schema import What

EMPTY = "Choose an operation or a variable to see its numbers."
MISSING = "The elements were not kept in this recording; these are the statistics that were."


class TensorPanel(QWidget):
    """Shows the tensor of the session's focus; computes nothing itself."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._stale = True
        self._what = What.VALUE
        self._asked: list[Asked] = []
        self._shown: tuple[object, ...] = ()
        self._value: NDArray[np.generic] | None = None
        self._lead: tuple[int, ...] = ()
        self._log = False
        self.setAccessibleName("Tensor")
        self._build()
        self._connect()
        self.refresh()

    # --- building --------------------------------------------------------------------------------

    def _build(self) -> None:
        theme = self._session.theme
        self.title, self.origin, self.message = QLabel(), QLabel(), QLabel()
        self.title.setProperty("role", "title")
        for label in (self.title, self.origin, self.message):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
        for label in (self.origin, self.message):
            label.setProperty("role", "muted")
        self.chooser, self.plane = ArgumentChooser(), PlaneChooser()
        self.chooser.setAccessibleName("Quantity")
        self.scale = ArgumentChooser()
        self.scale.setAccessibleName("Colour scale")
        self.scale.show_names([(0, "Linear"), (1, "Log")], 0)
        self.heatmap, self.range = HeatMap(), RangeBar()
        self.table = MatrixTable(theme)
        self.table.setMinimumHeight(150)
        self.statistics, self.decades = Statistics(), DecadeBars()
        self.nonfinite = _button("First NaN", "Go to the first NaN, or the first Inf when there is no NaN")
        self.largest = _button("Max", "Go to the largest element")
        self.smallest = _button("Min", "Go to the smallest element")
        self.copy = QToolButton()
        self.copy.setText("Copy")
        self.copy.setToolTip("Copy the numbers, or save them")
        self.copy.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self.copy)
        menu.addAction("Copy as NumPy", self.copy_numpy)
        menu.addAction("Copy as CSV", self.copy_csv)
        menu.addAction("Save as .npy...", self.save)
        self.copy.setMenu(menu)
        self.jumps, choosers = FlowRow(), FlowRow()
        for button in (self.nonfinite, self.smallest, self.largest):
            self.jumps.add(button)
        self.jumps.add(self.copy, right=True)
        choosers.add(self.chooser)
        choosers.add(self.scale, right=True)
        choosers.add(self.plane)
        page = QWidget()
        page.setProperty("role", "page")
        column = QVBoxLayout(page)
        column.setContentsMargins(12, 10, 12, 12)
        column.setSpacing(8)
        head = QVBoxLayout()
        head.setSpacing(1)
        head.addWidget(self.title)
        head.addWidget(self.origin)
        column.addLayout(head)
        column.addWidget(choosers)
        column.addWidget(self.message)
        for widget in (self.heatmap, self.range, self.jumps):
            column.addWidget(widget)
        column.addWidget(self.table, 1)
        column.addWidget(self.statistics)
        column.addWidget(self.decades)
        column.addStretch(0)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(page)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._stack = QStackedLayout(self)
        self.setProperty("role", "page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._stack.addWidget(EmptyState(EMPTY))
        self._stack.addWidget(scroll)

    def _connect(self) -> None:
        session = self._session
        self.chooser.chosen.connect(self._quantity_chosen)
        self.scale.chosen.connect(self._scale_chosen)
        self.plane.chosen.connect(self._plane_chosen)
        self.heatmap.chosen.connect(self._cell_chosen)
        self.range.changed.connect(self._range_changed)
        self.table.selectionModel().currentChanged.connect(self._row_chosen)
        self.nonfinite.clicked.connect(self._to_nonfinite)
        self.largest.clicked.connect(self._to_largest)
        self.smallest.clicked.connect(self._to_smallest)
        session.recording_changed.connect(self._changed)
        session.grew.connect(self._changed)
        session.focus_changed.connect(self._changed)
        session.theme_changed.connect(self._theme_changed)

    # --- showing ---------------------------------------------------------------------------------

    def settle(self) -> None:
        """Bring everything up to date now, for pictures."""
        self.refresh()

    def _changed(self, _: object = None) -> None:
        if self.isVisible():
            self.refresh()
        else:
            self._stale = True

    def _theme_changed(self, _: object = None) -> None:
        self.table.dress(self._session.theme)
        self._shown = ()
        self._changed()

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self.refresh()

    def refresh(self) -> None:
        """Read the recording again and show the tensor in focus."""
        self._stale = False
        recording, focus = self._session.recording, self._session.focus
        self._asked = quantities(recording, focus) if recording is not None else []
        self._stack.setCurrentIndex(1 if self._asked else 0)
        if recording is None or not self._asked:
            self._shown = ()
            return
        names = [(int(a.what), a.label) for a in self._asked]
        asked = next((a for a in self._asked if a.what == self._what), self._asked[0])
        self.chooser.show_names(names, int(asked.what))
        key = (recording, asked.tensor, asked.what, asked.pass_, asked.op, asked.slot, asked.kept)
        if key != self._shown:
            self._shown = key
            self._show_tensor(asked)
        self._show_element()

    def _show_tensor(self, asked: Asked) -> None:
        recording, theme = self._session.recording, self._session.theme
        assert recording is not None
        row = recording.tensors[asked.tensor]
        shape = recording.shape(int(row["shape"]))
        dtype = recording.dtype(int(row["dtype"]))
        name = tensor_text(recording, asked.tensor)
        self.title.setText(name if asked.what is What.VALUE else f"{asked.label} of {name}")
        file, line = recording.op_line(int(row["op"])) if int(row["op"]) < len(recording.ops) else ("", 0)
        place = f", {Path(file).name}:{line}" if line else ""
        self.origin.setText(f"{made_by(recording, asked.tensor)}{place}, {shape_text(shape)} {dtype}")
        try:
            self._value = asked.elements(recording)
            self.message.setText(MISSING if self._value is None else "")
        except RecordingError as error:
            self._value = None
            self.message.setText(str(error))
        value = self._value
        self.message.setVisible(value is None)
        for part in (self.heatmap, self.range, self.jumps, self.table, self.scale, self.decades):
            part.setVisible(value is not None)
        if value is None:
            self.plane.show_shape((), ())
            self.statistics.show_rows(recorded_rows(asked.stat, dtype, shape_text(shape)), theme)
            return
        summary = summarize(value)
        self.statistics.show_rows(rows_of(summary, str(value.dtype), shape_text(value.shape)), theme)
        self.decades.show_decades(decades(value), theme)
        self.nonfinite.setText("First Inf" if not summary.nan and summary.posinf + summary.neginf else "First NaN")
        self.nonfinite.setEnabled(bool(summary.nan + summary.posinf + summary.neginf))
        self._lead = (0,) * max(0, value.ndim - 2)
        self._show_plane()

    def _show_plane(self) -> None:
        value, theme = self._value, self._session.theme
        if value is None:
            return
        self.plane.show_shape(value.shape, self._lead)
        matrix = plane(value, self._lead)
        self.table.show_matrix(matrix, theme)
        self.heatmap.show_matrix(matrix.astype(np.float64), theme)
        self._show_range()

    def _show_range(self) -> None:
        """The range is fitted to the whole tensor, so that its planes can be compared."""
        if self._value is None:
            return
        numbers = self._value.astype(np.float64).ravel()
        ends = span(numbers, self._log)
        self.range.show_values(histogram(numbers, *ends, self._log), ends, self._log, self._session.theme)
        self.heatmap.show_range(*ends, self._log)

    def _show_element(self) -> None:
        value, element = self._value, self._session.focus.element
        if value is None or element is None or len(element) != value.ndim:
            self.heatmap.mark(None)
            return
        if element[:-2] != self._lead and value.ndim > 2:
            self._lead = element[:-2]
            self._show_plane()
        row, column = (0, 0, *element)[-2:]
        if row < plane(value, self._lead).shape[0] and column < plane(value, self._lead).shape[1]:
            self.heatmap.mark((row, column))
            self.table.go_to(row, column)

    # --- choosing --------------------------------------------------------------------------------

    def _quantity_chosen(self, what: int) -> None:
        self._what = What(what)
        self.refresh()

    def _scale_chosen(self, log: int) -> None:
        self._log = bool(log)
        self.scale.show_names([(0, "Linear"), (1, "Log")], log)
        self._show_range()

    def _plane_chosen(self, lead: tuple[int, ...]) -> None:
        self._lead = lead
        self._show_plane()

    def _range_changed(self, low: float, high: float) -> None:
        self.heatmap.show_range(low, high, self._log)

    def _cell_chosen(self, row: int, column: int) -> None:
        if self._value is not None:
            self._choose((*self._lead, row, column)[-self._value.ndim:] if self._value.ndim else ())

    def _row_chosen(self, index: QModelIndex, _: QModelIndex) -> None:
        if index.isValid() and self.table.hasFocus():
            self._cell_chosen(index.row(), index.column())

    def _choose(self, element: tuple[int, ...] | None) -> None:
        if element is not None:
            focus = self._session.focus
            self._session.set_focus(op=focus.op, tensor=focus.tensor, element=element)

    def _to_nonfinite(self) -> None:
        self._choose(first_nonfinite(self._value) if self._value is not None else None)

    def _to_largest(self) -> None:
        self._choose(extreme(self._value, largest=True) if self._value is not None else None)

    def _to_smallest(self) -> None:
        self._choose(extreme(self._value, largest=False) if self._value is not None else None)

    # --- taking the numbers elsewhere ------------------------------------------------------------

    def copy_numpy(self) -> None:
        """Put the whole tensor on the clipboard as a line of Python."""
        if self._value is not None:
            QGuiApplication.clipboard().setText(as_numpy(self._value))

    def copy_csv(self) -> None:
        """Put the matrix on screen on the clipboard as comma-separated values."""
        if self._value is not None:
            QGuiApplication.clipboard().setText(as_csv(plane(self._value, self._lead)))

    def save(self) -> None:
        """Ask where to, and save the whole tensor as a NumPy file."""
        if self._value is None:
            return
        name = "".join(c if c.isalnum() else "_" for c in self.title.text()) + ".npy"
        path, _ = QFileDialog.getSaveFileName(self, "Save tensor", name, "NumPy array (*.npy)")
        if path:
            self.save_to(Path(path))

    def save_to(self, path: Path) -> None:
        """Save the whole tensor; what went wrong is said in the panel."""
        if self._value is None:
            return
        try:
            with open(path, "wb") as file:
                np.save(file, self._value, allow_pickle=False)
        except OSError as error:
            self.message.setText(f"Not saved: {error.strerror or error} ({path})")
            self.message.show()


def _button(text: str, tip: str) -> QPushButton:
    button = QPushButton(text)
    button.setToolTip(tip)
    button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
    return button
