"""What is seen while a script runs is, at its end, exactly what a reopened recording shows."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from tapeviz.analysis.focus import Focus, move
from tapeviz.analysis.graph import build_graph
from tapeviz.analysis.oplist import op_rows
from tapeviz.analysis.series import health, loss_series
from tapeviz.analysis.steps import step_card
from tapeviz.capture.launcher import RunConfig, Worker
from tapeviz.recording.reader import Recording, open_recording
from tapeviz.recording.rows import RecordingError
from tapeviz.resources import resource


def look(recording: Recording) -> None:
    """Everything that the window asks while it follows a run."""
    health(recording)
    loss_series(recording)
    newest = max(len(recording.iterations) - 1, 0)
    build_graph(recording, newest)
    op_rows(recording, None)
    focus = move(recording, Focus(), iteration=newest)
    if focus.pass_ is not None and focus.step is not None:
        step_card(recording, focus.pass_, focus.step)


def followed(script: Path, place: Path) -> Recording:
    """Run a script and look at its recording all the time, as the window does."""
    worker = Worker(RunConfig(script=script, recording=place))
    worker.start()
    recording: Recording | None = None
    end = time.monotonic() + 60
    while not (recording and recording.finished):
        assert time.monotonic() < end, "the run does not end"
        worker.poll()
        if recording is None and place.exists():
            try:
                recording = open_recording(place)
            except RecordingError:      # the worker has only just made the file
                continue
        if recording is not None and recording.poll():
            look(recording)
        time.sleep(0.002)
    assert worker.wait(10)
    assert recording is not None
    recording.poll()
    look(recording)
    return recording


def same(live: Recording, reopened: Recording) -> None:
    seen, fresh = health(live), health(reopened)
    assert seen.names == fresh.names
    for field in ("iterations", "l2", "state", "bins", "median"):
        np.testing.assert_array_equal(getattr(seen, field), getattr(fresh, field), err_msg=field)
    np.testing.assert_array_equal(loss_series(live).y, loss_series(reopened).y)
    for field in ("op", "iteration", "step", "grad", "value", "code", "bin"):
        np.testing.assert_array_equal(getattr(op_rows(live, None), field), getattr(op_rows(reopened, None), field))
    for iteration in (0, len(live.iterations) // 2, len(live.iterations) - 1):
        assert repr(build_graph(live, iteration)) == repr(build_graph(reopened, iteration))   # NaN is not NaN


def test_a_fast_training_followed_live(tmp_path: Path) -> None:
    live = followed(resource("examples", "digits_vanishing.py"), tmp_path / "live.tapeviz")
    with open_recording(tmp_path / "live.tapeviz") as reopened:
        assert len(reopened.iterations) > 100
        assert not health(reopened).state.any()
        same(live, reopened)
    live.close()


MICRO_BATCHES = """
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
w = gt.Variable(rng.normal(size=(4, 1)), name="w")
for step in range(60):
    total = 0.0
    for part in range(5):
        x = rng.normal(size=(8, 4))
        with gt.GradientTape() as tape:
            loss = gt.mean(gt.square(x @ w - 1.0))
        total = total + tape.gradient(loss, w)
    w.assign_sub(0.05 * total / 5)
"""


def test_iterations_that_turn_out_to_be_micro_batches(tmp_path: Path) -> None:
    script = tmp_path / "micro.py"
    script.write_text(MICRO_BATCHES)
    live = followed(script, tmp_path / "live.tapeviz")
    with open_recording(tmp_path / "live.tapeviz") as reopened:
        assert len(reopened.iterations) == 60
        same(live, reopened)
    live.close()
