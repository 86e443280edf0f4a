"""Layered layout, top to bottom, of a graph that is already in topological order.

The result is deterministic.  Leaves with one consumer (parameters, constants) are no part of the layers: they stand
beside their consumer, as in a data sheet.  Long edges bend around boxes; very long ones become a pair of stubs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tapeviz.analysis.layering import PORTAL_SPAN, assign_layers, neighbours
from tapeviz.analysis.ordering import initial_rows, order_rows
from tapeviz.analysis.placing import place

OP_SIZE = (176.0, 54.0)
LEAF_SIZE = (96.0, 54.0)
PITCH_X, PITCH_Y = 232.0, 78.0
GAP_X, GAP_Y = PITCH_X - OP_SIZE[0], PITCH_Y - OP_SIZE[1]
BESIDE_GAP_X, BESIDE_GAP_Y = 34.0, 10.0   # between a leaf and its consumer, between two leaves of one consumer
DUMMY = 24.0                              # room for one long edge: forward and backward side by side


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything is: centres of boxes, bend points of edges, in px at 100 %.

    layer: row of each box; beside: the box it stands beside (to its left), -1 for boxes of the layers
    bend_start: bend points of edge e are bends[bend_start[e]:bend_start[e + 1]], from source to target
    portal: edges too long to be drawn through; a stub at either end says so
    row_top, row_bottom: upper and lower edge of every row
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
    row_top: np.ndarray
    row_bottom: np.ndarray

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom of all boxes and bend points; zeros when there is nothing."""
        if not len(self.x):
            return 0.0, 0.0, 0.0, 0.0
        left, right = (self.x - self.width / 2).min(), (self.x + self.width / 2).max()
        if len(self.bends):
            left, right = min(left, self.bends[:, 0].min()), max(right, self.bends[:, 0].max())
        top, bottom = (self.y - self.height / 2).min(), (self.y + self.height / 2).max()
        return float(left), float(top), float(right), float(bottom)

    def points(self, edge: int) -> np.ndarray:
        """The bend points of one edge, (k, 2)."""
        return self.bends[self.bend_start[edge]:self.bend_start[edge + 1]]


def layered_layout(width: Sequence[float], height: Sequence[float], edges: Sequence[tuple[int, int]], *,
                   leaf: Sequence[bool] | None = None) -> Layout:
    """Lay out boxes numbered in topological order (every edge goes from a smaller to a larger number).

    leaf: boxes that may stand beside their consumer; one that has several consumers takes a place in the rows
    """
    n = len(width)
    pairs = [(int(a), int(b)) for a, b in edges]
    beside = beside_of(n, pairs, leaf)
    units = _Units(width, height, beside)
    joined = list(dict.fromkeys(
        (units.index[a], units.index[b]) for a, b in pairs if beside[a] < 0 and units.index[a] != units.index[b]))
    above, below = neighbours(len(units), joined)
    layer = assign_layers(above, below)
    cut = _cut_long_edges(joined, layer)
    rows = initial_rows(cut.layer, cut.above, cut.below)
    rows, crossed = order_rows(rows, cut.above, cut.below, _sweeps(len(cut.layer)))
    dummies = len(cut.layer) - len(units)
    x = place(rows, cut.above, cut.below, len(units), units.left + [DUMMY / 2] * dummies,
              units.right + [DUMMY / 2] * dummies, (GAP_X, (GAP_X + DUMMY) / 4, DUMMY / 2))
    top, bottom = _row_edges(units, layer, len(rows))
    return _finished(units, pairs, cut, x, top, bottom, crossed)


def beside_of(n: int, pairs: Sequence[tuple[int, int]], leaf: Sequence[bool] | None) -> list[int]:
    """For every box the one it stands beside, -1 for those that take a place in the rows."""
    beside = [-1] * n
    if leaf is None:
        return beside
    many = set()
    for a, b in pairs:
        if leaf[a] and beside[a] not in (-1, b):
            many.add(a)
        beside[a] = b
    return [b if leaf[a] and a not in many and b >= 0 else -1 for a, b in enumerate(beside)]


def stack_height(heights: Sequence[float]) -> float:
    """Height of boxes that stand on top of each other beside their consumer."""
    return sum(heights) + BESIDE_GAP_Y * (len(heights) - 1)


class _Units:
    """Boxes of the rows, each together with the leaves beside it.

    index: unit of every box; boxes, leaves: of every unit; left, right: extent on either side of the box's centre
    """

    def __init__(self, width: Sequence[float], height: Sequence[float], beside: list[int]) -> None:
        self.width, self.box_height, self.beside = width, height, beside
        self.boxes = [v for v, b in enumerate(beside) if b < 0]
        self.index = [0] * len(beside)
        for unit, v in enumerate(self.boxes):
            self.index[v] = unit
        self.leaves: list[list[int]] = [[] for _ in self.boxes]
        for v, b in enumerate(beside):
            if b >= 0:
                self.index[v] = self.index[b]
                self.leaves[self.index[b]].append(v)
        self.right = [width[v] / 2 for v in self.boxes]
        self.left = [width[v] / 2 + (BESIDE_GAP_X + max(width[w] for w in leaves) if leaves else 0.0)
                     for v, leaves in zip(self.boxes, self.leaves, strict=True)]
        self.height = [max(height[v], stack_height([height[w] for w in leaves]))
                       for v, leaves in zip(self.boxes, self.leaves, strict=True)]

    def __len__(self) -> int:
        return len(self.boxes)


@dataclass(slots=True)
class _Cut:
    """The graph of units in which no edge skips a row: dummies are numbered after the units."""

    layer: list[int]
    above: list[list[int]]
    below: list[list[int]]
    chains: dict[tuple[int, int], list[int]]
    portals: set[tuple[int, int]]


def _cut_long_edges(joined: list[tuple[int, int]], layer: list[int]) -> _Cut:
    cut = _Cut(list(layer), [[] for _ in layer], [[] for _ in layer], {}, set())
    for a, b in joined:
        span = layer[b] - layer[a]
        if span > PORTAL_SPAN:
            cut.portals.add((a, b))
            continue
        upper = a
        chain = []
        for row in range(layer[a] + 1, layer[b]):
            dummy = len(cut.layer)
            cut.layer.append(row)
            cut.above.append([upper])
            cut.below.append([])
            cut.below[upper].append(dummy)
            chain.append(dummy)
            upper = dummy
        cut.above[b].append(upper)
        cut.below[upper].append(b)
        if chain:
            cut.chains[a, b] = chain
    return cut


def _sweeps(size: int) -> int:
    """Few sweeps over large drawings: there the first ones bring nearly everything."""
    return 12 if size < 4000 else 6 if size < 30_000 else 3


def _row_edges(units: _Units, layer: list[int], rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Top and bottom of every row."""
    tallest = np.full(rows, OP_SIZE[1])
    np.maximum.at(tallest, np.asarray(layer, np.intp), np.asarray(units.height, float))
    bottom = np.cumsum(tallest + GAP_Y) - GAP_Y
    return bottom - tallest, bottom


def _finished(units: _Units, pairs: list[tuple[int, int]], cut: _Cut, x: np.ndarray, top: np.ndarray,
              bottom: np.ndarray, crossed: int) -> Layout:
    n = len(units.beside)
    x = np.round(x - min((x[u] - units.left[u] for u in range(len(units))), default=0.0))
    out_x, out_y = np.zeros(n), np.zeros(n)
    rows = np.asarray(cut.layer, np.intp)
    middle = (top + bottom) / 2
    layer = rows[np.asarray(units.index, np.intp)] if n else np.zeros(0, np.intp)
    for unit, v in enumerate(units.boxes):
        out_x[v], out_y[v] = x[unit], middle[rows[unit]]
        leaves = units.leaves[unit]
        if leaves:
            y = out_y[v] - stack_height([units.box_height[w] for w in leaves]) / 2
            for w in leaves:
                out_x[w] = x[unit] - units.width[v] / 2 - BESIDE_GAP_X - units.width[w] / 2
                out_y[w] = y + units.box_height[w] / 2
                y += units.box_height[w] + BESIDE_GAP_Y
    points: list[tuple[float, float]] = []
    start = [0]
    portal = np.zeros(len(pairs), dtype=bool)
    for e, (a, b) in enumerate(pairs):
        pair = (units.index[a], units.index[b])
        portal[e] = pair in cut.portals
        points.extend(_bends([(float(x[d]), int(rows[d])) for d in cut.chains.get(pair, ())], top, bottom))
        start.append(len(points))
    return Layout(out_x, out_y, np.asarray(units.width, float), np.asarray(units.box_height, float), layer,
                  np.asarray(units.beside, np.intp), np.asarray(points, float).reshape(-1, 2),
                  np.asarray(start, np.intp), portal, crossed, top, bottom)


def _bends(chain: list[tuple[float, int]], top: np.ndarray, bottom: np.ndarray) -> list[tuple[float, float]]:
    """Points where a long edge turns: it passes rows vertically and moves sideways only between them."""
    points: list[tuple[float, float]] = []
    for i, (x, row) in enumerate(chain):
        if i == 0 or chain[i - 1][0] != x:
            points.append((x, float(top[row])))
        if i == len(chain) - 1 or chain[i + 1][0] != x:
            points.append((x, float(bottom[row])))
    return points
