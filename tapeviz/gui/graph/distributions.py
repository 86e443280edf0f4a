"""Distributions of gradients for the boxes on screen, read while nothing else happens."""

from __future__ import annotations

import time
from collections.abc import Iterable

from tapeviz.analysis.bars import bars
from tapeviz.analysis.graph import Graph, NodeKind
from tapeviz.recording.reader import Recording
from tapeviz.recording.rows import RecordingError
from tapeviz.recording.schema import What

LARGEST = 1 << 16        # elements: reading more for a picture of 50 pixels is not worth it
BUDGET_S = 0.02          # per call; what is left is read by the next


class Distributions:
    """Remembers what has been read; a gradient that was not captured is remembered as such."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int | None], tuple[float, ...]] = {}

    def clear(self) -> None:
        self._known.clear()

    def read(self, recording: Recording, graph: Graph, boxes: Iterable[int],
             budget: float = BUDGET_S) -> tuple[dict[int, tuple[float, ...]], bool]:
        """Bars of those boxes whose gradient is there, and whether the time was enough for all of them."""
        found: dict[int, tuple[float, ...]] = {}
        end = time.perf_counter() + budget
        for box in boxes:
            node = graph.nodes[box]
            if node.kind is not NodeKind.OP or node.tensor is None or node.step is None:
                continue
            key = (node.tensor, node.pass_)
            if key not in self._known:
                if time.perf_counter() > end:
                    return found, False
                self._known[key] = _bars(recording, node.tensor, node.pass_)
            if self._known[key]:
                found[box] = self._known[key]
        return found, True


def _bars(recording: Recording, tensor: int, pass_: int | None) -> tuple[float, ...]:
    try:
        value = recording.value(tensor, What.COTANGENT, pass_=pass_)
    except RecordingError:      # a damaged value: the inspector says so, where it was asked for
        return ()
    return bars(value) if value is not None and 1 < value.size <= LARGEST else ()
