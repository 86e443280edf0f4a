"""One recorded run, from the first line of the script to the last word of the recording."""

from __future__ import annotations

import _thread
import atexit
import faulthandler
import gc
import os
import platform
import signal
import sys
import threading
import traceback
import warnings
from pathlib import Path
from types import FrameType
from typing import Any

import gradtape
from gradtape.observers import seam
from tapeviz.capture import failures, imports, stdio
from tapeviz.capture.control import Control
from tapeviz.capture.endings import Endings
from tapeviz.capture.observer import Capture
from tapeviz.capture.recorder import Recorder
from tapeviz.capture.script import Script, run
from tapeviz.recording.schema import NONE
from tapeviz.recording.writer import Writer

__gradtape__ = True   # the frames of this module are not the user's

INTERRUPTED = 130         # exit code, as a shell has it
LOOK_SECONDS = 0.5        # between two looks whether the recording can still be written
ALONE_LADDER = (0.3, 1.5, 3.0)   # seconds after the launcher has gone: interrupt the script, end without it, just end
STANDSTILL_SECONDS = 1.0  # so long a script stands still that is told to end, while its recording is closed
_exit = os._exit          # without a stand-in


class Session:
    """Sets everything up around a script; `close` comes last of all, after the script's own exit handlers."""

    def __init__(self, path: Path, level: str, value_budget: int, control: Control, meta: dict[str, Any]) -> None:
        """Raises RecordingError if the recording cannot be written."""
        self.writer = Writer(path, {
            "framework": "gradtape", "framework_version": getattr(gradtape, "__version__", ""), "level": level,
            "python": platform.python_version(), "executable": sys.executable, "platform": platform.platform(),
            "cwd": os.getcwd(), **meta})
        self.control = control
        self.recorder = Recorder(self.writer, level, value_budget)
        self.capture = Capture(self.recorder, control, self._broken)
        self.streams = stdio.Streams(self.capture.text, self._waiting_for_input,
                                     lasting=control.outlives and control.is_connected)
        self.endings = Endings(self._save, self._terminated)
        self.status = "finished"
        self._pid = os.getpid()
        self._deaf = False                  # the script is over: Ctrl+C must not tear what is still to be written
        self._closing = threading.Lock()    # taken once, for ever
        self._closed = threading.Event()
        self._told_failure = False

    def __enter__(self) -> Session:
        atexit.register(self.close)   # before anything of the script, so that it runs after everything of the script
        self.streams.install()
        imports.install()
        self.endings.install()
        self._hook_warnings()
        self._hook_threads()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._leave_child_alone)
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._interrupt)
        threading.Thread(target=self._look_after, name="tapeviz watch", daemon=True).start()
        if sys.__stderr__ is not None:
            faulthandler.enable(sys.__stderr__)
        gc.freeze()   # what is there now stays: the collector need not walk it again and again
        seam.stack.append(self.capture)
        seam.update()
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing yet: threads and exit handlers of the script are still to come."""

    def execute(self, script: Script, arguments: list[str]) -> int:
        """Run the script; returns the exit code that plain Python would have."""
        try:
            run(script, arguments)
        except SystemExit as error:
            return self._exit_code(error.code)
        except KeyboardInterrupt as error:
            self.status = "stopped"
            if not self.control.stopping:
                self._show(error)
            return INTERRUPTED
        except BaseException as error:   # noqa: BLE001  # whatever a script raises, GeneratorExit included
            self.status = "failed"
            self._show(error)
            return 1
        return 0

    def note_exception(self, error: BaseException) -> None:
        """Put an exception into the recording; what was computed last before it is kept in full."""
        self.capture.process(wait=True)
        self.recorder.values.freeze()
        self.capture.event("exception", failures.as_event(error))
        self.capture.process(wait=True)

    def close(self) -> None:
        """Write the last records and say how the run ended."""
        if os.getpid() != self._pid:
            return
        if not self._closing.acquire(blocking=False):   # another thread is at it, which must come to its end
            self._closed.wait()
            return
        try:
            self._deaf = True
            self.streams.flush()
            if self.capture in seam.stack:
                seam.stack.remove(self.capture)
                seam.update()
            self.capture.close()
            self.recorder.finish()
            self.streams.restore()
            self.writer.close(self.status)
            self._tell_failure()
            if self.status != "killed":   # that is for whoever sees the process end
                self.control.send({"type": "state", "state": self.status})
            self.control.close()
        finally:
            self._closed.set()

    def _exit_code(self, code: object) -> int:
        if code is None:
            return 0
        if not isinstance(code, int):
            print(code, file=sys.stderr)
            code = 1
        if code:
            self.status = "failed"
            self.capture.event("status", {"exit code": code})
        return code

    def _show(self, error: BaseException) -> None:
        """Print the traceback as Python would, by the script's own hook if it has one."""
        self._deaf = True
        failures.without_our_frames(error)
        self.note_exception(error)
        try:
            sys.excepthook(type(error), error, error.__traceback__)
        except Exception:   # noqa: BLE001  # a hook that raises must not hide what it was called for
            traceback.print_exception(error)
        finally:
            self._deaf = False   # threads of the script may still run for ever

    def _broken(self, error: BaseException) -> None:
        """The recorder itself has failed: the script goes on unrecorded, and everybody is told."""
        if self.capture in seam.stack:
            seam.stack.remove(self.capture)
            seam.update()
        where = traceback.extract_tb(error.__traceback__)[-1:]
        message = f"recording has stopped: {type(error).__name__}: {error}" + "".join(
            f" ({Path(frame.filename).name}, line {frame.lineno})" for frame in where)
        print(f"tapeviz: {message}", file=sys.__stderr__)
        self.control.send({"type": "error", "message": message})
        self.writer.event("level", {"level": "none", "why": message})

    def _waiting_for_input(self) -> None:
        self.capture.process(wait=True)   # the prompt is to be seen first
        self.control.send({"type": "stdin"})

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._deaf:
            return
        if self.capture.is_busy():
            self.capture.interrupted = True   # raised as soon as the records are whole
        else:
            raise KeyboardInterrupt

    # --- ends that come from outside --------------------------------------------------------------------------

    def _save(self) -> None:
        """The process is about to end without another word."""
        self.capture.process(wait=True)
        self.writer.flush()

    def _terminated(self, number: int, frame: FrameType | None) -> None:
        """SIGTERM or SIGHUP: the run is over; the process ends by the signal as soon as the recording is whole."""
        signal.signal(number, signal.SIG_DFL)   # the second one ends it at once

        def end() -> None:   # not in this thread, which may be in the middle of a batch
            self.status = "stopped" if self.control.stopping else "killed"
            self.close()
            os.kill(self._pid, number)

        threading.Thread(target=end, name="tapeviz end", daemon=True).start()
        if not self.capture.is_busy():
            self._closed.wait(STANDSTILL_SECONDS)   # the script has no more time, as a rule

    def _look_after(self) -> None:
        """Notice what the script's own threads may never notice: a full disk, and that the launcher has gone."""
        while not self.control.orphaned.wait(LOOK_SECONDS):
            if self._closed.is_set():
                return
            self._tell_failure()
        interrupt, end, kill = ALONE_LADDER
        if not self._closed.wait(interrupt):
            _interrupt_main_thread()
        if not self._closed.wait(end - interrupt):
            last = threading.Timer(kill - end, _exit, (INTERRUPTED,))
            last.daemon = True
            last.start()
            self.status = "stopped"
            self.close()
            _exit(INTERRUPTED)

    def _tell_failure(self) -> None:
        """The recording cannot be written any more: the script goes on, and the window is told, once."""
        if self.writer.failed is not None and not self._told_failure:
            self._told_failure = True
            self.control.send({"type": "error", "message": self.writer.failed})

    # --- what is hooked ---------------------------------------------------------------------------------------

    def _hook_warnings(self) -> None:
        original = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], filename: str, lineno: int,
                 file: Any = None, line: str | None = None) -> None:
            loc = NONE
            if os.path.exists(filename):
                source = self.recorder.places.file(filename)[0]
                loc = self.writer.loc_id(source, lineno, lineno, -1, -1, "")
            self.capture.event("warning", {"message": str(message), "category": category.__name__, "loc": loc,
                                           "file": filename, "line": lineno})
            original(message, category, filename, lineno, file, line)

        warnings.showwarning = show

    def _hook_threads(self) -> None:
        original = threading.excepthook

        def show(arguments: Any) -> None:
            if arguments.exc_value is not None and arguments.exc_type is not SystemExit:
                failures.without_our_frames(arguments.exc_value)
                self.note_exception(arguments.exc_value)
            original(arguments)

        threading.excepthook = show

    def _leave_child_alone(self) -> None:
        """In a forked child: the recording and the control channel belong to its parent."""
        seam.stack.clear()
        seam.update()
        self.streams.restore()
        self.endings.forget()
        self.control.forget()


def _interrupt_main_thread() -> None:
    """Ctrl+C from within; a signal, since it also ends a long sleep."""
    ident = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and ident is not None:
        signal.pthread_kill(ident, signal.SIGINT)
    else:
        _thread.interrupt_main()

