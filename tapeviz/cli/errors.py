"""The one exception with which a command ends on a user's mistake, and the checks that raise it."""

from __future__ import annotations

import os
from pathlib import Path

from tapeviz.recording.schema import SUFFIX


class UserError(Exception):
    """Told in one line, without a traceback; exit code 2."""


def existing_file(text: str, what: str) -> Path:
    """The path of a readable file. Raises UserError that says what it is instead."""
    path = Path(text)
    if not path.exists():
        raise UserError(f"no such {what}: {text}")
    if path.is_dir():
        raise UserError(f"{text} is a folder; expected a {what}")
    if not os.access(path, os.R_OK):
        raise UserError(f"{text} cannot be read: no permission")
    return path


def writable_place(text: str) -> Path:
    """A path that can be written to, with its folder made. Raises UserError that says why it cannot."""
    path = Path(text)
    if path.is_dir():
        raise UserError(f"cannot write {text}: it is a folder; name a file in it")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot write {text}: the folder {path.parent} cannot be made ({error.strerror})") from None
    place = path if path.exists() else path.parent
    if not os.access(place, os.W_OK):
        raise UserError(f"cannot write {text}: no permission for {place}")
    return path


def is_recording(path: Path) -> bool:
    """Whether a path is meant as a recording: by its suffix, or by SQLite's first bytes."""
    if path.suffix == SUFFIX:
        return True
    try:
        with path.open("rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False
