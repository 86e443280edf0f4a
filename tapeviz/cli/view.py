"""`tapeviz` and `tapeviz open FILE`: the window; the only module of the command line that imports the GUI."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from tapeviz.analysis.focus import Focus
from tapeviz.capture.launcher import RunConfig
from tapeviz.cli.errors import UserError, existing_file
from tapeviz.cli.system import has_display, missing_libraries, packages_for
from tapeviz.recording.reader import open_recording


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `open`."""
    parser.add_argument("recording", metavar="FILE", help="a recording (*.tapeviz)")


def main(options: argparse.Namespace) -> int:
    """Open a recording. Raises RecordingError if it is none, before any window appears."""
    path = existing_file(options.recording, "recording")
    open_recording(path).close()
    return _show([str(path)])


def start() -> int:
    """The window with its start page."""
    return _show([])


def show_script(config: RunConfig) -> int:
    """The window with a script already running."""
    return _show(config)


def _show(what: list[str] | RunConfig) -> int:
    check_libraries()
    if not has_display():
        raise UserError(
            "there is no display to open a window on. Without one: tapeviz run --headless SCRIPT, "
            "tapeviz diagnose FILE|SCRIPT, tapeviz export FILE --view window -o window.png"
        )
    from tapeviz.gui.app import main  # Qt takes 0.3 s and 100 MB to import: only when a window is asked for

    return main(what)


def check_libraries() -> None:
    """Raises UserError naming the Debian packages if Qt cannot be loaded on this system."""
    missing = missing_libraries()
    if missing:
        raise UserError(
            f"Qt misses system libraries ({', '.join(missing)}). On Debian or Ubuntu: "
            f"sudo apt-get install {' '.join(packages_for(missing))}"
        )


def render(recording: Path, view: str, out: Path, size: tuple[int, int] = (1280, 720), theme: str = "dark",
           focus: Focus | None = None) -> None:
    """Draw one view of a recording into a picture, without a display."""
    check_libraries()
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from tapeviz.gui import messages  # as above
    from tapeviz.gui.snapshot import render as draw

    messages.pass_on()
    draw(recording, view, out, size=size, theme=theme, focus=focus)
