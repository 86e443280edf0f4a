"""The graph of the focused iteration, forward and backward on one drawing, bound to the focus both ways."""

from __future__ import annotations

import time
from html import escape
from pathlib import Path

from PySide6.QtCore import QRectF, Qt, QTimer
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QStackedLayout, QVBoxLayout, QWidget

from tapeviz.analysis.focus import Focus
from tapeviz.analysis.folding import LIMIT, fold
from tapeviz.analysis.format import count
from tapeviz.analysis.graph import Graph, NodeKind, build_graph
from tapeviz.analysis.layout import Layout
from tapeviz.gui.graph.canvas import Canvas
from tapeviz.gui.graph.distributions import Distributions
from tapeviz.gui.graph.drawing import Drawing
from tapeviz.gui.graph.dress import Direction, dress
from tapeviz.gui.graph.geometry import Geometry
from tapeviz.gui.graph.layouter import Layouter
from tapeviz.gui.painting import guarded
from tapeviz.gui.session import Session
from tapeviz.gui.stagebar import EmptyState, Segments, SteadyButton, dress as dress_button, icon_button, on_surface
from tapeviz.gui.theme import Theme

EMPTY = "No operation has been recorded in this iteration."
REST_MS = 120            # that the view rests before distributions are read
QUICK_S = 0.03           # a graph that takes longer to build waits until the focus rests


class GraphPanel(QWidget):
    """Toolbar and canvas; asks analysis for graph, folding and layout."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._whole: Graph | None = None         # unfolded
        self._opened: list[tuple[tuple[object, ...], str]] = []
        self._around: int | None = None
        self._fresh = True
        self._stale = True
        self._cost = 0.0
        self._geometry: Geometry | None = None
        self.setAccessibleName("Graph")
        on_surface(self)
        theme = session.theme
        self.canvas = Canvas(theme, self)
        self.setFocusProxy(self.canvas)
        self._layouter = Layouter(self)
        self._crumbs = QLabel(self)
        self._crumbs.setTextFormat(Qt.TextFormat.RichText)
        self._crumbs.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._crumbs.setAccessibleName("Place in the graph")
        self._fold = SteadyButton("Folded", self)
        self._fold.setCheckable(True)
        self._fold.setChecked(True)
        self._fold.setToolTip("Show stretches of operations as one box each")
        self._progress = SteadyButton("To step", self)
        self._progress.setCheckable(True)
        self._progress.setToolTip("Show the backward pass as far as the current step; off: the whole pass")
        self._stepwise = True                    # stepping turns it on, until a person has chosen for himself
        self._stepped: Focus | None = None
        self._own = False                        # the focus is being set from here
        self._direction = Segments(("Forward", "Both", "Backward"), "Direction", (
            "Values only", "Values down, gradients up", "Gradients only"), current=Direction.BOTH.value)
        self._buttons = [
            icon_button(self, "minus", "Zoom out", "-", theme),
            icon_button(self, "plus", "Zoom in", "+", theme),
            icon_button(self, "fit", "Show all", "0", theme),
        ]
        bar = QHBoxLayout()
        bar.setContentsMargins(12, 6, 8, 6)
        bar.setSpacing(4)
        bar.addWidget(self._crumbs, 1)
        for button in (self._fold, self._progress):
            button.setProperty("kind", "text")
            bar.addWidget(button)
        bar.addWidget(self._direction)
        for tool in self._buttons:
            bar.addWidget(tool)
        self._stack = QStackedLayout()
        self._stack.addWidget(EmptyState(EMPTY, self))
        self._stack.addWidget(self.canvas)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addLayout(self._stack, 1)
        self._distributions = Distributions()
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self._read_distributions)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.timeout.connect(self.refresh)
        self._connect(session)
        self.refresh()

    def _connect(self, session: Session) -> None:
        for button, slot in zip(self._buttons, (self.canvas.zoom_out, self.canvas.zoom_in, self.canvas.fit),
                                strict=True):
            button.clicked.connect(slot)
        self._fold.toggled.connect(self._fold_toggled)
        self._progress.toggled.connect(self._dress_again)
        self._progress.clicked.connect(self._progress_chosen)
        self._direction.chosen.connect(self._dress_again)
        self._crumbs.linkActivated.connect(self._crumb_chosen)
        self.canvas.box_chosen.connect(self._box_chosen)
        self.canvas.box_opened.connect(self._box_opened)
        self.canvas.left.connect(self._leave)
        self.canvas.view_changed.connect(self._rest.start)
        self._layouter.ready.connect(self._laid_out)
        session.recording_changed.connect(self._recording_changed)
        session.grew.connect(self._changed)
        session.focus_changed.connect(self._focus_changed)
        session.worker_changed.connect(self._dress_again)
        session.theme_changed.connect(self._theme_changed)

    # --- for pictures and tests ----------------------------------------------------------------

    def show_all(self) -> None:
        """The whole graph, as small as that takes."""
        self.canvas.fit()

    def settle(self) -> None:
        """Bring everything up to date now: data, layout, motion."""
        self.refresh()
        self._layouter.settle()
        self.canvas.settle()
        while self._read_distributions():
            pass

    def paint(self, painter: QPainter, rect: QRectF) -> None:
        """Paint the whole graph without caches: for SVG and large PNG files."""
        self.canvas.paint_vector(painter, rect)

    def set_progress(self, on: bool) -> None:
        """Whether the pass is shown up to the current step only, or as a whole."""
        self._stepwise = False
        self._progress.setChecked(on)

    def set_stepping(self, stepping: bool) -> None:
        """The window is arranged for stepping, or no longer: the pass unfolds, unless a person wants it otherwise."""
        if self._stepwise:
            self._progress.setChecked(stepping)

    @property
    def graph(self) -> Graph | None:
        """The graph on the canvas, folded."""
        return self.canvas.drawing.dress.graph if self.canvas.drawing is not None else None

    # --- reading -------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Read the focused iteration and show it."""
        self._later.stop()
        self._stale = False
        recording, focus = self._session.recording, self._session.focus
        if recording is None or not len(recording.iterations) or not len(recording.ops):
            self._whole = None
            self._show_nothing()
            return
        started = time.perf_counter()
        pass_ = focus.pass_ if focus.pass_ in recording.passes_of(focus.iteration) else None
        self._whole = build_graph(recording, focus.iteration, pass_)
        if self._around is None:
            self._around = focus.op
        self._request()
        self._cost = time.perf_counter() - started

    def _request(self) -> None:
        whole = self._whole
        if whole is None or not whole.nodes:
            self._show_nothing()
            return
        graph = whole
        if self._fold.isChecked():
            graph = fold(whole, LIMIT, [key for key, _ in self._opened], self._around)
        self._fold.setVisible(len(whole.nodes) > LIMIT)
        self._make_room()
        self._layouter.request(graph)
        self._show_crumbs()

    def _show_nothing(self) -> None:
        self._geometry = None
        self.canvas.set_drawing(None)
        self._stack.setCurrentIndex(0)
        self._fold.hide()
        self._show_crumbs()

    def _laid_out(self, graph: Graph, layout: Layout) -> None:
        if self._geometry is None or self._geometry.layout is not layout:
            self._geometry = Geometry(graph, layout)
        self._stack.setCurrentIndex(1)
        self._show(graph)
        self._show_crumbs()

    def _show(self, graph: Graph) -> None:
        if self._geometry is None:
            return
        clothes = dress(graph, self._step(graph), Direction(self._direction.current))
        self.canvas.set_drawing(Drawing(self._geometry, clothes), self._fresh)
        self._fresh = False
        self._choose(self._session.focus)
        self._rest.start()

    def _read_distributions(self) -> bool:
        """Give the boxes on screen their histograms; whether there are more to be read."""
        recording, drawing = self._session.recording, self.canvas.drawing
        if recording is None or drawing is None or drawing.dress.graph.iteration >= len(recording.iterations):
            return False
        boxes = [box for box in self.canvas.boxes_on_screen() if box not in drawing.bars]
        found, enough = self._distributions.read(recording, drawing.dress.graph, boxes)
        self.canvas.add_bars(found)
        if not enough:
            self._rest.start()
        return not enough

    def _step(self, graph: Graph) -> int | None:
        """The step the drawing stands at; None: the whole pass, which is what a running script shows."""
        focus, session = self._session.focus, self._session
        running = session.active and session.state != "paused"
        if not self._progress.isChecked() or running or focus.pass_ != graph.pass_:
            return None
        return focus.step

    def _choose(self, focus: Focus) -> None:
        graph = self.graph
        if graph is None:
            return
        box = graph.node_of_tensor.get(focus.tensor) if focus.tensor is not None else None
        if focus.op is not None and (box is None or graph.nodes[box].kind is NodeKind.OP):
            box = graph.node_of_op.get(focus.op)
        self.canvas.set_chosen(box)

    def _show_crumbs(self) -> None:
        recording, theme = self._session.recording, self._session.theme
        if recording is None:
            self._crumbs.clear()
            return
        script = Path(str(recording.meta.get("script") or "script")).stem
        parts = []
        if self._opened:
            parts.append(f'<a href="0" style="color:{theme.muted};text-decoration:none">{escape(script)}</a>')
        elif self._room_for(f"{script} › iteration {self._session.focus.iteration}"):
            parts.append(f'<span style="color:{theme.muted}">{escape(script)}</span>')
        parts += [f'<a href="{i + 1}" style="color:{theme.muted};text-decoration:none">{escape(label)}</a>'
                  for i, (_, label) in enumerate(self._opened[:-1])]
        last = self._opened[-1][1] if self._opened else f"iteration {self._session.focus.iteration}"
        parts.append(f"<b>{escape(last)}</b>")
        text = " › ".join(parts)
        if self._layouter.busy and self._whole is not None:
            text += f' <span style="color:{theme.muted}">laying out {count(len(self._whole.nodes))} boxes…</span>'
        self._crumbs.setText(text)

    def _room_for(self, text: str) -> bool:
        font = QFont(self._crumbs.font())
        font.setBold(True)
        return QFontMetrics(font).horizontalAdvance(text) <= self._crumbs.width()

    # --- the session speaks --------------------------------------------------------------------

    def _recording_changed(self) -> None:
        self._layouter.restart()
        self._distributions.clear()
        self._rest.stop()
        self._opened, self._around, self._fresh = [], None, True
        self._geometry = None
        self._cost = 0.0
        self.canvas.set_drawing(None, fresh=True)
        self._changed()

    def _changed(self) -> None:
        # A hidden graph is not worth its time; it catches up when it is shown.
        if not self.isVisible():
            self._stale = True
        elif self._cost <= QUICK_S:
            self.refresh()
        elif not self._later.isActive():      # not started anew: a steady stream of changes must not hold it off
            self._later.start(int(1000 * min(0.6, 2 * self._cost)))

    def _focus_changed(self, focus: Focus) -> None:
        self._notice_steps(focus)
        graph = self.graph
        same = (graph is not None and self._whole is not None and self._whole.iteration == focus.iteration
                and (focus.pass_ is None or focus.pass_ == self._whole.pass_))
        if same and not self._stale and graph is not None and not self._layouter.busy:
            self._show(graph)
        else:
            self._changed()

    def _notice_steps(self, focus: Focus) -> None:
        """Who goes on or back by one step wants to see the pass unfold; who only looks at an operation does not."""
        last, self._stepped = self._stepped, focus
        if (self._stepwise and not self._own and last is not None and None not in (last.step, focus.step)
                and (last.iteration, last.pass_) == (focus.iteration, focus.pass_)
                and abs((focus.step or 0) - (last.step or 0)) == 1):
            self._progress.setChecked(True)

    def _theme_changed(self, theme: Theme) -> None:
        self.canvas.set_theme(theme)
        self._show_crumbs()
        for button in self._buttons:
            dress_button(button, theme)

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        self._make_room()
        self._show_crumbs()

    def _make_room(self) -> None:
        """Where the bar is too narrow for all, zooming is left to wheel and keys: cut words say nothing."""
        shown = [button for button in (self._fold, self._progress) if not button.isHidden()]
        wanted = 20 + sum(widget.sizeHint().width() + 4 for widget in (*shown, self._direction))
        roomy = wanted + sum(tool.maximumWidth() + 4 for tool in self._buttons) <= self.width()
        for tool in self._buttons:
            tool.setVisible(roomy)

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        if self._stale:
            self.refresh()

    # --- a person speaks -----------------------------------------------------------------------

    def _dress_again(self, *_: object) -> None:
        graph = self.graph
        if graph is not None:
            self._show(graph)

    def _progress_chosen(self, on: bool) -> None:
        self._stepwise = False

    def _fold_toggled(self, on: bool) -> None:
        self._request()

    def _box_chosen(self, box: int) -> None:
        graph = self.graph
        if graph is None:
            return
        node = graph.nodes[box]
        self._own = True
        if node.kind is NodeKind.OP:
            # with its output: from a parameter one comes back to the operation that was focused all along
            self._session.set_focus(op=node.op, tensor=node.tensor)
        elif node.kind is NodeKind.GROUP:
            self.canvas.set_chosen(box)
        else:
            self._session.set_focus(iteration=self._session.focus.iteration, tensor=node.tensor)
        self._own = False

    def _box_opened(self, box: int) -> None:
        graph = self.graph
        if graph is None or graph.nodes[box].kind is not NodeKind.GROUP:
            return
        node = graph.nodes[box]
        self._opened.append((node.key, node.label))
        self._request()

    def _leave(self) -> None:
        if self._opened:
            self._opened.pop()
            self._request()

    def _crumb_chosen(self, link: str) -> None:
        self._opened = self._opened[: int(link)]
        self._request()
