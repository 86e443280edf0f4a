"""The worker's end of the control channel: pause, step, resume and stop, asked for by the window.

JSON lines over loopback TCP; the first line the worker sends is the token.  One daemon thread listens; the script's
own threads look at `flag` (one attribute) and wait here when they are to stand still.
"""

from __future__ import annotations

import socket
import threading
from typing import Literal

from tapeviz.capture.protocol import Message, read_messages, send_message

__gradtape__ = True   # the frames of this module are not the user's

Where = Literal["op", "node", "iteration"]
_STEPS = ("op", "node", "iteration")


class Stopped(KeyboardInterrupt):
    """Raised in the user's thread when the window has asked for the end of the run."""


class Control:
    """What the window wants.  Works without a connection too: then nobody ever asks for anything.

    outlives: the script goes on when the window has gone; else the run ends with it, as with Stop, and `orphaned` is
    set: nobody but the worker itself can then see to it that it does
    """

    def __init__(self, paused: bool = False, outlives: bool = True) -> None:
        self.outlives = outlives
        self.orphaned = threading.Event()
        self._closed = False
        self.flag = paused                # look closer: something is wanted
        self.stopping = False
        self._wanted = "pause" if paused else "run"
        self._changed = threading.Condition()
        self._socket: socket.socket | None = None
        self._sending = threading.Lock()
        self._holder: int | None = None   # the thread that reported the pause

    def connect(self, port: int, token: str) -> None:
        """Connect to the launcher. Raises OSError if nobody listens there."""
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=5)
        self._socket.settimeout(None)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.sendall(token.encode() + b"\n")
        threading.Thread(target=self._listen, args=(self._socket,), name="tapeviz control", daemon=True).start()

    @property
    def is_connected(self) -> bool:
        """Whether the window is there."""
        return self._socket is not None

    def send(self, message: Message) -> None:
        """Tell the window; a window that has gone is not missed."""
        connection = self._socket
        if connection is None:
            return
        with self._sending:
            sent = send_message(connection, message)
        if not sent:
            self._lost()

    def wants_stop_at(self, where: Where) -> bool:
        """Whether the script is to stand still here. Raises Stopped if it is to end."""
        if self.stopping:
            raise Stopped
        return self._wanted == "pause" or self._wanted == where

    def hold(self, position: Message) -> bool:
        """Stand still until the window says otherwise. Returns whether this thread was the one that reported it.

        Raises Stopped if the run is to end.
        """
        me = threading.get_ident()
        with self._changed:
            reporting = self._holder is None
            if reporting:
                self._holder, self._wanted, self.flag = me, "pause", True
        if reporting:
            self.send({"type": "paused", **position})
        with self._changed:
            while self._wanted == "pause" and not self.stopping:
                self._changed.wait(0.5)   # with a limit: on Windows only that can be interrupted
            if reporting:
                self._holder = None
        if self.stopping:
            raise Stopped
        if reporting:
            self.send({"type": "state", "state": "running"})
        return reporting

    def obey(self, message: Message) -> None:
        """Act on one message from the window; an unknown one is ignored."""
        command, kind = message.get("type"), message.get("kind")
        with self._changed:
            if command == "stop":
                self.stopping = True
            elif command == "pause":
                self._wanted = "pause"
            elif command == "resume":
                self._wanted = "run"
            elif command == "step" and kind in _STEPS:
                self._wanted = kind
            else:
                return
            self.flag = self.stopping or self._wanted != "run"
            self._changed.notify_all()

    def close(self) -> None:
        """Say no more."""
        self._closed = True
        self._disconnect()

    def _disconnect(self) -> None:
        connection, self._socket = self._socket, None
        if connection is not None:
            connection.close()

    def forget(self) -> None:
        """In a forked child: no word to the window, and nothing wanted any more."""
        self.close()
        self.flag = self.stopping = False
        self._wanted = "run"

    def _listen(self, connection: socket.socket) -> None:
        for message in read_messages(connection):
            self.obey(message)
        self._lost()

    def _lost(self) -> None:
        """The window has gone without a word: the script goes on alone, or ends."""
        if self._closed:
            return
        self._disconnect()
        with self._changed:
            self._wanted = "run"
            if not self.outlives:
                self.stopping = True
                self.orphaned.set()
            self.flag = self.stopping
            self._changed.notify_all()
