"""The order of boxes within their rows: as few crossings of edges as a few sweeps can find.

Neighbour lists here join boxes of adjacent rows only: a long edge has been cut into pieces by dummies before.
"""

from __future__ import annotations

from bisect import bisect_right, insort

_PATIENCE = 4         # sweeps without a gain before giving up
_SWITCH_ROUNDS = 3    # over one row


def crossings(row: list[int], above: list[list[int]], position: list[int]) -> int:
    """Crossings between a row and the one above it."""
    count = 0
    seen: list[int] = []
    for v in row:
        places = [position[u] for u in above[v]]
        if not places:
            continue
        if not seen or min(places) >= seen[-1]:      # the common case: nothing to the right of it was used before
            places.sort()
            seen.extend(places)
            continue
        for p in places:
            count += len(seen) - bisect_right(seen, p)
        for p in places:
            insort(seen, p)
    return count


def initial_rows(layer: list[int], above: list[list[int]], below: list[list[int]]) -> list[list[int]]:
    """Rows filled depth first from the sources: what belongs together starts side by side."""
    rows: list[list[int]] = [[] for _ in range(max(layer, default=-1) + 1)]
    seen = bytearray(len(layer))
    for root in range(len(layer)):
        if seen[root] or above[root]:
            continue
        stack = [root]
        while stack:
            v = stack.pop()
            if not seen[v]:
                seen[v] = 1
                rows[layer[v]].append(v)
                stack.extend(reversed(below[v]))
    return rows


def order_rows(rows: list[list[int]], above: list[list[int]], below: list[list[int]],
               sweeps: int) -> tuple[list[list[int]], int]:
    """The best order that at most `sweeps` alternating sweeps find, and its number of crossings."""
    return _Sweeper(rows, above, below).best(sweeps)


class _Sweeper:
    """The rows while they are being sorted.

    `version` of a row grows when its order changes, so that a sweep can leave alone what has settled: in the drawings
    of long tapes that is nearly everything after the second sweep.
    """

    def __init__(self, rows: list[list[int]], above: list[list[int]], below: list[list[int]]) -> None:
        self.rows = [row[:] for row in rows]
        self.above, self.below = above, below
        self.position = [0] * len(above)
        for row in self.rows:
            for i, v in enumerate(row):
                self.position[v] = i
        self.version = [0] * len(rows)
        self._done: list[tuple[int, int, int]] = [(-1, -1, -1)] * (2 * len(rows))
        self._counted = [-1] * len(rows)      # crossings above each row, -1 = to be counted again

    def best(self, sweeps: int) -> tuple[list[list[int]], int]:
        fewest, best = self._count(), [row[:] for row in self.rows]
        idle = 0
        for sweep in range(sweeps):
            if fewest == 0 or idle >= _PATIENCE or not self._sweep(downwards=sweep % 2 == 0):
                break
            count = self._count()
            if count < fewest:
                fewest, best, idle = count, [row[:] for row in self.rows], 0
            else:
                idle += 1
        return best, fewest

    def _count(self) -> int:
        for i in range(1, len(self.rows)):
            if self._counted[i] < 0:
                self._counted[i] = crossings(self.rows[i], self.above, self.position)
        return sum(self._counted[1:])

    def _sweep(self, downwards: bool) -> bool:
        """Sort every row by its neighbours in the row before; whether anything changed."""
        n = len(self.rows)
        changed = False
        for i in range(1, n) if downwards else range(n - 2, -1, -1):
            beyond = i + 1 if downwards else i - 1
            state = (self.version[i], self.version[i - 1 if downwards else i + 1],
                     self.version[beyond] if 0 <= beyond < n else 0)
            slot = 2 * i + downwards
            if self._done[slot] == state:
                continue
            before = self.rows[i][:]
            self._sort(i, self.above if downwards else self.below)
            self._switch(i)
            if self.rows[i] != before:
                changed = True
                self._touch(i)
            self._done[slot] = (self.version[i], *state[1:])
        return changed

    def _touch(self, i: int) -> None:
        self.version[i] += 1
        self._counted[i] = -1
        if i + 1 < len(self.rows):
            self._counted[i + 1] = -1

    def _sort(self, i: int, neighbours: list[list[int]]) -> None:
        """By the mean position of the neighbours; boxes without any keep their place."""
        row, position = self.rows[i], self.position
        key: dict[int, float] = {}
        for v in row:
            near = neighbours[v]
            if near:
                key[v] = position[near[0]] if len(near) == 1 else sum([position[u] for u in near]) / len(near)
        if len(key) == len(row):
            row.sort(key=key.__getitem__)
        else:
            movable = iter(sorted([v for v in row if v in key], key=key.__getitem__))
            row[:] = [next(movable) if v in key else v for v in row]
        for j, v in enumerate(row):
            position[v] = j

    def _switch(self, i: int) -> None:
        """Exchange neighbours in the row while that takes crossings away."""
        row, position = self.rows[i], self.position
        if len(row) < 2:
            return
        up = [sorted([position[u] for u in self.above[v]]) for v in row]
        down = [sorted([position[w] for w in self.below[v]]) for v in row]
        for _ in range(_SWITCH_ROUNDS):
            improved = False
            for j in range(len(row) - 1):
                k = j + 1
                if _gain(up[j], up[k]) + _gain(down[j], down[k]) > 0:
                    row[j], row[k] = row[k], row[j]
                    up[j], up[k] = up[k], up[j]
                    down[j], down[k] = down[k], down[j]
                    improved = True
            if not improved:
                break
        for j, v in enumerate(row):
            position[v] = j


def _gain(left: list[int], right: list[int]) -> int:
    """Crossings of two neighbours as they stand, less those after exchanging them; both lists sorted."""
    if not left or not right or left[-1] <= right[0]:
        # nothing crosses as they stand (an exchange could only add crossings)
        return -1 if left and right and left[0] < right[-1] else 0
    if len(left) == 1 and len(right) == 1:
        return 1
    gain = 0
    for p in left:
        for q in right:
            gain += (p > q) - (p < q)
    return gain
