"""Runs programs through the real worker, each once per session, and diagnoses their recordings."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tapeviz.analysis.findings import Finding, diagnose
from tapeviz.recording.reader import Recording, open_recording

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "data" / "cases"


@functools.cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="tapeviz-programs-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    shutil.copy(Path(__file__).with_name("tensorflow_names.py"), folder / "tensorflow.py")
    return folder


@functools.cache
def record(text: str, fails: bool = False) -> Path:
    """The recording of a program, which must run to its end, or must fail."""
    number = record.cache_info().misses
    script = _folder() / f"program{number}.py"
    script.write_text(text, encoding="utf-8")
    place = script.with_suffix(".tapeviz")
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "engine")]),
               "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-m", "tapeviz.capture.worker", "--recording", str(place), str(script)], cwd=_folder(),
        env=environ, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode != 0) == fails, done.stderr
    return place


def recording_of(text: str, fails: bool = False) -> Recording:
    """The open recording of a program."""
    return open_recording(record(text, fails))


def findings_of(text: str, fails: bool = False) -> list[Finding]:
    """What the doctor says of a program."""
    with recording_of(text, fails) as recording:
        return diagnose(recording)


def problems_of(text: str) -> list[Finding]:
    """The same without mere notes."""
    return [finding for finding in findings_of(text) if finding.severity != "info"]
