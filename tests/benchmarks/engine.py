"""The engine beside hand-written NumPy, and beside PyTorch where it is installed."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np

from tests.benchmarks import workloads as w
from tests.benchmarks.figures import Figure, ratios

# Goals of DESIGN section 7: at most so many times the floor, at least so many times faster than PyTorch.
GOALS = {"w1": (6.0, 6.0), "w4": (1.2, 2.1), "w12": (1.75, 3.0)}
NAMES = {"w1": "w1, 1,000 scalar ops", "w4": "w4, 20-layer tanh step", "w12": "w12, XOR loop"}


def figures() -> list[Figure]:
    """Two figures per workload: over the floor, and PyTorch's time over ours."""
    torch = _torch()
    made: list[Figure] = []
    for name, (over_floor, over_torch) in GOALS.items():
        floor, ours, theirs = _contestants(name, torch)
        _agree(name, floor(), ours())
        measured = ratios(floor, ours, *([theirs] if theirs else []))
        made.append(Figure(f"{NAMES[name]}: gradtape over floor", measured[0], "x", "hand-written NumPy",
                           f"at most {over_floor:g}x", measured[0] <= over_floor))
        if theirs:
            speed = measured[1] / measured[0]
            made.append(Figure(f"{NAMES[name]}: faster than PyTorch", speed, "x", f"PyTorch {torch.__version__}",
                               f"at least {over_torch:g}x", speed >= over_torch))
    return made


def _torch() -> Any:
    if importlib.util.find_spec("torch") is None:
        return None
    import torch  # two seconds: only where it is there and asked for

    torch.set_num_threads(1)
    return torch


def _contestants(name: str, torch: Any) -> tuple[w.Work, w.Work, w.Work | None]:
    if name == "w1":
        return w.w1_floor, w.w1_gradtape, w.w1_torch(torch) if torch else None
    if name == "w4":
        return w.w4_floor(), w.w4_gradtape(), w.w4_torch(torch) if torch else None
    return w.w12_floor(), w.w12_gradtape(), w.w12_torch(torch) if torch else None


def _agree(name: str, expected: list[Any], got: list[Any]) -> None:
    for a, b in zip(expected, got, strict=True):
        if not np.allclose(np.asarray(a), np.asarray(b), rtol=2e-4, atol=1e-6):
            raise AssertionError(f"{name}: gradtape and the floor disagree: the figure would mean nothing")
