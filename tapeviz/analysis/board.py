"""A drawing to which boxes are added one by one: what has a place keeps it, new boxes take free places near it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tapeviz.analysis.layering import PORTAL_SPAN
from tapeviz.analysis.layout import (
    BESIDE_GAP_X,
    BESIDE_GAP_Y,
    DUMMY,
    GAP_X,
    GAP_Y,
    OP_SIZE,
    PITCH_Y,
    Layout,
    stack_height,
)

_LOOK_DOWN = 3      # rows that are tried before a box is pushed further aside


@dataclass(frozen=True, slots=True)
class Box:
    """A box to be placed: `leaf` boxes go beside the box they are placed with."""

    key: object
    width: float
    height: float


@dataclass(slots=True)
class _Place:
    x: float
    y: float
    width: float
    height: float
    row: int
    beside: object | None


class _Row:
    """One row: its edges, and the taken stretches from left to right."""

    def __init__(self, top: float, bottom: float) -> None:
        self.top, self.bottom = top, bottom
        self.starts: list[float] = []
        self.ends: list[float] = []

    def take(self, start: float, end: float) -> None:
        i = bisect_right(self.starts, start)
        self.starts.insert(i, start)
        self.ends.insert(i, end)

    def nearest(self, start: float, width: float, gap: float) -> float:
        """The start nearest to the wanted one at which a stretch fits, `gap` away from what is taken."""
        best: float | None = None
        i = bisect_right(self.starts, start)
        # to the right: behind each taken stretch in turn, until one leaves room
        at = max(start, self.ends[i - 1] + gap) if i else start
        j = i
        while j < len(self.starts) and at + width + gap > self.starts[j]:
            at = max(at, self.ends[j] + gap)
            j += 1
        best = at
        # to the left: before each in turn, as long as that can still be nearer
        at, j = start, i - 1
        if i < len(self.starts):
            at = min(at, self.starts[i] - gap - width)
        while j >= 0 and at < self.ends[j] + gap:
            at = min(at, self.starts[j] - gap - width)
            j -= 1
            if start - at >= abs(best - start):
                return best
        return at if abs(at - start) < abs(best - start) else best


class Board:
    """Places by key.  Made empty or from a finished layout."""

    def __init__(self) -> None:
        self._rows: list[_Row] = []
        self._places: dict[object, _Place] = {}
        self._bends: dict[object, list[tuple[float, float]]] = {}
        self._portals: set[object] = set()
        self._newest: _Place | None = None      # the op that was placed last

    @classmethod
    def of(cls, layout: Layout, keys: Sequence[object], edge_keys: Sequence[object]) -> Board:
        """The board on which everything stands where a layout has put it."""
        board = cls()
        board._rows = [_Row(float(t), float(b)) for t, b in zip(layout.row_top, layout.row_bottom, strict=True)]
        columns = (layout.x, layout.y, layout.width, layout.height, layout.layer, layout.beside)
        for key, x, y, w, h, row, beside in zip(keys, *(c.tolist() for c in columns), strict=True):
            board._places[key] = _Place(x, y, w, h, row, keys[beside] if beside >= 0 else None)
            if beside < 0:
                board._newest = board._places[key]
                board._rows[row].take(x - w / 2, x + w / 2)
        board._take_leaves(layout)
        for edge, key in enumerate(edge_keys):
            points = [(float(x), float(y)) for x, y in layout.points(edge)]
            board._bends[key] = points
            if layout.portal[edge]:
                board._portals.add(key)
            for (x, top), (_, bottom) in zip(points[::2], points[1::2], strict=False):
                for row in board._rows:
                    if row.top >= top and row.bottom <= bottom:
                        row.take(x - DUMMY / 2, x + DUMMY / 2)
        return board

    def _take_leaves(self, layout: Layout) -> None:
        """Leaves on top of each other take one stretch together."""
        widest: dict[int, float] = {}
        for v in np.flatnonzero(layout.beside >= 0).tolist():
            owner = int(layout.beside[v])
            widest[owner] = max(widest.get(owner, 0.0), float(layout.width[v]))
        for owner, width in widest.items():
            end = float(layout.x[owner] - layout.width[owner] / 2) - BESIDE_GAP_X
            self._rows[int(layout.layer[owner])].take(end - width, end)

    def __contains__(self, key: object) -> bool:
        return key in self._places

    def allows(self, source: object, target: object) -> bool:
        """Whether an edge could be drawn: downwards, or from a leaf to the box it stands beside."""
        a, b = self._places.get(source), self._places.get(target)
        return a is None or b is None or a.row < b.row or a.beside == target

    def add(self, box: Box, leaves: Sequence[Box], sources: Sequence[object]) -> None:
        """Place a box below all its sources (keys that have places), as near under them as there is room."""
        above = [self._places[key] for key in sources if key in self._places]
        if above:
            first, wish = max([place.row for place in above]) + 1, sum([place.x for place in above]) / len(above)
        elif self._newest is not None:      # it starts from leaves alone: beside what was done just before
            first, wish = self._newest.row, self._newest.x
        else:
            first, wish = 0, 0.0
        left = box.width / 2 + (BESIDE_GAP_X + max(leaf.width for leaf in leaves) if leaves else 0.0)
        height = max(box.height, stack_height([leaf.height for leaf in leaves]))
        row, x = self._find(first, wish, left, box.width / 2, height)
        self._rows[row].take(x - left, x + box.width / 2)
        y = (self._rows[row].top + self._rows[row].bottom) / 2
        self._newest = self._places[box.key] = _Place(x, y, box.width, box.height, row, None)
        top = y - stack_height([leaf.height for leaf in leaves]) / 2
        for leaf in leaves:
            self._places[leaf.key] = _Place(x - box.width / 2 - BESIDE_GAP_X - leaf.width / 2, top + leaf.height / 2,
                                            leaf.width, leaf.height, row, box.key)
            top += leaf.height + BESIDE_GAP_Y

    def add_beside(self, leaf: Box, owner: object) -> None:
        """Place a leaf near a box that has a place already."""
        place = self._places[owner]
        row = self._rows[place.row]
        start = row.nearest(place.x - place.width / 2 - BESIDE_GAP_X - leaf.width, leaf.width, BESIDE_GAP_Y)
        row.take(start, start + leaf.width)
        self._places[leaf.key] = _Place(start + leaf.width / 2, place.y, leaf.width, leaf.height, place.row, owner)

    def _find(self, first: int, wish: float, left: float, right: float, height: float) -> tuple[int, float]:
        """Row and x for a box, weighing moves aside against moves down."""
        best: tuple[float, int, float] | None = None
        for row in range(first, first + _LOOK_DOWN):
            if row >= len(self._rows):
                while row >= len(self._rows):
                    self._append_row(height if row == len(self._rows) else OP_SIZE[1])
            elif self._rows[row].bottom - self._rows[row].top < height:
                continue
            x = self._rows[row].nearest(wish - left, left + right, GAP_X) + left
            cost = abs(x - wish) + 2 * PITCH_Y * (row - first)
            if best is None or cost < best[0]:
                best = (cost, row, x)
            if best[0] <= 2 * PITCH_Y * (row + 1 - first):
                break
        if best is None:      # rows too low for a tall stack of leaves: a new one at the bottom
            self._append_row(height)
            return len(self._rows) - 1, wish
        return best[1], round(best[2])

    def _append_row(self, height: float) -> None:
        top = self._rows[-1].bottom + GAP_Y if self._rows else 0.0
        self._rows.append(_Row(top, top + max(height, OP_SIZE[1])))

    def connect(self, key: object, source: object, target: object) -> None:
        """Find a way for an edge past the boxes of the rows between."""
        if key in self._bends or source not in self._places or target not in self._places:
            return
        a, b = self._places[source], self._places[target]
        points: list[tuple[float, float]] = []
        if b.row - a.row > PORTAL_SPAN:
            self._portals.add(key)
        else:
            x = a.x
            for number in range(a.row + 1, b.row):
                row = self._rows[number]
                x = row.nearest(x - DUMMY / 2, DUMMY, DUMMY / 2) + DUMMY / 2
                row.take(x - DUMMY / 2, x + DUMMY / 2)
                if points and points[-1][0] == x:
                    points[-1] = (x, row.bottom)
                else:
                    points += [(x, row.top), (x, row.bottom)]
        self._bends[key] = points

    def layout(self, keys: Sequence[object], edge_keys: Sequence[object]) -> Layout:
        """The places of these boxes and edges."""
        places = [self._places[key] for key in keys]
        number = {key: i for i, key in enumerate(keys)}
        points: list[tuple[float, float]] = []
        start = [0]
        for key in edge_keys:
            points.extend(self._bends.get(key, ()))
            start.append(len(points))
        beside = [-1 if p.beside is None else number.get(p.beside, -1) for p in places]
        return Layout(
            np.array([p.x for p in places]), np.array([p.y for p in places]), np.array([p.width for p in places]),
            np.array([p.height for p in places]), np.array([p.row for p in places], dtype=np.intp),
            np.array(beside, dtype=np.intp), np.array(points, dtype=float).reshape(-1, 2),
            np.array(start, dtype=np.intp), np.array([key in self._portals for key in edge_keys], dtype=bool), -1,
            np.array([row.top for row in self._rows]), np.array([row.bottom for row in self._rows]))
