"""Where an arrow key leads from a box: along the edges of the graph, else to what stands beside it."""

from __future__ import annotations

import numpy as np

from tapeviz.gui.graph.drawing import Drawing


def neighbour(drawing: Drawing, box: int, way: str) -> int | None:
    """The box that "up", "down", "left" or "right" leads to; None where there is nothing that way.

    Up and down follow edges (an operand, a consumer), preferring the one straight ahead.  Left and right go to leaves
    and back from them, else to the next box of the same row.
    """
    geometry = drawing.geometry
    if way in ("up", "down"):
        along = geometry.targets == box if way == "up" else geometry.sources == box
        ends = (geometry.sources if way == "up" else geometry.targets)[along]
        lower = geometry.y[ends] > geometry.y[box]
        ends = ends[lower if way == "down" else ~lower & (geometry.y[ends] < geometry.y[box])]
        if not len(ends):
            return None
        return int(ends[np.argmin(np.abs(geometry.x[ends] - geometry.x[box]))])
    beside = geometry.layout.beside
    if way == "right" and beside[box] >= 0:
        return int(beside[box])
    # same row first; leaves stand in the row of their consumer
    level = np.abs(geometry.y - geometry.y[box]) <= max(float(geometry.height[box]), 1.0)
    ahead = geometry.x < geometry.x[box] if way == "left" else geometry.x > geometry.x[box]
    found = np.flatnonzero(level & ahead)
    if not len(found):
        return None
    distance = np.abs(geometry.x[found] - geometry.x[box]) + 4 * np.abs(geometry.y[found] - geometry.y[box])
    return int(found[np.argmin(distance)])
