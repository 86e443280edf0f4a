"""Whether there is a display, and which Debian packages bring which library."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tapeviz.cli import system


@pytest.mark.parametrize("display", ["", ":987", "nonsense", "localhost:9876"])
def test_a_display_that_does_not_answer_is_none(display: str) -> None:
    assert not system.has_display({"DISPLAY": display}, "linux")


def test_a_wayland_socket_that_answers_is_a_display(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(str(tmp_path / "wayland-7"))
        server.listen()
        assert system.has_display({"WAYLAND_DISPLAY": "wayland-7", "XDG_RUNTIME_DIR": str(tmp_path)}, "linux")


def test_offscreen_is_no_display_and_mac_and_windows_always_have_one() -> None:
    assert not system.has_display({"QT_QPA_PLATFORM": "offscreen", "DISPLAY": ":0"}, "linux")
    assert system.has_display({}, "darwin")
    assert system.has_display({}, "win32")


def test_packages_are_named_and_an_unknown_library_stands_for_itself() -> None:
    assert system.packages_for(["libEGL.so.1", "libGL.so.1", "libGLX.so.0", "libodd.so.3"]) == [
        "libegl1", "libgl1", "libodd.so.3",
    ]


def test_missing_libraries_are_read_off_ldd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "ldd"
    fake.write_text("#!/bin/sh\nprintf '\\tlibEGL.so.1 => not found\\n\\tlibc.so.6 => /lib/libc.so.6 (0x1)\\n'\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert system.missing_libraries() == ["libEGL.so.1"]
