"""What the window needs of the system: a display, and the shared libraries of Qt.

`main` prints the Debian packages that are missing, one line, nothing when all is there.
"""

from __future__ import annotations

import importlib.util
import os
import re
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

# Shared library -> Debian package, for what PySide6's wheels expect of the system.
_PACKAGES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libGLX.so.0": "libgl1",
    "libOpenGL.so.0": "libopengl0",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libX11.so.6": "libx11-6",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxcb.so.1": "libxcb1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xinerama.so.0": "libxcb-xinerama0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
    "libwayland-egl.so.1": "libwayland-egl1",
    "libSM.so.6": "libsm6",
    "libICE.so.6": "libice6",
}

_ALWAYS = ("Qt/lib/libQt6Widgets.so.6", "Qt/lib/libQt6Svg.so.6", "Qt/plugins/platforms/libqoffscreen.so")
_XCB = "Qt/plugins/platforms/libqxcb.so"


def has_display(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> bool:
    """Whether a window can be shown: on Linux, whether an X or Wayland server answers."""
    if platform in ("darwin", "win32"):
        return True
    if environ.get("QT_QPA_PLATFORM") in ("offscreen", "minimal"):
        return False
    return _wayland_answers(environ) or _x_answers(environ.get("DISPLAY", ""))


def _wayland_answers(environ: Mapping[str, str]) -> bool:
    name = environ.get("WAYLAND_DISPLAY", "")
    return bool(name) and _answers(socket.AF_UNIX, os.path.join(environ.get("XDG_RUNTIME_DIR", ""), name))


def _x_answers(display: str) -> bool:
    match = re.fullmatch(r"(?P<host>[^:]*):(?P<number>\d+)(\.\d+)?", display)
    if match is None:
        return False
    host, number = match["host"], int(match["number"])
    if host in ("", "unix"):
        path = f"/tmp/.X11-unix/X{number}"
        return _answers(socket.AF_UNIX, path) or _answers(socket.AF_UNIX, "\0" + path)
    return _answers(socket.AF_INET, (host, 6000 + number))


def _answers(family: int, address: str | tuple[str, int]) -> bool:
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(address)
        except OSError:
            return False
        return True


def missing_libraries() -> list[str]:
    """Shared libraries that Qt needs and the system lacks, by file name; empty where `ldd` cannot tell."""
    spec = importlib.util.find_spec("PySide6")
    if not sys.platform.startswith("linux") or spec is None or spec.origin is None:
        return []
    root = Path(spec.origin).parent
    wanted = [*_ALWAYS, *([_XCB] if has_display() and os.environ.get("DISPLAY") else [])]
    missing: set[str] = set()
    for file in wanted:
        try:
            told = subprocess.run(["ldd", str(root / file)], capture_output=True, text=True, timeout=30, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return []
        missing.update(re.findall(r"(\S+) => not found", told.stdout))
    return sorted(missing)


def packages_for(libraries: list[str]) -> list[str]:
    """Debian packages that bring these shared libraries; a library nobody knows stands for itself."""
    return sorted({_PACKAGES.get(library, library) for library in libraries})


def main() -> None:
    """For the set-up script; as `python -m` the module would be imported twice, which Python warns about."""
    print(*packages_for(missing_libraries()))
