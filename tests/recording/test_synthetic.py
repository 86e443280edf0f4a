"""The synthetic recordings are what they claim to be: others are tested with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tapeviz.recording.reader import open_recording
from tapeviz.recording.schema import NONE, OpFlag, Phase, Role, State, What
from tests.recording.synthetic import make_recording


def test_contributions_sum_to_cotangents_and_gradients(tmp_path: Path) -> None:
    with open_recording(make_recording(tmp_path / "a.tapeviz", iterations=3)) as recording:
        for pass_ in range(3):
            parts = recording.stats_of(What.CONTRIBUTION, pass_=pass_)
            assert len(parts)
            for tensor in np.unique(parts["tensor"]).tolist():
                mine = parts[parts["tensor"] == tensor]
                values = [recording.value(tensor, What.CONTRIBUTION, pass_, int(p["op"]), int(p["slot"])) for p in mine]
                leaf = recording.tensors["role"][tensor] == Role.VARIABLE
                whole = recording.value(tensor, What.GRADIENT if leaf else What.COTANGENT, pass_)
                assert whole is not None
                total = sum(part for part in values if part is not None)
                np.testing.assert_allclose(total, whole, rtol=1e-6)
            assert np.unique(parts["tensor"], return_counts=True)[1].max() == 2   # d * d is a fan-in


def test_gradients_are_those_of_the_loss(tmp_path: Path) -> None:
    """Against central differences of the forward pass, computed here from the recorded values."""
    with open_recording(make_recording(tmp_path / "a.tapeviz", iterations=1, layers=2, vanish=1.0)) as recording:
        named = {recording.tensor_name(i): i for i in range(len(recording.tensors)) if i < 6}
        arrays = {name: np.asarray(recording.value(i), "f8") for name, i in named.items()}
        x, y = (np.asarray(recording.value(i), "f8") for i in np.flatnonzero(recording.tensors["role"] == 1)[:2])

        def loss(**changed: np.ndarray) -> float:
            p, a = {**arrays, **changed}, x
            for layer in "12":
                a = 1 / (1 + np.exp(-(a @ p[f"W{layer}"] + p[f"b{layer}"])))
            return float(((a - y) ** 2).mean())

        recorded = recording.value(int(recording.passes["target"][0]))
        assert float(recorded) == pytest.approx(loss(), rel=1e-5)   # type: ignore[arg-type]  # it was kept
        for result in recording.results_of(0):
            name, gradient = recording.name(int(result["name"])), recording.value(int(result["tensor"]), What.GRADIENT)
            assert gradient is not None
            shift = np.zeros_like(arrays[name])
            shift.flat[0] = 1e-5
            slope = (loss(**{name: arrays[name] + shift}) - loss(**{name: arrays[name] - shift})) / 2e-5
            assert gradient.flat[0] == pytest.approx(slope, rel=1e-3)


def test_statistics_are_those_of_the_values(tmp_path: Path) -> None:
    with open_recording(make_recording(tmp_path / "a.tapeviz", iterations=2)) as recording:
        for row in recording.stats[::17]:
            place = [int(row[name]) for name in ("tensor", "what", "pass", "op", "slot")]
            value = recording.value(*place)
            assert value is not None
            assert row["l2"] == pytest.approx(np.linalg.norm(value.astype("f8")))
            assert row["n"] == value.size
            assert row["max"] == value.max()


def test_references_are_right(tmp_path: Path) -> None:
    path = tmp_path / "a.tapeviz"
    for options in ({}, {"ops_per_iteration": 100}, {"none_result": True, "nan_at": 1, "values": False}):
        with open_recording(make_recording(path, iterations=4, **options)) as recording:   # type: ignore[arg-type]
            ops, tensors = recording.ops, recording.tensors
            for name, records in (("op", ops), ("tensor", tensors), ("pass", recording.passes)):
                assert (records["id"] == np.arange(len(records))).all(), name
            assert (tensors["op"][ops["output"]] == ops["id"]).all()
            for op in range(len(ops)):
                assert all(number < ops["output"][op] for number in recording.op_inputs(op))
                file, line = recording.op_line(op)
                assert recording.sources[0].path == file
                assert 0 < line <= len(recording.sources[0].text.splitlines())
            for pass_ in range(4):
                undone = recording.steps_of(pass_)["op"]
                assert (np.diff(undone.astype(int)) < 0).all()
                assert (ops["flags"][undone] & OpFlag.RECORDED).all()
                assert len(undone) == recording.passes["steps"][pass_]
                assert ops["output"][undone[0]] == recording.passes["target"][pass_]
            for row in recording.results:
                assert tensors["variable"][row["tensor"]] == row["variable"]
                state = State.NONE if recording.name(int(row["name"])) == "unused" else State.OK
                assert row["state"] == state
            for assign in recording.assigns:
                assert tensors["version"][assign["tensor"]] == assign["version"]
                assert assign["by"] == NONE or assign["by"] < assign["at_op"]


def test_it_vanishes_as_asked(tmp_path: Path) -> None:
    with open_recording(make_recording(tmp_path / "a.tapeviz", iterations=1, layers=6, vanish=0.05)) as recording:
        norms = [recording.stats_of(What.GRADIENT, pass_=0)["l2"][2 * layer] for layer in range(6)]
        ratios = np.array(norms[:-2]) / norms[1:-1]   # the last weights are of ordinary size
        assert (ratios < 0.2).all()
        assert (ratios > 0.01).all()


def test_nan_from_an_iteration_on(tmp_path: Path) -> None:
    with open_recording(make_recording(tmp_path / "a.tapeviz", iterations=5, nan_at=2)) as recording:
        bad = [bool(recording.stats_of(What.GRADIENT, pass_=pass_)["nan"].any()) for pass_ in range(5)]
        assert bad == [False, False, True, True, True]
        values = recording.stats[(recording.stats["what"] == What.VALUE) & (recording.stats["op"] != NONE)]
        first = values[values["nan"] > 0][0]
        assert recording.op_name(int(first["op"])) == "sqrt"
        assert recording.iteration_of(int(first["op"])) == 2


def test_long_recordings(tmp_path: Path) -> None:
    with open_recording(make_recording(tmp_path / "a.tapeviz", iterations=20, ops_per_iteration=1000)) as recording:
        assert len(recording.ops) == 20_000
        assert [len(recording.ops_of(i)) for i in range(20)] == [1000] * 20
        assert (recording.ops["phase"] == Phase.FORWARD).all()
        assert len(recording.stats_of(What.COTANGENT, pass_=7)) == 1000
        assert recording.value(500) is None
