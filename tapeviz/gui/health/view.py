"""The painted health map: map, cursor, values at the cursor, axis and legend; reports clicks and keys."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QHelpEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QPolygonF,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QScrollBar, QSizePolicy, QToolTip, QWidget

from tapeviz.gui.health.cells import NAN, Cells, runs
from tapeviz.gui.health.geometry import Geometry, arrange, ticks
from tapeviz.gui.health.legend import LEGEND_LINE, draw_legend, legend_lines
from tapeviz.gui.health.marks import LEAST_WIDTH, WORD, draw_cell
from tapeviz.gui.health.rows import Rows
from tapeviz.gui.painting import guarded
from tapeviz.gui.theme import Theme

LEFT, RIGHT = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight
CENTRE, MIDDLE = Qt.AlignmentFlag.AlignHCenter, Qt.AlignmentFlag.AlignVCenter
VALUE_RIGHT, MEDIAN_AT, DECADE = 50, 112, 20      # of the panel at the right
LABEL = 11                                        # least height of a row that has its name beside it
LEAST_SPAN = 8                                    # iterations shown at the deepest zoom
NOTHING = Rows()


class HealthView(QWidget):
    """Rows of layers, columns of iterations.  Emits the cell that a person chooses; draws the one it is told."""

    cell_chosen = Signal(int, int)     # row or -1, iteration

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rows = NOTHING
        self._cells = Cells()
        self._row: int | None = None
        self._iteration = 0
        self._span: tuple[int, int] | None = None      # None: all iterations
        self._picture: QPixmap | None = None
        self._picture_key: tuple[object, ...] = ()
        self._revision = 0
        self._decades = 1.0           # that a bar of the panel at the right must be able to show
        self._bar = QScrollBar(Qt.Orientation.Vertical, self)
        self._bar.valueChanged.connect(self.update)
        self._bar.hide()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(260, 150)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName("Health map")

    # --- what to show --------------------------------------------------------------------------

    def set_rows(self, rows: Rows) -> None:
        """Show these rows; what was there already is not reduced again."""
        absolute_changed = rows.absolute != self._rows.absolute
        self._rows = rows
        if self._cells.update(rows.codes) or absolute_changed:
            self._revision += 1
            self._decades = rows.reach()
        self._place_bar()
        self.update()

    def set_cursor(self, row: int | None, iteration: int) -> None:
        """The focused cell; scrolls only if the row cannot be seen."""
        if (row, iteration) == (self._row, self._iteration):
            return
        self._row, self._iteration = row, iteration
        if self._span is not None and not self._span[0] <= iteration < self._span[1]:
            width = self._span[1] - self._span[0]
            first = min(max(iteration - width // 2, 0), max(self._cells.iterations - width, 0))
            self._span = (first, first + width)
        if row is not None:
            g = self.geometry_now()
            top = g.row_top(row)
            if g.overflow and not g.top <= top <= g.top + g.height - g.row:
                self._bar.setValue(row * g.row - g.height // 2)
        self.setAccessibleDescription(self.describe(row, iteration))
        self.update()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._place_bar()
        self.update()

    @property
    def rows(self) -> Rows:
        return self._rows

    def describe(self, row: int | None, iteration: int) -> str:
        """The cell in words: layer, iteration, value, ratio or state."""
        if row is None or not (0 <= row < self._cells.rows and 0 <= iteration < self._cells.iterations):
            return ""
        return self._rows.describe(row, iteration)

    # --- zoom ----------------------------------------------------------------------------------

    @property
    def span(self) -> tuple[int, int]:
        """First and last + 1 of the iterations shown."""
        return self._span or (0, self._cells.iterations)

    def zoom(self, factor: float, about: int | None = None) -> None:
        """Show fewer (factor > 1) or more iterations, keeping iteration `about` (the cursor) in its place."""
        count = self._cells.iterations
        first, last = self.span
        wanted = round((last - first) / factor)
        if wanted >= count or count <= LEAST_SPAN:
            self.fit()
            return
        wanted = max(wanted, LEAST_SPAN)
        centre = self._iteration if about is None else about
        share = (centre - first) / max(last - first, 1) if first <= centre < last else 0.5
        start = min(max(round(centre - share * wanted), 0), count - wanted)
        self._span = (start, start + wanted)
        self.update()

    def zoom_in(self) -> None:
        self.zoom(2.0)

    def zoom_out(self) -> None:
        self.zoom(0.5)

    def fit(self) -> None:
        self._span = None
        self.update()

    # --- geometry ------------------------------------------------------------------------------

    def geometry_now(self) -> Geometry:
        width = self.width() - (self._bar.width() if self._bar.isVisibleTo(self) else 0)
        height = self.height() - (legend_lines(width, self.height(), self._theme) - 1) * self._theme.px(LEGEND_LINE)
        return arrange(width, height, self._cells.rows, self.span, self._bar.value(), self._theme)

    def _place_bar(self) -> None:
        g = self.geometry_now()
        self._bar.setVisible(bool(g.overflow))
        self._bar.setRange(0, g.overflow)
        self._bar.setPageStep(max(g.height, 1))
        self._bar.setSingleStep(g.row)
        width = self._bar.sizeHint().width()
        self._bar.setGeometry(self.width() - width, g.top, width, g.height)

    # --- painting ------------------------------------------------------------------------------

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self.paint(painter)
        painter.end()

    def paint(self, painter: QPainter) -> None:
        """Paint everything; also used for pictures and vector files."""
        theme, g = self._theme, self.geometry_now()
        painter.fillRect(QRectF(0, 0, self.width(), self.height()), QColor(theme.surface))
        if not self._cells.rows or not self._cells.iterations:
            return
        self._paint_headers(painter, g)
        self._paint_names(painter, g)
        self._paint_map(painter, g)
        self._paint_cursor(painter, g)
        if g.side_width:
            self._paint_side(painter, g)
        self._paint_axis(painter, g)
        draw_legend(painter, g, self.width(), self.height(), self._rows.absolute, theme)

    def _paint_headers(self, painter: QPainter, g: Geometry) -> None:
        theme = self._theme
        font = theme.ui_font(11, 600)
        painter.setFont(font)
        painter.setPen(QColor(theme.muted))
        height = g.top - theme.px(4)
        painter.drawText(QRectF(g.names, 0, g.left - g.names, height), LEFT | MIDDLE, "Layer weight")
        title = self._rows.title
        if QFontMetricsF(font).horizontalAdvance(title) > g.room:
            title = self._rows.short_title
        painter.drawText(QRectF(g.left, 0, g.room, height), LEFT | MIDDLE, title)
        if g.side_width:
            painter.drawText(QRectF(g.side, 0, g.side_width, height), LEFT | MIDDLE,
                             f"At iteration {self._iteration}")

    def _visible_rows(self, g: Geometry) -> range:
        first = g.scroll // g.row
        return range(first, min(g.rows, -(-(g.scroll + g.height) // g.row)))

    def _labelled(self, g: Geometry) -> list[int]:
        """Rows with room for a name: all, or so many that they do not touch, and the focused one."""
        stride = max(1, -(-self._theme.px(LABEL) // g.row))
        rows = [row for row in self._visible_rows(g) if row % stride == 0]
        if stride > 1 and self._row is not None and self._row in self._visible_rows(g):
            rows = [row for row in rows if abs(row - self._row) >= stride] + [self._row]
        return rows

    def _paint_names(self, painter: QPainter, g: Geometry) -> None:
        theme = self._theme
        low = g.row < theme.px(14)
        bold, mono = theme.ui_font(10.5 if low else 12, 600), theme.mono_font(10.5)
        metrics = QFontMetricsF(bold)
        width = g.left - g.names - theme.px(8)
        line = theme.px(LABEL if low else 15)
        painter.save()
        painter.setClipRect(QRectF(0, g.top - theme.px(4), g.left, g.height + theme.px(8)))
        for row in self._labelled(g):
            top = float(g.row_top(row))
            height = max(g.row, line)
            box = QRectF(g.names - theme.px(6), top - (height - g.row) / 2, g.left - g.names, height)
            if row == self._row:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(QColor(theme.selection))
                painter.drawRoundedRect(box.adjusted(0, 1, 0, -1), 4, 4)
                painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            two = g.row >= 2 * line + 4
            name = QRectF(g.names, box.top() + (height / 2 - line if two else 0), width, line if two else height)
            shape = self._rows.shapes[row]
            beside = QFontMetricsF(mono).horizontalAdvance(shape) + theme.px(8)
            painter.setFont(bold)
            painter.setPen(QColor(theme.text))
            text = metrics.elidedText(self._rows.names[row], Qt.TextElideMode.ElideMiddle, width)
            painter.drawText(name, LEFT | MIDDLE, text)
            painter.setFont(mono)
            painter.setPen(QColor(theme.muted))
            if two:
                painter.drawText(name.translated(0, line), LEFT | MIDDLE, shape)
            elif metrics.horizontalAdvance(text) + beside <= width:
                painter.drawText(name, RIGHT | MIDDLE, shape)
        painter.restore()

    def _paint_map(self, painter: QPainter, g: Geometry) -> None:
        key = (self._revision, g, self._theme, self.devicePixelRatioF())
        if key != self._picture_key or self._picture is None:
            ratio = self.devicePixelRatioF()
            picture = QPixmap(round(g.width * ratio), round(g.height * ratio))
            picture.setDevicePixelRatio(ratio)
            picture.fill(QColor(self._theme.surface))
            inner = QPainter(picture)
            inner.translate(-g.left, -g.top)
            self._paint_cells(inner, g)
            inner.end()
            self._picture, self._picture_key = picture, key
        painter.drawPixmap(QPointF(g.left, g.top), self._picture)
        painter.setPen(QPen(QColor(self._theme.control), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(QRectF(g.left - 0.5, g.top - 0.5, g.width + 1, g.height + 1))

    def _paint_cells(self, painter: QPainter, g: Geometry) -> None:
        theme = self._theme
        fills = theme.absolute_bins if self._rows.absolute else theme.bins
        # Indices are codes + 1: nothing captured, nine bins, six special values.
        palette = [theme.surface, *fills, theme.surface, "#ffffff", "#ffffff", "#000000", "#000000", "#000000"]
        lut = np.array([QColor(fill).rgb() for fill in palette], np.uint32)
        columns = min(g.last - g.first, g.width)
        high, low = self._cells.columns(g.first, g.last, columns)
        visible = self._visible_rows(g)
        pixels = np.empty((2 * len(visible), columns), np.uint32)
        pixels[0::2] = lut[high[visible.start : visible.stop] + 1]
        pixels[1::2] = lut[low[visible.start : visible.stop] + 1]
        image = QImage(pixels.data, columns, len(pixels), 4 * columns, QImage.Format.Format_RGB32)
        top = float(g.row_top(visible.start))
        painter.drawImage(QRectF(g.left, top, g.width, g.row * len(visible)), image)
        column = g.width / columns
        for row in visible:
            box_top = float(g.row_top(row))
            for a, b, code in runs(high[row]):
                if code != NAN or not LEAST_WIDTH <= (b - a) * column < WORD[0]:
                    draw_cell(painter, QRectF(g.left + a * column, box_top, (b - a) * column, g.row), code, theme)
            if row and g.row > 3:
                painter.fillRect(QRectF(g.left, box_top, g.width, 1), QColor(theme.surface))

    def _paint_cursor(self, painter: QPainter, g: Geometry) -> None:
        if not g.first <= self._iteration < g.last:
            return
        theme = self._theme
        width = max(g.per, 3.0)
        x = g.x_of(self._iteration) + (g.per - width) / 2
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        pen = QPen(QColor(theme.accent), 2)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        painter.setPen(pen)
        painter.drawRect(QRectF(round(x) - 1, g.top - 3, round(width) + 2, g.height + 6))
        if self._row is not None and self._row in self._visible_rows(g):
            pen.setColor(QColor(theme.focus))
            painter.setPen(pen)
            painter.drawRect(QRectF(round(x) - 3, g.row_top(self._row), round(width) + 6, g.row))

    def _paint_side(self, painter: QPainter, g: Geometry) -> None:
        theme = self._theme
        mono = theme.mono_font(10.5 if g.row < theme.px(14) else 11.5)
        middle = float(g.side + theme.px(MEDIAN_AT))
        painter.save()
        out, over = theme.px(14), theme.px(4)      # a long value and the text of a low row reach out
        painter.setClipRect(QRectF(g.side - out, g.top - over, g.side_width + out, g.height + 2 * over))
        for row in self._labelled(g):
            box = QRectF(g.side, g.row_top(row), g.side_width, g.row)
            painter.setFont(mono)
            painter.setPen(QColor(theme.text))
            value = QRectF(g.side - theme.px(14), box.center().y() - theme.px(9), theme.px(VALUE_RIGHT + 14),
                           theme.px(18))
            painter.drawText(value, RIGHT | MIDDLE, self._rows.value_text(row, self._iteration))
        for row in self._visible_rows(g):
            self._paint_bar(painter, g, row, middle)
        painter.restore()
        painter.fillRect(QRectF(middle - 0.5, g.top, 1, g.height), QColor(theme.control))
        painter.setFont(theme.ui_font(11))
        painter.setPen(QColor(theme.muted))
        painter.drawText(QRectF(middle - 50, g.top + g.height + theme.px(4), 100, theme.px(18)), CENTRE | MIDDLE,
                         "median")

    def _paint_bar(self, painter: QPainter, g: Geometry, row: int, middle: float) -> None:
        decades = self._rows.decades(row, self._iteration)
        if decades is None:
            return
        theme = self._theme
        reach = float(theme.px(MEDIAN_AT - VALUE_RIGHT - 6))
        scale = min(float(theme.px(DECADE)), reach / self._decades)
        length = min(max(decades * scale, -reach), reach)
        height = float(min(theme.px(16), max(g.row - 2, 2)))
        y = round(g.row_top(row) + (g.row - height) / 2)
        box = QRectF(min(middle, middle + length), y, max(abs(length), 1.5), height)
        fill, ink = self._rows.colours(row, self._iteration, theme)
        painter.setPen(QPen(QColor(theme.control), 1) if height >= 6 else Qt.PenStyle.NoPen)
        painter.setBrush(QColor(fill))
        painter.drawRect(box)
        if abs(length) == reach and height >= 8:
            tip, sign = middle + length, 1 if length > 0 else -1
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(ink))
            painter.drawPolygon(QPolygonF([
                QPointF(tip - 2 * sign, box.center().y()), QPointF(tip - 6 * sign, box.center().y() - 4),
                QPointF(tip - 6 * sign, box.center().y() + 4)]))

    def _paint_axis(self, painter: QPainter, g: Geometry) -> None:
        theme = self._theme
        font = theme.ui_font(11)
        metrics = QFontMetricsF(font)
        painter.setFont(theme.ui_font(11, 600))
        painter.setPen(QColor(theme.muted))
        line = QRectF(g.names, g.axis + theme.px(4), g.left - g.names, theme.px(18))
        painter.drawText(line, LEFT | MIDDLE, "Iteration")
        painter.setFont(font)
        widest = metrics.horizontalAdvance(f"{g.last:,}") + theme.px(20)
        for tick in ticks(g.first, g.last, max(1, int(-(-widest // g.per)))):
            x = g.x_of(tick) + g.per / 2
            painter.fillRect(QRectF(round(x), g.axis + 1, 1, theme.px(4)), QColor(theme.control))
            text = str(tick)
            width = metrics.horizontalAdvance(text) + 2
            at = min(max(x - width / 2, g.left - 2), g.left + max(g.room, g.width) - width)
            if tick == g.last - 1 and g.last - g.first > 1:
                at = min(at, max(g.left + g.width + 2 - width, g.left + width + theme.px(8)))
            painter.drawText(QRectF(at, line.top(), width, line.height()), CENTRE | MIDDLE, text)

    # --- mouse and keys ------------------------------------------------------------------------

    @guarded()
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._choose(event.position(), pressed=True)

    @guarded()
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._choose(event.position(), pressed=False)

    def _choose(self, at: QPointF, pressed: bool) -> None:
        g = self.geometry_now()
        if not self._cells.iterations:
            return
        row = g.row_at(at.y())
        in_axis = g.left <= at.x() < g.left + g.width and g.axis <= at.y() < g.legend
        if g.in_map(at.x(), at.y()) or in_axis or not pressed:
            iteration = g.iteration_at(at.x())
            if iteration is not None:
                kept = -1 if self._row is None else self._row
                self.cell_chosen.emit(kept if row is None else row, iteration)
        elif row is not None:      # a name or a bar: the row, at the same iteration
            self.cell_chosen.emit(row, self._iteration)

    @guarded()
    def wheelEvent(self, event: QWheelEvent) -> None:
        turns = event.angleDelta().y() / 120
        g = self.geometry_now()
        at = event.position()
        if g.overflow and not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._bar.setValue(self._bar.value() - round(turns * 3 * g.row))
        elif g.in_map(at.x(), at.y()):
            self.zoom(1.25 ** turns, g.iteration_at(at.x()))
        event.accept()

    @guarded()
    def keyPressEvent(self, event: QKeyEvent) -> None:
        plain = not event.modifiers() & ~(Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier)
        if not (plain and self._key(event.key())):
            event.ignore()

    def _key(self, key: int) -> bool:
        moves = {Qt.Key.Key_Left: (0, -1), Qt.Key.Key_Right: (0, 1), Qt.Key.Key_Up: (-1, 0), Qt.Key.Key_Down: (1, 0)}
        zooms = {Qt.Key.Key_Plus: self.zoom_in, Qt.Key.Key_Equal: self.zoom_in, Qt.Key.Key_Minus: self.zoom_out,
                 Qt.Key.Key_0: self.fit}
        key = Qt.Key(key)
        if key in moves and self._cells.iterations and self._cells.rows:
            down, right = moves[key]
            row = 0 if self._row is None else min(max(self._row + down, 0), self._cells.rows - 1)
            self.cell_chosen.emit(row, min(max(self._iteration + right, 0), self._cells.iterations - 1))
        elif key in zooms:
            zooms[key]()
        else:
            return False
        return True

    @guarded(default=False)
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            text = self.tip_at(event.pos())
            if text:
                QToolTip.showText(event.globalPos(), text, self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    def tip_at(self, at: QPoint) -> str:
        """What the tooltip says at a place of the widget."""
        g = self.geometry_now()
        row = g.row_at(at.y())
        if row is None or not self._cells.iterations:
            return ""
        if g.in_map(at.x(), at.y()):
            iteration = g.iteration_at(at.x())
            return "" if iteration is None else self._rows.describe(row, iteration)
        return self._rows.describe(row, self._iteration)

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        self._place_bar()
