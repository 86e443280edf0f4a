"""Layouts for the canvas: at once where that is quick, in a thread where it is not, and only the newest counts."""

from __future__ import annotations

import threading

from PySide6.QtCore import QObject, QTimer, Signal

from tapeviz.analysis.arrange import Arranger
from tapeviz.analysis.graph import Graph
from tapeviz.analysis.layout import Layout

QUICK = 300        # boxes that are laid out without a thread
LOOK_MS = 15


class Layouter(QObject):
    """`request` a graph; `ready` tells when it and its layout are there.

    A thread never touches Qt: it leaves its result where a timer finds it.  Every request has a number, and a result
    with an old one is dropped.
    """

    ready = Signal(object, object)     # Graph, Layout

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._arranger = Arranger()
        self._known: dict[bytes, Layout] = {}
        self._thread: threading.Thread | None = None
        self._result: tuple[int, Graph, Layout] | None = None
        self._error: BaseException | None = None
        self._waiting: Graph | None = None
        self._number = 0
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self._look)

    @property
    def busy(self) -> bool:
        return self._thread is not None

    def restart(self) -> None:
        """Forget all places: another recording."""
        self.settle()
        self._arranger = Arranger()
        self._known = {}

    def request(self, graph: Graph) -> None:
        """Lay out a graph; answers before it returns if that is quick or known."""
        self._number += 1
        known = self._known.get(graph.structure)
        if known is not None and graph.complete:
            self._waiting = None
            self.ready.emit(graph, known)
        elif self.busy:
            self._waiting = graph
        elif len(graph.nodes) <= QUICK:
            self._deliver(graph, self._arranger.arrange(graph))
        else:
            thread = threading.Thread(target=self._run, args=(self._number, graph), daemon=True)
            self._thread = thread
            thread.start()
            self._timer.start()

    def settle(self) -> None:
        """Wait for what is under way."""
        while self._thread is not None:
            self._thread.join()
            self._look()

    def _run(self, number: int, graph: Graph) -> None:
        try:
            self._result = (number, graph, self._arranger.arrange(graph))
        except Exception as error:   # noqa: BLE001 - raised again in the GUI's thread
            self._error = error

    def _look(self) -> None:
        if self._thread is None or self._thread.is_alive():
            return
        self._thread = None
        self._timer.stop()
        result, self._result = self._result, None
        error, self._error = self._error, None
        waiting, self._waiting = self._waiting, None
        if error is not None:
            raise error
        if result is not None:
            number, graph, layout = result
            if graph.complete:
                self._known[graph.structure] = layout
            if number == self._number:
                self.ready.emit(graph, layout)
        if waiting is not None:
            self.request(waiting)

    def _deliver(self, graph: Graph, layout: Layout) -> None:
        if graph.complete:
            self._known[graph.structure] = layout
        self.ready.emit(graph, layout)
