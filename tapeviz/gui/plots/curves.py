"""The plot item that paints hundreds of curves in one go; pyqtgraph brings the axes, we bring the lines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from tapeviz.gui.painting import guarded
from tapeviz.gui.plots.lines import Lines
from tapeviz.gui.plots.palette import curve_style
from tapeviz.gui.primitives import draw_lines, draw_points, polyline_segments
from tapeviz.gui.theme import Theme

MANY = 40                # curves from which they are drawn thin and without smoothing
FEW_POINTS = 60          # in view: each gets a dot, so that one between two gaps is seen
FADED = 0.35


class Curves(pg.GraphicsObject):   # type: ignore[misc]   # pyqtgraph has no types
    """Lines in data coordinates (x iteration, y as shown)."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._lines: Lines | None = None
        self._hidden: frozenset[int] = frozenset()
        self._strong: int | None = None
        self._bounds = QRectF()

    def set_lines(self, lines: Lines | None) -> None:
        self.prepareGeometryChange()
        self._lines = lines
        self._bounds = QRectF()
        found = lines.range(0, len(lines.x)) if lines is not None and len(lines.x) else None
        if lines is not None and found is not None:
            self._bounds = QRectF(float(lines.x[0]) - 1, found[0] - 1, float(lines.x[-1] - lines.x[0]) + 2,
                                  found[1] - found[0] + 2)
        self.update()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def set_strong(self, row: int | None) -> None:
        """The curve that is drawn thicker and on top."""
        if row != self._strong:
            self._strong = row
            self.update()

    def set_hidden(self, rows: frozenset[int]) -> None:
        self._hidden = rows
        self.update()

    @guarded(default=QRectF())
    def boundingRect(self) -> QRectF:
        return self._bounds

    @guarded()
    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        lines, view = self._lines, self.getViewBox()
        if lines is None or not len(lines.x) or view is None:
            return
        (left, right), _ = view.viewRange()
        first = max(int(np.searchsorted(lines.x, left)) - 1, 0)
        last = min(int(np.searchsorted(lines.x, right)) + 2, len(lines.x))
        width = max(int(view.width()), 2)
        if last <= first:
            return
        x, low, high = lines.envelope(first, last, 2 * width)
        to_pixels = painter.transform()
        painter.save()
        painter.resetTransform()     # pixel coordinates: pens, dashes and dots have the size they say
        px = x * to_pixels.m11() + to_pixels.dx()
        smooth = len(lines.names) <= MANY
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, smooth)
        rows = [row for row in range(len(lines.names)) if row not in self._hidden and row != self._strong]
        if self._strong is not None and self._strong not in self._hidden and self._strong < len(lines.names):
            rows.append(self._strong)
        for row in rows:
            py_low = low[row] * to_pixels.m22() + to_pixels.dy()
            py_high = high[row] * to_pixels.m22() + to_pixels.dy()
            self._paint_one(painter, row, px, py_low, py_high, smooth)
        painter.restore()

    def _paint_one(self, painter: QPainter, row: int, x: Any, low: Any, high: Any, smooth: bool) -> None:
        colour, dashes = curve_style(row, self._theme)
        thick = row == self._strong
        pen = QPen(QColor(colour), (2.5 if thick else 1.25) * self._theme.scale if smooth or thick else 1.0)
        painter.setPen(pen)
        thinned = bool((low != high)[np.isfinite(low)].any())
        if thinned:
            # up and down in every bucket: down the first, up the next, so that the joints are short
            x, y = np.repeat(x, 2), np.stack((low, high), axis=-1).ravel()
        else:
            y = low
        fine = np.isfinite(y)
        both = fine[:-1] & fine[1:]
        if len(dashes) and not thinned and len(x) < 4 * FEW_POINTS:
            pen.setDashPattern([d / pen.widthF() for d in dashes])
            pen.setCapStyle(Qt.PenCapStyle.FlatCap)
            painter.setPen(pen)
            for a, b in _runs(fine):
                painter.drawPolyline(QPolygonF([QPointF(float(u), float(v)) for u, v in
                                                zip(x[a:b], y[a:b], strict=True)]))
            painter.setPen(QPen(QColor(colour), pen.widthF()))
        else:
            segments = polyline_segments(x, y)[both]
            if len(dashes):
                segments = segments[_pen_down(segments[:, 0], dashes)]
            draw_lines(painter, segments)
        alone = fine & ~np.concatenate(([False], both)) & ~np.concatenate((both, [False]))
        dots = fine if len(x) <= FEW_POINTS else alone
        if dots.any():
            pen = QPen(QColor(colour), (5.0 if thick else 4.0) * self._theme.scale)
            pen.setCapStyle(Qt.PenCapStyle.RoundCap)
            painter.setPen(pen)
            draw_points(painter, np.stack((x[dots], y[dots]), axis=-1))


def _runs(fine: Any) -> list[tuple[int, int]]:
    """Stretches of True, as (first, last + 1)."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], fine.astype(np.int8), [0]))))
    return list(zip(edges[0::2].tolist(), edges[1::2].tolist(), strict=True))


def _pen_down(x: Any, dashes: tuple[float, ...]) -> Any:
    """Which short segments a dashed line draws: Qt would begin its pattern anew with every one of them."""
    phase = x % sum(dashes)
    down = np.zeros(len(x), bool)
    start = 0.0
    for i, length in enumerate(dashes):
        if i % 2 == 0:
            down |= (phase >= start) & (phase < start + length)
        start += length
    return down
