"""The table model of the operations: columns of analysis.oplist, an order, and texts made when a cell is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from tapeviz.analysis.format import sci
from tapeviz.analysis.magnitude import OK, WORDS, Special
from tapeviz.analysis.opcolumns import OpRows
from tapeviz.analysis.oplist import PENDING, row_state
from tapeviz.gui.painting import guarded

# Looked up once: the short form of an enumeration costs 9 µs every time, and data() is asked for every cell.
_DISPLAY = Qt.ItemDataRole.DisplayRole
_ALIGN = Qt.ItemDataRole.TextAlignmentRole
_TOOLTIP = Qt.ItemDataRole.ToolTipRole
_HORIZONTAL = Qt.Orientation.Horizontal
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_CENTRE = Qt.AlignmentFlag.AlignCenter
_NO_INDEX = QModelIndex()

Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its text for row i, and the keys by which it is sorted."""

    title: str
    tip: str
    width: int
    align: Qt.AlignmentFlag
    text: Callable[[OpRows, int], str]
    key: Callable[[OpRows], np.ndarray]
    mono: bool = False
    stretch: bool = False


def _value(rows: OpRows, i: int) -> str:
    code = int(rows.value_code[i])
    return sci(float(rows.value[i])) if code == OK else WORDS[Special(code)]


def _gradient(rows: OpRows, i: int) -> str:
    found = rows.gradient(i)
    return "" if found.special is Special.NOT_CAPTURED else found.text


def _source(rows: OpRows, i: int) -> str:
    line = int(rows.line[i])
    return f"{rows.files[rows.file[i]].rsplit('/', 1)[-1]}:{line}" if line else ""


def _ranks(texts: tuple[str, ...]) -> np.ndarray:
    """The place of every text of a dictionary in alphabetical order."""
    ranks = np.empty(len(texts), dtype=np.int64)
    ranks[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
    return ranks


COLUMNS: tuple[Column, ...] = (
    Column("#", "Number within the iteration", 46, _RIGHT, lambda r, i: str(r.number[i]), lambda r: r.op, mono=True),
    Column("Step", "The backward step that undoes it", 52, _RIGHT,
           lambda r, i: str(r.step[i]) if r.step[i] else "", lambda r: np.where(r.step > 0, r.step, 2**31 - 1),
           mono=True),
    Column("Op", "Operation", 148, _LEFT, lambda r, i: r.names[r.name[i]], lambda r: _ranks(r.names)[r.name]),
    Column("Output", "Name of what it made", 82, _LEFT, lambda r, i: r.outputs[r.output[i]],
           lambda r: _ranks(r.outputs)[r.output], mono=True),
    Column("Shape", "Shape of what it made", 84, _LEFT, lambda r, i: r.shapes[r.shape[i]],
           lambda r: _ranks(r.shapes)[r.shape], mono=True),
    Column("Source", "File and line", 150, _LEFT, _source, lambda r: r.line, mono=True, stretch=True),
    Column("value norm", "L2 norm of what it made", 84, _RIGHT, _value, lambda r: r.value, mono=True),
    Column("grad norm", "L2 norm of the gradient of what it made", 92, _CENTRE, _gradient, lambda r: r.grad,
           mono=True),
    Column("µs", "Duration of the forward call in microseconds", 62, _RIGHT,
           lambda r, i: f"{int(r.duration[i]) / 1000:,.0f}", lambda r: r.duration, mono=True),
    Column("Health", "The gradient against the median of the iteration", 90, _LEFT,
           lambda r, i: r.word(i), lambda r: r.bin),
)
CHIP = next(i for i, column in enumerate(COLUMNS) if column.title == "grad norm")
WORD = len(COLUMNS) - 1      # health, or the state of the row while one steps


class OperationsModel(QAbstractTableModel):
    """Rows of one table, filtered and sorted through an array of row numbers."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: OpRows | None = None
        self.order = np.empty(0, dtype=np.int64)
        self.step: int | None = None

    def show(self, rows: OpRows | None, order: np.ndarray, step: int | None) -> bool:
        """Show `rows` in `order`; True if rows were only added at the end (nothing above them moves).

        step: where the pass stands, for pending gradients and the state of each row; None: all of it is shown
        """
        titles = (step is None) != (self.step is None)
        self.step = step
        if titles:
            self.headerDataChanged.emit(_HORIZONTAL, WORD, WORD)
        old_rows, old = self.rows, self.order
        grown = (
            rows is not None and old_rows is not None and 0 < len(old) <= len(order)
            and np.array_equal(rows.op[order[:len(old)]], old_rows.op[old])
        )
        if grown:
            if len(order) > len(old):
                self.beginInsertRows(QModelIndex(), len(old), len(order) - 1)
                self.rows, self.order = rows, order
                self.endInsertRows()
            else:
                self.rows, self.order = rows, order
            self.dataChanged.emit(self.index(0, 0), self.index(len(old) - 1, len(COLUMNS) - 1))
            return True
        self.beginResetModel()
        self.rows, self.order = rows, order
        self.endResetModel()
        return False

    def text(self, row: int, column: int) -> str:
        """What a cell says."""
        if self.rows is None:
            return ""
        i = int(self.order[row])
        if self.step is not None and column == WORD:
            return row_state(self.rows, i, self.step)
        if column == CHIP and self.pending(i):
            return ""
        return COLUMNS[column].text(self.rows, i)

    def pending(self, i: int) -> bool:
        """Whether the gradient of row `i` of the columns has not been reached by the focused step."""
        return self.step is not None and self.rows is not None and row_state(self.rows, i, self.step) == PENDING

    def op_at(self, row: int) -> int:
        """The operation shown in a row."""
        assert self.rows is not None
        return int(self.rows.op[self.order[row]])

    def row_of(self, op: int) -> int:
        """The row in which an operation is shown, -1 if it is not."""
        if self.rows is None or not len(self.order):
            return -1
        found = np.flatnonzero(self.rows.op[self.order] == op)
        return int(found[0]) if len(found) else -1

    # --- Qt ------------------------------------------------------------------------------------

    @guarded(0)
    def rowCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self.order)

    @guarded(0)
    def columnCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    @guarded()
    def data(self, index: Index, role: int = _DISPLAY) -> Any:
        if self.rows is None or not index.isValid() or index.row() >= len(self.order):
            return None
        column = COLUMNS[index.column()]
        if role in (_DISPLAY, _TOOLTIP):
            i = int(self.order[index.row()])
            if role == _TOOLTIP and column.title == "Source":
                return f"{self.rows.files[self.rows.file[i]]}:{self.rows.line[i]}" if self.rows.line[i] else None
            return self.text(index.row(), index.column())
        if role == _ALIGN:
            return column.align
        return None

    @guarded()
    def headerData(self, section: int, orientation: Qt.Orientation, role: int = _DISPLAY) -> Any:
        if orientation != _HORIZONTAL or not 0 <= section < len(COLUMNS):
            return None
        if role == _DISPLAY:
            return "State" if self.step is not None and section == WORD else COLUMNS[section].title
        if role == _TOOLTIP:
            return COLUMNS[section].tip
        return COLUMNS[section].align if role == _ALIGN else None
