"""Many lines, rectangles or pixmap pieces from NumPy arrays in one call of the painter.

One QLineF per Python call costs about a microsecond each way; a graph of 20,000 edges or a plot of 200 curves needs
the C++ overloads that take an array.  PySide offers them (a pointer to the first element and a count), so the memory
of a float64 array is presented as that first element.
"""

from __future__ import annotations

from typing import cast

import numpy as np
import shiboken6
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, QRectF
from PySide6.QtGui import QPainter

Doubles = NDArray[np.float64]


def draw_lines(painter: QPainter, lines: Doubles) -> None:
    """Draw the rows (x1, y1, x2, y2) of `lines` with the painter's pen."""
    if len(lines):
        lines = np.ascontiguousarray(lines, dtype=np.float64)
        painter.drawLines(cast(QLineF, shiboken6.wrapInstance(lines.ctypes.data, QLineF)), len(lines))


def draw_rects(painter: QPainter, rects: Doubles) -> None:
    """Draw the rows (x, y, width, height) of `rects` with the painter's pen and brush."""
    if len(rects):
        rects = np.ascontiguousarray(rects, dtype=np.float64)
        painter.drawRects(cast(QRectF, shiboken6.wrapInstance(rects.ctypes.data, QRectF)), len(rects))


def draw_points(painter: QPainter, points: Doubles) -> None:
    """Draw the rows (x, y) of `points` with the painter's pen."""
    if len(points):
        points = np.ascontiguousarray(points, dtype=np.float64)
        painter.drawPoints(cast(QPointF, shiboken6.wrapInstance(points.ctypes.data, QPointF)), len(points))


def polyline_segments(x: Doubles, y: Doubles) -> Doubles:
    """The segments of one or many polylines: the last axis of `x` and `y` runs along the line."""
    segments = np.empty((*x.shape[:-1], x.shape[-1] - 1, 4))
    segments[..., 0], segments[..., 1] = x[..., :-1], y[..., :-1]
    segments[..., 2], segments[..., 3] = x[..., 1:], y[..., 1:]
    return segments.reshape(-1, 4)
