"""The `tapeviz` command as a user meets it: real processes, real scripts, real files."""

from __future__ import annotations

import csv
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

TRAIN = """
import sys
import numpy as np
import gradtape as gt

print("arguments", sys.argv[1:])
rng = np.random.default_rng(0)
x = rng.normal(size=(16, 3)).astype("float32")
W = [gt.Variable(rng.normal(size=(3, 3)).astype("float32") * 0.05, name=f"W{i}") for i in range(6)]
for step in range(12):
    with gt.GradientTape() as tape:
        h = x
        for w in W:
            h = gt.nn.sigmoid(h @ w)
        loss = gt.mean(gt.square(h - 0.25))
    for w, g in zip(W, tape.gradient(loss, W)):
        w.assign_sub(0.1 * g)
"""


def tapeviz(*arguments: object, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, without a display."""
    env = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    env |= {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **environ}
    return subprocess.run([sys.executable, "-m", "tapeviz", *map(str, arguments)], cwd=cwd, env=env, text=True,
                          capture_output=True, check=False, timeout=120)


def told_in_one_line(done: subprocess.CompletedProcess[str], *words: str) -> bool:
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert all(word in done.stderr for word in words), done.stderr
    return True


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a script and its recording."""
    folder = tmp_path_factory.mktemp("work")
    (folder / "train.py").write_text(TRAIN)
    done = tapeviz("run", "train.py", "--headless", "-o", "run.tapeviz", "--lr", "0.1", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "arguments ['--lr', '0.1']" in done.stdout
    return folder


def test_info_says_what_is_in_it(folder: Path) -> None:
    facts = json.loads(tapeviz("info", "run.tapeviz", "--json", cwd=folder).stdout)
    assert facts["iterations"] == 12
    assert facts["status"] == "finished"
    assert "train.py" in tapeviz("info", "run.tapeviz", cwd=folder).stdout


def test_diagnose_prints_one_object_with_the_root_cause_first(folder: Path) -> None:
    done = tapeviz("diagnose", "run.tapeviz", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["iterations"] == 12
    first = told["findings"][0]
    assert first["id"] == "vanishing-depth"
    assert first["severity"] in ("error", "warning")
    assert Path(first["file"]).name == "train.py"
    assert "sigmoid" in TRAIN.splitlines()[first["line"] - 1]
    assert first["iteration"] == 0
    assert {"op", "affected", "message", "fix"} <= set(first)


def test_diagnose_runs_a_script_and_keeps_its_output_out_of_the_json(folder: Path) -> None:
    done = tapeviz("diagnose", "train.py", "--json", "extra", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["findings"][0]["id"] == "vanishing-depth"
    assert "arguments ['extra']" in done.stderr


def test_diagnose_keeps_the_recording_that_its_findings_are_about(tmp_path: Path) -> None:
    """As `run` does: a finding names operation and iteration, and the next thing anybody wants is to look at them."""
    (tmp_path / "train.py").write_text(TRAIN)
    for options, name in ([], "train.tapeviz"), (["-o", "sub/other.tapeviz"], "sub/other.tapeviz"):
        done = tapeviz("diagnose", "train.py", "--json", *options, cwd=tmp_path)
        assert Path(json.loads(done.stdout)["recording"]) == tmp_path / name
        assert f"recorded in {name}" in done.stderr
        again = tapeviz("diagnose", name, "--json", cwd=tmp_path)
        assert json.loads(again.stdout) | {"recording": ""} == json.loads(done.stdout) | {"recording": ""}


def test_diagnose_in_words(folder: Path) -> None:
    done = tapeviz("diagnose", "run.tapeviz", cwd=folder)
    assert "train.py:" in done.stdout
    assert "vanish" in done.stdout
    assert "Fix:" in done.stdout


def test_a_script_that_fails_is_diagnosed_and_is_exit_code_1(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(TRAIN + "raise ValueError('the data has ended')\n")
    done = tapeviz("diagnose", "broken.py", "--json", cwd=tmp_path)
    assert done.returncode == 1
    assert json.loads(done.stdout)["findings"][0]["id"] == "vanishing-depth"
    assert "ValueError: the data has ended" in done.stderr
    assert "tapeviz/capture" not in done.stderr


@pytest.mark.parametrize("view", ["graph", "health", "plots", "step", "ops", "report"])
def test_data_of_every_view(folder: Path, view: str) -> None:
    for suffix in ("csv", "json"):
        out = folder / f"{view}.{suffix}"
        done = tapeviz("export", "run.tapeviz", "--view", view, "-o", out, cwd=folder)
        assert done.returncode == 0, done.stderr
    assert json.loads((folder / f"{view}.json").read_text())
    with (folder / f"{view}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows
    if view == "health":
        assert {row["variable"] for row in rows} == {f"W{i}" for i in range(6)}
        norms = {row["variable"]: float(row["gradient_norm"]) for row in rows if row["iteration"] == "0"}
        assert norms["W0"] < 1e-3 * norms["W5"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "nowhere.py", "--headless"], ["nowhere.py", "no such"]),
        (["open", "nowhere.tapeviz"], ["nowhere.tapeviz"]),
        (["info", "train.py"], ["train.py"]),
        (["info", "."], ["folder"]),
        (["diagnose", "nothing"], ["nothing"]),
        (["diagnose", "run.tapeviz", "--", "x"], ["takes no arguments"]),
        (["export", "run.tapeviz", "-o", "a.bmp"], [".png", "a.bmp"]),
        (["export", "run.tapeviz", "--view", "window", "-o", "a.csv"], ["picture"]),
        (["export", "run.tapeviz", "--iteration", "99", "-o", "a.png"], ["no iteration 99", "12"]),
        (["export", "run.tapeviz", "--view", "step", "--step", "0", "-o", "a.json"], ["no backward step 0"]),
        (["run", "train.py", "--headless", "-o", "train.py/x.tapeviz"], ["cannot"]),
        (["open", "run.tapeviz"], ["no display", "--headless"]),
        (["diagnose", "run.tapeviz", "-o", "other.tapeviz"], ["already", "-o"]),
        (["export", "run.tapeviz", "-o", "a.png", "--size", "12"], ["1920x1080"]),
        (["export", "run.tapeviz", "-o", "a.png", "--view", "all"], ["all", "health"]),
        (["info"], ["FILE", "--help"]),
        (["runn"], ["diagnose"]),
        ([], ["no display"]),
    ],
)
def test_mistakes_are_told_in_one_line(folder: Path, arguments: list[str], words: list[str]) -> None:
    assert told_in_one_line(tapeviz(*arguments, cwd=folder), *words)


def test_an_unknown_command_says_which_there_are(folder: Path) -> None:
    done = tapeviz("runn", "x", cwd=folder)
    assert done.returncode == 2
    assert "diagnose" in done.stderr


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("syntax.py", b"x = 1\nif x = 2:\n    pass\n", ["syntax.py", "line 2"]),
        ("binary.py", bytes(range(256)) * 4, ["binary.py", "binary data"]),
        ("latin.py", b"s = '\xff'\n", ["latin.py", "utf-8"]),
    ],
)
def test_a_script_that_cannot_start_is_exit_code_2(tmp_path: Path, name: str, content: bytes, words: list[str]) -> None:
    (tmp_path / name).write_bytes(content)
    for command in (["run", name, "--headless"], ["diagnose", name, "--json"]):
        done = tapeviz(*command, cwd=tmp_path)
        assert done.returncode == 2, done.stderr
        assert "Traceback" not in done.stderr
        assert all(word in done.stderr for word in words), done.stderr
        assert name == "syntax.py" or told_in_one_line(done, name)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a folder of Linux that takes no files")
def test_a_place_that_takes_no_recording(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text("")
    for command in (["run", "--headless"], ["diagnose", "--json"]):
        done = tapeviz(*command, "plain.py", "-o", "/proc/x.tapeviz", cwd=tmp_path)
        assert told_in_one_line(done, "/proc/x.tapeviz", "cannot write")


def test_a_script_without_a_tape_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text("print('nothing to see')\n")
    done = tapeviz("diagnose", "plain.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "tape" in done.stdout.lower()
    as_object = tapeviz("diagnose", "plain.py", "--json", cwd=tmp_path)
    assert json.loads(as_object.stdout)["findings"] == []
    assert "never used a gradient tape" in as_object.stderr
    recorded = tapeviz("run", "plain.py", "--headless", cwd=tmp_path)
    assert recorded.returncode == 0
    assert "plain.py never used a gradient tape" in recorded.stderr


def test_an_interpreter_that_cannot_run_is_said(folder: Path) -> None:
    for python in ("/no/such/python", str(folder / "train.py")):
        assert told_in_one_line(tapeviz("run", "train.py", "--headless", "--python", python, cwd=folder), python)


@pytest.mark.skipif(not Path("/bin/true").exists(), reason="a program that does nothing, on Unix")
def test_a_run_without_a_recording_is_no_success(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text("")
    for command in (["run", "--headless"], ["diagnose", "--json"]):
        done = tapeviz(*command, "--python", "/bin/true", "plain.py", cwd=tmp_path)
        assert told_in_one_line(done, "nothing was recorded", "/bin/true")


def test_the_script_itself_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text("x = 1\n")
    done = tapeviz("run", "plain.py", "--headless", "-o", "plain.py", cwd=tmp_path)
    assert done.returncode == 2
    assert "no recording" in done.stderr
    assert "recorded in" not in done.stderr
    assert (tmp_path / "plain.py").read_text() == "x = 1\n"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_being_told_to_end_ends_the_script_too(tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text("import os\nprint(os.getpid(), flush=True)\nwhile True:\n    pass\n")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen([sys.executable, "-m", "tapeviz", "run", "endless.py", "--headless"], cwd=tmp_path, env=env,
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        script = int(process.stdout.readline())
        process.terminate()
        assert process.wait(timeout=20) == 130
    with pytest.raises(ProcessLookupError):
        os.kill(script, 0)
    assert json.loads(tapeviz("info", "endless.tapeviz", "--json", cwd=tmp_path).stdout)["status"] != "running"


def test_a_picture_is_written_without_a_word(folder: Path) -> None:
    done = tapeviz("export", "run.tapeviz", "--view", "health", "-o", "health.png", cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.skipif(sys.platform == "win32", reason="limits of Unix")
def test_a_disk_that_fills_up_is_said(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN.replace("range(12)", "range(400)"))
    limited = f"import resource, sys, tapeviz.cli\nresource.setrlimit(resource.RLIMIT_FSIZE, ({300_000}, -1))\n" \
              "sys.exit(tapeviz.cli.main(sys.argv[1:]))"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", limited, "run", "train.py", "--headless", "-o", "full.tapeviz"],
                          cwd=tmp_path, env=env, text=True, capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("the disk") == 1
    assert tapeviz("info", "full.tapeviz", cwd=tmp_path).returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of Unix")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_do_not_matter(tmp_path: Path, closed: str) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = f"exec {shlex.quote(sys.executable)} -m tapeviz run train.py --headless {closed}"
    done = subprocess.run(["/bin/sh", "-c", command], cwd=tmp_path, env=env, text=True, capture_output=True,
                          check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert json.loads(tapeviz("info", "train.tapeviz", "--json", cwd=tmp_path).stdout)["status"] == "finished"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_no_place_for_the_output_is_told_in_one_line(folder: Path) -> None:
    for command in ("info run.tapeviz", "diagnose run.tapeviz --json"):
        with open("/dev/full", "w") as full:
            done = subprocess.run([sys.executable, "-m", "tapeviz", *command.split()], cwd=folder, stdout=full,
                                  stderr=subprocess.PIPE, text=True, check=False, timeout=60,
                                  env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr


def test_a_thin_recording_is_not_called_healthy_without_a_word(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    done = tapeviz("diagnose", "train.py", "--level", "tape", cwd=tmp_path)
    assert done.returncode == 0
    assert "level stats" in done.stderr
