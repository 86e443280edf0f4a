"""One drawing: geometry and dress together, and how a rectangle of it is painted at a view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from tapeviz.gui.graph.boxes import paint_boxes
from tapeviz.gui.graph.dress import Dress
from tapeviz.gui.graph.edges import paint_edges, paint_pills
from tapeviz.gui.graph.geometry import Geometry
from tapeviz.gui.graph.view import View
from tapeviz.gui.painting import colour
from tapeviz.gui.theme import Theme

MARGIN = 90.0      # px: pills and wide edges reach out of what they belong to


@dataclass(frozen=True)
class Drawing:
    """What the canvas shows; `bars`: distributions of gradients by box, as far as they have been read."""

    geometry: Geometry
    dress: Dress
    bars: Mapping[int, tuple[float, ...]] = field(default_factory=dict)


def paint_drawing(painter: QPainter, drawing: Drawing, view: View, rect: QRectF, theme: Theme,
                  vector: bool = False) -> None:
    """Paint what `rect` (screen pixels) shows of a drawing; `vector`: without pixmaps."""
    painter.fillRect(rect, colour(theme.surface))
    left, top = view.to_scene(rect.left() - MARGIN, rect.top() - MARGIN)
    right, bottom = view.to_scene(rect.right() + MARGIN, rect.bottom() + MARGIN)
    geometry, dress = drawing.geometry, drawing.dress
    boxes = geometry.boxes_in(left, top, right, bottom)
    pieces = geometry.pieces.within(left, top, right, bottom)
    paint_edges(painter, geometry, dress, pieces, view, theme)
    paint_boxes(painter, geometry, dress, boxes, view, theme, drawing.bars, vector)
    paint_pills(painter, geometry, dress, pieces, boxes, view, theme)
