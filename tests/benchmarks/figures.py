"""How a figure is measured and said: interleaved rounds of CPU time, beside a reference in the same run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Figure:
    """One line of `make bench`: what, how much, in which unit, against what, and the goal in words."""

    name: str
    value: float
    unit: str
    reference: str
    goal: str
    met: bool


def ratios(reference: Callable[[], object], *others: Callable[[], object], rounds: int = 7,
           seconds: float = 0.25) -> list[float]:
    """CPU time of each of `others` over that of `reference`: the best round's median of both, interleaved.

    A shared machine only ever slows a round down, so the smallest median is the nearest to the truth.
    """
    everyone = (reference, *others)
    for work in everyone:   # caches, lazy imports, the first allocation of big arrays
        work()
        work()
    best = [float("inf")] * len(everyone)
    for _ in range(rounds):
        for index, work in enumerate(everyone):
            best[index] = min(best[index], _median_seconds(work, seconds))
    return [time_ / best[0] for time_ in best[1:]]


def _median_seconds(work: Callable[[], object], seconds: float) -> float:
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.process_time_ns()
        work()
        times.append((time.process_time_ns() - start) / 1e9)
    return median(times)
