"""Programs of unusual shape, recorded by the worker: nested tapes, several passes per iteration, a failing script."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tapeviz.analysis.arrange import layout_of
from tapeviz.analysis.explain import explain_element
from tapeviz.analysis.focus import Focus, move
from tapeviz.analysis.graph import build_graph
from tapeviz.analysis.index import iteration_count, main_pass
from tapeviz.analysis.magnitude import OK, Special
from tapeviz.analysis.oplist import op_rows
from tapeviz.analysis.series import health, loss_series
from tapeviz.analysis.steps import step_card, steps_of
from tapeviz.analysis.structure import structure_rows
from tapeviz.analysis.timemap import time_map
from tapeviz.capture.launcher import RunConfig, run_headless
from tapeviz.recording.reader import Recording, open_recording
from tapeviz.recording.schema import Phase
from tests.analysis.test_layout import overlapping

PROGRAMS = {
    "nested": '''
import numpy as np
import gradtape as gt
x = gt.Variable(1.5, name="x")
for step in range(2):
    with gt.GradientTape() as outer:
        with gt.GradientTape() as inner:
            y = gt.sin(x) * x
        slope = inner.gradient(y, x)
        penalty = slope * slope
    x.assign_sub(0.01 * outer.gradient(penalty, x))
''',
    "several": '''
import numpy as np
import gradtape as gt
rng = np.random.default_rng(0)
w, unused = gt.Variable(rng.normal(size=(4, 2)), name="w"), gt.Variable(3.0, name="unused")
for step in range(2):
    with gt.GradientTape(persistent=True) as tape:
        h = gt.tanh(rng.normal(size=(5, 4)) @ w)
        loss = gt.mean(gt.square(h))
        aux = gt.sum(w)
    grads = tape.gradient(loss, [w, unused])
    other = tape.gradient(aux, [w])
    w.assign_sub(0.1 * grads[0])
''',
    "failing": '''
import numpy as np
import gradtape as gt
w = gt.Variable(np.ones((3, 3)), name="w")
for step in range(3):
    with gt.GradientTape() as tape:
        y = gt.sum(gt.sin(w))
        if step == 2:
            y = w @ np.ones(4)
    w.assign_sub(tape.gradient(y, w))
''',
    "without_tape": "import gradtape as gt\nprint(gt.sin(gt.constant([1.0, 2.0])).shape)\n",
    "without_engine": "print('nothing')\n",
}


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    folder = tmp_path_factory.mktemp("programs")

    def run(name: str, level: str = "values") -> Path:
        path, script = folder / f"{name}-{level}.tapeviz", folder / f"{name}.py"
        if not path.exists():
            script.write_text(PROGRAMS[name])
            code = run_headless(RunConfig(script=script, recording=path, level=level), echo=False)
            assert code == (name == "failing")
        return path

    return run


def everything(recording: Recording) -> None:
    """Ask every question there is."""
    for iteration in range(iteration_count(recording)):
        graph = build_graph(recording, iteration)
        assert overlapping(layout_of(graph)) == []
        op_rows(recording, iteration)
        time_map(recording, iteration)
        structure_rows(recording, iteration)
        for pass_ in recording.passes_of(iteration):
            for step in range(len(steps_of(recording, pass_))):
                card = step_card(recording, pass_, step)
                assert move(recording, Focus(iteration), pass_=pass_, step=step).op == card.op
                for entry in card.contributions:
                    if entry.target.value is not None and entry.target.value.size:
                        explain_element(card, entry.slot, (0,) * entry.target.value.ndim)
    assert health(recording).l2.shape[1] == len(loss_series(recording).y)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("level", ["params", "tape", "stats", "values"])
def test_every_view_can_be_made_of_every_program_at_every_level(record, name, level):
    with open_recording(record(name, level)) as recording:
        everything(recording)


def test_a_pass_of_higher_order_shows_the_operations_of_backward_rules(record):
    with open_recording(record("nested")) as recording:
        graph = build_graph(recording, 1)
        phases = {int(recording.ops["phase"][node.op]) for node in graph.nodes if node.op is not None}
        assert phases == {Phase.FORWARD, Phase.BACKWARD}
        undone = {node.op for node in graph.nodes if node.step is not None}
        assert len(undone) == graph.steps
        plain = build_graph(recording, 1, backward=False)
        assert len(plain.nodes) < len(graph.nodes)


def test_the_main_pass_is_the_one_with_most_steps_and_its_target_the_loss(record):
    with open_recording(record("several")) as recording:
        passes = recording.passes_of(1)
        assert len(passes) == 2
        assert main_pass(recording, 1) == passes[0]
        assert loss_series(recording).y[1] == pytest.approx(recording.value(int(recording.passes["target"][passes[0]])))


def test_of_several_passes_the_last_that_delivered_is_in_the_map_and_none_stays_none(record):
    with open_recording(record("several")) as recording:
        shown = health(recording)
        assert shown.l2[shown.names.index("w"), 1] == pytest.approx(np.sqrt(8))      # d sum(w) / dw
        assert shown.state[shown.names.index("unused")].tolist() == [Special.NONE.value] * 2


def test_a_script_that_failed_keeps_what_there_was(record):
    with open_recording(record("failing")) as recording:
        assert health(recording).state[0].tolist() == [OK, OK, Special.NOT_CAPTURED.value]
        graph = build_graph(recording, 2)
        (failed,) = [node for node in graph.nodes if node.failed]
        assert (failed.label, failed.shape, failed.tensor) == ("matmul", "\u2013", None)


def test_what_ran_without_a_tape_is_shown(record):
    with open_recording(record("without_tape")) as recording:
        assert [node.label for node in build_graph(recording, 0).nodes][-1] == "sin"
    with open_recording(record("without_engine")) as recording:
        assert build_graph(recording, 0).nodes == ()
