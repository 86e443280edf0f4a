"""Fixtures of the window's tests: an exception caught in a Qt override fails the test; sessions, and the window."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tapeviz.analysis.findings import Finding
from tapeviz.gui import painting, polling
from tapeviz.gui.app import make_application, make_window
from tapeviz.gui.session import Session
from tapeviz.gui.theme import DARK, Theme, apply
from tapeviz.gui.window import MainWindow
from tapeviz.recording.reader import Recording
from tests.recording.synthetic import make_recording


@pytest.fixture(autouse=True)
def nothing_caught() -> Iterator[None]:
    """Fail when an override of a Qt virtual raised: the guard keeps the process alive, not the bug unseen."""
    seen: list[BaseException] = []

    def tell(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        seen.append(error.with_traceback(trace))

    painting.report.append(tell)
    yield
    painting.report.remove(tell)
    if seen:
        raise seen[0]


def settle(session: Session, seconds: float = 20.0) -> None:
    """Poll until the recording is read, the panels know and the rules have run."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        session.poll()
        QApplication.processEvents()
        if not session.working:
            return
        time.sleep(0.005)
    raise AssertionError(f"the session is still busy after {seconds} s")


@pytest.fixture
def dark(qapp: QApplication) -> Theme:
    """The application in the dark theme."""
    apply(DARK, qapp)
    return DARK


@pytest.fixture
def session(dark: Theme) -> Iterator[Session]:
    """A session with nothing open."""
    session = Session(dark)
    yield session
    session.close()


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three findings in known places instead of what the rules say; ask for it before `opened`."""
    def diagnose(recording: Recording) -> list[Finding]:
        found = []
        last = len(recording.iterations) - 1
        for number, (severity, iteration) in enumerate((("error", 0), ("warning", last // 2), ("info", last))):
            op = recording.ops_of(iteration).start + number
            file, line = recording.op_line(op)
            found.append(Finding(f"known-{number}", severity, f"Known thing {number}", "It is so.", "Do this.", file,
                                 line, recording.op_name(op), iteration, op_id=op))
        return found

    monkeypatch.setattr(polling, "diagnose", diagnose)


@pytest.fixture
def opened(session: Session, tmp_path: Path) -> Session:
    """A session that shows a finished training of twelve iterations."""
    assert session.open(make_recording(tmp_path / "opened.tapeviz", iterations=12))
    settle(session)
    return session


@pytest.fixture(scope="session")
def trained_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small training with everything captured, shared because nothing writes to it."""
    return make_recording(tmp_path_factory.mktemp("recordings") / "run.tapeviz", iterations=4)


@pytest.fixture
def trained(session: Session, trained_path: Path) -> Session:
    """A session that looks at the first matrix product that is undone in iteration 2: sigmoid 9 @ W4."""
    assert session.open(trained_path)
    session.set_focus(iteration=2, step=6)
    return session


@pytest.fixture
def window(session: Session, qtbot: QtBot) -> MainWindow:
    """The window around an empty session."""
    make_application()
    window = make_window(session)
    qtbot.addWidget(window)
    window.resize(1280, 720)
    window.show()
    return window
