"""Painted squares of a drawing, kept while the view is dragged over them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPixmap

from tapeviz.gui.graph.view import View

SIDE = 512
MOST = 60          # tiles kept; a full-screen window shows about twelve


def snapped(view: View) -> View:
    """The view moved by less than a pixel, so that the scene's pixels are the screen's."""
    return View(view.scale, round(view.x * view.scale) / view.scale, round(view.y * view.scale) / view.scale)


class Tiles:
    """`paint(painter, view, rect)` paints a tile whose corner is at the origin of `view`."""

    def __init__(self, paint: Callable[[QPainter, View, QRectF], None]) -> None:
        self._paint = paint
        self._kept: OrderedDict[tuple[float, float, int, int], QPixmap] = OrderedDict()

    def clear(self) -> None:
        self._kept.clear()

    def draw(self, painter: QPainter, view: View, width: int, height: int, ratio: float) -> None:
        """Put the tiles of a snapped view on the screen, painting those that are missing."""
        left, top = round(view.x * view.scale), round(view.y * view.scale)
        for column in range(left // SIDE, (left + width - 1) // SIDE + 1):
            for row in range(top // SIDE, (top + height - 1) // SIDE + 1):
                painter.drawPixmap(column * SIDE - left, row * SIDE - top, self._tile(view.scale, ratio, column, row))

    def _tile(self, scale: float, ratio: float, column: int, row: int) -> QPixmap:
        key = (scale, ratio, column, row)
        tile = self._kept.get(key)
        if tile is not None:
            self._kept.move_to_end(key)
            return tile
        tile = QPixmap(round(SIDE * ratio), round(SIDE * ratio))
        tile.setDevicePixelRatio(ratio)
        painter = QPainter(tile)
        self._paint(painter, View(scale, column * SIDE / scale, row * SIDE / scale), QRectF(0, 0, SIDE, SIDE))
        painter.end()
        self._kept[key] = tile
        while len(self._kept) > MOST:
            self._kept.popitem(last=False)
        return tile
