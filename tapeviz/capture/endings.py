"""Ends that pass by Python's own exit: what has not been written yet is written first, then the end comes as it was.

A process may end itself (`os._exit`, `os.abort`, a signal to itself) or be asked to by SIGTERM or SIGHUP.  SIGKILL from
outside and a crash in C can be seen by nobody.
"""

from __future__ import annotations

import functools
import os
import signal
from collections.abc import Callable
from types import FrameType
from typing import Any

__gradtape__ = True   # the frames of this module are not the user's

TERMINATING = tuple(number for name in ("SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None)
Handler = Callable[[int, FrameType | None], None]


class Endings:
    """Stands in for the functions that end a process, and hears the signals that ask for it."""

    def __init__(self, save: Callable[[], None], asked: Handler) -> None:
        """`save` writes what waits; `asked` is the handler of the signals."""
        self._save, self._asked = save, asked
        self._pid = os.getpid()

    def install(self) -> None:
        """Take their places."""
        for number in TERMINATING:
            if signal.getsignal(number) is signal.SIG_DFL:   # who ignores it (nohup) goes on doing so
                signal.signal(number, self._asked)
        os._exit = self._saving(os._exit)
        os.abort = self._saving(os.abort)
        signal.raise_signal = self._saving(signal.raise_signal)
        os.kill = self._saving(os.kill, is_meant=lambda pid, number: number != 0 and pid in (0, self._pid))

    def forget(self) -> None:
        """In a forked child, whose ends are its own."""
        for number in TERMINATING:
            if signal.getsignal(number) == self._asked:
                signal.signal(number, signal.SIG_DFL)

    def _saving(self, function: Callable[..., Any], is_meant: Callable[..., bool] = lambda *_: True
                ) -> Callable[..., Any]:
        @functools.wraps(function)
        def end(*arguments: Any, **named: Any) -> Any:
            if os.getpid() == self._pid and (named or is_meant(*arguments)):
                self._save()
            return function(*arguments, **named)

        return end
