"""Which row each box of a layered drawing stands in."""

from __future__ import annotations

from collections.abc import Sequence

PORTAL_SPAN = 20      # an edge over more rows than this is drawn as two stubs
_ROUNDS = 2           # of moving boxes towards where most of their edges are


def neighbours(n: int, edges: Sequence[tuple[int, int]]) -> tuple[list[list[int]], list[list[int]]]:
    """For every box the boxes above and below it that it shares an edge with (each edge once)."""
    above: list[list[int]] = [[] for _ in range(n)]
    below: list[list[int]] = [[] for _ in range(n)]
    for a, b in edges:
        below[a].append(b)
        above[b].append(a)
    return above, below


def assign_layers(above: list[list[int]], below: list[list[int]]) -> list[int]:
    """Row of every box, counted from 0; boxes must be numbered in topological order.

    First as high as the inputs allow; then boxes that nothing else depends on sink to just above their consumer,
    or every constant would stand in the first row with an edge through the whole drawing; then each box moves to
    the side where it has more edges.
    """
    n = len(above)
    layer = [0] * n
    for v in range(n):
        if above[v]:
            layer[v] = 1 + max([layer[u] for u in above[v]])
    _sink_free_subtrees(above, below, layer)
    for _ in range(_ROUNDS):
        if not _shorten(above, below, layer):
            break
    return layer


def _sink_free_subtrees(above: list[list[int]], below: list[list[int]], layer: list[int]) -> None:
    n = len(above)
    free = [False] * n
    for v in range(n):
        free[v] = all(free[u] and len(below[u]) == 1 for u in above[v])
    for v in range(n - 1, -1, -1):
        if free[v] and below[v]:
            layer[v] = max(layer[v], min([layer[w] for w in below[v]]) - 1)


def _shorten(above: list[list[int]], below: list[list[int]], layer: list[int]) -> bool:
    """One round of moves that make the sum of the edge lengths smaller."""
    moved = False
    n = len(above)
    for v in range(n - 1, -1, -1):
        if len(below[v]) > len(above[v]):
            lowest = min([layer[w] for w in below[v]]) - 1
            if lowest > layer[v]:
                layer[v] = lowest
                moved = True
    for v in range(n):
        if len(above[v]) > len(below[v]):
            highest = max([layer[u] for u in above[v]]) + 1
            if highest < layer[v]:
                layer[v] = highest
                moved = True
    return moved
