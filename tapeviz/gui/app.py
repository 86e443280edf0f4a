"""The application: starts Qt, opens the window on what the command line asks for."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication

from tapeviz import __version__
from tapeviz.capture.launcher import RunConfig
from tapeviz.gui.preferences import Preferences
from tapeviz.gui.session import Session
from tapeviz.gui.theme import load_fonts
from tapeviz.gui.window import MainWindow

_TITLE_BAR = 32       # of a window that has not been shown it is not known


def make_application(argv: Sequence[str] = ("tapeviz",)) -> QApplication:
    """The one QApplication of the process, with our fonts and the style that every platform has."""
    running = QApplication.instance()
    application = running if isinstance(running, QApplication) else QApplication(list(argv))
    application.setApplicationName("tapeviz")
    application.setOrganizationName("tapeviz")
    application.setApplicationVersion(__version__)
    application.setStyle("Fusion")
    load_fonts()
    return application


def make_window(session: Session, preferences: Preferences | None = None) -> MainWindow:
    """The window around a session; with preferences it remembers, without it starts as delivered."""
    return MainWindow(session, preferences)


def fit(window: MainWindow, room: QSize) -> None:
    """Make the window as large as the screen has room for, its title bar included, if it is larger than that."""
    if not window.isMaximized() and not window.isFullScreen():
        window.resize(window.size().boundedTo(room - QSize(0, _TITLE_BAR)))


def main(what: Sequence[str] | RunConfig | None = None) -> int:
    """Show the window: a script to run, a file to open, or the start page; returns the exit code."""
    application = make_application()
    preferences = Preferences.of_user()
    session = Session(preferences.theme())
    window = make_window(session, preferences)
    fit(window, window.screen().availableSize())
    window.show()
    if isinstance(what, RunConfig):
        window.start(what)
    else:
        for argument in (sys.argv[1:] if what is None else what):
            window.open_path(Path(argument))
    return application.exec()
