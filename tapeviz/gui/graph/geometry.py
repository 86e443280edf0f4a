"""Places of boxes and edges of one drawing as arrays: what lies in a rectangle, what lies under the mouse."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tapeviz.analysis.graph import Graph
from tapeviz.analysis.layout import Layout
from tapeviz.gui.graph.routes import Pieces, route

Indices = NDArray[np.intp]


class Geometry:
    """Boxes by centre and size, edges as pieces, both sorted by their upper end for culling.

    Depends on structure and layout alone: scrubbing through iterations keeps it.
    """

    def __init__(self, graph: Graph, layout: Layout) -> None:
        self.layout = layout
        self.width, self.height = layout.width, layout.height
        self.left, self.top = layout.x - layout.width / 2, layout.y - layout.height / 2
        self.x, self.y = layout.x, layout.y
        self.sources, self.targets = graph.sources, graph.targets
        self._order = np.argsort(self.top, kind="stable")
        self._tops = self.top[self._order]
        self._tallest = float(self.height.max()) if len(self.height) else 0.0

    def __len__(self) -> int:
        return len(self.x)

    @cached_property
    def bounds(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom of everything."""
        return self.layout.bounds

    @cached_property
    def pieces(self) -> Pieces:
        return route(self.layout, self.sources, self.targets)

    def boxes_in(self, left: float, top: float, right: float, bottom: float) -> Indices:
        """Boxes that reach into a rectangle, from top to bottom."""
        a, b = np.searchsorted(self._tops, (top - self._tallest, bottom))
        found = self._order[a:b]
        inside = ((self.left[found] <= right) & (self.left[found] + self.width[found] >= left)
                  & (self.top[found] + self.height[found] >= top))
        return np.asarray(found[inside])

    def box_at(self, x: float, y: float) -> int | None:
        """The box under a point."""
        found = self.boxes_in(x, y, x, y)
        return int(found[-1]) if len(found) else None

    def nearest_box(self, x: float, y: float) -> int | None:
        """The box whose centre is nearest to a point."""
        if not len(self.x):
            return None
        return int(np.argmin((self.x - x) ** 2 + (self.y - y) ** 2))
