"""Boxes of the graph: rectangles in bin colours from far away, name and gradient band from near by.

Everything is painted in screen pixels, so that lines and letters stay crisp at every zoom.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPixmap

from tapeviz.analysis.graph import NodeKind
from tapeviz.analysis.layout import OP_SIZE
from tapeviz.analysis.magnitude import Special
from tapeviz.gui.graph.dress import HOLLOW, SEVERITY, Direction, Dress, special_of_code
from tapeviz.gui.graph.geometry import Geometry, Indices
from tapeviz.gui.graph.view import View
from tapeviz.gui.painting import brush, colour, draw_special, pen
from tapeviz.gui.primitives import draw_rects
from tapeviz.gui.theme import Theme

# Heights of a box on screen, at font scale 1, from which more of it is drawn.
OUTLINE, NAMES, HALVES, FULL = 8.0, 14.0, 30.0, 44.0
SHAPE_WIDTH = 120.0
FADED = 0.4
BARS = (50.0, 14.0)
Bars = Mapping[int, tuple[float, ...]]
_NO_BARS: Bars = {}
_LEAVES = (NodeKind.VARIABLE, NodeKind.CONSTANT)
_VCENTRE = Qt.AlignmentFlag.AlignVCenter
_LEFT, _RIGHT = Qt.AlignmentFlag.AlignLeft | _VCENTRE, Qt.AlignmentFlag.AlignRight | _VCENTRE
_CENTRE = Qt.AlignmentFlag.AlignCenter


def box_height(view: View) -> float:
    """Height of an ordinary box on screen: what the level of detail goes by."""
    return OP_SIZE[1] * view.scale


def box_rect(geometry: Geometry, box: int, view: View) -> QRectF:
    """A box on screen, on whole pixels."""
    x, y = view.to_screen(float(geometry.left[box]), float(geometry.top[box]))
    return QRectF(round(x), round(y), max(1, round(float(geometry.width[box]) * view.scale)),
                  max(1, round(float(geometry.height[box]) * view.scale)))


def paint_boxes(painter: QPainter, geometry: Geometry, dress: Dress, boxes: Indices, view: View,
                theme: Theme, bars: Bars = _NO_BARS, vector: bool = False) -> None:
    """Paint these boxes; `bars`: distributions by box; `vector`: no pixmaps, for files that are to stay sharp."""
    if box_height(view) < NAMES * theme.scale:
        _paint_far(painter, geometry, dress, boxes, view, theme)
        return
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for box in boxes.tolist():
        rect = box_rect(geometry, box, view)
        _paint_near(painter, rect, dress, box, view.scale / theme.scale, theme, vector)
        if box in bars and rect.height() >= FULL * theme.scale:
            _paint_bars(painter, rect, dress, box, bars[box], view.scale, theme)


# --- far away --------------------------------------------------------------------------------------


def _paint_far(painter: QPainter, geometry: Geometry, dress: Dress, boxes: Indices, view: View, theme: Theme) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    codes = dress.code[boxes]
    # The worst is painted last, so that it is what remains where boxes share a pixel.
    order = np.argsort(SEVERITY[codes + 1], kind="stable")
    boxes, codes = boxes[order], codes[order]
    rects = np.empty((len(boxes), 4))
    rects[:, 0] = np.round((geometry.left[boxes] - view.x) * view.scale)
    rects[:, 1] = np.round((geometry.top[boxes] - view.y) * view.scale)
    rects[:, 2] = np.maximum(1.0, np.round(geometry.width[boxes] * view.scale))
    rects[:, 3] = np.maximum(1.0, np.round(geometry.height[boxes] * view.scale))
    outlined = box_height(view) >= OUTLINE * theme.scale
    cuts = np.flatnonzero(np.diff(codes)) + 1
    for part, group in zip(np.split(codes, cuts), np.split(rects, cuts), strict=True):
        if not len(part):
            continue
        code = int(part[0])
        painter.setPen(pen(theme.control) if outlined or code == HOLLOW else Qt.PenStyle.NoPen)
        painter.setBrush(brush(_far_fill(code, theme)))
        draw_rects(painter, group)


def _far_fill(code: int, theme: Theme) -> str:
    special = special_of_code(code)
    if special in (Special.NAN, Special.POSINF, Special.NEGINF):
        return "#000000"
    if special in (Special.ZERO, Special.UNDERFLOW):
        return "#ffffff"
    return theme.raised if code == HOLLOW or special is not None else theme.bins[code]


# --- near by ---------------------------------------------------------------------------------------


def _paint_near(painter: QPainter, rect: QRectF, dress: Dress, box: int, zoom: float, theme: Theme,
                vector: bool) -> None:
    node = dress.graph.nodes[box]
    forward = dress.direction is Direction.FORWARD
    faded = dress.faded(box)
    halves = rect.height() >= HALVES * theme.scale
    key = (int(rect.width()), int(rect.height()), node.kind in _LEAVES, node.kind is NodeKind.GROUP,
           int(dress.code[box]), halves, forward)
    if faded:
        painter.setOpacity(FADED)
    if vector:
        painter.save()
        painter.translate(rect.topLeft())
        _paint_shell(painter, *key, theme)
        painter.restore()
    else:
        ratio = painter.device().devicePixelRatioF()
        painter.drawPixmap(rect.topLeft() - QPointF(1, 1), _shell(*key, theme, ratio))
    if halves:
        _paint_texts(painter, rect, dress, box, zoom, theme)
    elif rect.width() >= 26 * theme.scale:
        font = _font(theme, 10.5, 600, False)
        painter.setFont(font)
        painter.setPen(colour(_ink(int(dress.code[box]), theme)))
        inner = rect.adjusted(4, 0, -3, 0)
        painter.drawText(inner, _LEFT, _elide(node.label, font, inner.width()))
    if faded:
        painter.setOpacity(1.0)


@lru_cache(maxsize=400)
def _shell(width: int, height: int, leaf: bool, group: bool, code: int, halves: bool, forward: bool, theme: Theme,
           ratio: float) -> QPixmap:
    """A box without its texts; a few dozen of them serve thousands of boxes."""
    pixmap = QPixmap(QSize(round((width + 2) * ratio), round((height + 2) * ratio)))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(1, 1)
    _paint_shell(painter, width, height, leaf, group, code, halves, forward, theme)
    painter.end()
    return pixmap


def _paint_shell(painter: QPainter, width: int, height: int, leaf: bool, group: bool, code: int, halves: bool,
                 forward: bool, theme: Theme) -> None:
    zoom = height / OP_SIZE[1]
    radius = min((14 if leaf else 6) * zoom, height / 2)
    outer = QRectF(0.5, 0.5, width - 1, height - 1)
    outline = QPainterPath()
    outline.addRoundedRect(outer, radius, radius)
    half = round(height / 2) if halves else 0
    special = special_of_code(code)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(brush(theme.raised))
    painter.drawPath(outline)
    band = QRectF(0, half, width, height - half)
    if (special is None and code != HOLLOW) or special not in (None, Special.NONE):
        painter.save()
        painter.setClipPath(outline)
        if special is None:
            painter.fillRect(band, colour(theme.bins[code]))
        else:
            draw_special(painter, band, special, theme)
        painter.restore()
    if halves and not forward:
        dashed = code == HOLLOW or special is Special.NONE
        painter.setPen(pen(theme.control, 1.0, (3, 3)) if dashed else pen(theme.control))
        painter.drawLine(QPointF(1, half + 0.5), QPointF(width - 1, half + 0.5))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(pen(theme.control, 1.0, (3, 2)) if special is Special.NONE else pen(theme.control))
    painter.drawPath(outline)
    if group:      # a second edge below: there is more in it
        painter.drawLine(QPointF(radius, height + 0.5), QPointF(width - radius, height + 0.5))


def _paint_texts(painter: QPainter, rect: QRectF, dress: Dress, box: int, zoom: float, theme: Theme) -> None:
    node = dress.graph.nodes[box]
    code = int(dress.code[box])
    special = special_of_code(code)
    full = rect.height() >= FULL * theme.scale
    pad = max(4.0, 9 * zoom * theme.scale)
    half = round(rect.height() / 2)
    upper = QRectF(rect.left() + pad, rect.top(), rect.width() - 2 * pad, half)
    lower = QRectF(rect.left() + pad, rect.top() + half, rect.width() - 2 * pad, rect.height() - half)
    leaf = node.kind in _LEAVES
    room = upper.width()
    name = _font(theme, max(10.5, 12 * zoom), 600, False)
    corner = dress.corner_text(box)
    if corner and (rect.width() >= SHAPE_WIDTH * theme.scale or (leaf and full)):
        font = _font(theme, 10.5 * max(1.0, zoom), 400, True)
        width = _width(corner, font)
        # the name comes first: a shape for which it would be cut is left to the tooltip
        if width + 6 + _width(node.label, name) <= room:
            painter.setFont(font)
            painter.setPen(colour(theme.muted))
            painter.drawText(upper, _RIGHT, corner)
            room -= width + 6
    painter.setFont(name)
    painter.setPen(colour(theme.text))
    painter.drawText(upper, _LEFT, _elide(node.label, name, room))
    if special in (Special.NAN, Special.POSINF, Special.NEGINF):
        return      # the band itself says it
    text = dress.band_text(box)
    if not full and text.startswith(("grad ", "norm ")):
        text = text[5:]
    if not text:
        return
    plain = code == HOLLOW or special is Special.NONE
    font = _font(theme, max(10.5, 11 * zoom), 400 if plain else 600, not plain)
    painter.setFont(font)
    if plain:
        painter.setPen(colour(theme.muted))
    elif special is not None or theme.projector:
        _plate(painter, lower, text, font, leaf, theme)
    else:
        painter.setPen(colour(theme.bin_text[code]))
    painter.drawText(lower, _CENTRE if leaf else _LEFT, text)
    side = dress.side_text(box)
    if side and lower.width() > _width(text, font) + _width(side, font) + 8:
        if not plain and (special is not None or theme.projector):
            _plate(painter, lower, side, font, False, theme, right=True)
        painter.drawText(lower, _RIGHT, side)


def _paint_bars(painter: QPainter, rect: QRectF, dress: Dress, box: int, heights: tuple[float, ...], scale: float,
                theme: Theme) -> None:
    """A small histogram at the right of the band, where there is nothing else to say."""
    code = int(dress.code[box])
    if code == HOLLOW or special_of_code(code) is not None or dress.side_text(box) or theme.projector:
        return
    pitch, tallest = BARS[0] * scale / len(heights), BARS[1] * scale
    right, bottom = rect.right() - 9 * scale, rect.bottom() - 5 * scale
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    for i, height in enumerate(heights):
        if height:
            left = right - (len(heights) - i) * pitch
            painter.fillRect(QRectF(left, bottom - height * tallest, max(1.0, pitch - 1), height * tallest),
                             colour(theme.bin_text[code]))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)


def _plate(painter: QPainter, band: QRectF, text: str, font: QFont, centred: bool, theme: Theme,
           right: bool = False) -> None:
    """A piece of surface under a text that could not be read on the band."""
    metrics = QFontMetricsF(font)
    box = QRectF(0, 0, metrics.horizontalAdvance(text) + 8, min(metrics.height() + 1, band.height() - 4))
    box.moveCenter(band.center())
    if right:
        box.moveRight(band.right() + 4)
    elif not centred:
        box.moveLeft(band.left() - 4)
    painter.setPen(pen(theme.text) if theme.projector else Qt.PenStyle.NoPen)
    painter.setBrush(brush(theme.surface))
    painter.drawRoundedRect(box, 4, 4)
    painter.setPen(colour(theme.text))


def _ink(code: int, theme: Theme) -> str:
    special = special_of_code(code)
    if special in (Special.NAN, Special.POSINF, Special.NEGINF):
        return "#ffffff"
    if special in (Special.ZERO, Special.UNDERFLOW):
        return "#000000"
    return theme.text if code == HOLLOW or special is not None else theme.bin_text[code]


def _font(theme: Theme, px: float, weight: int, mono: bool) -> QFont:
    px = round(px * 2) / 2
    return theme.mono_font(px, weight) if mono else theme.ui_font(px, weight)


@lru_cache(maxsize=64)
def _metrics(font: str) -> QFontMetricsF:
    made = QFont()
    made.fromString(font)
    return QFontMetricsF(made)


def _width(text: str, font: QFont) -> float:
    return _measure(text, font.key())


@lru_cache(maxsize=8192)
def _measure(text: str, font: str) -> float:
    return _metrics(font).horizontalAdvance(text)


def _elide(text: str, font: QFont, width: float) -> str:
    return _cut(text, font.key(), int(width))


@lru_cache(maxsize=8192)
def _cut(text: str, font: str, width: int) -> str:
    return _metrics(font).elidedText(text, Qt.TextElideMode.ElideMiddle, width)


def ring(painter: QPainter, rect: QRectF, name: str, width: float, radius: float, gap: float = 0.0,
         alpha: float = 1.0) -> None:
    """A rounded outline `gap` pixels outside a box."""
    half = gap + width / 2
    painter.setPen(pen(name, width, (), alpha))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(rect.adjusted(-half, -half, half, half), radius + half, radius + half)


def corner_radius(dress: Dress, box: int, rect: QRectF) -> float:
    leaf = dress.graph.nodes[box].kind in _LEAVES
    return min((14 if leaf else 6) * rect.height() / OP_SIZE[1], rect.height() / 2)


def tint(name: str, alpha: float) -> QColor:
    return colour(name, alpha)
