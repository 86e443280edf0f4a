"""`tapeviz demo`: the first example, in the window; without a display the same job headless, with pictures."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from tapeviz.analysis.findings import diagnose
from tapeviz.analysis.report import as_text
from tapeviz.capture.launcher import RunConfig
from tapeviz.cli.errors import writable_place
from tapeviz.cli.run import record
from tapeviz.cli.system import has_display
from tapeviz.cli.view import render, show_script
from tapeviz.recording.reader import open_recording
from tapeviz.recording.schema import SUFFIX
from tapeviz.resources import resource

EXAMPLE = "digits_vanishing.py"
PICTURES = ("window", "health", "graph", "step", "plots", "ops", "report")


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `demo`."""
    parser.add_argument("--headless", action="store_true", help="no window even where there is a display")
    parser.add_argument("-o", "--output", metavar="DIR", default="out", help="where results go (default: %(default)s)")


def main(options: argparse.Namespace) -> int:
    """Returns the exit code of the example's run."""
    script = resource("examples", EXAMPLE)
    if has_display() and not options.headless:
        place = Path(tempfile.mkdtemp(prefix="tapeviz-")) / (script.stem + SUFFIX)
        return show_script(RunConfig(script=script, recording=place))
    recording = writable_place(str(Path(options.output) / (script.stem + SUFFIX))).resolve()
    reason = "As asked, no window:" if options.headless else "There is no display here, so without a window:"
    print(f"{reason} recording {script.name} ...", flush=True)
    code = record(RunConfig(script=script, recording=recording))
    if code == 2:
        return code
    with open_recording(recording) as opened:
        print()
        print(as_text(opened, diagnose(opened)))
    print(f"\nThe recording: {recording}\nPictures of the window and its panels:")
    for view in PICTURES:
        picture = recording.parent / f"{view}.png"
        render(recording, view, picture)
        print(f"  {picture}", flush=True)
    print(f"\nWhere there is a display: {_command()} open {recording}")
    return code


def _command() -> str:
    """How this command was called, as one can type it again: `make run` calls it by its path."""
    called = Path(sys.argv[0])
    return "tapeviz" if shutil.which("tapeviz") or called.name != "tapeviz" else str(called)
