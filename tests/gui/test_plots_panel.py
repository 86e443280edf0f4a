"""The plots: cursor and clicks, lanes, modes, and pyqtgraph only when it is needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from tapeviz.analysis.format import sci
from tapeviz.analysis.magnitude import Special
from tapeviz.gui.plots.area import PlotArea
from tapeviz.gui.plots.lines import lines_of
from tapeviz.gui.plots.palette import curve_colours
from tapeviz.gui.plots.panel import MODES, PlotsPanel
from tapeviz.gui.session import Session
from tapeviz.gui.theme import DARK, LIGHT
from tests.gui.test_plots_lines import series, spiky
from tests.recording.synthetic import make_recording

ROOT = Path(__file__).resolve().parents[2]


def pixels(widget: QWidget) -> np.ndarray:
    """What the widget shows as an array of 0xrrggbb."""
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    flat = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), -1)
    return flat[:, : image.width()] & 0xFFFFFF


def shown(qtbot: QtBot, session: Session, width: int = 900, height: int = 360) -> PlotsPanel:
    panel = PlotsPanel(session)
    qtbot.addWidget(panel)
    panel.resize(width, height)
    with qtbot.waitExposed(panel):
        panel.show()
    panel.settle()
    return panel


@pytest.fixture
def panel(qtbot: QtBot, opened: Session) -> PlotsPanel:
    return shown(qtbot, opened)


def area_of(panel: PlotsPanel) -> PlotArea:
    assert panel.area is not None
    return panel.area


def scene_point(area: PlotArea, iteration: float, y: float) -> QPointF:
    return QPointF(area._box.mapViewToScene(QPointF(iteration, y)))


def test_pyqtgraph_is_not_imported_before_the_plots_are_shown() -> None:
    code = "import sys, tapeviz.gui.plots.panel; sys.exit('pyqtgraph' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=60)


def test_there_is_a_curve_for_every_variable_in_its_colour(panel: PlotsPanel) -> None:
    lines = panel.lines
    assert lines is not None
    assert len(lines.names) == 8
    colours = {f"#{c:06x}" for c in np.unique(pixels(area_of(panel).plot)).tolist()}
    assert len(colours & set(curve_colours(DARK))) >= 5


def test_the_axis_is_logarithmic(panel: PlotsPanel) -> None:
    lines = panel.lines
    assert lines is not None
    axis = area_of(panel)._y_axis
    ticks = axis.tickValues(-8.0, 2.0, 300)
    assert axis.tickStrings(ticks[0][1], 1, ticks[0][0])[0].startswith("1e-")
    np.testing.assert_allclose(lines.shown, np.log10(lines.y))


def test_a_click_sets_the_iteration(qtbot: QtBot, panel: PlotsPanel, opened: Session) -> None:
    opened.set_focus(iteration=0)
    area = area_of(panel)
    at = area.plot.mapFromScene(scene_point(area, 7.2, area._box.viewRange()[1][0] + 0.5))
    QTest.mouseClick(area.plot.viewport(), Qt.MouseButton.LeftButton, pos=at)
    qtbot.waitUntil(lambda: opened.focus.iteration == 7, timeout=2000)


def test_the_cursor_follows_the_focus(panel: PlotsPanel, opened: Session) -> None:
    opened.set_focus(iteration=3)
    assert area_of(panel)._cursor.value() == 3
    QTest.keyClick(area_of(panel), Qt.Key.Key_Right)
    assert opened.focus.iteration == 4
    assert area_of(panel)._cursor.value() == 4


def test_hovering_names_curve_and_exact_value(panel: PlotsPanel) -> None:
    lines = panel.lines
    assert lines is not None
    area = area_of(panel)
    row = 2
    at = scene_point(area, 5, float(lines.shown[row, 5]))
    iteration, near = area.nearest(at)
    assert iteration == 5
    assert abs(lines.shown[near, 5] - lines.shown[row, 5]) < 1e-9
    area.pointed.emit(5, row)
    assert panel._readout.whole == f"{lines.names[row]}, iteration 5: {sci(lines.y[row, 5])}"


def test_the_legend_stands_beside_the_plot(panel: PlotsPanel) -> None:
    area = area_of(panel)
    right = area.mapTo(panel, QPoint(area.width(), 0)).x()
    assert panel.legend.mapTo(panel, QPoint(0, 0)).x() >= right


def test_a_click_in_the_legend_focuses_the_variable_and_its_sample_hides_the_curve(panel: PlotsPanel,
                                                                                   opened: Session) -> None:
    lines = panel.lines
    assert lines is not None
    QTest.mouseClick(panel.legend, Qt.MouseButton.LeftButton, pos=QPoint(80, 2 * 22 + 11))
    assert opened.recording is not None
    assert opened.focus.tensor is not None
    assert int(opened.recording.tensors[opened.focus.tensor]["variable"]) == lines.variables[2]
    before = pixels(area_of(panel).plot)
    QTest.mouseClick(panel.legend, Qt.MouseButton.LeftButton, pos=QPoint(12, 2 * 22 + 11))
    assert area_of(panel).curves._hidden == frozenset({2})
    assert not np.array_equal(pixels(area_of(panel).plot), before)


def test_nan_has_a_lane_and_is_not_hidden(qtbot: QtBot, session: Session, tmp_path: Path) -> None:
    assert session.open(make_recording(tmp_path / "nan.tapeviz", iterations=8, layers=2, nan_at=5))
    panel = shown(qtbot, session)
    area = area_of(panel)
    assert Special.NAN in area.above.lanes
    assert area.above.isVisible()
    assert 0x000000 in pixels(area.above)
    x = area.above._left + (6 - area.above._span[0]) / (area.above._span[1] - area.above._span[0]) * (
        area.above._right - area.above._left)
    assert area.above.iteration_at(x) == 6
    assert area.above.tip_at(QPointF(x, 5)).startswith("NaN at iteration 6: ")
    QTest.mouseClick(area.above, Qt.MouseButton.LeftButton, pos=QPoint(round(x), 5))
    assert session.focus.iteration == 6


def test_a_spike_of_one_iteration_is_drawn(qtbot: QtBot) -> None:
    area = PlotArea(DARK)
    qtbot.addWidget(area)
    area.resize(900, 300)
    with qtbot.waitExposed(area):
        area.show()
    area.set_lines(spiky(100_000, 61_803))
    shown = pixels(area.plot)
    top = area.plot.mapFromScene(scene_point(area, 61_803, 4.0))
    colour = int(curve_colours(DARK)[1][1:], 16)
    patch = shown[top.y() - 3: top.y() + 4, top.x() - 2: top.x() + 3]
    assert _like(patch, colour)


def _like(patch: np.ndarray, colour: int) -> bool:
    """Whether a pixel of the patch has about this hue (lines are smoothed)."""
    parts = [np.array([(value >> shift) & 255 for shift in (16, 8, 0)], int) for value in patch.ravel().tolist()]
    wanted = np.array([(colour >> shift) & 255 for shift in (16, 8, 0)], int)
    return any(np.abs(part - wanted).max() < 100 and part[2] > part[0] + 40 for part in parts)


def test_zoom_stays_while_data_come_and_fit_shows_all(qtbot: QtBot) -> None:
    area = PlotArea(DARK)
    qtbot.addWidget(area)
    area.resize(700, 300)
    area.show()
    area.set_lines(lines_of([series("w", np.linspace(1, 2, 100))], log=True))
    area.set_cursor(50)
    area.zoom_in()
    view = area._box.viewRange()[0]
    area.set_lines(lines_of([series("w", np.linspace(1, 2, 150))], log=True))
    assert area._box.viewRange()[0] == view
    area.fit()
    assert area._box.viewRange()[0][1] > 149


@pytest.mark.parametrize("index", range(len(MODES)))
def test_every_mode_shows_something(panel: PlotsPanel, index: int) -> None:
    panel._mode.button(index).click()
    assert panel.lines is not None
    assert panel.lines.log == MODES[index].log
    assert np.isfinite(panel.lines.y).any()


def test_update_ratios_are_those_of_the_recording(panel: PlotsPanel, opened: Session) -> None:
    panel._mode.button(1).click()
    lines = panel.lines
    assert lines is not None
    assert len(lines.names) == 8
    ordinary = lines.y[np.isfinite(lines.y)]
    assert (ordinary > 0).all()
    assert ordinary.max() < 10


def test_the_usual_update_ratio_is_marked(panel: PlotsPanel) -> None:
    panel._mode.button(1).click()
    assert area_of(panel)._guide.isVisible()
    assert area_of(panel)._guide.value() == pytest.approx(-3.0)
    panel._mode.button(0).click()
    assert not area_of(panel)._guide.isVisible()


def test_themes_repaint(panel: PlotsPanel, opened: Session) -> None:
    assert pixels(area_of(panel).plot)[1, 1] == int(DARK.surface[1:], 16)
    opened.set_theme(LIGHT)
    assert pixels(area_of(panel).plot)[1, 1] == int(LIGHT.surface[1:], 16)


def test_without_a_recording_a_sentence_says_so(qtbot: QtBot, session: Session) -> None:
    panel = shown(qtbot, session)
    assert panel.lines is None
    assert panel._empty.isVisible()
