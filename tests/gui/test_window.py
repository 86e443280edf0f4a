"""The window by keys and clicks: steps, iterations, perspectives, findings, themes, closing."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QMimeData, QPoint, QPointF, QSettings, QSize, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QApplication, QTabBar
from pytestqt.qtbot import QtBot

from tapeviz.gui.app import fit, make_window
from tapeviz.gui.cards import ExampleCard
from tapeviz.gui.output.panel import OutputPanel
from tapeviz.gui.perspectives import BY_ID
from tapeviz.gui.preferences import Preferences
from tapeviz.gui.session import Session
from tapeviz.gui.theme import LIGHT, THEMES
from tapeviz.gui.window import MainWindow
from tests.gui.conftest import settle
from tests.recording.synthetic import make_recording


@pytest.fixture
def window(known: None, window: MainWindow, opened: Session) -> MainWindow:
    """The window, already shown, on a recording of twelve iterations."""
    return window


@pytest.fixture
def recording_path(tmp_path: Path) -> Path:
    return make_recording(tmp_path / "run.tapeviz", iterations=12)


CTRL, SHIFT, ALT = (Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier,
                    Qt.KeyboardModifier.AltModifier)


def press(qtbot: QtBot, window: MainWindow, key: Qt.Key, modifier=Qt.KeyboardModifier.NoModifier) -> None:
    qtbot.keyClick(window, key, modifier)


def test_backward_steps_by_keys(window: MainWindow, qtbot: QtBot) -> None:
    session = window.session
    assert session.focus.step == 0
    press(qtbot, window, Qt.Key.Key_F10)
    press(qtbot, window, Qt.Key.Key_F10)
    assert session.focus.step == 2
    assert "<b>3</b>" in window.toolbar.step_label.text()
    assert window.toolbar.slider.value() == 2
    press(qtbot, window, Qt.Key.Key_F10, SHIFT)
    assert session.focus.step == 1
    press(qtbot, window, Qt.Key.Key_End, CTRL)
    assert session.focus.step == window.playback.position()[1] - 1
    assert not window.commands["step.next"].isEnabled()
    press(qtbot, window, Qt.Key.Key_Home, CTRL)
    assert session.focus.step == 0


def test_iterations_by_keys(window: MainWindow, qtbot: QtBot) -> None:
    session = window.session
    press(qtbot, window, Qt.Key.Key_Home)
    assert session.focus.iteration == 0
    press(qtbot, window, Qt.Key.Key_Right, CTRL)
    press(qtbot, window, Qt.Key.Key_BracketRight)
    assert session.focus.iteration == 2
    press(qtbot, window, Qt.Key.Key_Left, CTRL)
    assert session.focus.iteration == 1
    press(qtbot, window, Qt.Key.Key_End)
    assert session.focus.iteration == 11
    assert window.toolbar.iteration.value() == 11


def test_the_toolbar_sets_the_focus(window: MainWindow) -> None:
    window.toolbar.iteration.setValue(5)
    assert window.session.focus.iteration == 5
    window.toolbar.slider.setValue(4)
    assert window.session.focus.step == 4


def test_playing_walks_to_the_last_step_and_stops(window: MainWindow, qtbot: QtBot) -> None:
    window.playback.to(window.playback.position()[1] - 3)
    window.playback._timer.setInterval(1)
    press(qtbot, window, Qt.Key.Key_Space)
    assert window.playback.playing
    qtbot.waitUntil(lambda: not window.playback.playing, timeout=3000)
    assert window.session.focus.step == window.playback.position()[1] - 1


def test_a_focused_button_keeps_the_space_key(window: MainWindow, qtbot: QtBot) -> None:
    button = window.toolbar._buttons["step.next"]
    button.setFocus(Qt.FocusReason.TabFocusReason)
    before = window.session.focus.step
    qtbot.keyClick(button, Qt.Key.Key_Space)
    assert not window.playback.playing
    assert window.session.focus.step == (before or 0) + 1


def test_findings_by_keys(window: MainWindow, qtbot: QtBot) -> None:
    focus = window.session.focus
    seen = []
    for _ in range(4):
        press(qtbot, window, Qt.Key.Key_N)
        focus = window.session.focus
        seen.append((focus.iteration, focus.op))
    places = [(f.iteration, f.op_id) for f in window.session.findings]
    assert seen == [*places, places[0]]
    press(qtbot, window, Qt.Key.Key_N, SHIFT)
    assert (window.session.focus.iteration, window.session.focus.op) == places[-1]


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)])
def test_perspectives_show_their_panels_at_sensible_sizes(window: MainWindow, qtbot: QtBot, size) -> None:
    window.resize(*size)
    shown = {}
    for key, id in ((Qt.Key.Key_1, "diagnose"), (Qt.Key.Key_2, "step"), (Qt.Key.Key_3, "plot"),
                    (Qt.Key.Key_1, "diagnose")):
        press(qtbot, window, key, CTRL | ALT)
        assert window.workbench.perspective == id
        assert window.commands[f"view.{id}"].isChecked()
        qtbot.wait(20)
        shown[id] = set(window.workbench.visible_panels())
        for panel in shown[id]:
            assert window.workbench.panel(panel).width() <= size[0] * 0.8, (id, panel)
            assert window.workbench.panel(panel).height() >= 100, (id, panel)
    assert shown["diagnose"] == {"navigator", "health", "findings", "operations"}
    assert shown["step"] == {"source", "graph", "step", "operations"}
    assert {"navigator", "plots", "operations"} <= shown["plot"]


def test_only_what_is_in_front_works(window: MainWindow, qtbot: QtBot) -> None:
    workbench = window.workbench
    for id in ("diagnose", "step", "plot", "diagnose"):
        window.show_perspective(id)
        qtbot.wait(30)
        assert [id for id, panel in workbench.panels.items() if panel.isVisible()] == workbench.visible_panels(), id
    workbench.raise_panel("graph")
    qtbot.wait(30)
    assert workbench.panel("graph").isVisible()
    assert not workbench.panel("health").isVisible()
    bars = workbench.bench.findChildren(QTabBar)
    bar = next(bar for bar in bars if bar.isVisible() and bar.tabText(0) == "Health map")
    qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(0).center())
    qtbot.wait(30)
    assert workbench.panel("health").isVisible()
    assert not workbench.panel("graph").isVisible()


def test_no_tab_bar_is_left_over(window: MainWindow, qtbot: QtBot) -> None:
    for id in ("step", "plot", "diagnose", "step"):
        window.show_perspective(id)
        qtbot.wait(20)
        bars = window.workbench.bench.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)
        titles = [bar.tabText(i) for bar in bars if bar.isVisible() for i in range(bar.count())]
        assert len(titles) == len(set(titles)), titles


def drag_findings(window: MainWindow, qtbot: QtBot) -> int:
    """Drag the left edge of the findings by 160 px; returns their width before."""
    bench = window.workbench.bench
    qtbot.wait(20)
    edge = bench.docks["findings"].geometry().topLeft() + QPoint(-2, 100)
    before = bench.docks["findings"].width()
    qtbot.mouseMove(bench, edge)
    qtbot.mousePress(bench, Qt.MouseButton.LeftButton, pos=edge)
    for _ in range(2):
        qtbot.mouseMove(bench, edge - QPoint(160, 0))
        qtbot.wait(20)
    qtbot.mouseRelease(bench, Qt.MouseButton.LeftButton, pos=edge - QPoint(160, 0))
    return before


def test_what_the_user_dragged_stays(window: MainWindow, qtbot: QtBot) -> None:
    bench = window.workbench.bench
    before = drag_findings(window, qtbot)
    assert abs(bench.docks["findings"].width() - before - 160) <= 8
    window.resize(1700, 900)
    qtbot.wait(20)
    assert abs(bench.docks["findings"].width() - before - 160) <= 8
    window.workbench.reset_layout()
    qtbot.wait(20)
    assert window.workbench.perspective == "diagnose"
    assert abs(window.workbench.bench.docks["findings"].width() - BY_ID["diagnose"].widths(1700, 1.0)[2]) <= 8


def test_themes_and_text_size(window: MainWindow, qtbot: QtBot) -> None:
    for name in ("light", "projector", "dark"):
        window.commands[f"view.{name}"].trigger()
        assert window.session.theme == THEMES[name]
    for _ in range(3):
        press(qtbot, window, Qt.Key.Key_Plus, CTRL)
    assert 1.3 < window.session.theme.scale < 1.4
    for _ in range(3):
        press(qtbot, window, Qt.Key.Key_Minus, CTRL)
    assert window.session.theme.scale == 1.0


def test_an_arrangement_that_was_hidden_follows_the_window(window: MainWindow, qtbot: QtBot) -> None:
    window.show_perspective("step")
    qtbot.wait(20)
    window.show_perspective("diagnose")
    window.resize(1700, 900)
    qtbot.wait(20)
    window.show_perspective("step")
    qtbot.wait(20)
    left, _, right = BY_ID["step"].widths(1700, 1.0)
    docks = window.workbench.bench.docks
    assert abs(docks["step"].width() - right) <= 8
    assert abs(docks["source"].width() - left) <= 8


@pytest.mark.parametrize("scale", [0.8, 1.0, 2.0])
def test_the_run_button_has_room_for_its_longer_word(window: MainWindow, qtbot: QtBot, scale: float) -> None:
    window.session.set_theme(window.session.theme.scaled(scale))
    button = window.toolbar.run_button
    narrow = button.width()
    window.commands["run.run"].setText("Resume")
    qtbot.wait(10)
    assert button.sizeHint().width() <= button.width() == narrow


def test_find_puts_the_keyboard_into_the_filter(window: MainWindow, qtbot: QtBot) -> None:
    press(qtbot, window, Qt.Key.Key_Slash)
    assert QApplication.focusWidget() is window.operations_panel().filter
    qtbot.keyClicks(window.operations_panel().filter, "matmul")
    assert window.operations_panel().filter.text() == "matmul", "n and other letters are no commands while typing"


def test_layout_theme_and_recent_files_come_back(session: Session, qtbot: QtBot, tmp_path: Path,
                                                 recording_path: Path) -> None:
    def preferences() -> Preferences:
        return Preferences(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))

    kept = preferences()
    window = make_window(session, kept)
    window.show()
    window.open_path(recording_path)
    window.show_perspective("step")
    session.set_theme(LIGHT)
    window.close()
    again = Session(preferences().theme())
    second = make_window(again, preferences())
    qtbot.addWidget(second)
    assert again.theme == LIGHT
    assert second.workbench.perspective == "step"
    assert second.preferences.recent() == [recording_path.resolve()]


def _sizes_of_docks(window: MainWindow) -> dict[str, tuple[int, int]]:
    docks = window.workbench.bench.docks
    return {id: (docks[id].width(), docks[id].height()) for id in ("findings", "operations", "health", "navigator")}


def test_an_arrangement_comes_back_with_its_sizes(qtbot: QtBot, tmp_path: Path, recording_path: Path) -> None:
    def start(*, empty: bool) -> MainWindow:
        preferences = Preferences(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))
        window = make_window(Session(preferences.theme()), preferences)
        if not empty:
            window.open_path(recording_path)
        window.resize(1280, 720)
        window.show()
        qtbot.wait(20)
        if empty:       # with the start page in front the docks have no size yet
            window.open_path(recording_path)
        qtbot.waitUntil(lambda: not window.session.working)
        return window

    def end(window: MainWindow) -> None:
        window.close()
        window.session.close()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    first = start(empty=False)
    delivered = _sizes_of_docks(first)
    end(first)
    second = start(empty=True)
    assert _sizes_of_docks(second) == delivered
    drag_findings(second, qtbot)
    dragged = _sizes_of_docks(second)
    assert dragged["findings"][0] > delivered["findings"][0] + 100
    end(second)
    third = start(empty=True)
    assert _sizes_of_docks(third) == dragged
    end(third)


def test_no_button_gets_the_keyboard_when_the_start_page_goes(window: MainWindow, qtbot: QtBot,
                                                              recording_path: Path) -> None:
    window.show_start_page()
    card = window.start_page.findChildren(ExampleCard)[0]
    card.setFocus()
    window.open_path(recording_path)
    qtbot.wait(20)
    assert window.focusWidget() is window.stack


def test_a_dropped_recording_is_opened(session: Session, qtbot: QtBot, recording_path: Path) -> None:
    window = make_window(session)
    qtbot.addWidget(window)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(recording_path))])
    window.dropEvent(QDropEvent(QPointF(50, 50), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton,
                                Qt.KeyboardModifier.NoModifier))
    assert session.recording is not None


def test_what_cannot_be_opened_is_said_in_the_window(session: Session, qtbot: QtBot, tmp_path: Path) -> None:
    window = make_window(session)
    qtbot.addWidget(window)
    window.show()
    bad = tmp_path / "broken.tapeviz"
    bad.write_bytes(b"SQLite format 3\0" + b"x" * 200)
    window.open_path(bad)
    assert window.banner.isVisible()
    assert "broken.tapeviz" in window.banner.title.text()
    assert window.stack.currentWidget() is window.start_page
    window.banner.shut.click()
    assert not window.banner.isVisible()


def test_the_status_bar_says_where_one_is(window: MainWindow) -> None:
    bar = window.status
    assert "finished" in bar.state.text()
    assert "12 iterations" in bar.iterations.text()
    assert "NaN <b>0</b>" in bar.counters.text()
    assert "train.py:" in bar.place.text()
    window.session.set_focus(iteration=3)
    assert bar.pill.text() == "Detached"
    bar.pill.click()
    assert (bar.pill.text(), window.session.focus.iteration) == ("Live", 11)


def test_a_word_to_the_user_leaves_the_state_in_sight(window: MainWindow) -> None:
    bar = window.status
    window.session.input_wanted.emit()
    assert bar.words.isVisible()
    assert "type it in Output" in bar.words.text()
    assert bar.state.isVisible()
    window.say("Saved.")
    output = window.workbench.panel("output")
    assert isinstance(output, OutputPanel)
    output.answered.emit()      # what has been said since is not taken back
    assert bar.words.text() == "Saved."
    window.session.input_wanted.emit()
    output.answered.emit()
    assert not bar.words.isVisible()
    assert bar.place.isVisible()


def test_everything_has_an_accessible_name(window: MainWindow) -> None:
    for id, panel in window.workbench.panels.items():
        assert panel.accessibleName(), id
    for widget in (window, window.toolbar, window.strip, window.status, window.banner, window.start_page):
        assert widget.accessibleName(), widget


def test_a_closed_window_is_freed(session: Session, qtbot: QtBot, recording_path: Path) -> None:
    window = make_window(session)
    window.show()
    assert session.open(recording_path)
    settle(session)
    for id in ("step", "plot"):
        window.show_perspective(id)
    views = {id: weakref.ref(panel) for id, panel in window.workbench.panels.items()}
    views |= {id: weakref.ref(getattr(window, id)) for id in ("strip", "start_page", "toolbar", "workbench")}
    views["window"] = weakref.ref(window)
    window.close()
    del window
    for _ in range(3):
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
    assert [id for id, view in views.items() if view() is not None] == []


def test_a_window_that_is_larger_than_the_screen_is_fitted(window: MainWindow) -> None:
    window.resize(1440, 900)
    fit(window, QSize(1280, 720))
    assert window.width() == 1280
    assert window.height() < 720
    size = window.size()
    fit(window, QSize(3840, 2160))
    assert window.size() == size
