"""One plot: pyqtgraph's axes and mouse around our curves, lanes for special values, cursor and crosshair."""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPen, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from tapeviz.analysis.format import sci
from tapeviz.gui.painting import guarded
from tapeviz.gui.plots.axis import IterationAxis, NumberAxis
from tapeviz.gui.plots.curves import Curves
from tapeviz.gui.plots.lanes import ABOVE, BELOW, Lanes
from tapeviz.gui.plots.lines import Lines
from tapeviz.gui.theme import Theme

AXIS_WIDTH = 58          # fixed: the plot must not jump when a label grows
PICK_PX = 24             # how near the mouse must be to a curve


class PlotArea(QWidget):
    """Emits what a person points at; shows what it is told."""

    iteration_chosen = Signal(int)
    pointed = Signal(int, int)          # iteration and nearest curve under the mouse, -1: none
    moved = Signal(int)                 # by so many iterations, with the arrow keys

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lines: Lines | None = None
        self._fitted = True             # until a person zooms or pans
        self._theme = theme
        self._y_axis = NumberAxis("left")
        self._x_axis = IterationAxis("bottom")
        self.plot = pg.PlotWidget(self, axisItems={"left": self._y_axis, "bottom": self._x_axis})
        self.plot.setFrameShape(pg.PlotWidget.Shape.NoFrame)
        self.plot.setMenuEnabled(False)
        self.plot.hideButtons()
        self.plot.setFocusProxy(self)
        self._box = self.plot.getViewBox()
        self._box.setMouseEnabled(x=True, y=False)
        self._box.disableAutoRange()
        self.curves = Curves(theme)
        self._box.addItem(self.curves, ignoreBounds=True)
        self._cursor = pg.InfiniteLine(angle=90, movable=False)
        self._hover = pg.InfiniteLine(angle=90, movable=False)
        self._hover.hide()
        self.curves.setZValue(20)       # over the cursor: a single point must not vanish under it
        self._guide = pg.InfiniteLine(angle=0, movable=False, label="", labelOpts={"position": 0.02, "anchors": (
            (0, 1), (0, 1))})
        self._guide.hide()
        for line in (self._cursor, self._hover, self._guide):
            self._box.addItem(line, ignoreBounds=True)
        self.above, self.below = Lanes(ABOVE, theme, self), Lanes(BELOW, theme, self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.above)
        column.addWidget(self.plot, 1)
        column.addWidget(self.below)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Plot over iterations")
        scene = self.plot.scene()
        scene.sigMouseClicked.connect(self._clicked)
        scene.sigMouseMoved.connect(self._mouse_moved)
        self._box.sigRangeChangedManually.connect(self._zoomed)
        self._box.sigXRangeChanged.connect(self._x_changed)
        self._box.sigResized.connect(self._align)
        for lanes in (self.above, self.below):
            lanes.iteration_chosen.connect(self.iteration_chosen)
        self.set_theme(theme)

    # --- what to show --------------------------------------------------------------------------

    def set_lines(self, lines: Lines | None) -> None:
        """New data; the view follows it unless a person has chosen a view."""
        log = lines is not None and lines.log
        if log != self._y_axis.decades:
            self._y_axis.decades = log
            self._y_axis.picture = None
        self._lines = lines
        self.curves.set_lines(lines)
        for lanes in (self.above, self.below):
            lanes.set_lines(lines)
        if self._fitted:
            self.fit()

    def set_guide(self, value: float | None) -> None:
        """A dashed line at a value to compare with, on an axis of decades."""
        self._guide.setVisible(value is not None)
        if value is not None:
            self._guide.setPos(math.log10(value))
            self._guide.label.setFormat(f"{sci(value, 0)} is usual")

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.plot.setBackground(QColor(theme.surface))
        for axis in (self._y_axis, self._x_axis):
            axis.setPen(QPen(QColor(theme.control), 1))
            axis.setTextPen(QColor(theme.muted))
            axis.setTickFont(theme.ui_font(11))
            axis.setGrid(28)
            axis.setStyle(tickLength=-theme.px(4), tickTextOffset=theme.px(6), autoExpandTextSpace=False)
        self._y_axis.setWidth(theme.px(AXIS_WIDTH))
        self._x_axis.setHeight(theme.px(24))
        self._cursor.setPen(pg.mkPen(QColor(theme.accent), width=2))     # mkPen: width in pixels
        self._hover.setPen(pg.mkPen(QColor(theme.muted), width=1, style=Qt.PenStyle.DashLine))
        self._guide.setPen(pg.mkPen(QColor(theme.muted), width=1, style=Qt.PenStyle.DashLine))
        self._guide.label.setColor(QColor(theme.muted))
        self._guide.label.setFont(theme.ui_font(10.5))
        self.curves.set_theme(theme)
        for lanes in (self.above, self.below):
            lanes.set_theme(theme)

    def set_cursor(self, iteration: int) -> None:
        self._cursor.setPos(float(iteration))

    # --- view ----------------------------------------------------------------------------------

    def fit(self) -> None:
        """Show all iterations."""
        self._fitted = True
        lines = self._lines
        if lines is None or not len(lines.x):
            return
        first, last = float(lines.x[0]), float(lines.x[-1])
        pad = max((last - first) * 0.01, 0.5)
        self._box.setXRange(first - pad, last + pad, padding=0)
        self._fit_y()

    def zoom(self, factor: float) -> None:
        """Show fewer (factor > 1) or more iterations about the cursor."""
        (left, right), _ = self._box.viewRange()
        at = float(self._cursor.value())
        centre = at if left <= at <= right else (left + right) / 2
        self._fitted = False
        self._box.setXRange(centre - (centre - left) / factor, centre + (right - centre) / factor, padding=0)

    def zoom_in(self) -> None:
        self.zoom(2.0)

    def zoom_out(self) -> None:
        self.zoom(0.5)

    def _fit_y(self) -> None:
        lines = self._lines
        if lines is None or not len(lines.x):
            return
        (left, right), _ = self._box.viewRange()
        first = int(np.searchsorted(lines.x, left))
        last = int(np.searchsorted(lines.x, right, side="right"))
        found = lines.range(first, last) if last > first else None
        if found is None:
            return
        low, high = found
        least = 1.0 if lines.log else max(abs(high), 1e-12) * 0.1
        pad = max(0.06 * (high - low), (least - (high - low)) / 2, 1e-12)
        self._box.setYRange(low - pad, high + pad, padding=0)

    def _zoomed(self, *_: object) -> None:
        self._fitted = False

    def _x_changed(self, *_: object) -> None:
        self._fit_y()
        self._align()

    def _align(self, *_: object) -> None:
        rect = self._box.sceneBoundingRect()
        left, right = (self.plot.mapFromScene(p).x() for p in (rect.topLeft(), rect.topRight()))
        (first, last), _ = self._box.viewRange()
        for lanes in (self.above, self.below):
            lanes.align(float(left), float(right), (float(first), float(last)))

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._align()

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._align()

    # --- mouse and keys ------------------------------------------------------------------------

    def nearest(self, at: QPointF) -> tuple[int, int]:
        """Iteration and curve at a scene position; -1 where there is none near."""
        lines = self._lines
        if lines is None or not len(lines.x):
            return -1, -1
        point = self._box.mapSceneToView(at)
        column = int(np.abs(lines.x - point.x()).argmin())
        iteration = int(lines.x[column])
        pixel = float(self._box.viewPixelSize()[1])
        distance = np.abs(lines.shown[:, column] - point.y()) / max(pixel, 1e-300)
        if not np.isfinite(distance).any():
            return iteration, -1
        row = int(np.nanargmin(distance))
        return iteration, row if distance[row] <= PICK_PX else -1

    def _mouse_moved(self, at: QPointF) -> None:
        if not self._box.sceneBoundingRect().contains(at):
            self._leave()
            return
        iteration, row = self.nearest(at)
        if iteration >= 0:
            self._hover.setPos(float(iteration))
            self._hover.show()
        self.pointed.emit(iteration, row)

    def _leave(self) -> None:
        if self._hover.isVisible():
            self._hover.hide()
            self.pointed.emit(-1, -1)

    @guarded()
    def leaveEvent(self, event: QEvent) -> None:
        self._leave()

    def _clicked(self, event: object) -> None:
        # pyqtgraph's own MouseClickEvent: button() and scenePos(), no Qt type
        if event.button() != Qt.MouseButton.LeftButton:   # type: ignore[attr-defined]
            return
        at = event.scenePos()                             # type: ignore[attr-defined]
        if self._box.sceneBoundingRect().contains(at):
            self.setFocus(Qt.FocusReason.MouseFocusReason)
            iteration, _ = self.nearest(at)
            if iteration >= 0:
                self.iteration_chosen.emit(iteration)

    @guarded()
    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        views = {Qt.Key.Key_Plus: self.zoom_in, Qt.Key.Key_Equal: self.zoom_in, Qt.Key.Key_Minus: self.zoom_out,
                 Qt.Key.Key_0: self.fit}
        key = Qt.Key(event.key())
        if event.modifiers() & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier):
            event.ignore()
        elif key in steps:
            self.moved.emit(steps[key])
        elif key in views:
            views[key]()
        else:
            event.ignore()
