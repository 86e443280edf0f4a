"""Exceptions of the script: its own frames only, as a traceback for people and as data for the recording."""

from __future__ import annotations

import linecache
import traceback
from types import TracebackType
from typing import Any

from tapeviz.capture.source import is_ours

__gradtape__ = True   # the frames of this module are not the user's


def without_our_frames(error: BaseException) -> BaseException:
    """The same exception; its traceback, and those of its causes, name the user's frames alone.

    Frames of libraries that the script uses stay.  Causes that arose within the engine go: its errors say in their
    own words what NumPy's said.  A traceback without any frame of the user stays whole: it is a fault of ours and
    somebody will want to find it.
    """
    seen: set[int] = set()
    todo: list[BaseException] = [error]
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        one.__traceback__ = _filtered(one.__traceback__) or one.__traceback__
        if _is_internal(one.__cause__):
            one.__cause__ = None
        if _is_internal(one.__context__):
            one.__context__ = None
        todo += [other for other in (one.__cause__, one.__context__) if other is not None]
        if isinstance(one, BaseExceptionGroup):
            todo += one.exceptions
    return error


def _is_internal(error: BaseException | None) -> bool:
    return error is not None and error.__traceback__ is not None and _filtered(error.__traceback__) is None


def _filtered(start: TracebackType | None) -> TracebackType | None:
    kept = []
    while start is not None:
        if not is_ours(start.tb_frame) and not _is_runner(start.tb_frame.f_code.co_filename):
            kept.append(start)
        start = start.tb_next
    chain = None
    for tb in reversed(kept):
        chain = TracebackType(chain, tb.tb_frame, tb.tb_lasti, tb.tb_lineno)
    return chain


def _is_runner(filename: str) -> bool:
    return filename.startswith("<frozen runpy") or filename == "<frozen importlib._bootstrap>"


def as_event(error: BaseException) -> dict[str, Any]:
    """An exception as the data of an event: type, message, and frames from the outermost to where it was raised."""
    if isinstance(error, SyntaxError) and error.filename and error.__traceback__ is None:
        frames = [{"file": error.filename, "line": error.lineno or 0, "function": "<module>",
                   "code": (error.text or "").strip()}]
        return {"type": type(error).__name__, "message": error.msg, "frames": frames, "column": error.offset}
    frames = [{"file": frame.f_code.co_filename, "line": line, "function": frame.f_code.co_qualname,
               "code": linecache.getline(frame.f_code.co_filename, line).strip()}
              for frame, line in traceback.walk_tb(error.__traceback__)]
    message = str(error)
    notes = getattr(error, "__notes__", None)
    return {"type": type(error).__name__, "message": message, "frames": frames, **({"notes": notes} if notes else {})}
