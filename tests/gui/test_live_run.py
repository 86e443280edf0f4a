"""A real script in a real worker, driven by the window's commands: run, pause, single steps, stop, failure."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tapeviz.capture.launcher import RunConfig
from tapeviz.gui.output.panel import OutputPanel
from tapeviz.gui.session import Session
from tapeviz.gui.source.editor import Editor
from tapeviz.gui.window import MainWindow
from tests.gui.conftest import settle

LOOP = """
import numpy as np
import gradtape as gt

w = gt.Variable(np.ones((3, 3)), name="w")
for step in range({count}):
    with gt.GradientTape() as tape:
        loss = gt.sum(gt.tanh(w @ w))
    w.assign_sub(0.01 * tape.gradient(loss, w))
    print("step", step)
    {extra}
"""


@pytest.fixture
def run(window: MainWindow, tmp_path: Path) -> Callable[..., None]:
    def start(count: int, extra: str = "pass") -> None:
        script = tmp_path / "train.py"
        script.write_text(LOOP.format(count=count, extra=extra))
        window.start(RunConfig(script=script, recording=tmp_path / "train.tapeviz", cwd=tmp_path))
    return start


def output_of(window: MainWindow) -> OutputPanel:
    panel = window.workbench.panel("output")
    assert isinstance(panel, OutputPanel)
    return panel


def test_a_run_to_its_end(run, window: MainWindow, qtbot: QtBot) -> None:
    run(20)
    qtbot.waitUntil(lambda: window.session.state == "finished", timeout=20_000)
    settle(window.session)
    recording = window.session.recording
    assert recording is not None
    assert len(recording.iterations) == 20
    assert window.session.focus.iteration == 19
    assert window.operations_panel().model.rowCount() > 3
    assert window.commands["run.run"].isEnabled()
    assert not window.commands["run.pause"].isEnabled()
    output = output_of(window)
    assert "step 19" in output.view.toPlainText()


def test_pause_single_steps_resume_stop(run, window: MainWindow, qtbot: QtBot) -> None:
    session = window.session
    run(1_000_000)
    qtbot.waitUntil(lambda: session.recording is not None and len(session.recording.iterations) > 5, timeout=20_000)
    assert session.following
    window.commands["run.pause"].trigger()
    qtbot.waitUntil(lambda: session.state == "paused", timeout=5000)
    assert window.commands["run.run"].text() == "Resume"
    for wanted in (1, 2):
        while True:
            pause = session.paused_at
            window.commands["run.node"].trigger()
            qtbot.waitUntil(partial(_paused_anew, session, pause), timeout=5000)
            if session.paused_at is not None and session.paused_at.get("step") == wanted:
                break
        qtbot.waitUntil(partial(_looks_at, session, wanted - 1), timeout=5000)
    assert "before a backward step" in window.status.state.text()
    step = session.focus.step
    window.commands["step.next"].trigger()
    qtbot.waitUntil(lambda: session.focus.step != step, timeout=5000)
    before = len(session.recording.iterations) if session.recording is not None else 0
    window.commands["run.run"].trigger()
    qtbot.waitUntil(lambda: session.recording is not None and len(session.recording.iterations) > before + 5,
                    timeout=10_000)
    window.commands["run.stop"].trigger()
    qtbot.waitUntil(lambda: session.state == "stopped", timeout=6000)
    settle(session)
    assert session.problem is None


def test_a_script_that_raises_leads_to_its_line(run, window: MainWindow, qtbot: QtBot) -> None:
    run(50, "if step == 7: raise ValueError('too far')")
    qtbot.waitUntil(lambda: window.session.state == "failed", timeout=20_000)
    settle(window.session)
    assert window.banner.isVisible()
    assert window.banner.detail.text() == "ValueError: too far"
    assert window.banner.kept.text() == "Kept up to iteration 7."
    window.banner.button.click()
    editor = window.source_panel().tabs.currentWidget()
    assert isinstance(editor, Editor)
    assert window.session.problem is not None
    assert editor.textCursor().blockNumber() + 1 == window.session.problem.line == 11
    qtbot.waitUntil(window.source_panel().isVisible, timeout=2000)


def test_a_script_that_asks_and_records_nothing(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    script = tmp_path / "ask.py"
    script.write_text("print('hello', input('name? '))\n")
    window.start(RunConfig(script=script, recording=tmp_path / "ask.tapeviz", cwd=tmp_path))
    output = output_of(window)
    window.workbench.raise_panel("output")
    qtbot.waitUntil(lambda: output.input_row.isVisible(), timeout=20_000)
    qtbot.keyClicks(output.input, "Ada")
    output.input.returnPressed.emit()
    qtbot.waitUntil(lambda: window.session.state == "finished", timeout=20_000)
    settle(window.session)
    assert "hello Ada" in output.view.toPlainText()
    assert window.session.problem is not None
    assert window.session.problem.kind == "nothing-recorded"


def _paused_anew(session: Session, before: object) -> bool:
    return session.paused_at is not None and session.paused_at != before


def _looks_at(session: Session, step: int) -> bool:
    return session.focus.step == step


def test_the_paused_script_undoes_down_to_the_selected_operation(run, window: MainWindow, qtbot: QtBot) -> None:
    run(100_000)
    session = window.session
    qtbot.waitUntil(lambda: session.recording is not None and len(session.recording.iterations) > 3, timeout=20_000)
    window.commands["run.pause"].trigger()
    qtbot.waitUntil(lambda: session.state == "paused", timeout=20_000)
    window.commands["run.node"].trigger()
    qtbot.waitUntil(lambda: (session.paused_at or {}).get("where") == "node" and session.state == "paused"
                    and session.focus.op == (session.paused_at or {}).get("op"), timeout=20_000)
    recording = session.recording
    assert recording is not None
    pass_ = session.focus.pass_
    assert pass_ is not None
    tanh, matmul = (next(op for op in recording.ops_of(session.focus.iteration) if recording.op_name(op) == name)
                    for name in ("tanh", "matmul"))
    assert matmul < tanh
    session.set_focus(op=matmul)
    assert session.focus.step is None
    window.commands["step.selected"].trigger()
    qtbot.waitUntil(lambda: session.focus.op == matmul and session.focus.step is not None, timeout=20_000)
    assert session.focus.pass_ == pass_
    assert recording.steps_of(pass_)["op"].tolist()[-1] == matmul
    assert session.state == "paused"
    window.commands["run.stop"].trigger()
    qtbot.waitUntil(lambda: session.state == "stopped", timeout=10_000)
