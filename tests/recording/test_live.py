"""Reading while another process writes, and after it was killed, starved of disk, forked or interrupted."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tapeviz.recording.process import is_running, myself
from tapeviz.recording.reader import Recording, open_recording
from tapeviz.recording.rows import RecordingError
from tapeviz.recording.schema import NONE, What
from tapeviz.recording.writer import Writer
from tests.recording.programs import ENDLESS, FORK, FULL_DISK, INTERRUPTED, NO_CLOSE, output_of, start
from tests.recording.synthetic import make_recording

posix = pytest.mark.skipif(sys.platform == "win32", reason="uses POSIX signals, limits or fork")


def wait_for(condition: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.005)


def companions(path: Path) -> list[Path]:
    return sorted(path.parent.glob(path.name + "-*"))


def add_op(writer: Writer, number: int) -> None:
    writer.op(number, 0, 1, 1, NONE, NONE, 0, 0, 1, *[NONE] * 4, number, writer.now(), 0, 0, NONE, NONE)


@pytest.fixture
def endless(tmp_path: Path) -> Iterator[tuple[Path, subprocess.Popen[str]]]:
    path = tmp_path / "run.tapeviz"
    process = start(ENDLESS, path)
    wait_for(lambda: path.exists() and path.stat().st_size > 0 and _opens(path))
    yield path, process
    process.kill()
    process.communicate()


def _opens(path: Path) -> bool:
    try:
        with open_recording(path) as recording:
            return len(recording.ops) > 0
    except RecordingError:
        return False   # its tables are just being made


def test_a_live_recording_grows(endless: tuple[Path, subprocess.Popen[str]]) -> None:
    path, _ = endless
    with open_recording(path) as recording, open_recording(path) as other:
        assert recording.status == "running"
        assert not recording.finished
        revision, before = recording.revision, recording.ops
        wait_for(lambda: recording.poll() and len(recording.ops) > len(before) + 2000)
        assert recording.revision > revision
        np.testing.assert_array_equal(recording.ops["id"], np.arange(len(recording.ops)))
        np.testing.assert_array_equal(before["id"], np.arange(len(before)))   # the old array is still what it was
        last = len(recording.values) - 1
        assert recording.value(last) == [last]
        other.poll()
        assert len(other.ops) >= len(recording.ops)


def test_operations_are_seen_soon(endless: tuple[Path, subprocess.Popen[str]]) -> None:
    path, _ = endless
    delays = []
    with open_recording(path) as recording:
        deadline = time.monotonic() + 1
        while time.monotonic() < deadline:
            if recording.poll():
                delays.append(time.time_ns() - int(recording.ops["t"][-1]))
            time.sleep(0.002)
    assert np.median(delays) < 200e6   # 20 ms on an idle machine


@posix
def test_killed_with_signal_9(endless: tuple[Path, subprocess.Popen[str]], tmp_path: Path) -> None:
    path, process = endless
    with open_recording(path) as recording:
        wait_for(lambda: recording.poll() and len(recording.ops) > 3000)
        killed = time.time_ns()
        process.kill()
        process.wait()
        wait_for(lambda: recording.poll() and recording.finished, 5)
        assert recording.status == "killed"
        seen = len(recording.ops)
        assert killed - int(recording.ops["t"][-1]) < 500e6
    with open_recording(path) as again:
        assert again.status == "killed"
        assert len(again.ops) == seen
        assert len(again.values) in (seen - 1, seen)   # the last flush may have come between an operation and its value
        assert again.value(seen - 2) == [seen - 2]
    assert companions(path) == []   # opening it made it one file
    copy = shutil.copy(path, tmp_path / "copy.tapeviz")
    with open_recording(copy) as copied:
        assert len(copied.ops) == seen


def test_a_finished_recording_is_one_file(tmp_path: Path) -> None:
    path = tmp_path / "run.tapeviz"
    with Writer(path) as writer:
        add_op(writer, 0)
        writer.flush()
        assert companions(path)
    assert list(tmp_path.iterdir()) == [path]


def test_it_becomes_one_file_although_readers_were_looking(tmp_path: Path) -> None:
    path = tmp_path / "run.tapeviz"
    with Writer(path) as writer:
        readers = [open_recording(path), open_recording(path)]
        add_op(writer, 0)
    for reader in readers:
        assert reader.poll()
        assert reader.status == "finished"
        assert len(reader.ops) == 1
    assert reader.poll() is False
    for reader in readers:
        reader.close()
    assert companions(path) == []


def test_one_reader_settles_the_file_while_it_stays_open(tmp_path: Path) -> None:
    path = tmp_path / "run.tapeviz"
    with Writer(path) as writer:
        reader = open_recording(path)
        writer.value(0, What.VALUE, np.arange(3))
    assert reader.poll()
    assert companions(path) == []
    assert reader.value(0).tolist() == [0, 1, 2]   # type: ignore[union-attr]  # it was kept
    reader.close()


@posix
def test_full_disk(tmp_path: Path) -> None:
    path = tmp_path / "run.tapeviz"
    failed, goes_on = output_of(FULL_DISK, path).splitlines()
    assert goes_on == "the script goes on"
    assert failed.startswith(f"recording to {path} has stopped: the disk ")
    assert failed.endswith("What was recorded until now can be opened.")
    with open_recording(path) as recording:
        assert len(recording.ops) >= 1001
        np.testing.assert_array_equal(recording.ops["id"], np.arange(len(recording.ops)))
        assert recording.status == "finished"
        assert recording.meta["failed"] == failed


@pytest.mark.skipif(not hasattr(os, "fork"), reason="uses fork")
def test_a_forked_child_leaves_the_recording_alone(tmp_path: Path) -> None:
    output_of(FORK, tmp_path / "run.tapeviz")
    with open_recording(tmp_path / "run.tapeviz") as recording:
        np.testing.assert_array_equal(recording.ops["id"], np.arange(2000))
        assert recording.status == "finished"
        assert len(recording.values) == 0


def test_a_script_that_just_ends(tmp_path: Path) -> None:
    output_of(NO_CLOSE, tmp_path / "run.tapeviz")
    with open_recording(tmp_path / "run.tapeviz") as recording:
        assert len(recording.ops) == 1000
        assert recording.status == "stopped"


@posix
def test_interrupts_lose_nothing(tmp_path: Path) -> None:
    hits, number = map(int, output_of(INTERRUPTED, tmp_path / "run.tapeviz").split())
    assert hits > 10
    with open_recording(tmp_path / "run.tapeviz") as recording:
        missing = number - len(set(recording.ops["id"].tolist()))
        assert abs(missing) <= hits   # one at a time: interrupted between counting and keeping
        assert recording.name(number - 1) == f"name {number - 1}"


def test_an_idle_writer_shows_what_it_has(tmp_path: Path) -> None:
    with Writer(tmp_path / "run.tapeviz") as writer, open_recording(tmp_path / "run.tapeviz") as recording:
        add_op(writer, 0)   # and then nothing: the helper has to write it
        writer.event("stdout", {"text": "waiting"})
        wait_for(lambda: recording.poll() and len(recording.ops) == 1 and len(recording.events) == 1)


def test_the_log_does_not_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tapeviz.recording.writer.CHECKPOINT_SECONDS", 0.1)
    path = tmp_path / "run.tapeviz"
    largest, block = 0, np.zeros(20_000)
    with Writer(path) as writer:
        for number in range(150):   # 24 MB in 0.9 s
            writer.value(number, What.VALUE, block)
            writer.flush()
            largest = max(largest, *(file.stat().st_size for file in companions(path)))
            time.sleep(0.006)
    assert largest < 12_000_000


def test_many_threads_write(tmp_path: Path) -> None:
    def work(thread: int) -> None:
        for number in range(2000):
            writer.step(thread, number, 0, 0, 0, 0, 0)
            writer.value(thread, What.VALUE, [thread, number], pass_=number)
            writer.name_id(f"{number % 50}")

    with Writer(tmp_path / "run.tapeviz") as writer:
        threads = [threading.Thread(target=work, args=(thread,)) for thread in range(6)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    with open_recording(tmp_path / "run.tapeviz") as recording:
        for thread in range(6):
            mine = recording.steps["step"][recording.steps["pass"] == thread]
            np.testing.assert_array_equal(mine, np.arange(2000))
            for number in (0, 777, 1999):
                assert recording.value(thread, pass_=number).tolist() == [thread, number]   # type: ignore[union-attr]
        names = sorted(recording.name(number) for number in range(50) if recording.name(number))
        assert len(set(names)) == len(names)


def test_look_ups_in_several_threads_while_it_grows(tmp_path: Path) -> None:
    problems: list[BaseException] = []

    def look(recording: Recording, done: threading.Event) -> None:
        try:
            while not done.is_set():
                rows = recording.stats_of(What.COTANGENT, pass_=3)
                assert (rows["pass"] == 3).all()
                found = recording.stat(1, What.VALUE)
                assert found is None or found["tensor"] == 1
        except BaseException as error:   # noqa: BLE001  # told to the test's own thread
            problems.append(error)

    done = threading.Event()
    with Writer(tmp_path / "run.tapeviz") as writer, open_recording(tmp_path / "run.tapeviz") as recording:
        threads = [threading.Thread(target=look, args=(recording, done)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for number in range(3000):
            writer.stat(number % 7, NONE, number % 5, number % 2, *[0] * 17, 0)
            if number % 100 == 0:
                writer.flush()
                recording.poll()
        done.set()
        for thread in threads:
            thread.join()
    assert problems == []


def test_who_runs() -> None:
    me = myself()
    now = time.time()
    assert is_running(me, None)
    assert not is_running({**me, "began": "long ago"}, now) or sys.platform != "linux"
    assert is_running({**me, "host": "another"}, now - 5)
    assert not is_running({**me, "host": "another"}, now - 100)   # a crashed run, copied from another machine
    assert not is_running({**me, "host": "another"}, None)
    done = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    assert not is_running({**me, "pid": int(done.stdout), "began": ""}, now)
    for nonsense in (None, "x", {}, {"pid": "x", "host": me["host"]}, {"pid": -1, "host": me["host"]}):
        assert not is_running(nonsense, now)


@posix
def test_a_killed_child_that_nobody_waited_for_does_not_run(endless: tuple[Path, subprocess.Popen[str]]) -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux tells a dead child from a living one")
    path, process = endless
    os.kill(process.pid, signal.SIGKILL)
    time.sleep(0.2)
    with open_recording(path) as recording:
        assert recording.status == "killed"


def test_the_database_is_sound(tmp_path: Path) -> None:
    path = tmp_path / "run.tapeviz"
    with Writer(path) as writer:
        for number in range(20_000):
            add_op(writer, number)
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert connection.execute("PRAGMA page_size").fetchone() == (8192,)
    connection.close()


def test_a_recording_that_another_run_has_replaced_stays_what_it_was(tmp_path: Path) -> None:
    path = tmp_path / "run.tapeviz"
    make_recording(path, iterations=3)
    with open_recording(path) as old:
        path.unlink()
        make_recording(path, iterations=7, width=5)
        (tmp_path / "run.tapeviz-wal").touch()      # as if the new run were still being written
        old.poll()
        assert len(old.iterations) == 3
        assert old.value(int(old.ops["output"][0])) is not None
    assert (tmp_path / "run.tapeviz-wal").exists()
