"""Recording in this process: what a piece of a program does, as an open recording."""

from __future__ import annotations

import threading
from contextlib import contextmanager

import pytest

import gradtape as gt
from tapeviz.capture.control import Control
from tapeviz.capture.observer import Capture
from tapeviz.capture.recorder import Recorder
from tapeviz.recording.reader import Recording, open_recording
from tapeviz.recording.writer import Writer


@pytest.fixture
def recording_of(tmp_path):
    """`recording_of(function)` calls it under observation and gives the finished recording."""
    opened: list[Recording] = []

    def run(function, level="stats", budget=64 << 20):
        path = tmp_path / f"run{len(opened)}.tapeviz"
        with observed(path, level, budget):
            function()
        recording = open_recording(path)
        opened.append(recording)
        return recording

    yield run
    for recording in opened:
        recording.close()


@contextmanager
def observed(path, level="stats", budget=64 << 20, control=None):
    """Record what the block does into a file; a failure of the recorder is raised in the block."""
    writer = Writer(path, {"level": level})
    capture = Capture(Recorder(writer, level, budget), control or Control())
    try:
        with gt.observe(capture):
            yield capture
    finally:
        capture.close()
        capture.recorder.finish()
        writer.close()
        assert not [t for t in threading.enumerate() if t.name == "tapeviz recording"]
