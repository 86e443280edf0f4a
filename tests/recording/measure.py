"""Measurements of the recording: functions that a benchmark calls; each returns one figure and its unit is its name."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from tapeviz.recording.reader import open_recording
from tapeviz.recording.schema import NONE, RECORDS
from tapeviz.recording.writer import Writer
from tests.recording.programs import ROOT, start

TIMED = """
import sys, time
from tapeviz.recording.schema import NONE
from tapeviz.recording.writer import Writer
writer, number = Writer(sys.argv[1], {}), 0
while True:   # about 15,000 operations a second, each with the time at which it was made
    writer.op(number, 0, 1, 1, NONE, NONE, 0, 1, 1, number, NONE, NONE, NONE, number, time.time_ns(), 0, 0, NONE, NONE)
    number += 1
    if number % 20 == 0:
        time.sleep(0.001)
"""


def _append(writer: Writer, count: int) -> float:
    add, began = writer.append, time.perf_counter()
    for i in range(count):
        add("op", (i, 1, 1, 1, 0, 5, 0, 2, 1, i, i, NONE, NONE, i, i * 1000, 1500, 0, NONE, NONE))
    return time.perf_counter() - began


def _loop(count: int) -> float:
    """The same without a writer: what the tuples and the loop cost."""
    began = time.perf_counter()
    for i in range(count):
        _ignore("op", (i, 1, 1, 1, 0, 5, 0, 2, 1, i, i, NONE, NONE, i, i * 1000, 1500, 0, NONE, NONE))
    return time.perf_counter() - began


def _ignore(kind: str, record: tuple[int, ...]) -> None:
    """Takes what `append` takes."""


def append_microseconds(folder: Path, count: int = 300_000) -> float:
    """Added to the script per operation record, writing included."""
    with Writer(folder / "append.tapeviz") as writer:
        return (_append(writer, count) - _loop(count)) / count * 1e6


def ops_per_second(folder: Path, count: int = 500_000) -> float:
    """Sustained: until everything is in the closed file."""
    began = time.perf_counter()
    with Writer(folder / "sustained.tapeviz") as writer:
        _append(writer, count)
    return count / (time.perf_counter() - began)


def bytes_per_op(folder: Path, count: int = 300_000) -> float:
    """Size of a closed file that holds operation records."""
    with Writer(folder / "size.tapeviz") as writer:
        _append(writer, count)
    return (folder / "size.tapeviz").stat().st_size / count


def open_seconds(folder: Path, count: int = 1_000_000) -> float:
    """Opening a recording of so many operations and as many tensors, in a fresh process without the import."""
    path = folder / "open.tapeviz"
    with Writer(path) as writer:
        for kind in ("op", "tensor"):
            records = np.zeros(count, RECORDS[kind])
            records["id"] = np.arange(count)
            writer.append_array(kind, records)
    code = ("import sys, time; from tapeviz.recording.reader import open_recording; t = time.perf_counter(); "
            "r = open_recording(sys.argv[1]); print(time.perf_counter() - t)")
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code, str(path)]
    return float(subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stdout)


def lost_milliseconds(folder: Path, tries: int = 6) -> list[float]:
    """What kill -9 loses: from the last operation in the file to the kill, per try."""
    lost = []
    for number in range(tries):
        path = folder / f"killed{number}.tapeviz"
        process = start(TIMED, path)
        time.sleep(1 + 0.0137 * number)
        killed = time.time_ns()
        process.kill()
        process.communicate()
        with open_recording(path) as recording:
            lost.append((killed - int(recording.ops["t"][-1])) / 1e6)
    return lost


def visible_milliseconds(folder: Path, seconds: float = 3) -> tuple[float, float]:
    """From making an operation to seeing it in another process that polls all the time: median and 99th percentile."""
    path, delays = folder / "visible.tapeviz", []
    process = start(TIMED, path)
    try:
        time.sleep(1)
        with open_recording(path) as recording:
            end, seen = time.monotonic() + seconds, len(recording.ops)
            while time.monotonic() < end:
                if recording.poll():
                    made = recording.ops["t"][seen:].astype(np.int64)
                    seen = len(recording.ops)
                    delays.append((time.time_ns() - made) / 1e6)
                time.sleep(0.001)
    finally:
        process.kill()
        process.communicate()
    middle, late = np.percentile(np.concatenate(delays), [50, 99])
    return float(middle), float(late)
