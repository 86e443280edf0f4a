"""Look-ups that are kept: until the recording grows, or for good when nothing can be added any more."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from tapeviz.analysis.graph import build_graph
from tapeviz.analysis.index import is_over, iteration_count, iteration_in_range, main_pass, pass_index, remembered
from tapeviz.analysis.steps import steps_of
from tapeviz.recording.reader import Recording, open_recording
from tapeviz.recording.writer import Writer
from tests.recording.synthetic import Training


@pytest.fixture
def live(tmp_path: Path) -> Iterator[tuple[Training, Recording]]:
    with Writer(tmp_path / "live.tapeviz", {}) as writer, open_recording(tmp_path / "live.tapeviz") as recording:
        training = Training(writer, 2, 4, 0.1, None, True, False)
        grow(training, recording)
        yield training, recording


def grow(training: Training, recording: Recording) -> None:
    training.iterate()
    training.writer.flush()
    recording.poll()


def test_a_result_is_computed_once_per_revision(live):
    calls = []

    @remembered
    def length(recording: Recording, factor: int) -> int:
        calls.append(factor)
        return factor * len(recording.ops)

    training, recording = live
    assert length(recording, 2) == length(recording, 2) == 2 * len(recording.ops)
    assert calls == [2]
    grow(training, recording)
    assert length(recording, 2) == 2 * len(recording.ops)
    assert calls == [2, 2]


def test_what_is_over_is_never_made_anew(live):
    training, recording = live
    unfinished = build_graph(recording, 0)
    assert not unfinished.complete
    grow(training, recording)
    graph, table = build_graph(recording, 0), steps_of(recording, 0)
    assert graph.complete
    grow(training, recording)
    assert build_graph(recording, 0) is graph
    assert steps_of(recording, 0) is table
    assert pass_index(recording, 0) is pass_index(recording, 0)


def test_a_recording_is_not_kept_alive_by_what_is_remembered_of_it(trained_path):
    recording = open_recording(trained_path)
    build_graph(recording, 1)
    steps_of(recording, 1)
    gone = weakref.ref(recording)
    recording.close()
    del recording
    gc.collect()
    assert gone() is None


def test_iterations(live):
    training, recording = live
    assert iteration_count(recording) == 1
    grow(training, recording)
    assert [iteration_in_range(recording, i) for i in (-1, 0, 1, 7)] == [0, 0, 1, 1]
    assert [is_over(recording, i) for i in (0, 1)] == [True, False]
    assert [main_pass(recording, i) for i in (0, 1, 2)] == [0, 1, None]


def test_the_index_of_a_pass_knows_who_gave_to_whom(trained):
    index = pass_index(trained, 3)
    assert len(index.rows) == len(index.step_of) == 19
    assert index.iteration == 3
    for tensor, flows in index.received.items():
        steps = [index.step_of[op] for op, _ in flows]
        assert steps == sorted(steps)
        assert all(trained.op_inputs(op)[slot] == tensor for op, slot in flows)
