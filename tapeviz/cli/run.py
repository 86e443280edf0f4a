"""`tapeviz run SCRIPT [ARGS…]`: run a script in the window, or record it headless."""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tapeviz.capture.launcher import RunConfig, run_headless
from tapeviz.cli.errors import UserError, existing_file, writable_place
from tapeviz.cli.view import show_script
from tapeviz.recording.reader import Recording, open_recording
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
    if shutil.which(options.python) is None:
        raise UserError(f"no interpreter to run with: {options.python} is not there or cannot be run")
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
    code = record(config)
    if code != 2 and config.recording is not None:
        say_where(config.recording)
        with open_recording(config.recording) as recording:
            for note in (*shortfall(recording, code), *nothing_to_see(recording)):
                print(f"tapeviz: {note}", file=sys.stderr)
    return code


def record(config: RunConfig, stdout_to_stderr: bool = False) -> int:
    """Run a script headless; returns its exit code: 0, 1 if it failed, 2 if it could not start, which has been said.

    Raises UserError if nothing that could be opened has come of it.
    """
    if config.recording is None:
        raise UserError("no place for the recording")
    before = _stamp(config.recording)
    with _ended_by_signals():
        code = run_headless(config, echo=True, stdout_to_stderr=stdout_to_stderr)
    if code != 2 and _stamp(config.recording) == before:
        raise UserError(f"nothing was recorded: is {config.python} a Python of version 3.11 or newer, with NumPy?")
    return code


def say_where(recording: Path) -> None:
    """Tell where a recording is, on stderr, which the results of a command do not share."""
    place = recording.relative_to(Path.cwd()) if recording.is_relative_to(Path.cwd()) else recording
    print(f"tapeviz: recorded in {place}", file=sys.stderr)


def shortfall(recording: Recording, code: int | None = None) -> Iterator[str]:
    """What a recording lacks, in sentences; code: how the script ended, if it has just been run."""
    if failed := recording.meta.get("failed"):
        if code is None:   # else it was said when it happened
            yield str(failed)
    elif code == 0 and recording.status == "killed":   # there was no room even for that sentence, or no time
        yield f"{recording.path} may lack the end of the run: the disk is full, or the script ended with os._exit"
    if (level := recording.meta.get("level")) in ("params", "tape"):
        yield f"recorded at level {level}, without the statistics of operations: most diagnoses need level stats"


def nothing_to_see(recording: Recording) -> Iterator[str]:
    """A sentence about a script that never used a tape."""
    if not len(recording.tapes) and not len(recording.passes) and recording.status == "finished":
        name = Path(str(recording.meta.get("script", recording.path))).name
        yield f"{name} never used a gradient tape (with gradtape.GradientTape() as tape: ...): there is nothing to see"


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Being told to end (`kill`, a closed terminal) ends the script too, as Ctrl+C does: it would go on alone."""
    numbers = [number for name in ("SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None]
    before = {}
    for number in numbers:
        if signal.getsignal(number) is signal.SIG_DFL:    # who ignores them (nohup) wants the run to go on
            before[number] = signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt
