"""Pictures of a recording without a screen: the whole window, or one of its panels, as PNG or SVG."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Protocol, runtime_checkable

from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop
from PySide6.QtWidgets import QVBoxLayout, QWidget

from tapeviz.analysis.focus import Focus
from tapeviz.gui.app import make_application, make_window
from tapeviz.gui.panels import PANELS
from tapeviz.gui.pictures import save_picture
from tapeviz.gui.session import Session
from tapeviz.gui.theme import THEMES
from tapeviz.gui.window import dress_application
from tapeviz.recording.rows import RecordingError

# Names of the command line -> panels; "window" is all of them.
VIEWS = {"graph": "graph", "health": "health", "plots": "plots", "step": "step", "ops": "operations",
         "source": "source", "findings": "findings", "report": "findings", "tensor": "tensor",
         "structure": "navigator", "output": "output"}
_PATIENCE_S = 60.0


@runtime_checkable
class Settles(Protocol):
    """A panel that works in the background finishes when it is asked to."""

    def settle(self) -> None: ...


@runtime_checkable
class ShowsAll(Protocol):
    """A panel that shows a part of something larger can be asked for all of it."""

    def show_all(self) -> None: ...


def render(recording_path: Path | str, view: str, out: Path | str, size: tuple[int, int] = (1280, 720),
           theme: str = "dark", focus: Focus | None = None, perspective: str = "diagnose", scale: float = 1.0) -> None:
    """Draw `view` of a recording into the file `out` (.png or .svg).

    focus: where to look; None: as the window opens
    Raises RecordingError, OSError if `out` cannot be written, ValueError for an unknown view, theme or suffix.
    """
    if view != "window" and view not in VIEWS:
        raise ValueError(f"no view {view!r}; there are window, {', '.join(VIEWS)}")
    if theme not in THEMES:
        raise ValueError(f"no theme {theme!r}; there are {', '.join(THEMES)}")
    make_application()
    session = Session(THEMES[theme].scaled(scale))
    dress_application(session.theme)
    widget = _window(session, perspective) if view == "window" else _alone(session, VIEWS[view])
    try:
        if not session.open(recording_path):
            problem = session.problem
            raise RecordingError(problem.detail if problem is not None else f"{recording_path} cannot be opened")
        if focus is not None:
            session.set_focus(**{name: value for name in Focus.__slots__
                                 if (value := getattr(focus, name)) is not None})
        widget.resize(*size)
        widget.show()
        _settle(session, widget)
        if view != "window" and focus is None:      # nobody said where to look
            _show_all(widget)
            _settle(session, widget)
        save_picture(widget, Path(out))
    finally:
        widget.close()
        session.close()
        widget.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def _show_all(widget: QWidget) -> None:
    for child in widget.findChildren(QWidget):
        if isinstance(child, ShowsAll):
            child.show_all()


def _window(session: Session, perspective: str) -> QWidget:
    window = make_window(session)
    window.setMinimumSize(1, 1)
    window.show_perspective(perspective)
    return window


def _alone(session: Session, panel: str) -> QWidget:
    spec = next(spec for spec in PANELS if spec.id == panel)
    holder = QWidget()
    holder.setWindowTitle(spec.title)
    column = QVBoxLayout(holder)
    column.setContentsMargins(0, 0, 0, 0)
    column.addWidget(spec.make(session))
    return holder


def _settle(session: Session, widget: QWidget) -> None:
    """Let everything that works in the background finish: the rules, layouts, formulas."""
    deadline = time.monotonic() + _PATIENCE_S
    _events()
    while session.working and time.monotonic() < deadline:
        session.poll()
        _events()
        time.sleep(0.005)
    for _ in range(2):         # what one panel has finished may change the size of another
        for child in [widget, *widget.findChildren(QWidget)]:
            if isinstance(child, Settles) and child.isVisible():
                child.settle()
        _events()


def _events() -> None:
    for _ in range(3):         # a layout request makes resize events, which make paint events
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)
