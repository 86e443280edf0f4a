"""Update ratios: the norm of each update over the norm of the value before it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tapeviz.analysis.magnitude import OK, Special
from tapeviz.analysis.series import health
from tapeviz.analysis.updates import update_ratios
from tapeviz.recording.reader import open_recording
from tapeviz.recording.schema import Role, What
from tests.recording.synthetic import make_recording


def test_ratios_are_update_over_value_before(tmp_path: Path) -> None:
    recording = open_recording(make_recording(tmp_path / "run.tapeviz", iterations=6, layers=3))
    series = update_ratios(recording)
    assert [s.name for s in series] == list(health(recording).names)
    tensors = recording.tensors
    checked = 0
    for line in series:
        for assign in recording.assigns[recording.assigns["variable"] == line.variable]:
            before = np.flatnonzero((tensors["variable"] == line.variable) & (tensors["role"] == Role.VARIABLE)
                                    & (tensors["version"] == assign["version"] - 1))
            iteration = recording.iteration_of(int(assign["at_op"]) - 1)
            old = recording.value(int(before[-1]), What.VALUE)
            new = recording.value(int(assign["tensor"]), What.VALUE)
            if old is None or new is None:
                continue
            if not old.any():      # a bias that began at zero: there is no ratio
                assert line.state[iteration] == Special.NOT_CAPTURED.value
                continue
            expected = np.linalg.norm(new.astype(float) - old) / np.linalg.norm(old.astype(float))
            assert line.state[iteration] == OK
            assert line.y[iteration] == pytest.approx(expected, rel=1e-5)
            checked += 1
    assert checked >= 12
    recording.close()


def test_without_updates_there_is_no_line(tmp_path: Path) -> None:
    recording = open_recording(make_recording(tmp_path / "run.tapeviz", iterations=1, layers=2, ops_per_iteration=50))
    assert all(len(line.y) == 1 for line in update_ratios(recording))
    recording.close()
