"""`tapeviz run SCRIPT [ARGS…]`: run a script in the window, or record it headless."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tapeviz.capture.launcher import RunConfig, run_headless
from tapeviz.cli.errors import UserError, existing_file, writable_place
from tapeviz.cli.view import show_script
from tapeviz.recording.schema import SUFFIX

LEVELS = ("params", "tape", "stats", "values")


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `run`."""
    parser.add_argument("script", metavar="SCRIPT", help="a Python script; what follows it are its own arguments")
    parser.add_argument("--headless", action="store_true", help="no window: run to the end and write the recording")
    add_run_options(parser)


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """The options of everything that runs a script."""
    parser.add_argument("-o", "--output", metavar="FILE", help=f"the recording (default: SCRIPT{SUFFIX} where you are)")
    parser.add_argument("--level", choices=LEVELS, default="stats", help="how much to record (default: %(default)s)")
    parser.add_argument("--python", metavar="EXE", default=sys.executable, help="the interpreter that runs the script")


def config_of(options: argparse.Namespace) -> RunConfig:
    """What to run, from the options. Raises UserError for a script or place that cannot be used."""
    script = existing_file(options.script, "script")
    place = writable_place(options.output or script.stem + SUFFIX)
    return RunConfig(
        script=script.resolve(), argv=options.script_arguments, cwd=Path.cwd(), recording=place.resolve(),
        python=options.python, level=options.level,
    )


def main(options: argparse.Namespace) -> int:
    """Returns 0, 1 if the script failed, 2 for a script that cannot be run."""
    config = config_of(options)
    if not options.headless:
        return show_script(config)
    if config.recording is None:
        raise UserError("no place for the recording")
    code = run_headless(config, echo=True)
    if config.recording.exists():
        print(f"tapeviz: recorded in {_shown(config.recording)}", file=sys.stderr)
    return code


def _shown(path: Path) -> str:
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
