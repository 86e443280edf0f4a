"""Facts at a glance, and rows for CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tapeviz.recording.export import to_rows
from tapeviz.recording.reader import Recording, open_recording
from tapeviz.recording.schema import RECORDS
from tapeviz.recording.summary import summary
from tapeviz.recording.writer import Writer
from tests.recording.synthetic import make_recording


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recording]:
    path = tmp_path_factory.mktemp("export") / "run.tapeviz"
    with open_recording(make_recording(path, iterations=3, layers=2, none_result=True, nan_at=1)) as opened:
        yield opened


def test_summary(recording: Recording) -> None:
    facts = summary(recording)
    json.dumps(facts, allow_nan=False)
    assert facts["status"] == "finished"
    assert facts["script"] == "/home/you/train.py"
    assert facts["iterations"] == 3
    assert facts["ops"] == len(recording.ops)
    assert facts["gradient_calls"] == 3
    assert facts["variables"] == ["W1", "b1", "W2", "b2", "unused"]
    assert facts["events"] == {"stdout": 3}
    assert facts["size"] == recording.path.stat().st_size
    assert facts["bytes_per_op"] == pytest.approx(recording.path.stat().st_size / len(recording.ops), abs=0.1)
    assert facts["value_bytes"] == sum(recording.values["nbytes"].tolist())


def test_summary_of_a_running_and_of_an_empty_recording(tmp_path: Path) -> None:
    with Writer(tmp_path / "a.tapeviz") as writer:
        with open_recording(writer.path) as opened:
            facts = summary(opened)
            assert (facts["status"], facts["ops"], facts["duration"], facts["bytes_per_op"]) == ("running", 0, 0.0, 0.0)
        writer.event("stdout", {"text": "x"})
        writer.flush()
        with open_recording(writer.path) as opened:
            assert int(str(summary(opened)["size"])) > 8192   # with the log beside it
            assert 0 < opened.events[0].t / 1e9 < 60


@pytest.mark.parametrize("kind", RECORDS)
def test_rows_of_every_kind(recording: Recording, kind: str) -> None:
    rows = list(to_rows(recording, kind))
    assert len(rows) == len(recording.records(kind))
    assert not any(name.startswith("reserved") for name in rows[0])
    json.dumps(rows, allow_nan=False)
    text = io.StringIO()
    table = csv.DictWriter(text, rows[0])
    table.writeheader()
    table.writerows(rows)
    assert len(text.getvalue().splitlines()) == len(rows) + 1


def test_rows_are_spelled_out(recording: Recording) -> None:
    op = next(to_rows(recording, "op"))
    assert op["kind"] == "matmul"
    assert (op["phase"], op["flags"], op["scope"]) == ("forward", "recorded", "layer1")
    assert op["loc"] == "/home/you/train.py:12"
    assert op["inputs"] == "5 0"
    assert (op["pass"], op["attrs"]) == (None, None)
    tensor = next(to_rows(recording, "tensor"))
    assert (tensor["name"], tensor["shape"], tensor["dtype"], tensor["role"]) == ("W1", "8x8", "float32", "variable")
    assert tensor["flags"] == "watched|trainable"
    results = list(to_rows(recording, "result"))
    assert [(row["name"], row["state"]) for row in results[3:5]] == [("b2", "ok"), ("unused", "none")]
    last = list(to_rows(recording, "stat"))[-1]
    assert last["nan"] == last["n"]
    assert last["l2"] is None   # no element is finite


def test_unknown_kind(recording: Recording) -> None:
    with pytest.raises(KeyError):
        next(to_rows(recording, "invention"))
