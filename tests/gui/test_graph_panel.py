"""The graph panel: it shows the pass, follows the focus, and holds still."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QBuffer, QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from tapeviz.analysis.graph import Graph, NodeKind, StepState, structure_of
from tapeviz.analysis.layout import Layout
from tapeviz.gui.graph.boxes import box_rect
from tapeviz.gui.graph.canvas import Canvas, pan_times
from tapeviz.gui.graph.drawing import Drawing
from tapeviz.gui.graph.dress import Direction, dress
from tapeviz.gui.graph.layouter import Layouter
from tapeviz.gui.graph.panel import GraphPanel
from tapeviz.gui.graph.view import View
from tapeviz.gui.session import Session
from tapeviz.gui.theme import DARK, LIGHT
from tests.gui.test_graph_geometry import geometry_of, wide_graph
from tests.recording.synthetic import make_recording


def pixels(widget: QWidget) -> np.ndarray:
    """What the widget shows as an array of 0xffrrggbb."""
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    flat = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), -1)
    return flat[:, : image.width()].copy()


def colour_at(widget: QWidget, x: float, y: float) -> str:
    return f"#{int(pixels(widget)[round(y), round(x)]) & 0xFFFFFF:06x}"


def assert_not_blank(widget: QWidget) -> None:
    colours, counts = np.unique(pixels(widget), return_counts=True)
    assert len(colours) >= 8
    assert 1 - counts.max() / counts.sum() >= 0.002


def shown(qtbot: QtBot, panel: GraphPanel, width: int = 700, height: int = 640) -> GraphPanel:
    qtbot.addWidget(panel)
    panel.resize(width, height)
    with qtbot.waitExposed(panel):
        panel.show()
    panel.settle()
    return panel


@pytest.fixture
def panel(qtbot: QtBot, opened: Session) -> GraphPanel:
    """The graph in the middle of a backward pass."""
    opened.set_focus(iteration=5)
    opened.set_focus(step=8)
    panel = GraphPanel(opened)
    panel.set_progress(True)
    return shown(qtbot, panel)


def middle(panel: GraphPanel, box: int) -> QPoint:
    drawing = panel.canvas.drawing
    assert drawing is not None
    return box_rect(drawing.geometry, box, panel.canvas.view).center().toPoint()


def band(panel: GraphPanel, box: int) -> str:
    """The colour of a box's gradient band, beside its text."""
    drawing = panel.canvas.drawing
    assert drawing is not None
    rect = box_rect(drawing.geometry, box, panel.canvas.view)
    return colour_at(panel.canvas, rect.left() + 6, rect.bottom() - 4)


def visible_boxes(panel: GraphPanel, kind: NodeKind = NodeKind.OP) -> list[int]:
    """Boxes that are wholly on screen and not under the minimap."""
    drawing = panel.canvas.drawing
    assert drawing is not None
    room = QRectF(0, 0, panel.canvas.width() - 130, panel.canvas.height())
    return [i for i, node in enumerate(drawing.dress.graph.nodes)
            if node.kind is kind and room.contains(box_rect(drawing.geometry, i, panel.canvas.view))]


# --- the picture -----------------------------------------------------------------------------------


def test_the_picture_is_not_blank(panel: GraphPanel) -> None:
    assert_not_blank(panel.canvas)


def test_visited_boxes_are_filled_with_their_bin_and_pending_ones_are_hollow(panel: GraphPanel) -> None:
    drawing = panel.canvas.drawing
    assert drawing is not None
    seen = set()
    for box in visible_boxes(panel):
        state = StepState(int(drawing.dress.state[box]))
        if state is StepState.DONE:
            assert band(panel, box) == DARK.bins[int(drawing.dress.code[box])]
        elif state is StepState.PENDING:
            assert band(panel, box) == DARK.raised
        seen.add(state)
    assert {StepState.DONE, StepState.PENDING, StepState.CURRENT} <= seen


def test_a_step_fills_the_next_box(panel: GraphPanel, opened: Session) -> None:
    drawing = panel.canvas.drawing
    assert drawing is not None
    step = opened.focus.step
    assert step is not None
    box = next(i for i, node in enumerate(drawing.dress.graph.nodes) if node.step == step + 2)
    before = panel.canvas.view
    assert band(panel, box) == DARK.raised
    opened.set_focus(step=step + 2)
    panel.settle()
    if panel.canvas.view == before:
        assert band(panel, box) in DARK.bins
    current = panel.canvas.drawing
    assert current is not None
    assert current.dress.current == box


def test_nan_is_a_black_band(qtbot: QtBot, session: Session, tmp_path: Path) -> None:
    assert session.open(make_recording(tmp_path / "nan.tapeviz", iterations=4, layers=3, nan_at=2))
    session.set_focus(iteration=3)
    panel = shown(qtbot, GraphPanel(session))
    panel.set_progress(False)
    boxes = visible_boxes(panel)
    assert boxes
    assert {band(panel, box) for box in boxes} & {"#000000"}


def test_themes_repaint(panel: GraphPanel, opened: Session) -> None:
    assert colour_at(panel.canvas, 3, 3) == DARK.surface
    opened.set_theme(LIGHT)
    assert colour_at(panel.canvas, 3, 3) == LIGHT.surface


def test_without_a_recording_a_sentence_says_so(qtbot: QtBot, session: Session) -> None:
    panel = shown(qtbot, GraphPanel(session))
    assert not panel.canvas.isVisible()
    assert panel.graph is None


def test_boxes_on_screen_get_the_histograms_of_their_gradients(panel: GraphPanel, opened: Session) -> None:
    drawing = panel.canvas.drawing
    assert drawing is not None
    assert drawing.bars
    done = [b for b in visible_boxes(panel) if StepState(int(drawing.dress.state[b])) is StepState.DONE
            and b in drawing.bars and not drawing.dress.side_text(b)]
    rect = box_rect(drawing.geometry, done[0], panel.canvas.view)
    ink = int(DARK.bin_text[int(drawing.dress.code[done[0]])][1:], 16)
    right = pixels(panel.canvas)[round(rect.bottom()) - 20: round(rect.bottom()) - 4,
                                 round(rect.right()) - 60: round(rect.right()) - 9]
    assert (right & 0xFFFFFF == ink).any()


# --- choosing --------------------------------------------------------------------------------------


def test_a_click_focuses_the_operation(panel: GraphPanel, opened: Session) -> None:
    graph = panel.graph
    assert graph is not None
    box = next(b for b in visible_boxes(panel) if graph.nodes[b].op != opened.focus.op)
    QTest.mouseClick(panel.canvas, Qt.MouseButton.LeftButton, pos=middle(panel, box))
    assert opened.focus.op == graph.nodes[box].op
    assert panel.canvas.chosen == box


def test_a_click_on_a_parameter_focuses_its_tensor(panel: GraphPanel, opened: Session) -> None:
    graph = panel.graph
    assert graph is not None
    box = visible_boxes(panel, NodeKind.VARIABLE)[0]
    QTest.mouseClick(panel.canvas, Qt.MouseButton.LeftButton, pos=middle(panel, box))
    assert opened.focus.tensor == graph.nodes[box].tensor
    assert panel.canvas.chosen == box


def test_dragging_is_no_click_and_moves_the_view(panel: GraphPanel, opened: Session) -> None:
    box = visible_boxes(panel)[0]
    at, focus, view = middle(panel, box), opened.focus, panel.canvas.view
    QTest.mousePress(panel.canvas, Qt.MouseButton.LeftButton, pos=at)
    QTest.mouseMove(panel.canvas, at + QPoint(10, 30))
    QTest.mouseRelease(panel.canvas, Qt.MouseButton.LeftButton, pos=at + QPoint(10, 30))
    assert opened.focus == focus
    assert panel.canvas.view.y == pytest.approx(view.y - 30 / view.scale)


def test_arrow_keys_walk_along_edges(panel: GraphPanel, opened: Session) -> None:
    graph = panel.graph
    assert graph is not None
    start = panel.canvas.chosen
    assert start is not None
    QTest.keyClick(panel.canvas, Qt.Key.Key_Up)
    above = panel.canvas.chosen
    assert above is not None
    assert (above, start) in {(e.source, e.target) for e in graph.edges}
    QTest.keyClick(panel.canvas, Qt.Key.Key_Down)
    assert panel.canvas.chosen == start
    leaf_of = {e.target: e.source for e in graph.edges if graph.nodes[e.source].kind is NodeKind.VARIABLE}
    owner = next(b for b in visible_boxes(panel) if b in leaf_of)
    opened.set_focus(op=graph.nodes[owner].op)
    QTest.keyClick(panel.canvas, Qt.Key.Key_Left)
    assert panel.canvas.chosen == leaf_of[owner]
    QTest.keyClick(panel.canvas, Qt.Key.Key_Right)
    assert panel.canvas.chosen == owner


def test_keys_pan_zoom_and_fit(panel: GraphPanel) -> None:
    view = panel.canvas.view
    QTest.keyClick(panel.canvas, Qt.Key.Key_S)
    assert panel.canvas.view.y > view.y
    QTest.keyClick(panel.canvas, Qt.Key.Key_Minus)
    assert panel.canvas.view.scale < view.scale
    QTest.keyClick(panel.canvas, Qt.Key.Key_0)
    drawing = panel.canvas.drawing
    assert drawing is not None
    left, top, right, bottom = panel.canvas.view.rect(panel.canvas.width(), panel.canvas.height())
    bounds = drawing.geometry.bounds
    assert left <= bounds[0]
    assert top <= bounds[1]
    assert right >= bounds[2]
    assert bottom >= bounds[3]


def test_stepping_shows_progress_and_looking_at_an_operation_does_not(qtbot: QtBot, opened: Session) -> None:
    panel = shown(qtbot, GraphPanel(opened))
    opened.set_focus(iteration=5)
    graph = panel.graph
    assert graph is not None
    ops = sorted((node.step, box) for box, node in enumerate(graph.nodes) if node.step is not None)
    for _, box in ops[:4]:
        panel.canvas.box_chosen.emit(box)
    drawing = panel.canvas.drawing
    assert drawing is not None
    assert drawing.dress.step is None
    assert opened.focus.step is not None
    opened.set_focus(step=opened.focus.step + 1)
    drawing = panel.canvas.drawing
    assert drawing is not None
    assert drawing.dress.step == opened.focus.step


def test_the_step_perspective_shows_progress_unless_a_person_wants_the_whole_pass(qtbot: QtBot,
                                                                                  opened: Session) -> None:
    panel = shown(qtbot, GraphPanel(opened))
    opened.set_focus(step=4)
    panel.set_stepping(True)
    assert shown_step(panel) == 4
    panel._progress.click()
    assert shown_step(panel) is None
    panel.set_stepping(False)
    panel.set_stepping(True)
    assert shown_step(panel) is None


def shown_step(panel: GraphPanel) -> int | None:
    drawing = panel.canvas.drawing
    assert drawing is not None
    return drawing.dress.step


# --- holding still ---------------------------------------------------------------------------------


def test_a_focus_on_screen_does_not_move_the_view(panel: GraphPanel, opened: Session) -> None:
    graph, view = panel.graph, panel.canvas.view
    assert graph is not None
    for box in visible_boxes(panel):
        opened.set_focus(op=graph.nodes[box].op)
        panel.settle()
        assert panel.canvas.view == view


def test_a_focus_off_screen_is_brought_in(panel: GraphPanel, opened: Session) -> None:
    graph, drawing = panel.graph, panel.canvas.drawing
    assert graph is not None
    assert drawing is not None
    room = QRectF(panel.canvas.rect())
    box = next(i for i, node in enumerate(graph.nodes) if node.kind is NodeKind.OP
               and not room.intersects(box_rect(drawing.geometry, i, panel.canvas.view)))
    opened.set_focus(op=graph.nodes[box].op)
    panel.settle()
    assert room.contains(box_rect(drawing.geometry, box, panel.canvas.view))


def test_iterations_of_one_structure_have_the_same_places(panel: GraphPanel, opened: Session) -> None:
    first = panel.canvas.drawing
    opened.set_focus(iteration=9)
    panel.settle()
    second = panel.canvas.drawing
    assert first is not None
    assert second is not None
    assert second.dress.graph.iteration == 9
    assert second.geometry is first.geometry


def test_a_growing_graph_moves_nothing() -> None:
    whole = wide_graph(4)
    ops = len(whole.nodes)
    layouter = Layouter()
    placed: dict[object, tuple[float, float]] = {}
    layouter.ready.connect(lambda graph, layout: placed.update(_same_or_new(placed, graph, layout)))
    for count in range(12, ops + 1, 5):
        layouter.request(_first(whole, count))
    assert len(placed) >= ops - 5


def _first(graph: Graph, count: int) -> Graph:
    """The graph when `count` of its boxes were there."""
    nodes = graph.nodes[:count]
    edges = tuple(e for e in graph.edges if e.source < count and e.target < count)
    return replace(graph, nodes=nodes, edges=edges, complete=False, structure=structure_of(list(nodes), list(edges)))


def _same_or_new(placed: dict[object, tuple[float, float]], graph: Graph,
                 layout: Layout) -> dict[object, tuple[float, float]]:
    now: dict[object, tuple[float, float]] = {node.key: (float(x), float(y)) for node, x, y
           in zip(graph.nodes, layout.x, layout.y, strict=True)}
    for key in placed.keys() & now.keys():
        assert placed[key] == now[key], key
    return now


# --- directions, folding, size ---------------------------------------------------------------------


def test_directions_take_away_one_kind_of_edge(panel: GraphPanel) -> None:
    pictures = []
    for index in range(3):
        panel._direction.button(index).click()
        pictures.append(pixels(panel.canvas))
    assert not np.array_equal(pictures[0], pictures[1])
    assert not np.array_equal(pictures[1], pictures[2])
    drawing = panel.canvas.drawing
    assert drawing is not None
    assert drawing.dress.direction is Direction.BACKWARD


@pytest.mark.slow
def test_a_large_graph_is_folded_and_unfolds_on_double_click(qtbot: QtBot, session: Session, tmp_path: Path) -> None:
    assert session.open(make_recording(tmp_path / "big.tapeviz", iterations=2, ops_per_iteration=4000))
    panel = shown(qtbot, GraphPanel(session))
    graph = panel.graph
    assert graph is not None
    folded = len(graph.nodes)
    assert folded <= 1600
    group = next(i for i, node in enumerate(graph.nodes) if node.kind is NodeKind.GROUP)
    panel.canvas.box_opened.emit(group)
    panel.settle()
    assert panel.graph is not None
    assert all(node.key != graph.nodes[group].key for node in panel.graph.nodes)
    QTest.keyClick(panel.canvas, Qt.Key.Key_Backspace)
    panel.settle()
    assert panel.graph is not None
    assert [node.key for node in panel.graph.nodes] == [node.key for node in graph.nodes]


def test_only_the_newest_of_two_requests_is_shown(qtbot: QtBot) -> None:
    first, second = wide_graph(20), wide_graph(21)
    layouter = Layouter()
    answers: list[object] = []
    layouter.ready.connect(lambda graph, _: answers.append(graph))
    layouter.request(first)
    assert layouter.busy
    layouter.request(second)
    layouter.settle()
    assert answers[-1] is second


@pytest.mark.parametrize("scale", [1.0, 0.45, 0.2, 0.05, 0.01])
def test_tiles_show_what_is_painted_in_one_go(qtbot: QtBot, scale: float) -> None:
    graph = wide_graph(12)
    canvas = Canvas(DARK)
    qtbot.addWidget(canvas)
    canvas.resize(700, 600)
    canvas.set_drawing(Drawing(geometry_of(graph), dress(graph, 40, Direction.BOTH)))
    with qtbot.waitExposed(canvas):
        canvas.show()
    canvas.set_view(View(scale, -10.0, 200.0))
    assert_not_blank(canvas)
    dragged = pan_times(canvas, 40)
    assert len(dragged) == 40
    canvas.set_view(View(scale, -10.0, 200.0))
    tiles = pixels(canvas)
    canvas._tiles.clear()
    np.testing.assert_array_equal(pixels(canvas), tiles)


def test_the_drawing_can_be_written_as_vectors(panel: GraphPanel) -> None:
    buffer = QBuffer()
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(QSize(900, 1400))
    generator.setViewBox(QRectF(0, 0, 900, 1400))
    painter = QPainter(generator)
    panel.paint(painter, QRectF(0, 0, 900, 1400))
    painter.end()
    text = bytes(buffer.data().data()).decode()
    assert "<image" not in text
    assert text.count("<text") > 20


def test_wheel_zooms_at_the_mouse(panel: GraphPanel) -> None:
    at = QPointF(200, 150)
    before = panel.canvas.view.to_scene(at.x(), at.y())
    panel.canvas.zoom(1.5, at)
    assert panel.canvas.view.to_scene(at.x(), at.y()) == pytest.approx(before)


def test_a_closed_panel_is_freed(qtbot: QtBot, opened: Session) -> None:
    panel = GraphPanel(opened)
    gone = weakref.ref(panel)
    panel.close()
    del panel
    gc.collect()
    assert gone() is None


def test_in_a_narrow_panel_no_word_of_the_bar_is_cut(panel: GraphPanel, qtbot: QtBot) -> None:
    panel.setMinimumSize(160, 100)      # as in a dock
    for width, roomy in ((900, True), (330, False)):
        shown(qtbot, panel, width, 400)
        assert all(button.isVisible() == roomy for button in panel._buttons)
        segments = [panel._direction.button(index) for index in range(3)]
        qtbot.waitUntil(lambda: all(one.width() >= one.sizeHint().width() for one in segments))  # noqa: B023
