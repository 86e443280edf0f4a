"""What Qt has to say, passed on to the terminal, where no window can show it."""

from __future__ import annotations

import sys

from PySide6.QtCore import qInstallMessageHandler


def pass_on() -> None:
    """From now on Qt's messages go to stderr."""
    qInstallMessageHandler(_told)


def _told(kind: object, context: object, message: str) -> None:
    """Pass on what Qt says, but for the sizes that the offscreen platform cannot give to a window manager."""
    if "propagateSizeHints" not in message:
        print(message, file=sys.stderr)
