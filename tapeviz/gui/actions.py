"""What the commands do: one method per slot named in the table of commands."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QStandardPaths, Qt
from PySide6.QtWidgets import QFileDialog, QInputDialog, QMessageBox

from tapeviz import __version__
from tapeviz.capture.launcher import RunConfig
from tapeviz.gui.keys import KeysOverlay
from tapeviz.gui.pictures import save_picture
from tapeviz.gui.theme import THEMES
from tapeviz.recording.schema import SUFFIX

if TYPE_CHECKING:
    from tapeviz.gui.window import MainWindow

SCALE_STEP = 1.1


def runs_folder() -> Path:
    """Where recordings of scripts that were run in the window are kept."""
    place = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.AppLocalDataLocation)
    folder = Path(place) / "runs"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def recording_for(script: Path) -> Path:
    """The place of the recording of a script's next run; the last run of the same name makes room."""
    return runs_folder() / f"{script.stem}{SUFFIX}"


def save_recording(source: Path, target: Path) -> None:
    """Copy a recording, also one that is being written.  Raises sqlite3.Error, OSError."""
    with closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True)) as old:
        target.unlink(missing_ok=True)
        with closing(sqlite3.connect(target)) as new:
            old.backup(new)


class Actions(QObject):
    """Carries out the commands of the window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._session = window.session
        self._playback = window.playback

    # --- file ----------------------------------------------------------------------------------

    def open_script(self) -> None:
        path = self._ask_for_file("Open script", "Python scripts (*.py)")
        if path is not None:
            self._window.open_path(path)

    def open_recording(self) -> None:
        path = self._ask_for_file("Open recording", f"Recordings (*{SUFFIX})")
        if path is not None:
            self._window.open_path(path)

    def show_start_page(self) -> None:
        self._window.show_start_page()

    def save_script(self) -> None:
        self._window.source_panel().save()

    def save_copy(self) -> None:
        recording = self._session.recording
        if recording is None:
            self._window.say("There is no recording to save yet.")
            return
        name, _ = QFileDialog.getSaveFileName(self._window, "Save copy of recording", recording.path.name,
                                              f"Recordings (*{SUFFIX})")
        if not name:
            return
        target = Path(name) if name.endswith(SUFFIX) else Path(name + SUFFIX)
        if target.resolve() == recording.path.resolve():
            self._window.say("That is the recording itself; choose another name.")
            return
        try:
            save_recording(recording.path, target)
        except (OSError, sqlite3.Error) as error:
            self._window.say(f"The copy could not be written: {error}", error=True)
            return
        self._window.say(f"Saved {target}")

    def export_view(self) -> None:
        workbench = self._window.workbench
        panel_id = workbench.current_panel()
        name, _ = QFileDialog.getSaveFileName(self._window, "Export current view", f"{panel_id}.png",
                                              "PNG picture (*.png);;SVG drawing (*.svg)")
        if not name:
            return
        target = Path(name) if Path(name).suffix in (".png", ".svg") else Path(name + ".png")
        try:
            save_picture(workbench.panel(panel_id), target)
        except OSError as error:
            self._window.say(str(error), error=True)
            return
        self._window.say(f"Saved {target}")

    def quit(self) -> None:
        self._window.close()

    # --- run -----------------------------------------------------------------------------------

    def run_or_continue(self) -> None:
        session = self._session
        if session.state == "paused" and session.worker is not None:
            session.worker.resume()
            session.follow()
        elif not session.active:
            self.restart()

    def restart(self) -> None:
        """Run the script that is open, with the arguments of its last run."""
        script = self._session.script
        if script is None:
            self._window.say("Open a script first: Ctrl+O.")
            return
        if not self._window.source_panel().save_all():
            return
        config = self._session.config
        if config is None or config.script != script:
            config = RunConfig(script=script, cwd=script.parent, python=sys.executable)
        if config.recording is None:
            config = replace(config, recording=recording_for(script))
        self._window.start(config)

    def pause_or_resume(self) -> None:
        worker = self._session.worker
        if worker is None or not self._session.active:
            return
        if self._session.state == "paused":
            worker.resume()
        else:
            worker.pause()

    def stop(self) -> None:
        self._session.stop()

    def step_op(self) -> None:
        self._step_worker("op")

    def step_node(self) -> None:
        self._step_worker("node")

    def step_iteration(self) -> None:
        self._step_worker("iteration")

    def _step_worker(self, kind: str) -> None:
        if self._session.state == "paused" and self._session.worker is not None:
            self._session.worker.step(kind)

    # --- step ----------------------------------------------------------------------------------

    def next_step(self) -> None:
        self._playback.next()

    def previous_step(self) -> None:
        self._playback.previous()

    def first_step(self) -> None:
        self._playback.first()

    def last_step(self) -> None:
        self._playback.last()

    def step_to_selected(self) -> None:
        if self._playback.to_selected():
            self._window.graph_panel().set_stepping(True)
        else:
            self._window.say("The backward pass does not undo the selected operation")

    def play(self) -> None:
        self._playback.toggle()

    def next_iteration(self) -> None:
        self._to_iteration(self._session.focus.iteration + 1)

    def previous_iteration(self) -> None:
        self._to_iteration(self._session.focus.iteration - 1)

    def first_iteration(self) -> None:
        self._to_iteration(0)

    def last_iteration(self) -> None:
        self._session.follow()

    def go_to_iteration(self) -> None:
        recording = self._session.recording
        if recording is None or not len(recording.iterations):
            return
        last = len(recording.iterations) - 1
        number, chosen = QInputDialog.getInt(self._window, "Go to iteration", f"Iteration, 0 to {last}",
                                             self._session.focus.iteration, 0, last)
        if chosen:
            self._to_iteration(number)

    def _to_iteration(self, number: int) -> None:
        recording = self._session.recording
        if recording is not None and 0 <= number < len(recording.iterations):
            self._session.set_focus(iteration=number)

    def next_finding(self) -> None:
        self._to_finding(+1)

    def previous_finding(self) -> None:
        self._to_finding(-1)

    def _to_finding(self, direction: int) -> None:
        """Findings in the order in which they are listed; the one in focus is found again by its place."""
        findings = self._session.findings
        if not findings:
            self._window.say("No findings.")
            return
        focus = self._session.focus
        here = [i for i, f in enumerate(findings) if f.iteration == focus.iteration and f.op_id in (focus.op, -1)]
        start = here[0] if here else (-1 if direction > 0 else 0)
        finding = findings[(start + direction) % len(findings)]
        self._session.set_focus(iteration=finding.iteration)
        if finding.op_id >= 0:
            self._session.set_focus(op=finding.op_id)
        self._window.say(finding.title)

    def find(self) -> None:
        self._window.workbench.raise_panel("operations")
        self._window.operations_panel().start_search()

    # --- view ----------------------------------------------------------------------------------

    def perspective_diagnose(self) -> None:
        self._window.show_perspective("diagnose")

    def perspective_step(self) -> None:
        self._window.show_perspective("step")

    def perspective_plot(self) -> None:
        self._window.show_perspective("plot")

    def reset_layout(self) -> None:
        self._window.workbench.reset_layout()

    def theme_dark(self) -> None:
        self._theme("dark")

    def theme_light(self) -> None:
        self._theme("light")

    def theme_projector(self) -> None:
        self._theme("projector")

    def _theme(self, name: str) -> None:
        self._session.set_theme(THEMES[name].scaled(self._session.theme.scale))

    def larger(self) -> None:
        self._scale(self._session.theme.scale * SCALE_STEP)

    def smaller(self) -> None:
        self._scale(self._session.theme.scale / SCALE_STEP)

    def normal_size(self) -> None:
        self._scale(1.0)

    def _scale(self, scale: float) -> None:
        # Up and down again must give exactly 100 %, whatever the rounding.
        self._session.set_theme(self._session.theme.scaled(round(scale, 2) if abs(scale - 1) > 0.02 else 1.0))

    def full_screen(self) -> None:
        window = self._window
        window.setWindowState(window.windowState() ^ Qt.WindowState.WindowFullScreen)

    def next_panel(self) -> None:
        workbench = self._window.workbench
        shown = workbench.visible_panels()
        if shown:
            here = workbench.current_panel()
            place = shown.index(here) + 1 if here in shown else 0
            workbench.raise_panel(shown[place % len(shown)], keyboard=True)

    # --- help ----------------------------------------------------------------------------------

    def show_keys(self) -> None:
        KeysOverlay.toggle(self._window, self._session.theme)

    def about(self) -> None:
        box = QMessageBox(self._window)
        box.setWindowTitle("About tapeviz")
        box.setText(f"tapeviz {__version__}")
        box.setInformativeText(
            "See, step through and debug gradients on a live tape. MIT licence.\n\n"
            "Built on Qt for Python (LGPL-3), NumPy (BSD), pyqtgraph (MIT) and ziamath (MIT); "
            "fonts Inter and JetBrains Mono (OFL)."
        )
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

    # --- helpers -------------------------------------------------------------------------------

    def _ask_for_file(self, title: str, filter: str) -> Path | None:
        here = self._session.script
        name, _ = QFileDialog.getOpenFileName(self._window, title, str(here.parent) if here else "", filter)
        return Path(name) if name else None
