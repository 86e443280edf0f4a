"""Real workers: what a script sees, what happens to broken ones, and what is left behind."""

from __future__ import annotations

import functools
import os
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from tapeviz.capture.launcher import RunConfig, Worker, run_headless
from tapeviz.recording.reader import open_recording
from tapeviz.recording.schema import What
from tests.capture.processes import ENVIRONMENT, ROOT, events, launch, output, run_worker, status, wait_for


@pytest.fixture
def record(tmp_path):
    """Writes a script and runs it in a worker without a window; gives the finished process and the recording's path."""

    return functools.partial(run_worker, tmp_path)


# --- what a script sees -------------------------------------------------------------------------------------------

def test_a_script_runs_as_main_with_its_arguments_and_folder(record, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "neighbour.py").write_text("word = 'imported'")
    done, place = record("""
        import os, sys, neighbour
        print(__name__, __file__, sys.argv[1:], os.getcwd(), neighbour.word, sys.path[0])
        import __main__
        print(__main__.__file__ == __file__, __main__.sys is sys, "TAPEVIZ_TOKEN" in os.environ)
    """, "--level", "x y", "-o", cwd=tmp_path / "sub")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        f"__main__ {tmp_path}/script.py ['--level', 'x y', '-o'] {tmp_path}/sub imported {tmp_path}",
        "True True False"]
    assert output(place) == done.stdout
    assert status(place) == "finished"


def test_input_output_and_warnings_are_recorded(record):
    done, place = record("""
        import sys, warnings
        name = input("name? ")
        print("hello", name)
        print("oops", file=sys.stderr)
        rest = sys.stdin.read()
        print(len(rest), sys.stdout.encoding, file=sys.stdout)
        warnings.warn("careful")
    """, stdin="Ada\nmore")
    assert done.returncode == 0
    assert output(place) == done.stdout == "name? hello Ada\n4 utf-8\n"
    assert output(place, "stderr").startswith("oops\n")
    (warning,) = events(place, "warning")
    assert (warning["message"], warning["category"], warning["line"]) == ("careful", "UserWarning", 8)


@pytest.mark.parametrize(("code", "expected", "how"), [
    ("sys.exit()", 0, "finished"), ("sys.exit(7)", 7, "failed"), ("sys.exit('no luck')", 1, "failed"),
    ("exit(0)", 0, "finished"),
])
def test_exit_codes(record, code, expected, how):
    done, place = record(f"import sys\nprint('before')\n{code}\nprint('after')")
    assert done.returncode == expected
    assert done.stdout == "before\n"
    assert status(place) == how
    assert ("no luck" in done.stderr) == ("luck" in code)


def test_threads_and_exit_handlers_are_waited_for(record):
    done, place = record("""
        import atexit, threading, time
        atexit.register(lambda: print("handler"))
        threading.Thread(target=lambda: (time.sleep(0.2), print("thread"))).start()
        print("main")
    """)
    assert done.returncode == 0
    assert output(place) == done.stdout == "main\nthread\nhandler\n"


def test_a_script_that_never_uses_a_tape(record):
    done, place = record("print(1 + 1)")
    assert done.returncode == 0
    with open_recording(place) as recording:
        assert recording.meta["used_tape"] is False
        assert len(recording.passes) == len(recording.tapes) == 0


def test_a_forked_child_leaves_the_recording_alone(record):
    done, place = record("""
        import os, sys
        child = os.fork()
        if child == 0:
            print("in the child")
            sys.exit(0)
        os.waitpid(child, 0)
        print("in the parent")
    """)
    assert done.returncode == 0
    assert done.stdout == "in the child\nin the parent\n"
    assert output(place) == "in the parent\n"
    assert status(place) == "finished"


# --- broken scripts -----------------------------------------------------------------------------------------------

def test_an_exception_is_shown_as_python_shows_it(record, tmp_path):
    text = """
        def f(x):
            return 1 / x

        try:
            {}["key"]
        except KeyError:
            f(0)
    """
    done, place = record(text)
    plain = subprocess.run([sys.executable, str(tmp_path / "script.py")], capture_output=True, text=True, timeout=60)
    assert done.returncode == plain.returncode == 1
    assert done.stderr == plain.stderr
    (event,) = events(place, "exception")
    assert (event["type"], event["message"]) == ("ZeroDivisionError", "division by zero")
    assert [(f["function"], f["line"], f["code"]) for f in event["frames"]] == [
        ("<module>", 8, "f(0)"), ("f", 3, "return 1 / x")]
    assert status(place) == "failed"


def test_the_scripts_own_excepthook_is_used(record):
    done, _ = record("""
        import sys
        sys.excepthook = lambda kind, error, tb: print("hook:", error)
        raise ValueError("x")
    """)
    assert done.returncode == 1
    assert done.stdout == "hook: x\n"


def test_a_syntax_error_is_shown_with_line_and_caret(record):
    done, place = record("x = 1\ny = (2 +\nprint(x)\n")
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert lines[0].endswith('script.py", line 2')
    assert lines[1].strip() == "y = (2 +"
    assert "^" in lines[2]
    assert lines[3] == "SyntaxError: '(' was never closed"
    (event,) = events(place, "exception")
    assert event["type"] == "SyntaxError"
    assert event["frames"][0]["line"] == 2
    with open_recording(place) as recording:
        assert recording.sources[0].text.startswith("x = 1")
        assert recording.status == "failed"


@pytest.mark.parametrize(("text", "message"), [
    (None, "there is no script"), (b"\x7fELF\0\0\0", "no Python script: it holds binary data"),
    (b"s = '\xff'\n", "no Python script"),
])
def test_scripts_that_cannot_be_run(record, text, message):
    done, _ = record(text)
    assert done.returncode == 2
    assert done.stderr.startswith("tapeviz: ")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def test_a_folder_is_no_script(record, tmp_path):
    (tmp_path / "folder").mkdir()
    done, _ = record(None, name="folder")
    assert done.returncode == 2
    assert "is a folder" in done.stderr


def test_no_place_for_the_recording(record, tmp_path):
    done, _ = record("print(1)", options=("--recording", str(tmp_path / "missing" / "run.tapeviz")))
    assert done.returncode == 2
    assert "there is no folder" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("end", ["os._exit(3)", "os.kill(os.getpid(), 9)"])
def test_a_sudden_end_leaves_a_readable_recording(record, end):
    done, place = record(f"""
        import os, time
        print("alive")
        time.sleep(0.2)
        {end}
    """)
    assert done.returncode in (3, -9)
    assert output(place) == "alive\n"
    assert status(place) == "killed"


def test_an_exception_in_a_thread_is_recorded_and_the_script_goes_on(record):
    done, place = record("""
        import threading
        def work():
            raise LookupError("in a thread")
        t = threading.Thread(target=work); t.start(); t.join()
        print("on")
    """)
    assert done.returncode == 0
    assert "LookupError: in a thread" in done.stderr
    assert [e["message"] for e in events(place, "exception")] == ["in a thread"]
    assert status(place) == "finished"


# --- through the launcher -----------------------------------------------------------------------------------------

def test_a_run_from_start_to_finish(tmp_path):
    worker = launch(tmp_path, "print('hi')")
    assert worker.wait(20)
    assert [m["state"] for m in worker.poll() if m["type"] == "state"] == ["running", "finished"]
    assert (worker.state, worker.returncode) == ("finished", 0)
    assert output(worker.recording) == "hi\n"
    assert worker.output == "hi\n"


def test_input_is_asked_for_and_answered(tmp_path):
    worker = launch(tmp_path, "print('got', input('? '))")
    wait_for(worker, "stdin")
    with open_recording(worker.recording) as recording:
        assert [e.data["text"] for e in recording.events] == ["? "]
    worker.send_input("this\n")
    assert worker.wait(20)
    assert output(worker.recording) == "? got this\n"


@pytest.mark.parametrize("body", [
    "while True: pass",
    "import time\nwhile True: time.sleep(60)",
    "while True:\n    try:\n        while True: pass\n    except BaseException:\n        pass",
    "sum(range(10**13))",
], ids=["loop", "sleep", "catches everything", "in C"])
def test_stop_always_ends_within_three_and_a_half_seconds(tmp_path, body):
    worker = launch(tmp_path, f"print('started', flush=True)\n{body}")
    wait_for(worker, "running")
    deadline = time.monotonic() + 10
    while "started" not in worker.output:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    began = time.monotonic()
    worker.stop()
    assert worker.wait(5)
    assert time.monotonic() - began < 3.5
    assert worker.state == "stopped"
    assert output(worker.recording).startswith("started")


def test_a_killed_process_is_noticed_and_named(tmp_path):
    worker = launch(tmp_path, "import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(60)")
    wait_for(worker, "running")
    deadline = time.monotonic() + 10
    while not worker.output.strip():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(int(worker.output), signal.SIGKILL)
    assert worker.wait(5)
    assert worker.state == "killed"
    assert [m["message"] for m in worker.poll() if m["type"] == "error"] == ["killed by signal 9 (SIGKILL)"]


def test_strangers_are_turned_away(tmp_path):
    worker = launch(tmp_path, "import time\nprint('up', flush=True)\ntime.sleep(1.5)")
    assert worker._server is not None
    address = worker._server.getsockname()
    with socket.create_connection(address) as silent, socket.create_connection(address) as wrong:
        wrong.sendall(b"0" * 32 + b"\n")
        assert wrong.recv(1) == b""
        wait_for(worker, "running")
        silent.close()
    assert worker.wait(20)
    assert worker.state == "finished"


def test_headless_returns_what_the_command_line_needs(tmp_path, capfd):
    def script(name, text):
        (tmp_path / name).write_text(text)
        return RunConfig(tmp_path / name, recording=tmp_path / "headless.tapeviz")

    assert run_headless(script("good.py", "print('fine')")) == 0
    assert capfd.readouterr().out == "fine\n"
    assert run_headless(script("bad.py", "print('to stderr'); raise SystemExit(5)"), stdout_to_stderr=True) == 1
    assert capfd.readouterr() == ("", "to stderr\n")
    assert run_headless(script("two.py", "raise SystemExit(2)"), echo=False) == 1
    assert run_headless(RunConfig(tmp_path / "none.py", recording=tmp_path / "none.tapeviz")) == 2
    assert "there is no script" in capfd.readouterr().err


def test_an_interpreter_that_is_none(tmp_path):
    (tmp_path / "s.py").write_text("")
    worker = Worker(RunConfig(tmp_path / "s.py", python=str(tmp_path / "no python")))
    with pytest.raises(OSError, match="no python"):
        worker.start()


def test_the_worker_imports_no_qt_and_needs_numpy_only(record):
    done, _ = record("""
        import sys
        tops = {name.partition(".")[0] for name in sys.modules}
        print(sorted(tops - set(sys.stdlib_module_names) - {"__main__", "numpy"}))
    """)
    found = set(eval(done.stdout))
    assert {"gradtape", "tapeviz"} <= found
    assert not {name for name in found if not name.startswith("_")} - {
        "gradtape", "tapeviz", "cython_runtime", "sitecustomize"}
    assert "PySide6" not in found


def test_the_launcher_imports_neither_engine_nor_numpy_heavy_parts():
    code = ("import sys, tapeviz.capture.launcher; "
            "print([m for m in sys.modules if m.partition('.')[0] in ('gradtape', 'PySide6')])")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=ENVIRONMENT)
    assert done.stdout.strip() == "[]"


# --- pause and step -----------------------------------------------------------------------------------------------

TRAINING = """
    import numpy as np
    import gradtape as gt

    w = gt.Variable(np.ones(200), name="w")
    for step in range(1000000):
        with gt.GradientTape() as tape:
            a = w * 2.0
            loss = gt.sum(gt.square(a))
        w.assign_sub(0.01 * tape.gradient(loss, w))
"""


def paused(worker):
    return wait_for(worker, "paused")[-1]


def test_start_paused_and_step_operation_by_operation(tmp_path):
    worker = launch(tmp_path, TRAINING, start_paused=True)
    first = paused(worker)
    assert worker.state == "paused"
    assert (first["op"], first["where"], first["iteration"], first["pass"]) == (0, "op", 0, None)
    with open_recording(worker.recording) as recording:
        assert [recording.op_name(op) for op in range(len(recording.ops))] == ["multiply"]
        assert recording.value(int(recording.ops["output"][0])) is not None
    worker.step("op")
    assert paused(worker)["op"] == 1
    worker.step("op")
    assert paused(worker)["op"] == 2
    worker.stop()
    assert worker.wait(4)
    assert worker.state == "stopped"
    with open_recording(worker.recording) as recording:
        assert recording.status == "stopped"
        assert [e.kind for e in recording.events if e.kind in ("pause", "resume")] == ["pause", "resume"] * 3


def test_single_steps_through_a_live_backward_pass(tmp_path):
    worker = launch(tmp_path, TRAINING, start_paused=True)
    paused(worker)
    worker.step("node")
    seen = [paused(worker)]
    with open_recording(worker.recording) as recording:
        target = int(recording.passes["target"][0])
        assert recording.passes["status"][0] == 0    # running
        assert len(recording.steps) == 0
        assert recording.value(target, What.COTANGENT, 0) == 1.0   # it is about to be used
        for number in (1, 2):
            worker.step("node")
            seen.append(paused(worker))
            recording.poll()
            assert len(recording.steps) == number
    assert [(m["where"], m["pass"], m["step"], m["op"]) for m in seen] == [("node", 0, k, 2) for k in range(3)]
    worker.step("node")
    following = paused(worker)   # the next pass
    assert (following["pass"], following["step"], following["iteration"]) == (1, 0, 1)
    worker.resume()
    wait_for(worker, "running")
    worker.stop()
    assert worker.wait(4)


def test_step_to_the_next_iteration_and_pause_while_running(tmp_path):
    worker = launch(tmp_path, TRAINING)
    wait_for(worker, "running")
    time.sleep(0.3)
    asked = time.monotonic()
    worker.pause()
    here = paused(worker)
    assert time.monotonic() - asked < 1
    worker.step("iteration")
    there = paused(worker)
    assert there["where"] == "iteration"
    assert there["iteration"] == here["iteration"] + 1
    with open_recording(worker.recording) as recording:
        assert len(recording.iterations) == there["iteration"] + 1
        for op in recording.ops_of(here["iteration"]):   # values of the iteration that was paused in
            assert recording.has_value(recording.op_outputs(op)[0])
    worker.stop()
    assert worker.wait(4)


def test_killed_in_the_middle_of_training(tmp_path):
    worker = launch(tmp_path, TRAINING)
    wait_for(worker, "running")
    time.sleep(0.5)
    assert worker._process is not None
    worker._process.kill()
    assert worker.wait(5)
    assert worker.state == "killed"
    with open_recording(worker.recording) as recording:
        assert recording.status == "killed"
        assert len(recording.ops) > 100
        assert recording.tensors["id"].tolist() == list(range(len(recording.tensors)))


def test_a_script_that_fails_in_an_operation(tmp_path, capfd):
    (tmp_path / "fails.py").write_text(textwrap.dedent("""\
        import numpy as np
        import gradtape as gt
        x = gt.Variable(np.ones(3))
        def layer(x):
            return x + np.ones(4)
        with gt.GradientTape() as tape:
            y = gt.sin(x)
            z = layer(y)
    """))
    place = tmp_path / "fails.tapeviz"
    assert run_headless(RunConfig(tmp_path / "fails.py", recording=place)) == 1
    shown = capfd.readouterr().err
    assert "gradtape/" not in shown.replace("gradtape.errors", "")
    assert shown.count("File ") == 2
    with open_recording(place) as recording:
        (event,) = [e for e in recording.events if e.kind == "exception"]
        frames = event.data["frames"]
        assert isinstance(frames, list)
        assert [f["line"] for f in frames] == [8, 5]
        assert event.op == 1
        assert recording.has_value(recording.op_outputs(0)[0])


def test_every_example_can_be_recorded(tmp_path):
    for example in sorted((ROOT / "resources" / "examples").glob("*.py")):
        place = tmp_path / f"{example.stem}.tapeviz"
        assert run_headless(RunConfig(example, recording=place), echo=False) == 0, example
        with open_recording(place) as recording:
            assert len(recording.passes)
            assert not [e for e in recording.events if e.kind == "level"], example


def test_another_interpreter_finds_an_installed_program(tmp_path):
    site = tmp_path / "site"
    for package in ("tapeviz/__init__.py", "tapeviz/capture", "tapeviz/recording", "engine/gradtape"):
        source, target = ROOT / package, site / package.removeprefix("engine/")
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    other = tmp_path / "python"
    other.symlink_to(sys.executable)
    (tmp_path / "pyvenv.cfg").write_text((Path(sys.prefix) / "pyvenv.cfg").read_text())
    script = tmp_path / "s.py"
    script.write_text("import sys, gradtape, numpy; print(gradtape.__file__, sys.argv[1:])")
    code = textwrap.dedent(f"""
        import sys; sys.path.insert(0, {str(site)!r})
        from pathlib import Path
        from tapeviz.capture.launcher import RunConfig, run_headless
        place = Path({str(tmp_path / "r.tapeviz")!r})
        config = RunConfig(Path({str(script)!r}), ("a",), recording=place, python={str(other)!r})
        sys.exit(run_headless(config))
    """)
    numpy_home = str(Path(np.__file__).parents[1])
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PYTHONPATH": numpy_home})
    assert done.stdout == f"{site}/gradtape/__init__.py ['a']\n", done.stderr
