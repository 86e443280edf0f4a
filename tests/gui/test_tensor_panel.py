"""The tensor inspector: numbers as recorded, bad values in sight, large tensors fluid."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from tapeviz.gui.inspect.colours import NAN, POSINF, ZERO, indices
from tapeviz.gui.inspect.copying import as_csv, as_numpy
from tapeviz.gui.inspect.heatmap import HeatMap
from tapeviz.gui.inspect.panel import EMPTY, TensorPanel
from tapeviz.gui.inspect.rangebar import RangeBar
from tapeviz.gui.inspect.table import MatrixModel, MatrixTable
from tapeviz.gui.session import Session
from tapeviz.gui.stagebar import EmptyState
from tapeviz.gui.theme import DARK, LIGHT, Theme
from tests.recording.synthetic import make_recording


@pytest.fixture
def panel(qtbot: QtBot, trained: Session) -> TensorPanel:
    panel = TensorPanel(trained)
    qtbot.addWidget(panel)
    panel.resize(448, 800)
    panel.show()
    return panel


def _weights(trained: Session) -> int:
    recording, op = trained.recording, trained.focus.op
    assert recording is not None
    assert op is not None
    return recording.op_inputs(op)[1]


def test_it_shows_the_tensor_in_focus_as_recorded(panel: TensorPanel, trained: Session) -> None:
    assert trained.recording is not None
    assert trained.focus.tensor is not None
    value = trained.recording.value(trained.focus.tensor)
    assert value is not None
    assert panel.title.text() == "matmul 10"
    assert panel.origin.text() == "matmul 10, train.py:12, [6,3] float32"
    texts = panel.statistics.texts
    assert texts["shape"] == "[6,3]"
    assert texts["elements"] == "18"
    assert float(texts["norm"].replace("−", "-")) == pytest.approx(np.linalg.norm(value), rel=1e-3)
    model = panel.table.matrix_model
    assert float(model.text(1, 2).replace("−", "-")) == pytest.approx(float(value[1, 2]), abs=1e-3)


def test_the_chooser_switches_between_value_contribution_and_gradient(
        qtbot: QtBot, panel: TensorPanel, trained: Session) -> None:
    trained.set_focus(step=6, tensor=_weights(trained))
    names = [b.text() for b in panel.chooser.buttons]
    assert names[0] == "Value"
    assert {"Contribution", "Gradient"} <= set(names)
    before = panel.statistics.texts["norm"]
    qtbot.mouseClick(panel.chooser.buttons[names.index("Gradient")], Qt.MouseButton.LeftButton)
    assert panel.title.text() == "Gradient of W4"
    assert panel.statistics.texts["norm"] != before


def test_heat_map_table_and_focus_choose_the_same_element(qtbot: QtBot, panel: TensorPanel, trained: Session) -> None:
    point = panel.heatmap.centre_of(4, 1).toPoint()
    qtbot.mouseClick(panel.heatmap, Qt.MouseButton.LeftButton, pos=point)
    assert trained.focus.element == (4, 1)
    current = panel.table.currentIndex()
    assert (current.row(), current.column()) == (4, 1)
    qtbot.keyClick(panel.heatmap, Qt.Key.Key_Up)
    assert trained.focus.element == (3, 1)
    panel.table.setFocus()
    qtbot.keyClick(panel.table, Qt.Key.Key_Right)
    assert trained.focus.element == (3, 2)
    assert trained.focus.step == 6


def test_max_and_min_are_found(qtbot: QtBot, panel: TensorPanel, trained: Session) -> None:
    assert trained.recording is not None
    assert trained.focus.tensor is not None
    value = trained.recording.value(trained.focus.tensor)
    assert value is not None
    qtbot.mouseClick(panel.largest, Qt.MouseButton.LeftButton)
    assert trained.focus.element is not None
    assert value[trained.focus.element] == value.max()
    qtbot.mouseClick(panel.smallest, Qt.MouseButton.LeftButton)
    assert value[trained.focus.element] == value.min()
    assert not panel.nonfinite.isEnabled()


def test_nan_is_counted_and_the_first_one_found(qtbot: QtBot, dark: Theme, tmp_path: Path) -> None:
    session = Session(dark)
    session.open(make_recording(tmp_path / "nan.tapeviz", iterations=4, nan_at=2))
    session.set_focus(iteration=2, step=6)
    panel = TensorPanel(session)
    qtbot.addWidget(panel)
    panel.show()
    names = [b.text() for b in panel.chooser.buttons]
    qtbot.mouseClick(panel.chooser.buttons[names.index("Cotangent")], Qt.MouseButton.LeftButton)
    assert panel.statistics.texts["NaN"] == "18 (100 %)"
    qtbot.mouseClick(panel.nonfinite, Qt.MouseButton.LeftButton)
    assert session.focus.element == (0, 0)
    assert panel.table.matrix_model.text(0, 0) == "NaN"
    session.close()


def test_without_elements_the_recorded_statistics_are_shown(qtbot: QtBot, dark: Theme, tmp_path: Path) -> None:
    session = Session(dark)
    session.open(make_recording(tmp_path / "bare.tapeviz", iterations=3, values=False))
    session.set_focus(iteration=1, step=6)
    panel = TensorPanel(session)
    qtbot.addWidget(panel)
    panel.show()
    assert "not kept" in panel.message.text()
    assert panel.message.isVisible()
    assert panel.statistics.texts["elements"] == "18"
    assert not panel.table.isVisible()
    session.close()


def test_empty_window(qtbot: QtBot, dark: Theme) -> None:
    panel = TensorPanel(Session(dark))
    qtbot.addWidget(panel)
    panel.show()
    assert [e.text() for e in panel.findChildren(EmptyState) if e.isVisible()] == [EMPTY]


def test_what_is_copied_makes_the_same_array(panel: TensorPanel, trained: Session) -> None:
    assert trained.recording is not None
    assert trained.focus.tensor is not None
    value = trained.recording.value(trained.focus.tensor)
    panel.copy_numpy()
    again = eval(QGuiApplication.clipboard().text(), {"np": np})
    np.testing.assert_array_equal(again, value)
    panel.copy_csv()
    rows = [[float(x) for x in line.split(",")] for line in QGuiApplication.clipboard().text().splitlines()]
    assert value is not None
    np.testing.assert_allclose(np.array(rows), value.astype(np.float64))


@pytest.mark.parametrize("value", [
    np.array([[np.nan, -np.inf], [1e-300, 1 / 3]]), np.arange(5000, dtype=np.int64), np.float32(0.1) * np.ones(()),
    np.zeros((0, 3), np.float32), np.array([True, False])], ids=lambda v: f"{v.dtype}{v.shape}")
def test_text_of_any_array_makes_it_again(value: np.ndarray) -> None:
    again = eval(as_numpy(value), {"np": np})
    np.testing.assert_array_equal(again, value)
    assert again.dtype == value.dtype


def test_csv_has_every_digit() -> None:
    assert as_csv(np.array([[0.1, 1 / 3]])) == "0.1,0.3333333333333333\n"


def test_saving_writes_a_file_numpy_reads_and_names_what_goes_wrong(
        panel: TensorPanel, trained: Session, tmp_path: Path) -> None:
    panel.save_to(tmp_path / "w.npy")
    assert np.load(tmp_path / "w.npy", allow_pickle=False).shape == (6, 3)
    panel.save_to(tmp_path / "no" / "such" / "folder.npy")
    assert panel.message.isVisible()
    assert "Not saved: No such file or directory" in panel.message.text()


def test_colours_of_special_values_are_set_apart() -> None:
    values = np.array([[np.nan, np.inf, 0.0, 5.0, -3.0, 99.0]])
    linear = indices(values, -3, 5, log=False)[0].tolist()
    assert linear[:2] == [NAN, POSINF]
    assert linear[3:] == [251, 0, 251]
    assert indices(values, -2, 2, log=True)[0, 2] == ZERO


def test_the_range_is_moved_by_keys_and_by_dragging(qtbot: QtBot, dark: Theme) -> None:
    bar = RangeBar()
    qtbot.addWidget(bar)
    bar.show_values(np.ones(48, np.int64), (0.0, 10.0), False, DARK)
    bar.resize(312, bar.sizeHint().height())
    bar.show()
    qtbot.keyClick(bar, Qt.Key.Key_Right)
    assert np.allclose(bar.range, (0.2, 10))
    qtbot.keyClick(bar, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert np.allclose(bar.range, (0.2, 9.8))
    qtbot.mousePress(bar, Qt.MouseButton.LeftButton, pos=QPoint(6, 30))
    qtbot.mouseMove(bar, QPoint(156, 30))
    qtbot.mouseRelease(bar, Qt.MouseButton.LeftButton, pos=QPoint(156, 30))
    assert bar.range[0] == pytest.approx(0.0, abs=0.2) or bar.range[0] == pytest.approx(5.0, abs=0.2)
    qtbot.mouseDClick(bar, Qt.MouseButton.LeftButton, pos=QPoint(100, 30))
    assert bar.range == (0.0, 10.0)


def test_a_million_elements_stay_fluid(qtbot: QtBot, dark: Theme) -> None:
    matrix = np.random.default_rng(0).normal(size=(1000, 1000))
    matrix[700, 300] = np.nan
    heatmap, table = HeatMap(), MatrixTable(DARK)
    for widget in (heatmap, table):
        qtbot.addWidget(widget)
        widget.resize(424, 200)
        widget.show()
    started = time.perf_counter()
    heatmap.show_matrix(matrix, DARK)
    table.show_matrix(matrix, DARK)
    heatmap.show_range(-3, 3, False)
    heatmap.grab()
    table.grab()
    first = time.perf_counter() - started
    started = time.perf_counter()
    for low in (-2.9, -2.8, -2.7, -2.6, -2.5):
        heatmap.show_range(low, 3, False)
        heatmap.grab()
    again = (time.perf_counter() - started) / 5
    # generous: a machine under load is several times slower than the 60 ms and 3 ms that were measured
    assert first < 2
    assert again < 0.2
    assert heatmap._pixels is not None
    assert (heatmap._pixels == NAN).sum() == 1   # one bad element of a million is not lost between the pixels


def test_the_model_keeps_qts_rules(qtmodeltester: ModelTester) -> None:
    model = MatrixModel()
    model.show_matrix(np.array([[1.0, np.nan], [2.0, 3.0]]))
    qtmodeltester.check(model)


def test_another_theme_repaints(panel: TensorPanel, trained: Session) -> None:
    before = panel.grab().toImage().pixelColor(2, 2).name()
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    trained.set_theme(LIGHT)
    panel.statistics.grab()
    assert panel.statistics._theme == LIGHT
    assert before == DARK.surface
