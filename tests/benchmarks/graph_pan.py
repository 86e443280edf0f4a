"""How smoothly a graph of 20,000 operations is dragged, folded and flat, on the offscreen platform.

The drawing is that of a wide network (blocks of six parallel branches), which has more boxes and edges per screen than
a chain.  Frames are synchronous repaints of a 1280 x 720 canvas while it is dragged by 15 px a frame, with the tiles it
has to paint on the way.
"""

from __future__ import annotations

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication

from tapeviz.analysis.arrange import layout_of
from tapeviz.analysis.folding import fold
from tapeviz.analysis.graph import Graph
from tapeviz.gui.graph.canvas import Canvas, pan_times
from tapeviz.gui.graph.drawing import Drawing
from tapeviz.gui.graph.dress import Direction, dress
from tapeviz.gui.graph.geometry import Geometry
from tapeviz.gui.graph.view import View
from tapeviz.gui.theme import DARK, load_fonts
from tests.benchmarks.figures import Figure
from tests.gui.test_graph_geometry import wide_graph

BOXES, SIZE = 20_000, (1280, 720)
SCALES = (1.0, 0.5, 0.25, 0.1, 0.03)
GOAL_FPS, GOAL_WORST_MS = 60.0, 50.0


def figures() -> list[Figure]:
    """Frames per second at the slowest zoom, and the slowest frame of all."""
    app = QApplication.instance() or QApplication([])
    load_fonts()
    whole = wide_graph(BOXES // 27)
    result = []
    for name, graph in (("flat", whole), ("folded", fold(whole))):
        slowest, worst = _measure(graph)
        boxes = f"{len(graph.nodes):,} boxes"
        result.append(Figure(f"graph, 20,000 operations {name}: pan", slowest, "fps", boxes, "at least 60",
                             slowest >= GOAL_FPS))
        result.append(Figure(f"graph, 20,000 operations {name}: slowest frame", worst, "ms", boxes, "at most 50",
                             worst <= GOAL_WORST_MS))
    app.processEvents()
    return result


def _measure(graph: Graph) -> tuple[float, float]:
    """Frames per second at the worst of the zooms, and the longest frame in ms."""
    canvas = Canvas(DARK)
    canvas.resize(*SIZE)
    geometry = Geometry(graph, layout_of(graph))
    canvas.set_drawing(Drawing(geometry, dress(graph, None, Direction.BOTH)))
    canvas.show()
    QApplication.processEvents()
    left, _, right, bottom = geometry.bounds
    slowest, worst = float("inf"), 0.0
    for scale in SCALES:
        canvas.set_view(View(scale, (left + right) / 2 - SIZE[0] / 2 / scale, bottom / 2))
        canvas.repaint()
        times = pan_times(canvas)
        slowest = min(slowest, len(times) / sum(times))
        worst = max(worst, 1000 * max(times))
    canvas.close()
    return slowest, worst


if __name__ == "__main__":
    for figure in figures():
        print(f"{figure.name:50} {figure.value:8.1f} {figure.unit:4} goal {figure.goal}  ({figure.reference})")
