"""Look-ups against brute force, on recordings that grow while they are looked at."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tapeviz.recording.growing import Growing
from tapeviz.recording.lookup import Lookup, packed
from tapeviz.recording.reader import open_recording
from tapeviz.recording.schema import NONE, RECORDS, What
from tapeviz.recording.writer import Writer
from tests.recording.synthetic import make_recording


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 9), max_size=40), max_size=12), st.integers(0, 9), st.integers(0, 9))
def test_lookup_finds_the_rows_that_brute_force_finds(batches: list[list[int]], first: int, last: int) -> None:
    lookup = Lookup(lambda records: packed(0, records["op"]))
    grown = np.zeros(0, RECORDS["step"])
    for batch in batches:
        more = np.zeros(len(batch), RECORDS["step"])
        more["op"] = batch
        grown = np.concatenate([grown, more])
        expected = np.flatnonzero((grown["op"] >= first) & (grown["op"] <= last))
        np.testing.assert_array_equal(lookup.between(grown, first, last), expected)
    shorter = grown[: len(grown) // 2]   # what another thread may still hold
    expected = np.flatnonzero((shorter["op"] >= first) & (shorter["op"] <= last))
    np.testing.assert_array_equal(lookup.between(shorter, first, last), expected)


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 60), max_size=30), max_size=8))
def test_dense_records_keep_the_last_of_each_id(batches: list[list[int]]) -> None:
    growing, latest, stamp = Growing("tape"), {}, 0
    for batch in batches:
        records = np.zeros(len(batch), RECORDS["tape"])
        records["id"] = batch
        for row, number in enumerate(batch):
            stamp += 1
            records["t"][row] = latest[number] = stamp
        growing.extend(records)
        assert len(growing.records) == max(latest, default=-1) + 1
        for number, record in enumerate(growing.records):
            assert record["id"] == number
            assert record["t"] == latest.get(number, 0)
            assert number in latest or record["loc"] == NONE


@settings(max_examples=20, deadline=None)   # it writes files: the disk sets the pace
@given(st.data())
def test_stat_is_the_last_that_matches(data: st.DataObject) -> None:
    small = st.integers(0, 3)
    rows = data.draw(st.lists(st.tuples(small, small, small, st.integers(0, 4), small), max_size=60))
    cut = data.draw(st.integers(0, len(rows)))
    with tempfile.TemporaryDirectory() as folder:
        _check_stats(Path(folder) / "a.tapeviz", rows, cut)


def _check_stats(path: Path, rows: Sequence[tuple[int, ...]], cut: int) -> None:
    with Writer(path) as writer, open_recording(path) as recording:
        for part in (rows[:cut], rows[cut:]):
            for tensor, op, pass_, what, slot in part:
                writer.stat(tensor, op, pass_, what, slot, *[0] * 16, 0)
            writer.flush()
            recording.poll()
            recording.stat(0, 0)   # the index is built here and must take in the second part later
        for tensor, op, pass_, what, slot in rows:
            for chosen in ({}, {"pass_": pass_}, {"op": op, "slot": slot}, {"pass_": pass_, "op": op, "slot": slot}):
                found = recording.stat(tensor, what, **chosen)
                match = [
                    row for row in rows
                    if (row[0], row[3]) == (tensor, what) and chosen.get("op", row[1]) == row[1]
                    and chosen.get("pass_", row[2]) == row[2] and chosen.get("slot", row[4]) == row[4]
                ]
                assert found is not None
                assert tuple(found[["tensor", "op", "pass", "what", "slot"]].tolist()) == match[-1]
            expected = [row for row in rows if (row[2], row[3]) == (pass_, what)]
            of_pass = recording.stats_of(what, pass_=pass_)
            assert [tuple(row) for row in of_pass[["tensor", "op", "pass", "what", "slot"]].tolist()] == expected
        assert recording.stat(9, 0) is None


def test_iterations(tmp_path: Path) -> None:
    with open_recording(make_recording(tmp_path / "a.tapeviz", iterations=5)) as recording:
        seen: list[int] = []
        for iteration in range(5):
            ops = recording.ops_of(iteration)
            seen += ops
            assert {recording.iteration_of(op) for op in ops} == {iteration}
            assert recording.passes_of(iteration) == [iteration]
            assert recording.iteration_of_pass(iteration) == iteration
        assert seen == list(range(len(recording.ops)))
        assert recording.ops_of(5) == range(0)
        assert recording.passes_of(-1) == []


def test_iterations_can_be_taken_back(tmp_path: Path) -> None:
    with Writer(tmp_path / "a.tapeviz") as writer, open_recording(tmp_path / "a.tapeviz") as recording:
        for number in range(3):
            writer.iteration(number, 10 * number, number, 0, 2, 0)
        writer.flush()
        recording.poll()
        assert len(recording.iterations) == 3
        for number in (1, 2):
            writer.iteration(number, NONE, NONE, 0, 2, 0)
        writer.flush()
        recording.poll()
        assert recording.iterations["first_op"].tolist() == [0]
        assert recording.iteration_of(25) == 0
        writer.iteration(1, 30, 3, 0, 1, 0)
        writer.flush()
        recording.poll()
        assert recording.iterations["first_op"].tolist() == [0, 30]


def test_a_script_without_iterations_is_one(tmp_path: Path) -> None:
    with Writer(tmp_path / "a.tapeviz") as writer:
        writer.op(0, 0, 1, 1, NONE, NONE, 0, 0, 1, NONE, NONE, NONE, NONE, 0, 0, 0, 0, NONE, NONE)
    with open_recording(tmp_path / "a.tapeviz") as recording:
        assert recording.ops_of(0) == range(1)
        assert recording.iteration_of(0) == 0
        assert recording.ops_of(1) == range(0)


@pytest.mark.parametrize("what", list(What))
def test_stats_of_iterations_are_disjoint_and_complete(what: What, tmp_path: Path) -> None:
    with open_recording(make_recording(tmp_path / "a.tapeviz", iterations=4, values=False)) as recording:
        everything = recording.stats[recording.stats["what"] == what]
        parts = [recording.stats_of(what, iteration=iteration) for iteration in range(4)]
        assert all(len(part) for part in parts)
        assert np.concatenate(parts).tobytes() == everything.tobytes()   # bytes: NaN is not equal to itself
        assert recording.stats_of(what).tobytes() == everything.tobytes()
        if what in (What.COTANGENT, What.CONTRIBUTION, What.GRADIENT):
            assert recording.stats_of(what, pass_=2).tobytes() == parts[2].tobytes()


def test_steps_and_results_of_a_pass(tmp_path: Path) -> None:
    with open_recording(make_recording(tmp_path / "a.tapeviz", iterations=3, layers=2)) as recording:
        steps = recording.steps_of(1)
        assert steps["step"].tolist() == list(range(10))
        assert set(steps["pass"].tolist()) == {1}
        assert recording.results_of(1)["source"].tolist() == [0, 1, 2, 3]
