"""Where the boxes of ordered rows stand from left to right: long chains straight, everything else close to it.

Boxes are first joined into vertical blocks by edges that do not cross: the pieces of a long edge, then the longest
paths.  A block has one x.  Blocks keep their order and distances; within that, each is pulled to the mean of what
it is joined with, again and again.  Two extreme solutions (everything pushed right where it must, or left) satisfy
all distances, and so does their mean, which is what a round of pulling ends with.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

_PIECE = -(1 << 60)
_ROUNDS = 24
_STILL = 0.5          # px: when no block moves further than this, the pulling is over


def place(rows: list[list[int]], above: list[list[int]], below: list[list[int]], first_dummy: int,
          left: Sequence[float], right: Sequence[float], gaps: tuple[float, float, float]) -> np.ndarray:
    """x of every box and dummy.

    first_dummy: numbers from here on are dummies; left, right: extent of each box on either side of its x
    gaps: distance between two boxes, a box and a dummy, two dummies
    """
    n = len(above)
    if not n:
        return np.zeros(0)
    block = _blocks(rows, above, below, first_dummy)
    nblocks = max(block) + 1
    before, after = _distances(rows, block, nblocks, first_dummy, left, right, gaps)
    order = _left_to_right(before, after)
    heads, tails, weights = _pulls(above, block, first_dummy)
    x = _start(rows, block, nblocks, left, right, gaps[0])
    x = _separate(x, order, before, after)
    pull = np.bincount(heads, weights, nblocks) + np.bincount(tails, weights, nblocks)
    free = pull == 0
    pull[free] = 1
    for _ in range(_ROUNDS):
        wish = np.bincount(heads, weights * x[tails], nblocks) + np.bincount(tails, weights * x[heads], nblocks)
        wish = np.where(free, x, wish / pull)
        # half way: two blocks that look at each other would otherwise change places for ever
        moved = _separate((wish + x) / 2, order, before, after)
        still = float(np.abs(moved - x).max()) < _STILL
        x = moved
        if still:
            break
    return np.asarray(x[np.asarray(block)])


def _blocks(rows: list[list[int]], above: list[list[int]], below: list[list[int]], first_dummy: int) -> list[int]:
    """Number of the block of every box."""
    n = len(above)
    chain, height, preferred = _chains(rows, above, below, first_dummy)
    position = [0] * n
    for row in rows:
        for i, v in enumerate(row):
            position[v] = i
    upper = [-1] * n
    has_lower = bytearray(n)
    for row in rows[1:]:
        candidates = []
        for v in row:
            for u in above[v]:
                if u >= first_dummy and v >= first_dummy:
                    rank = _PIECE             # a bend within a long edge costs more than one between two boxes
                else:
                    rank = -chain[u] - height[v] if preferred[u] == v else 0
                candidates.append((rank, abs(position[u] - position[v]), position[u], position[v], u, v))
        if len(candidates) > 1:
            candidates.sort()
        starts: list[int] = []
        ends: list[int] = []
        for _, _, p, q, u, v in candidates:
            if has_lower[u] or upper[v] >= 0:
                continue
            i = bisect_left(starts, p)
            if (i and ends[i - 1] >= q) or (i < len(ends) and ends[i] <= q):
                continue                              # it would cross one that is already straight
            starts.insert(i, p)
            ends.insert(i, q)
            has_lower[u] = 1
            upper[v] = u
    block = [-1] * n
    count = 0
    for row in rows:
        for v in row:
            if upper[v] >= 0:
                block[v] = block[upper[v]]
            else:
                block[v] = count
                count += 1
    return block


def _chains(rows: list[list[int]], above: list[list[int]], below: list[list[int]],
            first_dummy: int) -> tuple[list[int], list[int], list[int]]:
    """How the boxes fall into chains, each box going on to the neighbour below with the longest way to the end.

    Returns the length of the chain down to each box, the longest path from each box to the end (both in boxes, without
    dummies), and the neighbour below in which the chain goes on (-1: none).
    """
    n = len(above)
    height, chain, preferred = [0] * n, [0] * n, [-1] * n
    for row in reversed(rows):
        for v in row:
            near = below[v]
            if near:
                preferred[v] = near[0] if len(near) == 1 else max(near, key=height.__getitem__)
            height[v] = (height[preferred[v]] if near else 0) + (v < first_dummy)
    for row in rows:
        for v in row:
            chain[v] = max([chain[u] for u in above[v] if preferred[u] == v], default=0) + (v < first_dummy)
    return chain, height, preferred


_Links = list[list[tuple[int, float]]]


def _distances(rows: list[list[int]], block: list[int], nblocks: int, first_dummy: int, left: Sequence[float],
               right: Sequence[float], gaps: tuple[float, float, float]) -> tuple[_Links, _Links]:
    """For every block those that stand to its left (and right), with the least distance of their x."""
    least: dict[tuple[int, int], float] = {}
    for row in rows:
        for u, v in pairwise(row):
            distance = right[u] + gaps[(u >= first_dummy) + (v >= first_dummy)] + left[v]
            pair = (block[u], block[v])
            if distance > least.get(pair, 0.0):
                least[pair] = distance
    before: _Links = [[] for _ in range(nblocks)]
    after: _Links = [[] for _ in range(nblocks)]
    for (a, b), distance in least.items():
        before[b].append((a, distance))
        after[a].append((b, distance))
    return before, after


def _left_to_right(before: _Links, after: _Links) -> list[int]:
    """An order in which every block comes after those to its left: blocks are vertical lines that never cross."""
    waiting = [len(links) for links in before]
    order = [b for b, n in enumerate(waiting) if n == 0]
    for a in order:
        for b, _ in after[a]:
            waiting[b] -= 1
            if not waiting[b]:
                order.append(b)
    return order


def _pulls(above: list[list[int]], block: list[int], first_dummy: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The edges between different blocks, with the strength of their pull."""
    heads, tails, weights = [], [], []
    for v, near in enumerate(above):
        for u in near:
            if block[u] != block[v]:
                heads.append(block[u])
                tails.append(block[v])
                weights.append(1.0 + (u >= first_dummy) + (v >= first_dummy))
    return np.asarray(heads, np.intp), np.asarray(tails, np.intp), np.asarray(weights, float)


def _start(rows: list[list[int]], block: list[int], nblocks: int, left: Sequence[float], right: Sequence[float],
           gap: float) -> np.ndarray:
    """Every row packed and centred on 0; a block starts at the mean of its boxes."""
    total, members = np.zeros(nblocks), np.zeros(nblocks)
    for row in rows:
        width = sum([left[v] + right[v] for v in row]) + gap * (len(row) - 1)
        x = -width / 2
        for v in row:
            total[block[v]] += x + left[v]
            members[block[v]] += 1
            x += left[v] + right[v] + gap
    return np.asarray(total / members)


def _separate(wish: np.ndarray, order: list[int], before: _Links, after: _Links) -> np.ndarray:
    """Positions near the wishes that keep all distances."""
    pushed_right, pushed_left = wish.tolist(), wish.tolist()
    for b in order:
        x = pushed_right[b]
        for a, distance in before[b]:
            if pushed_right[a] + distance > x:
                x = pushed_right[a] + distance
        pushed_right[b] = x
    for a in reversed(order):
        x = pushed_left[a]
        for b, distance in after[a]:
            if pushed_left[b] - distance < x:
                x = pushed_left[b] - distance
        pushed_left[a] = x
    return np.asarray((np.asarray(pushed_right) + np.asarray(pushed_left)) / 2)
