"""Every example: runs with plain Python without a warning, is short enough for a slide, and gets the right verdict."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tapeviz.analysis.findings import diagnose
from tapeviz.capture.launcher import RunConfig, run_headless
from tapeviz.recording.reader import open_recording
from tapeviz.resources import resource

EXAMPLES = sorted(resource("examples").glob("*.py"))

# What the doctor must say first of each, and on which line: the text of the line, so that the examples may move.
VERDICTS = {
    "chain_rule": None,
    "linear_regression": None,
    "digits_repaired": None,
    "digits_vanishing": ("vanishing-depth", "gt.nn.sigmoid"),
    "rnn_exploding": ("exploding-time", "gt.nn.leaky_relu"),
    "where_nan": ("nan-masked-branch", "gt.where"),
    "none_gradient": ("graph-break", ".numpy()"),
}


def test_every_example_has_a_verdict() -> None:
    assert {path.stem for path in EXAMPLES} == set(VERDICTS)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_runs_with_plain_python(path: Path) -> None:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-W", "error::DeprecationWarning", str(path)], capture_output=True,
                          text=True, env=environ, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_fits_on_a_slide_and_says_what_it_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    assert len(lines) <= 45
    assert max(map(len, lines)) <= 100
    title = ast.get_docstring(ast.parse(text))
    assert title
    assert "\n" not in title


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_gets_the_right_verdict(path: Path, tmp_path: Path) -> None:
    place = tmp_path / f"{path.stem}.tapeviz"
    assert run_headless(RunConfig(script=path, recording=place), echo=False) == 0
    with open_recording(place) as recording:
        findings = [f for f in diagnose(recording) if f.severity != "info"]
    expected = VERDICTS[path.stem]
    if expected is None:
        assert not findings
        return
    id_, code = expected
    assert findings[0].id == id_
    assert findings[0].iteration == 0
    assert findings[0].line is not None
    assert code in path.read_text(encoding="utf-8").splitlines()[findings[0].line - 1]
