"""The recording file: size, rates, what a killed script loses, how soon it opens and is seen by another process."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.benchmarks.figures import Figure
from tests.recording import measure


def figures() -> list[Figure]:
    """The figures of DESIGN section 7, row "file"."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = measure.bytes_per_op(folder)
        rate = measure.ops_per_second(folder) / 1e3
        cost = measure.append_microseconds(folder)
        opened = measure.open_seconds(folder)
        lost = max(measure.lost_milliseconds(folder))
        middle, late = measure.visible_milliseconds(folder)
    return [
        Figure("file: bytes per op", size, "B", "64 B of the record itself", "at most 70 B", size <= 70),
        Figure("file: sustained, until closed", rate, "k ops/s", "rows in SQLite: 116k/s", "at least 300k ops/s",
               rate >= 300),
        Figure("file: added to the script per op", cost, "µs", "rows in SQLite: 5.3 µs", "at most 2 µs", cost <= 2),
        Figure("file: open 1M ops and tensors", opened, "s", "rows in SQLite: 3 s", "at most 1 s", opened <= 1),
        Figure("file: lost by kill -9, worst of 6", lost, "ms", "flush every 16 ms", "at most 50 ms", lost <= 50),
        Figure("file: op to another process, median", middle, "ms", "polling all the time", "-", True),
        Figure("file: op to another process, p99", late, "ms", "polling all the time", "at most 60 ms", late <= 60),
    ]
