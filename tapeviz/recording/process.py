"""Who writes a recording, and whether that process still runs."""

from __future__ import annotations

import ctypes
import os
import platform
import time
from pathlib import Path

_SILENT_SECONDS = 60   # a writer gives a sign of life every second, but a long call into C keeps it from that
_SYNCHRONIZE, _WAIT_TIMEOUT = 0x0010_0000, 0x102


def myself() -> dict[str, object]:
    """This process: host, number, and when it began (where the system says), since numbers are given again."""
    pid = os.getpid()
    return {"host": platform.node(), "pid": pid, "began": _linux_state(pid)[1]}


def is_running(said: object, heartbeat: object) -> bool:
    """Whether a process described by `myself` still runs; on another host its last sign of life (unix time) counts."""
    if not isinstance(said, dict):
        return False
    host, pid, began = said.get("host"), said.get("pid"), said.get("began", "")
    if not isinstance(pid, int):
        return False
    if host != platform.node():
        return isinstance(heartbeat, (int, float)) and abs(time.time() - heartbeat) < _SILENT_SECONDS
    if pid <= 0:
        return False
    return _RUNS.get(platform.system(), _posix_runs)(pid, began)


def _linux_state(pid: int) -> tuple[str, str]:
    """State letter and start time of a process, ("", "") if there is none or this is not Linux."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "", ""
    fields = text.rpartition(")")[2].split()   # the name before it may hold blanks and brackets
    return (fields[0], fields[19]) if len(fields) > 19 else ("", "")


def _linux_runs(pid: int, began: object) -> bool:
    state, now_began = _linux_state(pid)
    return state not in ("", "Z", "X") and began in ("", now_began)


def _posix_runs(pid: int, began: object) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _windows_runs(pid: int, began: object) -> bool:
    kernel = ctypes.WinDLL("kernel32")   # type: ignore[attr-defined, unused-ignore]  # exists on Windows only
    handle = kernel.OpenProcess(_SYNCHRONIZE, False, pid)
    if not handle:
        return False
    try:
        return bool(kernel.WaitForSingleObject(handle, 0) == _WAIT_TIMEOUT)
    finally:
        kernel.CloseHandle(handle)


_RUNS = {"Linux": _linux_runs, "Windows": _windows_runs}
