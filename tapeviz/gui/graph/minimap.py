"""The whole graph in a corner: where the worst gradients are, and which part is on screen."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPixmap

from tapeviz.gui.graph.boxes import paint_boxes
from tapeviz.gui.graph.drawing import Drawing
from tapeviz.gui.graph.view import View, fitting
from tapeviz.gui.painting import brush, colour, pen
from tapeviz.gui.theme import Theme

SIZE = (112, 62)
GAP = 12
LEAST = (460, 280)     # of the canvas: on a smaller one it would cover too much
FEW = 20           # boxes below which it is hidden while all of them are on screen


class Minimap:
    """A cached picture and the frame of the view on it."""

    def __init__(self) -> None:
        self._picture: QPixmap | None = None
        self._key: tuple[object, ...] = ()

    def rect(self, width: int, height: int, theme: Theme) -> QRectF:
        w, h = theme.px(SIZE[0]), theme.px(SIZE[1])
        return QRectF(width - w - GAP, height - h - GAP, w, h)

    def shown(self, drawing: Drawing, view: View, width: int, height: int, theme: Theme) -> bool:
        """Whether it is worth its place."""
        if width < theme.px(LEAST[0]) or height < theme.px(LEAST[1]) or not len(drawing.geometry):
            return False
        left, top, right, bottom = view.rect(width, height)
        l, t, r, b = drawing.geometry.bounds
        fits = left <= l and top <= t and right >= r and bottom >= b
        return not fits or len(drawing.geometry) >= FEW

    def view(self, drawing: Drawing, rect: QRectF) -> View:
        """How the minimap sees the scene, in its own pixels."""
        inner = fitting(drawing.geometry.bounds, rect.width() + 40, rect.height() + 40, 1.0)
        return inner.panned(-20, -20)

    def scene_at(self, drawing: Drawing, rect: QRectF, at: QPointF) -> tuple[float, float]:
        return self.view(drawing, rect).to_scene(at.x() - rect.left(), at.y() - rect.top())

    def paint(self, painter: QPainter, drawing: Drawing, view: View, width: int, height: int, theme: Theme) -> None:
        rect = self.rect(width, height, theme)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen(theme.control))
        painter.setBrush(brush(theme.window))
        painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        own = self.view(drawing, rect)
        painter.drawPixmap(rect.topLeft(), self._drawn(drawing, own, rect, theme, painter))
        left, top, right, bottom = view.rect(width, height)
        x1, y1 = own.to_screen(left, top)
        x2, y2 = own.to_screen(right, bottom)
        frame = QRectF(QPointF(x1, y1), QPointF(x2, y2)).translated(rect.topLeft())
        painter.setPen(pen(theme.accent, 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(frame.intersected(rect.adjusted(2, 2, -2, -2)))

    def _drawn(self, drawing: Drawing, own: View, rect: QRectF, theme: Theme, painter: QPainter) -> QPixmap:
        ratio = painter.device().devicePixelRatioF()
        key = (id(drawing.geometry), id(drawing.dress), own, theme, ratio)
        if self._picture is None or key != self._key:
            picture = QPixmap(round(rect.width() * ratio), round(rect.height() * ratio))
            picture.setDevicePixelRatio(ratio)
            picture.fill(colour(theme.window, 0.0))
            inner = QPainter(picture)
            paint_boxes(inner, drawing.geometry, drawing.dress, np.arange(len(drawing.geometry)), own, theme)
            inner.end()
            self._picture, self._key = picture, key
        return self._picture
