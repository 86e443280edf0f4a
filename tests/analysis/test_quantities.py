"""What there is to see of a tensor, and which iterations can be looked into."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tapeviz.analysis.captured import captured_iterations, nearest_captured
from tapeviz.analysis.focus import Focus, move
from tapeviz.analysis.quantities import made_by, quantities
from tapeviz.recording.reader import Recording, open_recording
from tapeviz.recording.schema import What
from tests.recording.synthetic import make_recording


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    return open_recording(make_recording(tmp_path / "run.tapeviz", iterations=4))


def test_an_intermediate_has_a_value_and_a_cotangent(recording: Recording) -> None:
    focus = move(recording, Focus(), iteration=2, step=5)
    found = {a.label: a for a in quantities(recording, focus)}
    assert list(found) == ["Value", "Cotangent"]
    value, cotangent = found["Value"].elements(recording), found["Cotangent"].elements(recording)
    assert value is not None
    assert cotangent is not None
    assert value.shape == cotangent.shape


def test_an_operand_of_the_step_in_focus_has_the_contribution_too(recording: Recording) -> None:
    focus = move(recording, Focus(), iteration=2, step=6)
    assert focus.op is not None
    weights = recording.op_inputs(focus.op)[1]
    found = {a.label: a for a in quantities(recording, move(recording, focus, step=6, tensor=weights))}
    assert {"Value", "Contribution", "Gradient"} <= set(found)
    assert found["Contribution"].slot == 1
    contribution, gradient = found["Contribution"].elements(recording), found["Gradient"].elements(recording)
    assert contribution is not None
    assert gradient is not None
    np.testing.assert_allclose(contribution.astype(float), gradient.astype(float))   # a weight that is used once
    assert made_by(recording, weights) == "variable"


def test_nothing_in_focus_is_nothing_to_see(recording: Recording) -> None:
    assert quantities(recording, Focus()) == []


def test_every_iteration_of_a_small_run_is_captured(recording: Recording) -> None:
    assert captured_iterations(recording).tolist() == [0, 1, 2, 3]
    assert nearest_captured(recording, 2) == 2


def test_without_values_none_is_captured(tmp_path: Path) -> None:
    bare = open_recording(make_recording(tmp_path / "bare.tapeviz", iterations=3, values=False))
    assert captured_iterations(bare).tolist() == []
    assert nearest_captured(bare, 1) is None
    focus = move(bare, Focus(), iteration=1, step=3)
    value = quantities(bare, focus)[0]
    assert value.what is What.VALUE
    assert not value.kept
    assert value.stat is not None
