"""The worker's end of the control channel, against a plain socket."""

from __future__ import annotations

import json
import socket
import threading
import time

import pytest

from tapeviz.capture.control import Control, Stopped
from tapeviz.capture.protocol import LINE_LIMIT, read_messages, send_message


@pytest.fixture
def channel():
    """A control and the window's end of its connection, after the token."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        control = Control()
        control.connect(server.getsockname()[1], "secret")
        window, _ = server.accept()
        with window, window.makefile("rb") as lines:
            assert lines.readline() == b"secret\n"
            yield control, window, lines
            control.close()


def until(condition):
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def hold_in_thread(control):
    outcome = []

    def work():
        try:
            outcome.append(control.hold({"op": 3, "where": "op"}))
        except Stopped:
            outcome.append("stopped")

    thread = threading.Thread(target=work)
    thread.start()
    return thread, outcome


def test_pause_holds_and_resume_lets_go(channel):
    control, window, lines = channel
    assert not control.flag
    send_message(window, {"type": "pause"})
    until(lambda: control.flag)
    assert control.wants_stop_at("op")
    assert control.wants_stop_at("node")
    thread, outcome = hold_in_thread(control)
    assert json.loads(lines.readline()) == {"type": "paused", "op": 3, "where": "op"}
    send_message(window, {"type": "resume"})
    thread.join(5)
    assert outcome == [True]
    assert not control.flag
    assert json.loads(lines.readline()) == {"type": "state", "state": "running"}


@pytest.mark.parametrize("kind", ["op", "node", "iteration"])
def test_a_step_stops_at_its_kind_only(kind):
    control = Control(paused=True)
    control.obey({"type": "step", "kind": kind})
    assert control.flag
    assert [where for where in ("op", "node", "iteration") if control.wants_stop_at(where)] == [kind]


def test_stop_ends_a_held_thread_and_the_next_operation():
    control = Control()
    thread, outcome = hold_in_thread(control)
    until(lambda: control.flag)
    control.obey({"type": "stop"})
    thread.join(5)
    assert outcome == ["stopped"]
    with pytest.raises(Stopped):
        control.wants_stop_at("op")


def test_a_lost_window_lets_the_script_go_on(channel):
    control, window, lines = channel
    thread, outcome = hold_in_thread(control)
    lines.readline()
    window.shutdown(socket.SHUT_RDWR)
    thread.join(5)
    assert outcome == [True]
    assert not control.flag
    control.send({"type": "state"})   # goes nowhere, harms nobody


def test_garbage_and_oversized_lines_are_skipped(channel):
    control, window, _ = channel
    for line in (b"\xff\xfe garbage", b"[1, 2]", b'"pause"', b"{" * 100, b'{"type": "step", "kind": "sideways"}',
                 b'{"type": "pause", "x": "' + b"a" * (3 * LINE_LIMIT) + b'"}', b""):
        window.sendall(line + b"\n")
    window.sendall(b'{"type": "step", "kind": "node"}\n')
    until(lambda: control.flag)
    assert control.wants_stop_at("node")
    assert not control.wants_stop_at("op")


def test_messages_end_with_the_connection():
    one, other = socket.socketpair()
    with other:
        one.sendall(b'{"a": 1}\n{"b": 2}\n{"torn')
        one.close()
        assert list(read_messages(other)) == [{"a": 1}, {"b": 2}]
        assert not send_message(one, {})
