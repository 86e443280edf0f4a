"""The doctor as a whole: order, folding, growing recordings, levels of recording, and speed."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from tapeviz.analysis.findings import RULES, Doctor, Finding, diagnose
from tapeviz.analysis.findings.context import Context
from tapeviz.analysis.findings.order import fold
from tapeviz.analysis.findings.plan import Planner
from tapeviz.capture.launcher import RunConfig, run_headless
from tapeviz.recording.reader import open_recording
from tapeviz.recording.writer import Writer
from tests.analysis.networks import deep, recurrent, training
from tests.analysis.recorded import record, recording_of
from tests.recording.synthetic import Training, make_recording


def finding(id: str, severity: str = "error", iteration: int = 0) -> Finding:
    return Finding(id, severity, id, "", "", iteration=iteration)


def test_every_rule_is_a_named_function() -> None:
    assert len({rule.__name__ for rule in RULES}) == len(RULES) > 20
    assert all(rule.__doc__ for rule in RULES)


def test_consequences_are_folded_under_their_cause() -> None:
    roots = fold([finding("nan-spread", iteration=3), finding("nan-overflow", iteration=3), finding("lr-too-large")])
    assert [root.id for root in roots] == ["lr-too-large"]
    assert [one.id for one in roots[0].consequences] == ["nan-overflow"]
    assert [one.id for one in roots[0].consequences[0].consequences] == ["nan-spread"]


def test_of_two_that_can_explain_each_other_the_earlier_leads() -> None:
    assert fold([finding("dead-relu"), finding("vanishing-depth")])[0].id == "dead-relu"
    assert fold([finding("dead-relu", iteration=2), finding("vanishing-depth")])[0].id == "vanishing-depth"


def test_a_later_finding_explains_nothing_earlier() -> None:
    roots = fold([finding("exploding-depth", iteration=5), finding("nan-overflow", iteration=1)])
    assert roots[0].id == "nan-overflow"


def test_errors_come_before_warnings_and_notes() -> None:
    roots = fold([finding("converged", "info"), finding("unused-variable", "warning"), finding("tape-growth")])
    assert [root.severity for root in roots] == ["error", "warning", "info"]


def test_a_synthetic_run(tmp_path: Path) -> None:
    with open_recording(make_recording(tmp_path / "a.tapeviz", layers=8, vanish=0.1)) as recording:
        first = diagnose(recording)[0]
    assert (first.id, first.line, first.op, first.iteration) == ("vanishing-depth", 14, "sigmoid", 0)
    assert first.affected[:3] == ("W1", "W2", "W3")


def test_the_unused_variable_of_a_synthetic_run(tmp_path: Path) -> None:
    with open_recording(make_recording(tmp_path / "a.tapeviz", none_result=True)) as recording:
        found = [(f.id, f.severity, f.affected) for f in diagnose(recording)]
    assert ("unused-variable", "warning", ("unused",)) in found


def test_layers_and_time_steps_are_told_apart() -> None:
    for text, is_time, levels in ((deep("class", depth=7, steps=3), False, 7), (recurrent(steps=12), True, 12)):
        with recording_of(text) as recording:
            plan = Context(recording, Planner()).groups[0].plan
            assert (plan.recurrent >= 0) == is_time
            assert len(plan.signals) == levels


def test_a_growing_recording_gets_the_verdict_of_the_finished_one(tmp_path: Path) -> None:
    path = tmp_path / "a.tapeviz"
    with Writer(path, {"script": "/home/you/train.py"}) as writer:
        net = Training(writer, layers=8, width=8, vanish=0.1, nan_at=None, values=True, none_result=False)
        writer.flush()
        with open_recording(path) as growing:
            doctor = Doctor(growing)
            assert doctor.diagnose() == []
            seen = []
            for _ in range(12):
                net.iterate()
                writer.flush()
                growing.poll()
                found = doctor.diagnose()
                assert doctor.diagnose() is found      # nothing has come since
                seen.append([(f.id, f.line) for f in found])
            writer.close("finished")
            growing.poll()
            last = doctor.diagnose()
    assert all(ids == [("vanishing-depth", 14)] for ids in seen)
    with open_recording(path) as finished:
        assert diagnose(finished) == last


@pytest.mark.parametrize("level", ["params", "tape"])
def test_recordings_without_statistics(level: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(training("loss = gt.mean(gt.square(gt.constant(np.ones((4, 1))) * w - 2.0))", "[w, b]",
                               "w = gt.Variable(1.0, name='w')\nb = gt.Variable(1.0, name='b')"))
    place = tmp_path / "a.tapeviz"
    assert run_headless(RunConfig(script, recording=place, level=level), echo=False) == 0
    with open_recording(place) as recording:
        assert [f.id for f in diagnose(recording)] == ["unused-variable"]


def test_an_empty_recording(tmp_path: Path) -> None:
    with Writer(tmp_path / "a.tapeviz", {"script": "x.py"}) as writer:
        writer.close("finished")
    with open_recording(tmp_path / "a.tapeviz") as recording:
        assert diagnose(recording) == []


@pytest.mark.parametrize("text", [
    pytest.param("print('no tape')\n", id="no tape"),
    pytest.param("import gradtape as gt\nw = gt.Variable(2.0)\nwith gt.GradientTape() as t:\n    y = w * w\n"
                 "t.gradient(y, w)\n", id="scalar"),
    pytest.param("import gradtape as gt\nx = gt.Variable(2.0)\nwith gt.GradientTape() as a:\n"
                 "    with gt.GradientTape() as b:\n        y = x * x * x\n    d = b.gradient(y, x)\n"
                 "a.gradient(d, x)\n", id="second order"),
    pytest.param("import numpy as np\nimport gradtape as gt\nw = gt.Variable(np.ones((3, 1)))\nfor i in range(6):\n"
                 "    with gt.GradientTape() as t:\n        y = gt.sum(np.zeros((0, 3)) @ w)\n"
                 "    w.assign_sub(t.gradient(y, w))\n", id="empty arrays"),
    pytest.param("import numpy as np\nimport gradtape as gt\nw = gt.Variable(np.ones(3))\nfor i in range(12):\n"
                 "    with gt.GradientTape(persistent=True) as t:\n        y = w * w\n        z = gt.sum(y)\n"
                 "    g = t.gradient([y, z], [w, w])\n    t.gradient(z, y), t.jacobian(y, w)\n"
                 "    w.assign_sub(0.01 * g[0])\n", id="several targets and a jacobian"),
])
def test_unusual_programs(text: str) -> None:
    with recording_of(text) as recording:
        assert not [f for f in diagnose(recording) if f.severity != "info"]


def test_two_hundred_iterations_take_less_than_a_second() -> None:
    with open_recording(record(deep(depth=10, width=24, steps=200))) as recording:
        begun = time.perf_counter()
        assert diagnose(recording)[0].id == "vanishing-depth"
        assert time.perf_counter() - begun < 1.0


def test_statistics_of_many_operations_at_once(tmp_path: Path) -> None:
    path = make_recording(tmp_path / "a.tapeviz", iterations=20, ops_per_iteration=500)
    with open_recording(path) as recording:
        begun = time.perf_counter()
        findings = diagnose(recording)
        assert time.perf_counter() - begun < 2.0
    assert all(np.isfinite(f.iteration) for f in findings)
