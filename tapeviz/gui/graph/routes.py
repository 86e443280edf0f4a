"""From bend points to lines: every edge becomes straight or curved pieces, with a port of its own at either end."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tapeviz.analysis.layout import Layout

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

PORT_PITCH = 26.0        # between two edges that leave a box side by side
TWIN_PITCH = 40.0        # between edges of the same two boxes
STRAIGHT = 10.0          # boxes whose centres are closer than this (in x) are joined by a vertical edge
SAMPLES = 9              # points on a curved piece
STUB = 30.0              # length of what is drawn of an edge too long to be followed

_t = np.linspace(0.0, 1.0, SAMPLES)
_FIRST, _FIRST_PULL = (1 - _t) ** 3, 3 * (1 - _t) ** 2 * _t
_LAST, _LAST_PULL = _t**3, 3 * (1 - _t) * _t**2


@dataclass(frozen=True)
class Pieces:
    """Pieces of all edges, each edge's in order from source to target.

    edge: whose piece; x1, y1, x2, y2: its ends on the centre line; flat: runs sideways (a leaf to its consumer)
    start_*, end_*: per edge the ports at source and target
    """

    edge: Indices
    x1: Floats
    y1: Floats
    x2: Floats
    y2: Floats
    flat: NDArray[np.bool_]
    start_x: Floats
    start_y: Floats
    end_x: Floats
    end_y: Floats
    beside: NDArray[np.bool_]
    portal: NDArray[np.bool_]

    @cached_property
    def _order(self) -> Indices:
        return np.argsort(np.minimum(self.y1, self.y2), kind="stable")

    @cached_property
    def _tops(self) -> Floats:
        return np.minimum(self.y1, self.y2)[self._order]

    @cached_property
    def _tallest(self) -> float:
        return float(np.abs(self.y2 - self.y1).max()) if len(self.y1) else 0.0

    @cached_property
    def last(self) -> Indices:
        """The piece with which each edge arrives at its target."""
        last = np.zeros(len(self.start_x), np.intp)
        last[self.edge] = np.arange(len(self.edge))
        return last

    def within(self, left: float, top: float, right: float, bottom: float) -> Indices:
        """Pieces that may reach into a rectangle."""
        a, b = np.searchsorted(self._tops, (top - self._tallest, bottom))
        found = self._order[a:b]
        inside = ((np.minimum(self.x1[found], self.x2[found]) <= right)
                  & (np.maximum(self.x1[found], self.x2[found]) >= left)
                  & (np.maximum(self.y1[found], self.y2[found]) >= top))
        return np.asarray(found[inside])

    def polylines(self, pieces: Indices, dx: Floats | float, dy: Floats | float) -> tuple[Floats, Floats]:
        """Points of these pieces (pieces x SAMPLES), moved by `dx` where they run down and by `dy` where sideways."""
        flat = self.flat[pieces]
        x1, x2 = self.x1[pieces] + np.where(flat, 0, dx), self.x2[pieces] + np.where(flat, 0, dx)
        y1, y2 = self.y1[pieces] + np.where(flat, dy, 0), self.y2[pieces] + np.where(flat, dy, 0)
        mid_x, mid_y = (x1 + x2) / 2, (y1 + y2) / 2
        pull_x1, pull_x2 = np.where(flat, mid_x, x1), np.where(flat, mid_x, x2)
        pull_y1, pull_y2 = np.where(flat, y1, mid_y), np.where(flat, y2, mid_y)
        x = x1[:, None] * _FIRST + pull_x1[:, None] * _FIRST_PULL + pull_x2[:, None] * _LAST_PULL + x2[:, None] * _LAST
        y = y1[:, None] * _FIRST + pull_y1[:, None] * _FIRST_PULL + pull_y2[:, None] * _LAST_PULL + y2[:, None] * _LAST
        return x, y


def route(layout: Layout, sources: Indices, targets: Indices) -> Pieces:
    """Pieces of all edges of a layout."""
    count = len(sources)
    beside = (layout.beside[sources] == targets) if count else np.zeros(0, bool)
    bends = np.diff(layout.bend_start)
    first = np.where(bends > 0, layout.bend_start[:-1], 0)
    last = np.where(bends > 0, layout.bend_start[1:] - 1, 0)
    bend_x = layout.bends[:, 0] if len(layout.bends) else np.zeros(1)
    down = ~beside
    # where the edge heads for on leaving, and where it comes from on arriving
    ahead = np.where(bends > 0, bend_x[first], layout.x[targets])
    behind = np.where(bends > 0, bend_x[last], layout.x[sources])
    start_x = layout.x[sources] + _ports(sources, ahead - layout.x[sources], down, layout.width[sources])
    end_x = layout.x[targets] + _ports(targets, behind - layout.x[targets], down, layout.width[targets])
    twins = _twins(sources, targets) * down
    start_x, end_x = start_x + twins, end_x + twins
    start_y = layout.y[sources] + layout.height[sources] / 2
    end_y = layout.y[targets] - layout.height[targets] / 2
    # leaves: from their right side to the left side of the consumer, as level as the two boxes allow
    reach = (layout.height[targets] - layout.height[sources]) / 2
    level = np.clip(layout.y[sources] - layout.y[targets], -np.maximum(reach, 0) - 12, np.maximum(reach, 0) + 12)
    start_x = np.where(beside, layout.x[sources] + layout.width[sources] / 2, start_x)
    end_x = np.where(beside, layout.x[targets] - layout.width[targets] / 2, end_x)
    start_y = np.where(beside, layout.y[sources], start_y)
    end_y = np.where(beside, layout.y[targets] + np.where(np.abs(layout.y[sources] - layout.y[targets]) < 1, 0, level),
                     end_y)
    return _pieces(layout, bends, beside, (start_x, start_y, end_x, end_y))


def _pieces(layout: Layout, bends: Indices, beside: NDArray[np.bool_],
            ends: tuple[Floats, Floats, Floats, Floats]) -> Pieces:
    start_x, start_y, end_x, end_y = ends
    portal = layout.portal
    points = bends + 2
    edge_of_point = np.repeat(np.arange(len(bends)), points)
    offset = np.cumsum(points) - points
    x, y = np.empty(len(edge_of_point)), np.empty(len(edge_of_point))
    x[offset], y[offset] = start_x, start_y
    x[offset + points - 1], y[offset + points - 1] = end_x, end_y
    inner = np.ones(len(x), bool)
    inner[offset] = inner[offset + points - 1] = False
    if inner.any():
        x[inner], y[inner] = layout.bends[:, 0], layout.bends[:, 1]
    same = edge_of_point[:-1] == edge_of_point[1:] if len(x) else np.zeros(0, bool)
    edge = edge_of_point[:-1][same]
    x1, y1, x2, y2 = x[:-1][same], y[:-1][same], x[1:][same], y[1:][same]
    flat = beside[edge]
    cut = portal[edge]
    if cut.any():     # a stub that leaves and one that arrives
        stubs = [np.where(cut, x1, x2), np.where(cut, np.minimum(y1 + STUB, y2), y2)]
        edge = np.concatenate((edge, edge[cut]))
        far_x, far_y = x2[cut], y2[cut]
        x1, y1 = np.concatenate((x1, far_x)), np.concatenate((y1, np.maximum(far_y - STUB, y1[cut])))
        x2, y2 = np.concatenate((stubs[0], far_x)), np.concatenate((stubs[1], far_y))
        flat = np.concatenate((flat, flat[cut]))
    return Pieces(np.asarray(edge, np.intp), x1, y1, x2, y2, flat, start_x, start_y, end_x, end_y, beside, portal)


def _twins(sources: Indices, targets: Indices) -> Floats:
    """Offsets that part edges between the same two boxes: an operation may take one tensor twice."""
    offsets = np.zeros(len(sources))
    if not len(sources):
        return offsets
    order = np.lexsort((targets, sources))
    same = (np.diff(sources[order]) == 0) & (np.diff(targets[order]) == 0)
    if not same.any():
        return offsets
    group = np.concatenate(([0], np.cumsum(~same)))
    size = np.bincount(group)[group]
    first = np.searchsorted(group, group)
    rank = np.arange(len(order)) - first
    offsets[order] = np.where(size > 1, (rank - (size - 1) / 2) * TWIN_PITCH, 0.0)
    return offsets


def _ports(box: Indices, heading: Floats, used: NDArray[np.bool_], width: Floats) -> Floats:
    """Offsets from the centre of the box's side: straight on in the middle, others in order to their side."""
    offsets = np.zeros(len(box))
    side = np.where(np.abs(heading) <= STRAIGHT, 0, np.sign(heading)).astype(np.int64)
    for way in (-1, 1):
        chosen = np.flatnonzero(used & (side == way))
        if not len(chosen):
            continue
        # the nearest destination gets the innermost port, so that edges of one side do not cross
        order = chosen[np.lexsort((np.abs(heading[chosen]), box[chosen]))]
        groups = np.concatenate(([True], box[order][1:] != box[order][:-1]))
        rank = np.arange(len(order)) - np.maximum.accumulate(np.where(groups, np.arange(len(order)), 0))
        size = np.diff(np.append(np.flatnonzero(groups), len(order)))
        room = width[order] / 2 - 14
        pitch = np.minimum(PORT_PITCH, room / (np.repeat(size, size) + 0.5))
        straight = np.isin(box[order], box[used & (side == 0)])
        lonely = np.repeat(size, size) == 1
        # a single edge that turns needs no port beside the middle unless something is there already
        single = lonely & ~straight & ~np.isin(box[order], box[used & (side == -way)])
        offsets[order] = np.where(single, 0.0, way * pitch * (rank + 1))
    return offsets
