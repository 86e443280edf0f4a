"""Layered layout, top to bottom, of a graph that is already in topological order.

The result is deterministic.  Leaves with one consumer (parameters, constants) are no part of the layers: they stand
beside their consumer, as in a data sheet.  Long edges bend around boxes; very long ones become a pair of stubs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

OP_SIZE = (176.0, 54.0)
LEAF_SIZE = (96.0, 54.0)
PITCH_X, PITCH_Y = 232.0, 78.0


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything is: centres of boxes, bend points of edges, in px at 100 %.

    layer: row of each box; beside: the box it stands beside (to its left), -1 for boxes of the layers
    bend_start: bend points of edge e are bends[bend_start[e]:bend_start[e + 1]], from source to target
    portal: edges too long to be drawn through; a stub at either end says so
    """

    x: np.ndarray
    y: np.ndarray
    width: np.ndarray
    height: np.ndarray
    layer: np.ndarray
    beside: np.ndarray
    bends: np.ndarray
    bend_start: np.ndarray
    portal: np.ndarray
    crossings: int

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom of all boxes and bend points; zeros when there is nothing."""
        if not len(self.x):
            return 0.0, 0.0, 0.0, 0.0
        left, right = (self.x - self.width / 2).min(), (self.x + self.width / 2).max()
        if len(self.bends):
            left, right = min(left, self.bends[:, 0].min()), max(right, self.bends[:, 0].max())
        return float(left), float((self.y - self.height / 2).min()), float(right), float((self.y + self.height / 2).max())

    def points(self, edge: int) -> np.ndarray:
        """The bend points of one edge, (k, 2)."""
        return self.bends[self.bend_start[edge]:self.bend_start[edge + 1]]
