"""Icons: our own SVG drawings on a 24 grid, coloured by the theme when they are loaded."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from tapeviz.gui.theme import Theme
from tapeviz.resources import resource

GRID = 24
_INK = "#000000"
_STROKE = 'stroke-width="1.5"'
_RATIOS = (1, 2)          # device pixels per pixel: an ordinary and a dense screen


@lru_cache(maxsize=64)
def _drawing(name: str) -> str:
    return resource("icons", f"{name}.svg").read_text("utf-8")


@lru_cache(maxsize=512)
def pixmap(name: str, colour: str, size: int, ratio: int = 1) -> QPixmap:
    """The icon in one colour; the stroke stays near 1.5 device pixels at any size."""
    stroke = 1.5 * GRID / max(size * min(ratio, 1.0), 1)
    text = _drawing(name).replace(_STROKE, f'stroke-width="{min(stroke, 2.25):.2f}"').replace(_INK, colour)
    picture = QPixmap(QSize(size, size) * ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    QSvgRenderer(QByteArray(text.encode())).render(painter, QRectF(picture.rect()))
    painter.end()
    picture.setDevicePixelRatio(ratio)
    return picture


def icon(name: str, theme: Theme, colour: str = "", size: int = 16) -> QIcon:
    """The icon in the theme's text colour (or another), and in its border colour where it is disabled."""
    result = QIcon()
    for ratio in _RATIOS:
        result.addPixmap(pixmap(name, colour or theme.text, theme.px(size), ratio), QIcon.Mode.Normal)
        result.addPixmap(pixmap(name, theme.control, theme.px(size), ratio), QIcon.Mode.Disabled)
    return result
