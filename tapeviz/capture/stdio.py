"""The script's standard streams: output goes to where it always went and into the recording; input is announced."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable
from typing import Any, TextIO

__gradtape__ = True   # the frames of this module are not the user's


class Tee(io.TextIOBase):
    """A text stream that passes on what is written and tells somebody of it."""

    def __init__(self, real: TextIO, tell: Callable[[str], None]) -> None:
        self._real = real
        self._tell = tell

    def write(self, text: str, /) -> int:
        """Write and tell."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if text:
            self._tell(text)
        return self._real.write(text)

    def writelines(self, lines: Iterable[str], /) -> None:   # type: ignore[override]  # typeshed: bytes as well
        """Write several pieces."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Flush the real stream."""
        self._real.flush()

    def close(self) -> None:
        """Stays open: the interpreter needs it to the end."""

    def writable(self) -> bool:
        """It is."""
        return True

    def isatty(self) -> bool:
        """As the real stream is."""
        return self._real.isatty()

    def fileno(self) -> int:
        """The real stream's."""
        return self._real.fileno()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)   # encoding, buffer, reconfigure, ...

    @property
    def encoding(self) -> str:   # type: ignore[override]  # read-only here
        """The real stream's."""
        return self._real.encoding

    @property
    def errors(self) -> str | None:   # type: ignore[override]  # as above
        """The real stream's."""
        return self._real.errors


class Announced(io.TextIOBase):
    """Standard input that says so before it waits."""

    def __init__(self, real: TextIO, waiting: Callable[[], None]) -> None:
        self._real = real
        self._waiting = waiting

    def readline(self, size: int = -1, /) -> str:   # type: ignore[override]  # typeshed: returns bytes or str
        """One line; `input()` comes here."""
        self._waiting()
        return self._real.readline(size)

    def read(self, size: int | None = -1, /) -> str:
        """All of it, or so many characters."""
        self._waiting()
        return self._real.read(-1 if size is None else size)

    def readable(self) -> bool:
        """It is."""
        return True

    def isatty(self) -> bool:
        """As the real stream is."""
        return self._real.isatty()

    def fileno(self) -> int:
        """The real stream's."""
        return self._real.fileno()

    def close(self) -> None:
        """Stays open."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def install(tell: Callable[[str, str], None], waiting: Callable[[], None]) -> None:
    """Put the streams in place; `tell` gets "stdout" or "stderr" and the text."""
    if sys.stdout is not None:
        sys.stdout = Tee(sys.stdout, lambda text: tell("stdout", text))
    if sys.stderr is not None:
        sys.stderr = Tee(sys.stderr, lambda text: tell("stderr", text))
    if sys.stdin is not None:
        sys.stdin = Announced(sys.stdin, waiting)


def restore() -> None:
    """Give the interpreter its own streams back."""
    sys.stdout, sys.stderr, sys.stdin = sys.__stdout__, sys.__stderr__, sys.__stdin__
