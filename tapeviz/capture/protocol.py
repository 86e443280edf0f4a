"""Both ends of the control channel: JSON objects, one a line; what is too long or no object is skipped."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

__gradtape__ = True   # the frames of this module are not the user's

Message = dict[str, Any]
LINE_LIMIT = 1 << 16


def send_message(connection: socket.socket, message: Message) -> bool:
    """Send one message; returns whether the other side still listens."""
    try:
        connection.sendall(json.dumps(message).encode() + b"\n")
    except OSError:
        return False
    return True


def read_messages(connection: socket.socket) -> Iterator[Message]:
    """The messages that arrive until the other side is gone."""
    try:
        with connection.makefile("rb") as stream:
            while line := stream.readline(LINE_LIMIT):
                if not line.endswith(b"\n"):
                    while line and not line.endswith(b"\n"):   # too long: drop the rest of it as well
                        line = stream.readline(LINE_LIMIT)
                    continue
                try:
                    message = json.loads(line)
                except (ValueError, RecursionError):
                    continue
                if isinstance(message, dict):
                    yield message
    except (OSError, ValueError):   # closed under our hands
        return
