"""The session: opening, the focus, following a run, problems; with a worker that is played by the test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from tapeviz.analysis.findings import Finding
from tapeviz.capture.launcher import RunConfig
from tapeviz.gui import polling, session as session_module
from tapeviz.gui.problems import Problem
from tapeviz.gui.session import Session
from tapeviz.recording.reader import Recording
from tapeviz.recording.writer import Writer
from tests.gui.conftest import settle
from tests.recording.synthetic import make_recording


class PlayedWorker:
    """Says and is what the test wants; its recording is written by the test."""

    def __init__(self, config: RunConfig) -> None:
        assert config.recording is not None
        self.recording: Path = config.recording
        self.state = "starting"
        self.messages: list[dict[str, Any]] = []
        self.asked: list[str] = []

    def start(self) -> None:
        self.state = "running"

    def poll(self) -> list[dict[str, Any]]:
        messages, self.messages = self.messages, []
        return messages

    def stop(self) -> None:
        self.asked.append("stop")
        self.state = "stopped"

    def wait(self, timeout: float | None = None) -> bool:
        return True

    def pause(self) -> None:
        self.asked.append("pause")

    def resume(self) -> None:
        self.asked.append("resume")

    def step(self, kind: str) -> None:
        self.asked.append(f"step {kind}")

    def send_input(self, text: str) -> None:
        self.asked.append(f"input {text!r}")


@pytest.fixture
def worker_of(monkeypatch: pytest.MonkeyPatch, session: Session, tmp_path: Path):
    """Runs a script of which the worker is played; returns it."""
    def run(recording: Path | None = None) -> PlayedWorker:
        monkeypatch.setattr(session_module, "Worker", PlayedWorker)
        place = recording if recording is not None else tmp_path / "none-yet.tapeviz"
        assert session.run(RunConfig(script=tmp_path / "train.py", recording=place))
        session._replaced = None    # what is there has been written by this worker
        worker: object = session.worker
        assert isinstance(worker, PlayedWorker)
        return worker
    return run


def follows(session: Session) -> bool:
    """A function, so that mypy does not take what was true once for true for ever."""
    return session.following


def problem_of(session: Session) -> Problem | None:
    return session.problem


def test_opening_shows_the_end_and_its_first_backward_step(opened: Session) -> None:
    assert opened.recording is not None
    assert opened.focus.iteration == 11
    assert opened.focus.step == 0
    assert opened.focus.op is not None
    assert opened.state == "finished"
    assert not opened.active


def test_a_recording_brings_its_script(opened: Session) -> None:
    assert opened.script is not None
    assert opened.script.name == "train.py"


def test_an_equal_focus_is_no_news(opened: Session, qtbot: QtBot) -> None:
    with qtbot.waitSignal(opened.focus_changed, timeout=500):
        opened.set_focus(iteration=3)
    with qtbot.assertNotEmitted(opened.focus_changed):
        opened.set_focus(iteration=3)


def test_parts_of_the_focus_agree(opened: Session) -> None:
    opened.set_focus(iteration=4)
    opened.set_focus(step=2)
    recording, focus = opened.recording, opened.focus
    assert recording is not None
    assert focus.op is not None
    assert recording.iteration_of(focus.op) == focus.iteration == 4
    assert focus.step == 2


def test_what_cannot_be_opened_is_a_problem_not_an_exception(session: Session, tmp_path: Path) -> None:
    text = tmp_path / "no.tapeviz"
    text.write_text("this is no recording")
    assert not session.open(text)
    assert session.problem is not None
    assert session.problem.kind == "cannot-open"
    assert "no.tapeviz" in session.problem.title + session.problem.detail
    assert session.recording is None


def test_a_bad_file_leaves_what_is_open(opened: Session, tmp_path: Path) -> None:
    before = opened.recording
    assert not opened.open(tmp_path / "missing.tapeviz")
    assert opened.recording is before


def test_findings_come_from_another_thread_and_belong_to_what_is_open(known, opened: Session, tmp_path: Path) -> None:
    first = list(opened.findings)
    assert first
    other = make_recording(tmp_path / "small.tapeviz", iterations=2, layers=1)
    assert opened.open(other)
    assert opened.findings == []
    settle(opened)
    assert len(opened.findings) == 3
    assert opened.findings != first


def test_a_running_script_is_followed_until_the_user_chooses(worker_of, session: Session, tmp_path: Path) -> None:
    worker_of(make_recording(tmp_path / "live.tapeviz", iterations=8, layers=2))
    assert follows(session)
    settle(session)
    assert session.focus.iteration == session.newest_iteration() > 3
    session.set_focus(iteration=2)
    assert not follows(session)
    assert session.new_iterations == session.newest_iteration() - 2
    session.poll()
    assert session.focus.iteration == 2
    session.follow()
    assert follows(session)
    assert session.focus.iteration == session.newest_iteration()


def test_a_pause_moves_the_focus_to_where_the_script_stands(worker_of, session: Session, tmp_path: Path) -> None:
    worker = worker_of(make_recording(tmp_path / "live.tapeviz", iterations=5, layers=2))
    settle(session)
    assert session.recording is not None
    op = session.recording.ops_of(1).start + 3
    worker.state = "paused"
    worker.messages = [{"type": "paused", "op": op, "pass": None, "step": None, "iteration": 1, "where": "op"}]
    session.poll()
    assert session.state == "paused"
    assert session.focus.op == op
    assert session.paused_at is not None
    worker.state = "running"
    session.poll()
    assert session.paused_at is None


def test_a_pause_waits_for_the_records_it_speaks_of(worker_of, session: Session, tmp_path: Path) -> None:
    worker = worker_of(make_recording(tmp_path / "live.tapeviz", iterations=2, layers=1))
    settle(session)
    before = session.focus
    worker.state = "paused"
    worker.messages = [{"type": "paused", "op": 10**6, "where": "op"}]
    session.poll()
    assert session.focus == before


def test_a_script_without_a_tape(worker_of, session: Session, tmp_path: Path) -> None:
    path = tmp_path / "empty.tapeviz"
    Writer(path, {"script": "train.py"}).close("finished")
    worker = worker_of(path)
    worker.state = "finished"
    session.poll()
    assert session.problem is not None
    assert session.problem.kind == "nothing-recorded"


def test_a_script_that_raised(worker_of, session: Session, tmp_path: Path) -> None:
    path = tmp_path / "failed.tapeviz"
    writer = Writer(path, {"script": "train.py"})
    writer.source_id("/home/u/train.py", "1/0\n")
    writer.event("exception", {"type": "ZeroDivisionError", "message": "division by zero", "frames": [
        {"file": "/home/u/train.py", "line": 1, "function": "<module>", "code": "1/0"},
        {"file": "/usr/lib/python3/numeric.py", "line": 900, "function": "div", "code": "x / y"}]})
    writer.close("failed")
    worker = worker_of(path)
    worker.state = "failed"
    session.poll()
    problem = session.problem
    assert problem is not None
    assert (problem.kind, problem.detail) == ("script-failed", "ZeroDivisionError: division by zero")
    assert (problem.file, problem.line) == ("/home/u/train.py", 1), "the user's line, not the library's"


def test_a_worker_that_was_killed_says_how_far_it_came(worker_of, session: Session, tmp_path: Path) -> None:
    worker = worker_of(make_recording(tmp_path / "live.tapeviz", iterations=3, layers=1))
    settle(session)
    worker.messages = [{"type": "error", "message": "killed by signal 9 (SIGKILL)"}]
    worker.state = "killed"
    session.poll()
    assert session.problem is not None
    assert "SIGKILL" in session.problem.detail
    assert session.problem.kept == "Kept up to iteration 2."
    assert session.recording is not None


def test_a_full_disk_is_told_while_the_script_goes_on(worker_of, session: Session, tmp_path: Path) -> None:
    worker = worker_of(make_recording(tmp_path / "live.tapeviz", iterations=3, layers=1))
    settle(session)
    worker.messages = [{"type": "error", "message": "the disk is full"}]
    session.poll()
    assert session.problem is not None
    assert (session.problem.kind, session.problem.detail) == ("not-recorded", "the disk is full")
    assert session.active
    worker.state = "killed"
    session.poll()
    assert session.problem.kind == "killed"


def test_a_worker_that_never_wrote_is_a_problem(worker_of, session: Session) -> None:
    worker = worker_of()
    session.poll()
    assert problem_of(session) is None
    worker.messages = [{"type": "error", "message": "No module named numpy"}]
    worker.state = "failed"
    session.poll()
    assert session.problem is not None
    assert session.problem.detail == "No module named numpy"


def shown_iterations(session: Session) -> int:
    return len(session.recording.iterations) if session.recording is not None else 0


def test_the_recording_of_an_earlier_run_is_not_taken_for_the_new_one(monkeypatch: pytest.MonkeyPatch,
                                                                      session: Session, tmp_path: Path) -> None:
    monkeypatch.setattr(session_module, "Worker", PlayedWorker)
    place = make_recording(tmp_path / "train.tapeviz", iterations=5, layers=1)
    assert session.open(place)
    assert session.run(RunConfig(script=tmp_path / "train.py", recording=place))
    session.poll()
    assert not shown_iterations(session)
    make_recording(place, iterations=2, layers=1)      # the worker begins to write
    session.poll()
    assert shown_iterations(session) == 2


def test_the_rules_look_at_the_new_run_in_the_same_place(monkeypatch: pytest.MonkeyPatch, session: Session,
                                                         tmp_path: Path) -> None:
    def count(recording: Recording) -> list[Finding]:
        return [Finding("count", "info", str(len(recording.iterations)), "", "")]

    monkeypatch.setattr(polling, "diagnose", count)
    for iterations in (5, 2):
        assert session.open(make_recording(tmp_path / "train.tapeviz", iterations=iterations, layers=1))
        settle(session)
        assert [finding.title for finding in session.findings] == [str(iterations)]


def test_closing_stops_the_script(worker_of, session: Session) -> None:
    worker = worker_of()
    session.close()
    assert worker.asked == ["stop"]


def test_another_run_stops_the_one_before(worker_of, session: Session, tmp_path: Path) -> None:
    first = worker_of()
    worker_of(make_recording(tmp_path / "b.tapeviz", iterations=1, layers=1))
    assert first.asked == ["stop"]


def test_the_clock_rests_when_there_is_nothing_to_wait_for(opened: Session) -> None:
    assert not opened._timer.isActive()
