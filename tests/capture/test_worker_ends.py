"""How runs end that nobody ends in the ordinary way: launchers that die, signals, full disks; what is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from tapeviz.capture.launcher import RunConfig, run_headless
from tapeviz.recording.reader import open_recording
from tests.capture.processes import (
    ENVIRONMENT,
    is_alive,
    launch,
    output,
    run_worker,
    status,
    until,
    wait_for,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")

TRAINING = """
    import os
    import numpy as np
    import gradtape as gt

    w = gt.Variable(np.ones(20), name="w")
    print(os.getpid(), flush=True)
    while True:
        with gt.GradientTape() as tape:
            loss = gt.sum(gt.square(w * 2.0))
        w.assign_sub(0.001 * tape.gradient(loss, w))
"""
DEAF = """
    import os, signal, time
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    print(os.getpid(), flush=True)
    while True:
        try:
            time.sleep(60)
        except BaseException:
            pass
"""
SLEEPING = "import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(60)"
# The launcher's own process: a window without a window.
LAUNCHER = """
    import sys, time
    from pathlib import Path
    from tapeviz.capture.launcher import RunConfig, Worker
    worker = Worker(RunConfig(Path(sys.argv[1]), recording=Path(sys.argv[2])))
    worker.start()
    while not worker.output.strip():
        time.sleep(0.01)
    print(worker.output.split()[0], flush=True)
    time.sleep(60)
"""


def written(folder: Path, text: str) -> Path:
    script = folder / "script.py"
    script.write_text(textwrap.dedent(text))
    return script


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def command(script: Path) -> subprocess.Popen[str]:
    """`tapeviz run --headless` in a session of its own, as in a terminal of its own."""
    return subprocess.Popen([sys.executable, "-m", "tapeviz", "run", script.name, "--headless"], cwd=script.parent,
                            env=ENVIRONMENT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            start_new_session=True)


# --- the launcher dies --------------------------------------------------------------------------------------------

@pytest.mark.parametrize("text", [TRAINING, SLEEPING, DEAF], ids=["training", "sleeping", "deaf"])
def test_a_headless_run_ends_with_its_launcher(tmp_path, text):
    with command(written(tmp_path, text)) as process:
        script = int(first_line(process))
        time.sleep(0.3)
        process.kill()
        until(lambda: not is_alive(script), seconds=5)
    assert status(tmp_path / "script.tapeviz") == "stopped"
    assert output(tmp_path / "script.tapeviz").strip() == str(script)
    assert not list(tmp_path.glob("*.tapeviz-*"))   # one whole file


def test_a_script_outlives_its_window_even_if_it_prints(tmp_path):
    script = written(tmp_path, """
        import os, sys, time
        window = os.getppid()
        print(os.getpid(), flush=True)
        while os.getppid() == window:
            time.sleep(0.01)
        time.sleep(0.2)
        print("and on")
        sys.stdout.buffer.write(b"in bytes\\n")
        print("warned", file=sys.stderr)
    """)
    place = tmp_path / "out.tapeviz"
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(LAUNCHER), str(script), str(place)], text=True,
                          stdout=subprocess.PIPE, env=ENVIRONMENT) as window:
        pid = int(first_line(window))
        window.kill()
    until(lambda: not is_alive(pid))
    assert status(place) == "finished"
    assert output(place) == f"{pid}\nand on\nin bytes\n"
    assert output(place, "stderr") == "warned\n"


def test_a_launcher_that_has_gone_before_the_worker_came(tmp_path):
    done, place = run_worker(tmp_path, "print('on')", options=("--control", "1"))
    assert (done.returncode, done.stdout, place.exists()) == (2, "", False)
    done, place = run_worker(tmp_path, "print('on')", options=("--control", "1", "--outlives-window"))
    assert (done.returncode, done.stdout, status(place)) == (0, "on\n", "finished")


# --- Ctrl+C and its like ------------------------------------------------------------------------------------------

@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("text", [TRAINING, SLEEPING, DEAF], ids=["training", "sleeping", "deaf"])
def test_ctrl_c_once_and_twice(tmp_path, text, times):
    process = command(written(tmp_path, text))
    with process:
        script = int(first_line(process))
        time.sleep(0.3)
        began = time.monotonic()
        for _ in range(times):
            os.killpg(process.pid, signal.SIGINT)   # as a terminal does: to everybody
            time.sleep(0.2)
        said = process.communicate(timeout=10)[1]
        assert process.returncode == 130
        assert time.monotonic() - began < 4
    assert not is_alive(script)
    assert said.endswith("tapeviz: interrupted\n")
    assert "tapeviz/" not in said
    assert output(tmp_path / "script.tapeviz").strip() == str(script)
    assert status(tmp_path / "script.tapeviz") in (("stopped",) if times == 1 else ("stopped", "killed"))


def test_a_second_ctrl_c_does_not_tear_what_is_being_written(tmp_path):
    place = tmp_path / "run.tapeviz"
    written(tmp_path, TRAINING)
    with subprocess.Popen([sys.executable, "-P", "-m", "tapeviz.capture.worker", "--recording", str(place), "--",
                           "script.py"], cwd=tmp_path, env=ENVIRONMENT, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as worker:
        first_line(worker)
        time.sleep(0.5)
        for _ in range(5):
            worker.send_signal(signal.SIGINT)
            time.sleep(0.01)
        said = worker.communicate(timeout=20)[1]
    assert said.count("KeyboardInterrupt") == 1
    assert worker.returncode in (130, -signal.SIGINT)   # the last may come as the interpreter goes
    assert status(place) == "stopped"


@pytest.mark.parametrize("delay", [0.0, 0.05, 0.1, 0.2, 0.4])
def test_told_to_end_while_it_starts(tmp_path, delay):
    with command(written(tmp_path, "import time\ntime.sleep(20)")) as process:
        time.sleep(delay)
        process.terminate()
        process.communicate(timeout=10)   # ends when nobody holds the pipes any more: the script has gone, too
        assert process.returncode in (130, -signal.SIGTERM)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_script_that_is_told_to_end_leaves_a_whole_recording(tmp_path, number):
    worker = launch(tmp_path, TRAINING)
    until(lambda: worker.output.endswith("\n"))
    time.sleep(0.3)
    os.kill(int(worker.output), number)
    assert worker.wait(10)
    assert worker.state == "killed"
    assert [m["message"] for m in worker.poll() if m["type"] == "error"] == [
        f"killed by signal {int(number)} ({number.name})"]
    assert status(worker.recording) == "killed"
    assert not list(tmp_path.glob("*.tapeviz-*"))


def test_stop_closes_the_recording_of_a_script_that_does_not_listen(tmp_path):
    worker = launch(tmp_path, DEAF)
    until(lambda: worker.output.endswith("\n"))
    worker.stop()
    assert worker.wait(3.5)
    assert (worker.state, status(worker.recording)) == ("stopped", "stopped")


def test_children_are_ended_by_sigterm_as_ever(tmp_path):
    done, place = run_worker(tmp_path, """
        import multiprocessing, os, signal, time
        def work(ready):
            ready.set()
            time.sleep(30)
        context = multiprocessing.get_context("fork")
        ready = context.Event()
        child = context.Process(target=work, args=(ready,)); child.start()
        ready.wait()
        child.terminate(); child.join(10)
        print(child.exitcode)
    """)
    assert done.stdout == "-15\n", done.stderr
    assert status(place) == "finished"


# --- ends of the process itself -----------------------------------------------------------------------------------

@pytest.mark.parametrize("end", [
    "os._exit(3)", "os.kill(os.getpid(), signal.SIGKILL)", "os.abort()", "signal.raise_signal(signal.SIGTERM)",
    "os.kill(0, signal.SIGKILL)",
])
@pytest.mark.parametrize("steps", [1, 300])
def test_a_script_that_ends_itself_loses_nothing(tmp_path, end, steps):
    script = written(tmp_path, f"""
        import os, signal
        import numpy as np
        import gradtape as gt
        w = gt.Variable(np.ones(20))
        for step in range({steps}):
            with gt.GradientTape() as tape:
                loss = gt.sum(gt.square(w))
            w.assign_sub(0.01 * tape.gradient(loss, w))
        print("last words", flush=True)
        with gt.GradientTape() as tape:
            loss = gt.exp(gt.sum(w))
        {end}
    """)
    place = tmp_path / "run.tapeviz"
    subprocess.run([sys.executable, "-P", "-m", "tapeviz.capture.worker", "--recording", str(place), "--",
                    str(script)], env=ENVIRONMENT, capture_output=True, timeout=60, start_new_session=True)
    with open_recording(place) as recording:
        assert recording.status == "killed"
        assert [recording.op_name(op) for op in range(len(recording.ops))][-2:] == ["sum", "exp"]
        assert len(recording.ops) == steps * 3 + 2
    assert output(place) == "last words\n"


# --- a full disk --------------------------------------------------------------------------------------------------

def test_a_full_disk_is_told_once_and_the_script_goes_on(tmp_path):
    worker = launch(tmp_path, """
        import resource, time
        import numpy as np
        import gradtape as gt
        resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, -1))
        w = gt.Variable(np.ones(20), name="w")
        began = time.monotonic()
        while time.monotonic() < began + 3:
            with gt.GradientTape() as tape:
                loss = gt.sum(gt.square(w * 2.0))
            w.assign_sub(0.001 * tape.gradient(loss, w))
        print("done")
    """)
    said = wait_for(worker, "error")[-1]["message"]
    assert worker.state == "running"
    assert "has stopped: the disk" in said
    assert worker.wait(20)
    assert (worker.state, worker.returncode) == ("finished", 0)
    assert worker.output.endswith("done\n")
    assert not [m for m in worker.poll() if m["type"] == "error"]
    with open_recording(worker.recording) as recording:
        assert len(recording.ops) > 10


# --- scripts that cannot be run -----------------------------------------------------------------------------------

@pytest.mark.parametrize("content", [b"\x7fELF\0\0", b"s = '\xff'\n", b"# coding: nonsense\n", None])
def test_what_cannot_be_run_is_told_in_one_line(tmp_path, capfd, content):
    script = tmp_path / "script.py"
    if content is not None:
        script.write_bytes(content)
    assert run_headless(RunConfig(script, recording=tmp_path / "run.tapeviz")) == 2
    assert len(capfd.readouterr().err.splitlines()) == 1


def test_a_place_that_takes_no_recording_is_told_in_one_line(tmp_path, capfd):
    script = written(tmp_path, "print('not run')")
    assert run_headless(RunConfig(script, recording=Path("/proc/x.tapeviz"))) == 2
    told = capfd.readouterr()
    assert told.out == ""
    assert len(told.err.splitlines()) == 1
    worker = launch(tmp_path, "s = '\\xff'\0")
    assert worker.wait(20)
    assert [m["message"] for m in worker.poll() if m["type"] == "error"] == [
        f"{tmp_path}/launched.py is no Python script: it holds binary data"]
