"""Findings as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

from tapeviz.analysis.findings import Finding, diagnose
from tapeviz.analysis.report import as_json, as_text, worst_severity
from tapeviz.recording.reader import open_recording
from tests.recording.synthetic import make_recording

KEYS = {"id", "severity", "file", "line", "op", "iteration", "affected", "message", "fix"}


def test_json_has_the_documented_shape(tmp_path: Path) -> None:
    path = make_recording(tmp_path / "a.tapeviz", iterations=6, nan_at=2)
    with open_recording(path) as recording:
        whole = json.loads(json.dumps(as_json(recording, diagnose(recording)), allow_nan=False))
    assert whole["recording"] == str(path)
    assert whole["iterations"] == 6
    first = whole["findings"][0]
    assert first.keys() >= KEYS
    assert (first["id"], first["severity"], first["line"], first["op"], first["iteration"]) == (
        "nan-forward-domain", "error", 22, "sqrt", 2)
    assert first["file"] == "/home/you/train.py"
    assert [one["id"] for one in first["consequences"]] == ["nan-spread"]
    assert first["consequences"][0].keys() >= KEYS


def test_numbers_that_json_does_not_know(tmp_path: Path) -> None:
    evidence = {"a": float("inf"), "b": [float("nan"), (1, "two")], "c": None}
    finding = Finding("x", "info", "X", "", "", evidence=evidence)
    with open_recording(make_recording(tmp_path / "a.tapeviz", iterations=1)) as recording:
        text = json.dumps(as_json(recording, [finding]), allow_nan=False)
    assert json.loads(text)["findings"][0]["evidence"] == {"a": "inf", "b": ["nan", [1, "two"]], "c": None}


def test_text_says_what_where_and_what_to_do(tmp_path: Path) -> None:
    with open_recording(make_recording(tmp_path / "a.tapeviz", iterations=6, nan_at=2)) as recording:
        text = as_text(recording, diagnose(recording))
    lines = text.splitlines()
    assert lines[0] == "train.py: 6 iterations, finished"
    assert "Error: sqrt outside its domain  [nan-forward-domain]" in lines
    assert "  /home/you/train.py:22, iteration 2, sqrt" in lines
    assert any(line.startswith("  Fix: ") for line in lines)
    follows = lines.index("  Because of that:")
    assert lines[follows + 1].startswith("    Error: Variables have become NaN")
    assert lines[-1].startswith("1 problem; ")
    assert max(map(len, lines)) <= 100


def test_text_of_a_healthy_run(tmp_path: Path) -> None:
    with open_recording(make_recording(tmp_path / "a.tapeviz", layers=2)) as recording:
        text = as_text(recording, [])
    assert "No problem; " in text
    assert text.rstrip().endswith("rules clear.")


def test_the_worst_severity() -> None:
    findings = [Finding(word, word, "", "", "") for word in ("info", "warning")]
    assert worst_severity(findings) == "warning"
    assert worst_severity([]) is None
