"""The script's standard streams: output goes to where it always went and into the recording; input is announced.

What the script prints or writes to `sys.stdout.buffer` is recorded.  What goes past these objects to the descriptor
(other processes, libraries in C, `os.write`) is not.
"""

from __future__ import annotations

import codecs
import io
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, BinaryIO, TextIO, TypeVar

__gradtape__ = True   # the frames of this module are not the user's

Tell = Callable[[str], None]
T = TypeVar("T")


class StandIn:
    """What stands in for a stream is the real one in everything that it does not do itself."""

    _real: Any

    def isatty(self) -> bool:
        """As the real stream is."""
        return bool(self._real.isatty())

    def fileno(self) -> int:
        """The real stream's."""
        return int(self._real.fileno())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)   # reconfigure, raw, mode, name, ...


class Tee(StandIn, io.TextIOBase):
    """A text stream that passes on what is written and tells somebody of it.

    lasting: a listener that has gone (the window at the other end of the pipe) is no error of the script
    """

    _real: TextIO

    def __init__(self, real: TextIO, tell: Tell, lasting: bool = False) -> None:
        self._real = real
        self._tell = tell
        self._lasting = lasting
        self._bytes: TeeBytes | None = None

    def write(self, text: str, /) -> int:
        """Write and tell."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if text:
            self._tell(text)
        return self.unless_gone(lambda: self._real.write(text), len(text))

    def writelines(self, lines: Iterable[str], /) -> None:   # type: ignore[override]  # typeshed: bytes as well
        """Write several pieces."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Flush the real stream."""
        self.unless_gone(self._real.flush, None)

    def unless_gone(self, write: Callable[[], T], otherwise: T) -> T:
        """The result of a write; `otherwise` if the listener has gone and that does not matter."""
        try:
            return write()
        except BrokenPipeError:
            if not self._lasting:
                raise
            return otherwise

    def silence(self) -> None:
        """Tell nobody any more."""
        self._tell = _nobody

    def tell_text(self, text: str) -> None:
        """Tell of text that was written in another way."""
        self._tell(text)

    @property
    def buffer(self) -> TeeBytes:
        """Where bytes are written; AttributeError if the real stream takes none."""
        real = self._real.buffer
        if self._bytes is None:
            self._bytes = TeeBytes(real, self)
        return self._bytes

    def close(self) -> None:
        """Stays open: the interpreter needs it to the end."""

    def writable(self) -> bool:
        """It is."""
        return True

    @property
    def encoding(self) -> str:   # type: ignore[override]  # read-only here
        """The real stream's."""
        return self._real.encoding

    @property
    def errors(self) -> str | None:   # type: ignore[override]  # as above
        """The real stream's."""
        return self._real.errors


class TeeBytes(StandIn, io.BufferedIOBase):
    """The binary side of a Tee: bytes go through untouched and are told of as text, what is no text as `\ufffd`."""

    _real: BinaryIO

    def __init__(self, real: BinaryIO, text: Tee) -> None:
        self._real = real
        self._text = text
        # Pieces may end within a character.
        self._decode = codecs.getincrementaldecoder(text.encoding or "utf-8")(errors="replace").decode

    def write(self, data: Any, /) -> int:
        """Write and tell; returns how many bytes were taken, as the real stream does."""
        written = self._text.unless_gone(lambda: self._real.write(data), len(data))
        if text := self._decode(bytes(data)[:written or 0]):
            self._text.tell_text(text)
        return written

    def flush(self) -> None:
        """Flush the real stream."""
        self._text.flush()

    def close(self) -> None:
        """Stays open: a wrapper that a script has put around it must not close it when it goes."""

    def writable(self) -> bool:
        """It is."""
        return True


class Announced(StandIn, io.TextIOBase):
    """Standard input that says so before it waits."""

    _real: TextIO

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

    def close(self) -> None:
        """Stays open."""


class Streams:
    """The three streams of a script, in place from `install` to `restore`; whatever the script puts there stays."""

    def __init__(self, tell: Callable[[str, str], None], waiting: Callable[[], None], lasting: bool = False) -> None:
        """`tell` gets "stdout" or "stderr" and the text; `waiting` is called before input is waited for."""
        self._tell, self._waiting, self._lasting = tell, waiting, lasting
        self._ours: dict[str, Tee | Announced] = {}

    def install(self) -> None:
        """Put ours in place."""
        if sys.stdout is not None:
            self._put("stdout", Tee(sys.stdout, lambda text: self._tell("stdout", text), self._lasting))
        if sys.stderr is not None:
            self._put("stderr", Tee(sys.stderr, lambda text: self._tell("stderr", text), self._lasting))
        if sys.stdin is not None:
            self._put("stdin", Announced(sys.stdin, self._waiting))

    def flush(self) -> None:
        """Let a stream that the script has put in place of ours (and which may buffer) say what it holds."""
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                with suppress(Exception):   # any object may stand there; Python, too, ends without complaint
                    stream.flush()

    def restore(self) -> None:
        """Give the interpreter its own streams back, unless the script has put others there; tell nobody any more."""
        for name, stream in self._ours.items():
            if isinstance(stream, Tee):
                stream.silence()
            if getattr(sys, name) is stream:
                setattr(sys, name, getattr(sys, f"__{name}__"))

    def _put(self, name: str, stream: Tee | Announced) -> None:
        self._ours[name] = stream
        setattr(sys, name, stream)


def _nobody(_: str) -> None:
    """Is told what need not be told."""
