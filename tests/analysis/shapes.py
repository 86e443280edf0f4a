"""Graphs of the kinds that tapes have, as box kinds and edges, for tests of the layout."""

from __future__ import annotations

import random


class Builder:
    """Appends boxes in topological order; `leaf` marks parameters and constants."""

    def __init__(self) -> None:
        self.leaf: list[bool] = []
        self.edges: list[tuple[int, int]] = []

    def parameter(self) -> int:
        self.leaf.append(True)
        return len(self.leaf) - 1

    def op(self, *inputs: int) -> int:
        self.leaf.append(False)
        v = len(self.leaf) - 1
        self.edges.extend((u, v) for u in inputs)
        return v

    @property
    def width(self) -> list[float]:
        return [96.0 if leaf else 176.0 for leaf in self.leaf]

    @property
    def height(self) -> list[float]:
        return [54.0] * len(self.leaf)


def mlp(layers: int) -> Builder:
    """Dense sigmoid layers, a loss and a penalty on the last hidden layer (the drawing of the mock-up)."""
    g = Builder()
    h = g.op()
    for _ in range(layers):
        h = g.op(g.op(g.op(h, g.parameter()), g.parameter()))
    z = g.op(g.op(h, g.parameter()), g.parameter())
    loss = g.op(z)
    penalty = g.op(g.op(g.op(h)))
    g.op(loss, penalty)
    return g


def recurrent(steps: int) -> Builder:
    """h = tanh(x_t @ U + h @ W + b) with a loss over every state; a leaf per use, as for hub variables."""
    g = Builder()
    h = g.op()
    total = None
    for _ in range(steps):
        inside = g.op(g.op(g.parameter(), g.parameter()), g.op(h, g.parameter()))
        h = g.op(g.op(inside, g.parameter()))
        error = g.op(g.op(g.op(h, g.parameter()), g.parameter()))
        total = error if total is None else g.op(total, error)
    return g


def transformer(blocks: int, heads: int = 4) -> Builder:
    """Residual blocks with several attention heads side by side."""
    g = Builder()
    x = g.op()
    for _ in range(blocks):
        n = g.op(g.op(x, g.parameter()), g.parameter())
        outputs = []
        for _ in range(heads):
            q, k, v = (g.op(g.op(n, g.parameter()), g.parameter()) for _ in range(3))
            weights = g.op(g.op(g.op(q, k)))
            outputs.append(g.op(weights, v))
        joined = g.op(*outputs)
        x = g.op(x, g.op(g.op(joined, g.parameter()), g.parameter()))
        n = g.op(g.op(x, g.parameter()), g.parameter())
        hidden = g.op(g.op(g.op(n, g.parameter()), g.parameter()))
        x = g.op(x, g.op(g.op(hidden, g.parameter()), g.parameter()))
    g.op(x)
    return g


def scattered(n: int, seed: int, fan: int = 3, reach: int = 12) -> Builder:
    """Anything at all: every op takes up to `fan` of the last `reach` boxes."""
    random_ = random.Random(seed)
    g = Builder()
    for v in range(n):
        if v < 2 or random_.random() < 0.2:
            g.parameter()
        else:
            recent = range(max(0, v - reach), v)
            g.op(*(random_.choice(recent) for _ in range(random_.randint(0, fan))))
    return g
