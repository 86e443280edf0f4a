"""What recording costs: w4 recorded at each level over w4 unrecorded, all work of the recorder and writer included."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import gradtape as gt
from tapeviz.capture.control import Control
from tapeviz.capture.observer import Capture
from tapeviz.capture.recorder import Recorder
from tapeviz.recording.writer import Writer
from tests.benchmarks import workloads
from tests.benchmarks.figures import Figure, ratios

# Level -> at most so many times the unrecorded step; DESIGN section 7 has the finer goals.
GOALS = {"params": 1.3, "tape": 1.5, "stats": 2.0, "values": 3.0}
STEPS = 40                 # of w4 in one measured unit: the recorder works in batches, a single step would miss them
VALUE_BUDGET = 256 << 20


def figures() -> list[Figure]:
    """One figure per level, and one for hooks that are there but off."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        work = [_steps()]
        for level in GOALS:
            work.append(_recorded(level, Path(name), stack))
        measured = ratios(_steps(), *work, rounds=5, seconds=0.6)
    off, *levels = measured
    made = [Figure("recording off, w4", off, "x", "the same, twice: the noise", "at most 1.01x", off <= 1.01)]
    for (level, goal), value in zip(GOALS.items(), levels, strict=True):
        made.append(Figure(f"recording at level {level}, w4", value, "x", "w4 unrecorded", f"at most {goal:g}x",
                           value <= goal))
    return made


def _steps() -> Callable[[], None]:
    step = workloads.w4_gradtape()

    def work() -> None:
        for _ in range(STEPS):
            step()

    return work


def _recorded(level: str, folder: Path, stack: ExitStack) -> Callable[[], None]:
    writer = Writer(folder / f"{level}.tapeviz", {})
    recorder = Recorder(writer, level, VALUE_BUDGET)
    capture = Capture(recorder, Control())
    stack.callback(writer.close, "finished")
    stack.callback(recorder.finish)
    stack.callback(capture.close)
    steps = _steps()

    def work() -> None:
        with gt.observe(capture):
            steps()
        capture.process(wait=True)

    return work
