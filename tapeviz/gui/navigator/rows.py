"""The navigator's rows: a thin model over the structure of the recording, and how a row is painted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    QPointF,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPolygonF
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from tapeviz.analysis.format import plain
from tapeviz.analysis.magnitude import Special
from tapeviz.analysis.structure import StructureRow
from tapeviz.gui.painting import brush, colour, crisp, draw_special, elided, guarded, pen
from tapeviz.gui.theme import Theme

ROW, SPARK, SWATCH = 24, 54, 8
ROW_ROLE = int(Qt.ItemDataRole.UserRole)
_DISPLAY, _TIP = Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole
_ACCESSIBLE = Qt.ItemDataRole.AccessibleTextRole
_Index = QModelIndex | QPersistentModelIndex


class StructureModel(QAbstractListModel):
    """One row per variable, the loss last."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[StructureRow] = []

    @property
    def rows(self) -> list[StructureRow]:
        return self._rows

    def show_rows(self, rows: list[StructureRow]) -> None:
        """Show other rows; the selection stays while the names are the same."""
        same = [r.name for r in rows] == [r.name for r in self._rows]
        if not same:
            self.beginResetModel()
        self._rows = rows
        if not same:
            self.endResetModel()
        elif rows:
            self.dataChanged.emit(self.index(0), self.index(len(rows) - 1))

    @guarded(0)
    def rowCount(self, parent: _Index = QModelIndex()) -> int:   # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self._rows)

    @guarded()
    def data(self, index: _Index, role: int = _DISPLAY) -> Any:
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if role == _DISPLAY:
            return row.name
        if role == ROW_ROLE:
            return row
        if role in (_TIP, _ACCESSIBLE):
            if row.variable is None:
                return f"{row.name}: {plain(row.value)}"
            return f"{row.name} {row.shape}, gradient norm {row.size.text}"
        return None


class StructureDelegate(QStyledItemDelegate):
    """Swatch of the gradient's decade, name, shape, and the last iterations as a sparkline."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.theme = theme

    @guarded(QSize(100, ROW))
    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        return QSize(100, self.theme.px(ROW))

    @guarded()
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        theme, row = self.theme, index.data(ROW_ROLE)
        if not isinstance(row, StructureRow):
            return
        box = QRectF(option.rect)
        state = option.state
        painter.save()
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, colour(theme.selection))
            painter.fillRect(QRectF(box.left(), box.top(), 3, box.height()), colour(theme.accent))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(box, colour(theme.text, 0.06))
        _paint_row(painter, box.adjusted(theme.px(12), 0, -theme.px(10), 0), row, theme)
        if state & QStyle.StateFlag.State_HasFocus and state & QStyle.StateFlag.State_KeyboardFocusChange:
            painter.setPen(pen(theme.focus, 2.0))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(crisp(box, 2.0))
        painter.restore()


def _paint_row(painter: QPainter, box: QRectF, row: StructureRow, theme: Theme) -> None:
    swatch = QRectF(box.left(), box.center().y() - theme.px(7), theme.px(SWATCH), theme.px(14))
    _paint_swatch(painter, swatch, row.size.code, theme)
    right = box.right()
    left = swatch.right() + theme.px(7)
    font, small = theme.ui_font(12), theme.mono_font(10.5)
    if row.variable is None:
        painter.setFont(theme.mono_font(11.5))
        painter.setPen(colour(theme.text))
        number = "" if math.isnan(row.value) else plain(row.value)
        width = QFontMetricsF(painter.font()).horizontalAdvance(number)
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, number)
        right -= width + theme.px(6)
    elif row.spark.size and leaves_a_name(right - left - theme.px(SPARK + 6), row.name, font):
        spark = QRectF(right - theme.px(SPARK), box.top() + 5, theme.px(SPARK), box.height() - 10)
        _paint_spark(painter, spark, row.spark, theme)
        right = spark.left() - theme.px(6)
    name = elided(row.name, font, right - left, middle=True)
    taken = QFontMetricsF(font).horizontalAdvance(name)
    flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
    painter.setFont(font)
    painter.setPen(colour(theme.text))
    painter.drawText(QRectF(left, box.top(), right - left, box.height()), flags, name)
    room = right - left - taken - theme.px(8)
    if row.variable is not None and QFontMetricsF(small).horizontalAdvance(row.shape) <= room:
        painter.setFont(small)
        painter.setPen(colour(theme.muted))
        painter.drawText(QRectF(right - room, box.top(), room, box.height()), flags, row.shape)


def leaves_a_name(room: float, name: str, font: QFont) -> bool:
    """Whether beside the sparkline there is room for the name, or for enough of it to be told apart."""
    return room >= min(QFontMetricsF(font).horizontalAdvance(name), QFontMetricsF(font).horizontalAdvance("m" * 8))


def _paint_swatch(painter: QPainter, box: QRectF, code: int | Special, theme: Theme) -> None:
    if isinstance(code, Special):
        draw_special(painter, box, code, theme)
        painter.setPen(pen(theme.muted if code is Special.NONE else theme.control, 1.0,
                           (3, 2) if code is Special.NONE else ()))
        painter.setBrush(Qt.BrushStyle.NoBrush)
    else:
        painter.setPen(pen(theme.control))
        painter.setBrush(brush(theme.bin_fill(code)))
    painter.drawRect(crisp(box))


def _paint_spark(painter: QPainter, box: QRectF, values: np.ndarray, theme: Theme) -> None:
    finite = values[np.isfinite(values)]
    if len(finite) < 2:
        return
    low, high = float(finite.min()), float(finite.max())
    # less than a tenth of a decade is no movement worth a full swing
    middle, half = (low + high) / 2, max((high - low) / 2, 0.05)
    step = box.width() / max(len(values) - 1, 1)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(pen(theme.muted, 1.0))
    run = QPolygonF()
    for number, y in enumerate(values.tolist()):
        if math.isfinite(y):
            run.append(QPointF(box.left() + number * step, box.center().y() - (y - middle) / half * box.height() / 2))
        else:
            painter.drawPolyline(run)
            run = QPolygonF()
    painter.drawPolyline(run)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
