"""Scripts in real processes: as workers without a window, behind a launcher, and under the `tapeviz` command."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tapeviz.capture.launcher import RunConfig, Worker
from tapeviz.recording.reader import open_recording

ROOT = Path(__file__).parents[2]
# As the launcher does it: the order of what is written must not depend on the machine's settings.
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "engine")]), "PYTHONUNBUFFERED": "1"}


def run_worker(folder: Path, text: str | bytes | None, *args: str, name: str = "script.py", stdin: str = "",
               options: tuple[str, ...] = (), cwd: Path | None = None, env: dict[str, str] | None = None
               ) -> tuple[subprocess.CompletedProcess[str], Path]:
    """Write a script and run it in a worker without a window; the finished process and the recording's path."""
    script = folder / name
    if isinstance(text, bytes):
        script.write_bytes(text)
    elif text is not None:
        script.write_text(textwrap.dedent(text))
    place = folder / "run.tapeviz"
    command = [sys.executable, "-P", "-m", "tapeviz.capture.worker", "--recording", str(place), *options, "--",
               str(script), *args]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=60, input=stdin,
                          cwd=cwd or folder, env={**ENVIRONMENT, **(env or {})})
    return done, place


def launch(folder: Path, text: str, **config: Any) -> Worker:
    """A script behind a launcher."""
    script = folder / "launched.py"
    script.write_text(textwrap.dedent(text))
    worker = Worker(RunConfig(script, recording=folder / "launched.tapeviz", **config))
    worker.start()
    return worker


def wait_for(worker: Worker, wanted: str, seconds: float = 20) -> list[dict[str, Any]]:
    """Poll until a message of this type has come; returns all messages up to it."""
    seen: list[dict[str, Any]] = []
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for message in worker.poll():
            seen.append(message)
            if message["type"] == wanted or message.get("state") == wanted:
                return seen
        time.sleep(0.005)
    raise AssertionError(f"no {wanted} within {seconds} s: {seen}, {worker.output}")


def until(condition: Callable[[], object], seconds: float = 10) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Whether a process runs (one that has ended and was not waited for does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def events(place: Path, kind: str) -> list[Any]:
    """The data of the events of a kind."""
    with open_recording(place) as recording:
        return [event.data for event in recording.events if event.kind == kind]


def output(place: Path, stream: str = "stdout") -> str:
    """What was recorded of a stream."""
    return "".join(data["text"] for data in events(place, stream))


def status(place: Path) -> str:
    """How a recording says that the run ended."""
    with open_recording(place) as recording:
        return recording.status
