"""Edges of the graph: values down the left of the centre line, gradients up its right in the colour of their bin."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen, QPolygonF

from tapeviz.analysis.graph import StepState
from tapeviz.analysis.magnitude import Special
from tapeviz.gui.graph.boxes import HALVES, NAMES, box_height
from tapeviz.gui.graph.dress import HOLLOW, Direction, Dress, special_of_code
from tapeviz.gui.graph.geometry import Geometry
from tapeviz.gui.graph.routes import SAMPLES, Indices, Pieces
from tapeviz.gui.graph.view import View
from tapeviz.gui.painting import brush, colour, pen
from tapeviz.gui.primitives import draw_lines, polyline_segments
from tapeviz.gui.theme import Theme

APART = 5.0              # px of forward and backward edge from the centre line
SIDE_APART = 13.0        # the same for edges that run sideways: the middles of the two halves of a box
BUNDLED = 2000           # so many visible pieces: straight thin lines
PILL = (66.0, 18.0)
PILL_ZOOM = 0.8         # below this zoom they would hide more than they say


def paint_edges(painter: QPainter, geometry: Geometry, dress: Dress, pieces: Indices, view: View,
                theme: Theme) -> None:
    """Paint these pieces under the boxes."""
    if not len(pieces):
        return
    height = box_height(view)
    all_ = geometry.pieces
    if height < NAMES * theme.scale or len(pieces) > BUNDLED:
        _paint_far(painter, all_, pieces, view, height, theme)
        return
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if dress.direction is not Direction.BACKWARD:
        _paint_forward(painter, all_, pieces, view, theme)
    if dress.direction is not Direction.FORWARD:
        _paint_backward(painter, all_, dress, pieces, view, theme)


def _paint_far(painter: QPainter, all_: Pieces, pieces: Indices, view: View, height: float, theme: Theme) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(pen(theme.edge, 1.0, (), 0.3 if height < 4 else 0.55))
    if len(pieces) <= 400:
        x, y = all_.polylines(pieces, 0.0, 0.0)
        lines = polyline_segments((x - view.x) * view.scale, (y - view.y) * view.scale)
    else:
        lines = np.stack(((all_.x1[pieces] - view.x) * view.scale, (all_.y1[pieces] - view.y) * view.scale,
                          (all_.x2[pieces] - view.x) * view.scale, (all_.y2[pieces] - view.y) * view.scale), axis=1)
    draw_lines(painter, lines)


def _path(all_: Pieces, pieces: Iterable[int], view: View, dx: float, dy: float) -> QPainterPath:
    """One path of many pieces, moved aside by pixels."""
    path = QPainterPath()
    s = view.scale
    for p in pieces:
        flat = bool(all_.flat[p])
        ox, oy = (0.0, dy) if flat else (dx, 0.0)
        x1, y1 = (float(all_.x1[p]) - view.x) * s + ox, (float(all_.y1[p]) - view.y) * s + oy
        x2, y2 = (float(all_.x2[p]) - view.x) * s + ox, (float(all_.y2[p]) - view.y) * s + oy
        path.moveTo(x1, y1)
        if (y1 == y2) if flat else (x1 == x2):
            path.lineTo(x2, y2)
        elif flat:
            middle = (x1 + x2) / 2
            path.cubicTo(middle, y1, middle, y2, x2, y2)
        else:
            middle = (y1 + y2) / 2
            path.cubicTo(x1, middle, x2, middle, x2, y2)
    return path


def _sides(view: View) -> tuple[float, float]:
    """How far the two edges stand from the centre line at this zoom."""
    return max(2.0, APART * min(view.scale, 1.5)), SIDE_APART * view.scale


def _arrow(tip: QPointF, dx: float, dy: float, width: float, length: float) -> QPolygonF:
    """A triangle that points along (dx, dy)."""
    back = QPointF(tip.x() - dx * length, tip.y() - dy * length)
    across = QPointF(-dy * width / 2, dx * width / 2)
    return QPolygonF([tip, back + across, back - across])


def _edges_of(all_: Pieces, pieces: Indices) -> list[int]:
    return [int(e) for e in np.unique(all_.edge[pieces])]


def _paint_forward(painter: QPainter, all_: Pieces, pieces: Indices, view: View, theme: Theme) -> None:
    apart, side = _sides(view)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(pen(theme.edge, 1.25 * theme.scale if view.scale > 0.5 else 1.0))
    painter.drawPath(_path(all_, pieces.tolist(), view, -apart, -side))
    if box_height(view) < HALVES * theme.scale:
        return
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(brush(theme.edge))
    size = min(view.scale, 1.5)
    for e in _edges_of(all_, pieces):
        x, y = view.to_screen(float(all_.end_x[e]), float(all_.end_y[e]))
        if all_.beside[e]:
            painter.drawPolygon(_arrow(QPointF(x, y - side), 1, 0, 7 * size, 6 * size))
        else:
            painter.drawPolygon(_arrow(QPointF(x - apart, y), 0, 1, 7 * size, 6 * size))


def _paint_backward(painter: QPainter, all_: Pieces, dress: Dress, pieces: Indices, view: View, theme: Theme) -> None:
    apart, side = _sides(view)
    size = min(max(view.scale, 0.4), 1.5)
    kinds: dict[tuple[int, int, float, bool], list[int]] = defaultdict(list)
    for p in pieces.tolist():
        e = int(all_.edge[p])
        state = int(dress.edge_state[e])
        if state != StepState.UNREACHABLE.value:
            kinds[state, int(dress.edge_code[e]), round(float(dress.edge_width[e]) * 2) / 2,
                  bool(dress.negative[e])].append(p)
    # pending below, current above all others
    for (state, code, width, negative), group in sorted(kinds.items(), key=lambda item: _layer(item[0][0])):
        path = _path(all_, group, view, apart, side)
        if state == StepState.PENDING.value:
            painter.setPen(pen(theme.edge, 1.25, (3, 4)))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPath(path)
            continue
        _stroke(painter, path, max(1.0, width * size), code, negative, state == StepState.CURRENT.value, theme)
    if box_height(view) < HALVES * theme.scale:
        return
    painter.setPen(Qt.PenStyle.NoPen)
    for e in _edges_of(all_, pieces):
        state = int(dress.edge_state[e])
        if state in (StepState.UNREACHABLE.value, StepState.PENDING.value):
            continue
        x, y = view.to_screen(float(all_.start_x[e]), float(all_.start_y[e]))
        painter.setBrush(brush(theme.accent if state == StepState.CURRENT.value else theme.edge))
        if all_.beside[e]:
            painter.drawPolygon(_arrow(QPointF(x, y + side), -1, 0, 10 * size, 8 * size))
        else:
            painter.drawPolygon(_arrow(QPointF(x + apart, y), 0, -1, 10 * size, 8 * size))


def _layer(state: int) -> int:
    return {StepState.PENDING.value: 0, StepState.CURRENT.value: 2}.get(state, 1)


def _stroke(painter: QPainter, path: QPainterPath, width: float, code: int, negative: bool, current: bool,
            theme: Theme) -> None:
    """Casing and core; a contribution that works against the others is cut into dashes."""
    casing = 4.0 if current else 1.2
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for name, full in ((theme.accent if current else theme.edge, width + casing), (_core(code, theme), width)):
        line = QPen(colour(name), full)
        line.setCapStyle(Qt.PenCapStyle.FlatCap)
        if negative:
            line.setDashPattern([6 / full, 2 / full])
        painter.setPen(line)
        painter.drawPath(path)


def _core(code: int, theme: Theme) -> str:
    special = special_of_code(code)
    if special in (Special.NAN, Special.POSINF, Special.NEGINF):
        return "#000000"
    if special in (Special.ZERO, Special.UNDERFLOW):
        return "#ffffff"
    return theme.surface if code == HOLLOW or special is not None else theme.bins[code]


# --- pills -----------------------------------------------------------------------------------------


def paint_pills(painter: QPainter, geometry: Geometry, dress: Dress, pieces: Indices, boxes: Indices, view: View,
                theme: Theme) -> None:
    """Contributions at fan-ins, and how much of a sum cancelled; over the boxes."""
    zoom = view.scale / theme.scale
    if zoom < PILL_ZOOM or dress.direction is Direction.FORWARD:
        return
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setFont(theme.mono_font(max(10.5, 11 * zoom)))
    for e in _edges_of(geometry.pieces, pieces):
        if e in dress.pills and not geometry.pieces.beside[e]:
            draw_pill(painter, pill_rect(geometry, e, view, theme), dress.pill_text(e),
                      dress.edge_state[e] == StepState.CURRENT.value, theme)
    for box in boxes.tolist():
        text = dress.cancelled_text(box)
        if text:
            # right of the centre line, in the gap below the box; contributions stand left of it
            x, y = view.to_screen(float(geometry.x[box]), float(geometry.top[box] + geometry.height[box]) + 12)
            width, height = painter.fontMetrics().horizontalAdvance(text) + 12.0, PILL[1] * view.scale
            draw_pill(painter, QRectF(x + 14 * view.scale, y - height / 2, width, height), text, False, theme)


def pill_rect(geometry: Geometry, edge: int, view: View, theme: Theme) -> QRectF:
    """Where the pill of an edge stands: left of a straight edge, on the bend of a curved one, near the consumer."""
    all_ = geometry.pieces
    last = int(all_.last[edge])
    x1, x2 = float(all_.x1[last]), float(all_.x2[last])
    width, height = PILL[0] * view.scale, PILL[1] * view.scale
    if abs(x1 - x2) < 1:
        apart, _ = _sides(view)
        x, y = view.to_screen(x2, (float(all_.y1[last]) + float(all_.y2[last])) / 2)
        y = max(y, view.to_screen(0, float(all_.y2[last]) - 12)[1])
        return QRectF(x - apart - 6 * view.scale - width, y - height / 2, width, height)
    xs, ys = all_.polylines(np.array([last]), 0.0, 0.0)
    at = SAMPLES * 5 // 8
    x, y = view.to_screen(float(xs[0, at]), float(ys[0, at]))
    return QRectF(x - width / 2, y - height / 2, width, height)


def draw_pill(painter: QPainter, rect: QRectF, text: str, filled: bool, theme: Theme) -> None:
    """A small label on a plate; the accent fill is that of the current step."""
    painter.setPen(pen(theme.accent if filled else theme.control))
    painter.setBrush(brush(theme.accent if filled else theme.window))
    radius = min(4.0 * rect.height() / 18, rect.height() / 2)
    painter.drawRoundedRect(rect, radius, radius)
    painter.setPen(colour(theme.on_accent if filled else theme.text))
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)
