"""The window: how soon it is shown, how fast layouts are, how smoothly a large graph is dragged."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from statistics import median

from tapeviz.analysis.arrange import layout_of
from tests.benchmarks import graph_pan
from tests.benchmarks.figures import Figure
from tests.gui.test_graph_geometry import wide_graph

SHOWN = """
import time
start = time.perf_counter()
from tapeviz.gui.app import make_application, make_window
from tapeviz.gui.session import Session
application = make_application()
window = make_window(Session())
window.show()
application.processEvents()
print(time.perf_counter() - start, flush=True)
import os
os._exit(0)
"""


def figures() -> list[Figure]:
    """Start-up, layout and dragging."""
    shown = _shown_seconds()
    small, large = _layout_seconds(1_500), _layout_seconds(10_000)
    return [
        Figure("window: shown after launch", shown, "s", "empty start page, median of 5", "at most 0.8 s",
               shown <= 0.8),
        Figure("graph: layout of 1,500 boxes", small * 1e3, "ms", "wide network", "at most 150 ms", small <= 0.15),
        Figure("graph: layout of 10,000 boxes", large * 1e3, "ms", "wide network", "at most 1000 ms", large <= 1.0),
        *graph_pan.figures(),
    ]


def _shown_seconds() -> float:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "QT_QPA_PLATFORM": "offscreen"}
    times = []
    for _ in range(5):
        done = subprocess.run([sys.executable, "-c", SHOWN], env=environ, capture_output=True, text=True, check=True)
        times.append(float(done.stdout.split()[-1]))
    return median(times)


def _layout_seconds(boxes: int) -> float:
    graph = wide_graph(boxes // 27)
    start = time.perf_counter()
    layout_of(graph)
    return time.perf_counter() - start
