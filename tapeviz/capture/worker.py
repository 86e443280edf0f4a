"""`python -m tapeviz.capture.worker … -- SCRIPT ARGS…`: runs a script and records it; needs Python and NumPy only."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from tapeviz.capture.control import Control
from tapeviz.capture.failures import as_event
from tapeviz.capture.recorder import LEVELS
from tapeviz.capture.script import ScriptError, load
from tapeviz.capture.session import Session
from tapeviz.recording.rows import RecordingError
from tapeviz.recording.writer import Writer

__gradtape__ = True   # the frames of this module are not the user's

UNUSABLE = 2
TOKEN = "TAPEVIZ_TOKEN"          # where the launcher leaves the token; an argument would be visible to everybody
SWITCH_SECONDS = 0.0005          # a pause asked for in a pure Python loop is noticed ten times sooner


def main(arguments: list[str]) -> int:
    """Returns the script's exit code, 2 if it cannot be run or recorded at all."""
    options = _parse(arguments)
    token = options.token or os.environ.pop(TOKEN, "")
    control = Control(options.start_paused and options.control is not None,
                      outlives=options.outlives_window or options.control is None)
    if options.control is not None:
        try:
            control.connect(options.control, token)
        except OSError:   # nobody waits for us any more
            if not options.outlives_window:
                return UNUSABLE
            control = Control()
    sys.setswitchinterval(SWITCH_SECONDS)
    meta = {"script": os.path.abspath(options.script), "argv": options.args}
    try:
        script = load(options.script)
    except ScriptError as error:
        if error.syntax is not None:
            _record_syntax_error(options.recording, meta, error.syntax)
        return _refuse(control, str(error), with_name=error.syntax is None)
    try:
        session = Session(options.recording, options.level, options.values << 20, control, meta)
    except RecordingError as error:
        return _refuse(control, str(error))
    with session:
        return session.execute(script, options.args)


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tapeviz.capture.worker", description=__doc__)
    parser.add_argument("--recording", type=Path, required=True, help="the file to write")
    parser.add_argument("--control", type=int, metavar="PORT", help="where the window listens, on this machine")
    parser.add_argument("--token", default="", help=f"what it wants to hear first (or in ${TOKEN})")
    parser.add_argument("--level", choices=LEVELS, default="stats")
    parser.add_argument("--values", type=int, default=256, metavar="MB", help="space for full values")
    parser.add_argument("--start-paused", action="store_true", help="stop at the first operation")
    parser.add_argument("--outlives-window", action="store_true", help="go on when whoever started this has gone")
    parser.add_argument("script")
    parser.add_argument("args", nargs=argparse.REMAINDER)
    return parser.parse_args(arguments)


def _refuse(control: Control, message: str, with_name: bool = True) -> int:
    print(f"tapeviz: {message}" if with_name else message, file=sys.stderr)
    control.send({"type": "error", "message": message, "unusable": True})
    control.close()
    return UNUSABLE


def _record_syntax_error(path: Path, meta: dict[str, object], error: SyntaxError) -> None:
    """A recording that holds nothing but the source and the error, so that the window can show where."""
    try:
        with Writer(path, meta) as writer:
            file = str(error.filename)
            try:
                text = Path(file).read_text(encoding="utf-8", errors="replace")
            except OSError:
                text = ""
            writer.source_id(file, text)
            writer.event("exception", as_event(error))
            writer.close("failed")
    except RecordingError:
        return   # the error itself is what the user has to hear of


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
