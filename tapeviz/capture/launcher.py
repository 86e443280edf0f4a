"""The window's end: starts a worker process for a script, follows its state, and pauses, steps and stops it.

Standard library only: neither the engine nor Qt is imported here.
"""

from __future__ import annotations

import hmac
import os
import queue
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tapeviz.capture.protocol import Message, read_messages, send_message
from tapeviz.recording.schema import SUFFIX

STOP_LADDER = ((0.3, "interrupt"), (1.5, "terminate"), (3.0, "kill"))   # seconds after stop(), what is done then
CONNECT_SECONDS = 30
OUTPUT_TAIL = 1 << 16
FINAL = ("finished", "failed", "stopped", "killed")
UNUSABLE = 2                  # exit code: the script could not even be started
_BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_FEW_CORES = 4
_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class RunConfig:
    """What to run and how.

    recording: None for a new file in the temporary folder
    outlives_window: when the process that started it dies, the script goes on and its recording grows; else it ends
        as with Stop
    """

    script: Path
    argv: tuple[str, ...] = ()
    cwd: Path | None = None
    recording: Path | None = None
    python: str = sys.executable
    level: str = "stats"
    start_paused: bool = False
    value_budget_mb: int = 256
    outlives_window: bool = True


class Worker:
    """A script running in a process of its own.

    state: starting | running | paused | finished | failed | stopped | killed.  It follows from what the process says
    and, in the end, from how it exited.  No method blocks, except `wait`.
    """

    def __init__(self, config: RunConfig) -> None:
        self.config = config
        self.recording = config.recording if config.recording is not None else _new_place(config.script)
        self.state = "starting"
        self.returncode: int | None = None
        self.unusable = False            # the script could not be started at all; a message says why
        self.output = ""                 # the end of what the process wrote, when nobody else gets it
        self._messages: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._process: subprocess.Popen[bytes] | None = None
        self._server: socket.socket | None = None
        self._connection: socket.socket | None = None
        self._before: list[Message] = []          # commands given before the worker has connected
        self._lock = threading.Lock()
        self._stopping = False
        self._ended = threading.Event()
        self._said_final: str | None = None
        self._token = secrets.token_hex(16)

    def start(self, stdin: Any = subprocess.PIPE, stdout: Any = subprocess.PIPE, stderr: Any = subprocess.STDOUT
              ) -> None:
        """Start the process; the streams are for those who want the script's output passed through.

        Raises OSError if the interpreter cannot be started.
        """
        self._server = socket.create_server(("127.0.0.1", 0))
        port = self._server.getsockname()[1]
        try:
            self._process = subprocess.Popen(
                self._command(port), cwd=self.config.cwd, env=self._environment(), stdin=stdin, stdout=stdout,
                stderr=stderr, bufsize=0, creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0))
        except OSError:
            self._server.close()
            raise
        threading.Thread(target=self._accept, name="tapeviz accept", daemon=True).start()
        if stdout == subprocess.PIPE:
            threading.Thread(target=self._drain, name="tapeviz output", daemon=True).start()
        threading.Thread(target=self._watch, name="tapeviz watch", daemon=True).start()

    def poll(self) -> list[Message]:
        """Messages since the last call, oldest first."""
        found = []
        while not self._messages.empty():
            found.append(self._messages.get())
        return found

    def pause(self) -> None:
        """Stand still at the next operation or backward step."""
        self._command_worker({"type": "pause"})

    def resume(self) -> None:
        """Go on."""
        self._command_worker({"type": "resume"})

    def step(self, kind: str) -> None:
        """Go on to the next "op", backward "node" or "iteration"."""
        self._command_worker({"type": "step", "kind": kind})

    def stop(self) -> None:
        """End the run: ask, interrupt, terminate, kill; over within 3.5 s whatever the script does."""
        if self._stopping or self.state in FINAL:
            return
        self._stopping = True
        self._command_worker({"type": "stop"})
        threading.Thread(target=self._descend, name="tapeviz stop", daemon=True).start()

    def kill(self) -> None:
        """End the process now; the recording stays as it is."""
        self._stopping = True
        if self._process is not None:
            self._process.kill()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the process has ended; returns whether it has."""
        return self._ended.wait(timeout)

    def send_input(self, text: str) -> None:
        """Answer the script's input()."""
        process = self._process
        if process is not None and process.stdin is not None:
            with suppress(OSError):   # it has ended, or closed its standard input
                process.stdin.write(text.encode())

    # --- the process ------------------------------------------------------------------------------------------

    def _command(self, port: int) -> list[str]:
        config = self.config
        command = [config.python, "-P", *_entry(config.python), "--recording", str(self.recording.absolute()),
                   "--control", str(port), "--level", config.level, "--values", str(config.value_budget_mb)]
        if config.start_paused:
            command.append("--start-paused")
        if config.outlives_window:
            command.append("--outlives-window")
        return [*command, "--", str(config.script.absolute()), *config.argv]

    def _environment(self) -> dict[str, str]:
        env = dict(os.environ)
        paths = [str(path) for path in _source_roots()]
        env["PYTHONPATH"] = os.pathsep.join([*paths, *filter(None, [env.get("PYTHONPATH")])])
        env["PYTHONUNBUFFERED"] = "1"
        env["TAPEVIZ_TOKEN"] = self._token   # not an argument: those are visible to everybody on the machine
        if (os.cpu_count() or 1) <= _FEW_CORES and not any(name in env for name in _BLAS_THREADS):
            # Threads of small products wait for each other longer than one thread computes.
            env |= dict.fromkeys(_BLAS_THREADS, "1")
        return env

    def _watch(self) -> None:
        """Wait for the end of the process and say how it ended."""
        process = self._process
        assert process is not None   # started by start()
        code = process.wait()
        if process.stdin is not None:
            process.stdin.close()
        deadline = time.monotonic() + 1
        while self._connection is not None and time.monotonic() < deadline:   # its last words
            time.sleep(0.005)
        self.returncode = code
        self._close_server()
        if self._said_final is not None:
            state = self._said_final
        elif self._stopping:
            state = "stopped"
        elif code < 0:
            state = "killed"
            self._messages.put({"type": "error", "message": f"killed by signal {-code} ({_signal_name(-code)})"})
        else:
            state = "finished" if code == 0 else "failed"
            if code and not self.unusable and not self.recording.exists():   # else it has said itself why
                self._messages.put({"type": "error", "message": self._last_words(code)})
        self._become(state)
        self._ended.set()

    def _last_words(self, code: int) -> str:
        lines = [line for line in self.output.splitlines() if line.strip()]
        return lines[-1] if lines else f"the worker ended with exit code {code}"

    def _descend(self) -> None:
        began = time.monotonic()
        for seconds, action in STOP_LADDER:
            if self._ended.wait(max(0.0, began + seconds - time.monotonic())):
                return
            process = self._process
            if process is None or process.poll() is not None:
                return
            if action == "interrupt":
                process.send_signal(getattr(signal, "CTRL_BREAK_EVENT", signal.SIGINT))
            elif action == "terminate":
                process.terminate()
            else:
                process.kill()

    def _drain(self) -> None:
        """Keep the process's pipe empty; what it holds reaches the recording on another way."""
        process = self._process
        assert process is not None   # started by start()
        assert process.stdout is not None
        while piece := process.stdout.read(4096):
            self.output = (self.output + piece.decode(errors="replace"))[-OUTPUT_TAIL:]
        process.stdout.close()

    # --- the control channel ----------------------------------------------------------------------------------

    def _accept(self) -> None:
        """Hear everybody who connects: whoever does not know the token must not keep the worker waiting."""
        server = self._server
        assert server is not None   # made by start()
        while self._connection is None:
            try:
                connection, _ = server.accept()
            except OSError:   # closed: the process has ended
                return
            threading.Thread(target=self._hear, args=(connection,), name="tapeviz control", daemon=True).start()

    def _hear(self, connection: socket.socket) -> None:
        """Take the first connection that knows the token and follow it to its end; turn away any other."""
        connection.settimeout(CONNECT_SECONDS)
        if not _first_line_is(connection, self._token):
            connection.close()
            return
        connection.settimeout(None)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self._lock:
            if self._connection is not None:
                connection.close()
                return
            self._connection = connection
            for message in self._before:
                send_message(connection, message)
        self._become("running")
        for message in read_messages(connection):
            self._take(message)
        with self._lock:
            self._connection = None
        connection.close()

    def _take(self, message: Message) -> None:
        kind = message.get("type")
        if kind == "state" and message.get("state") in ("running", *FINAL):
            if message["state"] in FINAL:
                self._said_final = str(message["state"])   # becomes true when the process has ended
            else:
                self._become("running")
        elif kind == "paused":
            self.state = "paused"
            self._messages.put(message)
        elif kind in ("stdin", "error"):
            self.unusable = self.unusable or bool(message.get("unusable"))
            self._messages.put(message)

    def _become(self, state: str) -> None:
        if self.state in FINAL or self.state == state:
            return
        self.state = state
        self._messages.put({"type": "state", "state": state})

    def _command_worker(self, message: Message) -> None:
        with self._lock:
            if self._connection is not None:
                send_message(self._connection, message)
            else:
                self._before.append(message)

    def _close_server(self) -> None:
        if self._server is not None:
            # A thread in accept() does not notice that the socket is closed: it has to be woken.
            with suppress(OSError):
                socket.create_connection(self._server.getsockname(), timeout=1).close()
            self._server.close()


def run_headless(config: RunConfig, echo: bool = True, stdout_to_stderr: bool = False) -> int:
    """Run a script to its end. Returns 0, 1 if it failed (or was killed), 2 if it could not be started.

    It ends when this process does, however that may end: nobody could ever ask it to stop.  Ctrl+C stops it, a second
    one kills it.

    echo: pass its output through (to stderr only, if asked for) and let it read our standard input.
    """
    worker = Worker(replace(config, outlives_window=False))
    try:
        if echo:
            sys.stdout.flush()
            sys.stderr.flush()
            worker.start(stdin=None, stdout=_descriptor(sys.stderr, 2) if stdout_to_stderr else None, stderr=None)
        else:
            worker.start(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not worker.wait(0.1):
            _print_errors(worker)
    except KeyboardInterrupt:   # the script got it too; it may take its time to close the recording
        worker.stop()
        try:
            worker.wait(4)
        except KeyboardInterrupt:
            worker.kill()
            worker.wait(1)
        raise
    _print_errors(worker)
    if worker.unusable:
        return UNUSABLE
    return 0 if worker.state == "finished" else 1


def _print_errors(worker: Worker) -> None:
    for message in worker.poll():
        if message["type"] == "error" and not message.get("unusable"):
            print(f"tapeviz: {message['message']}", file=sys.stderr, flush=True)


def _descriptor(stream: Any, otherwise: int) -> int:
    try:
        return int(stream.fileno())
    except (OSError, ValueError, AttributeError):   # replaced by something in memory
        return otherwise


def _first_line_is(connection: socket.socket, token: str) -> bool:
    try:
        line = b""
        while not line.endswith(b"\n") and len(line) <= len(token) + 1:
            piece = connection.recv(1)
            if not piece:
                return False
            line += piece
        return hmac.compare_digest(line.strip(), token.encode())
    except OSError:
        return False


def _entry(python: str) -> list[str]:
    """How the worker is started: as a module where its interpreter finds this program, else with our folder named.

    Ours comes last on its path then: that interpreter's own NumPy is the one that fits it.
    """
    if _source_roots() or python == sys.executable:
        return ["-m", "tapeviz.capture.worker"]
    start = ("import sys; sys.path.append(sys.argv.pop(1)); from tapeviz.capture.worker import main; "
             "sys.exit(main(sys.argv[1:]))")
    return ["-c", start, str(_ROOT)]


def _source_roots() -> list[Path]:
    """In a checkout: the folders that hold this program and the engine."""
    return [_ROOT, _ROOT / "engine"] if (_ROOT / "engine" / "gradtape").is_dir() else []


def _new_place(script: Path) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="tapeviz-"))
    return folder / (script.stem + SUFFIX)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
