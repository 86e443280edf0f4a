"""The table of operations: columns, states and the filter."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tapeviz.analysis.magnitude import OK, Special
from tapeviz.analysis.opfilter import filter_rows
from tapeviz.analysis.oplist import op_rows, row_state
from tapeviz.analysis.reference import reference_of
from tapeviz.recording.reader import open_recording
from tapeviz.recording.schema import What
from tapeviz.recording.writer import Writer
from tests.recording.synthetic import Training, make_recording


@pytest.fixture
def rows(trained):
    return op_rows(trained, 3)


def test_one_iteration_has_its_operations_numbered_from_one(trained, rows):
    assert rows.op.tolist() == list(trained.ops_of(3))
    assert rows.number.tolist() == list(range(1, len(rows) + 1))
    assert rows.names[rows.name[0]] == "matmul"
    assert rows.shapes[rows.shape[0]] == "[6,8]"
    assert rows.files[rows.file[0]].endswith("train.py")
    assert rows.line[0] == 12
    assert set(rows.iteration.tolist()) == {3}


def test_norms_are_those_of_the_recording(trained, rows):
    for i, op in enumerate(rows.op.tolist()):
        output = trained.op_outputs(op)[0]
        assert rows.value[i] == trained.stat(output, What.VALUE)["l2"]
        if rows.step[i]:
            assert rows.grad[i] == trained.stat(output, What.COTANGENT, pass_=3)["l2"]
            assert rows.code[i] == OK


def test_what_the_pass_did_not_undo_has_no_gradient_and_updates_are_not_captured(rows):
    sqrt = rows.names.index("sqrt")
    codes = {int(c) for c in rows.code[rows.name == sqrt]}
    assert codes == {Special.NONE.value}
    assert rows.word(int(np.flatnonzero(rows.name == sqrt)[0])) == "none"
    assert rows.code[-1] == Special.NOT_CAPTURED.value
    assert rows.word(len(rows) - 1) == ""


def test_the_whole_run_is_the_iterations_one_after_another(trained, rows):
    whole = op_rows(trained)
    assert len(whole) == len(trained.ops)
    mine = whole.iteration == 3
    for column in ("op", "number", "step", "arrived", "line", "value", "grad", "code", "bin", "reference"):
        np.testing.assert_array_equal(getattr(whole, column)[mine], getattr(rows, column))
    assert whole.reference[mine][0] == reference_of(trained, 3)


def test_states_follow_the_step(rows):
    states = [row_state(rows, i, 4) for i in range(len(rows))]
    assert states.count("current") == 1
    assert rows.step[states.index("current")] == 5
    assert states.count("done") == 4
    assert states.count("next") == 1
    assert states[-1] == ""
    assert {row_state(rows, i, None) for i in range(len(rows))} == {"done", ""}


@pytest.mark.parametrize(("text", "expected"), [
    ("matmul", lambda r, i: r.names[r.name[i]] == "matmul"),
    ("MATMUL", lambda r, i: r.names[r.name[i]] == "matmul"),
    ("train.py:12", lambda r, i: r.line[i] == 12),
    ("line:12", lambda r, i: r.line[i] == 12),
    ("line:12-13", lambda r, i: r.line[i] in (12, 13)),
    ("shape:*,3", lambda r, i: r.shapes[r.shape[i]].endswith(",3]")),
    ("shape:scalar", lambda r, i: r.shapes[r.shape[i]] == "scalar"),
    ("grad<1e-3", lambda r, i: r.code[i] == OK and r.grad[i] < 1e-3),
    ("grad>=1", lambda r, i: r.code[i] == OK and r.grad[i] >= 1),
    ("grad=none", lambda r, i: r.code[i] == Special.NONE.value),
    ("step:3", lambda r, i: r.step[i] == 3),
    ("op=add", lambda r, i: r.names[r.name[i]] == "add"),
    ("op!=add", lambda r, i: r.names[r.name[i]] != "add"),
    ("op:mul", lambda r, i: "mul" in r.names[r.name[i]]),
    ("op:m*l", lambda r, i: r.names[r.name[i]] in ("matmul",)),
    ("add grad<1e-3", lambda r, i: r.names[r.name[i]] == "add" and r.code[i] == OK and r.grad[i] < 1e-3),
    ("health:vanishing", lambda r, i: r.word(i) == "vanishing"),
    ("nowhere", lambda r, i: False),
    ("", lambda r, i: True),
])
def test_the_filter(rows, text, expected):
    found = filter_rows(rows, text)
    assert found.problem == ""
    assert found.mask.tolist() == [bool(expected(rows, i)) for i in range(len(rows))]


@pytest.mark.parametrize("text", [
    "²", "train.py:²", "line:" + "9" * 40, "grad<" + "9" * 400, "step>1e400", "shape:[", "*"])
def test_odd_texts_are_no_errors(rows, text):
    assert len(filter_rows(rows, text).mask) == len(rows)


@pytest.mark.parametrize("text", ["grad<big", "line:x", "op<3"])
def test_what_is_not_understood_is_said(rows, text):
    found = filter_rows(rows, f"matmul {text}")
    assert found.problem == f"not understood: {text}"
    assert not found.mask.any()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=20))
def test_no_text_breaks_the_filter(rows, text):
    assert len(filter_rows(rows, text).mask) == len(rows)


def test_nan_is_found_by_name_and_matches_no_comparison(broken):
    rows = op_rows(broken, 4)
    nan = filter_rows(rows, "grad=nan").mask
    assert nan.any()
    assert not (nan & filter_rows(rows, "grad>0").mask).any()
    assert not (nan & filter_rows(rows, "grad<=0").mask).any()


def test_an_empty_recording_has_no_rows(tmp_path):
    Writer(tmp_path / "empty.tapeviz", {}).close()
    with open_recording(tmp_path / "empty.tapeviz") as recording:
        assert len(op_rows(recording)) == len(op_rows(recording, 0)) == 0
        assert filter_rows(op_rows(recording), "grad<1 matmul").mask.tolist() == []


def test_rows_grow_with_the_recording(tmp_path):
    with Writer(tmp_path / "live.tapeviz", {}) as writer, open_recording(tmp_path / "live.tapeviz") as recording:
        training = Training(writer, 2, 4, 0.1, None, True, False)
        sizes = []
        for _ in range(3):
            training.iterate()
            writer.flush()
            recording.poll()
            sizes.append(len(op_rows(recording)))
        assert sizes[1] - sizes[0] == sizes[2] - sizes[1] == len(op_rows(recording, 0))


def test_the_rows_of_a_run_that_grew_are_those_of_the_run_read_at_once(tmp_path, monkeypatch):
    """Whatever part of them was made when its iterations were over."""
    with Writer(tmp_path / "live.tapeviz", {}) as writer, open_recording(tmp_path / "live.tapeviz") as recording:
        training = Training(writer, 3, 4, 0.1, 7, True, True)
        monkeypatch.setattr("tapeviz.analysis.oplist._BATCH", 60)
        for _ in range(12):
            training.iterate()
            writer.flush()
            recording.poll()
            grown = op_rows(recording)
        monkeypatch.undo()
        with open_recording(tmp_path / "live.tapeviz") as again:
            whole = op_rows(again)
        for field in dataclasses.fields(whole):
            np.testing.assert_array_equal(getattr(grown, field.name), getattr(whole, field.name), err_msg=field.name)


@pytest.mark.slow
def test_a_hundred_thousand_operations_are_a_matter_of_a_moment(tmp_path):
    path = make_recording(tmp_path / "bulk.tapeviz", iterations=100, ops_per_iteration=1000)
    with open_recording(path) as recording:
        rows = op_rows(recording)
        assert len(rows) >= 100_000
        assert filter_rows(rows, "matmul grad<1e3").mask.any()


def test_a_value_that_is_nan_is_never_typical(tmp_path: Path) -> None:
    with open_recording(make_recording(tmp_path / "nan.tapeviz", iterations=6, layers=3, nan_at=3)) as recording:
        rows = op_rows(recording, 4)
        words = {rows.word(i) for i in range(len(rows)) if rows.value_code[i] == Special.NAN.value}
    assert words == {"NaN"}
