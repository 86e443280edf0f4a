"""The start page: examples to run, a script or recording to open, and what was open lately."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from tapeviz.gui.cards import ExampleCard, example_of
from tapeviz.gui.painting import guarded
from tapeviz.gui.session import Session
from tapeviz.gui.sparklines import losses_of
from tapeviz.recording.schema import SUFFIX
from tapeviz.resources import resource

# The order of a first visit: the smallest, a healthy one, then one disease after the other.
_ORDER = ("chain_rule", "linear_regression", "digits_vanishing", "digits_repaired", "rnn_exploding", "where_nan",
          "none_gradient")
_CARDS_PER_ROW = 4


def examples() -> list[Path]:
    """The shipped scripts; those that are not in the order of the first visit come last."""
    scripts = sorted(resource("examples").glob("*.py"))
    return sorted(scripts, key=lambda path: _ORDER.index(path.stem) if path.stem in _ORDER else len(_ORDER))


class StartPage(QScrollArea):
    """What the window shows when nothing is open."""

    example_chosen = Signal(object)      # Path of a script, to be run
    path_chosen = Signal(object)         # Path of a script or a recording, to be opened
    script_wanted = Signal()
    recording_wanted = Signal()

    def __init__(self, session: Session, runs: Path | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._runs = runs
        self._unread: list[ExampleCard] = []
        self._reading = QTimer(self)
        self._reading.timeout.connect(self._read_next)
        self.setAccessibleName("Start page")
        self.setWidgetResizable(True)
        page = QWidget()
        page.setProperty("role", "page")
        self.setWidget(page)
        outer = QVBoxLayout(page)
        outer.setContentsMargins(24, 24, 24, 24)
        column = QWidget()
        outer.addStretch(1)
        outer.addWidget(column, 0, Qt.AlignmentFlag.AlignHCenter)
        outer.addStretch(2)
        body = QVBoxLayout(column)
        body.setSpacing(10)
        body.addWidget(self._label("See what your gradients do", "headline"))
        body.addWidget(self._label("Run an example, or open a script or a recording. Files can be dropped anywhere.",
                                   "muted"))
        body.addSpacing(6)
        cards = QGridLayout()
        cards.setSpacing(10)
        self.cards: list[ExampleCard] = []
        for index, path in enumerate(examples()):
            card = ExampleCard(session, example_of(path))
            card.chosen.connect(self.example_chosen)
            cards.addWidget(card, index // _CARDS_PER_ROW, index % _CARDS_PER_ROW)
            self.cards.append(card)
        body.addLayout(cards)
        body.addSpacing(6)
        buttons = QHBoxLayout()
        self.open_script = QPushButton("Open script…")
        self.open_script.setToolTip("Choose a Python script (Ctrl+O)")
        self.open_script.clicked.connect(self.script_wanted)
        self.open_recording = QPushButton("Open recording…")
        self.open_recording.setToolTip("Choose a recording (Ctrl+Shift+O)")
        self.open_recording.clicked.connect(self.recording_wanted)
        buttons.addWidget(self.open_script)
        buttons.addWidget(self.open_recording)
        buttons.addStretch(1)
        body.addLayout(buttons)
        self._recent_title = self._label("Opened lately", "heading")
        body.addSpacing(6)
        body.addWidget(self._recent_title)
        self._recent = QVBoxLayout()
        self._recent.setSpacing(2)
        body.addLayout(self._recent)
        self.show_recent([])

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._runs is not None:
            self._unread = list(self.cards)
            self._reading.start()

    def _read_next(self) -> None:
        """The sparkline of one card at a time, after the page is on the screen."""
        if not self._unread or self._runs is None:
            self._reading.stop()
            return
        card = self._unread.pop(0)
        card.set_losses(losses_of(self._runs / f"{card.example.path.stem}{SUFFIX}"))

    def show_recent(self, paths: list[Path]) -> None:
        """List files that were open lately and still exist."""
        while (item := self._recent.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        there = [path for path in paths if path.exists()][:6]
        self._recent_title.setVisible(bool(there))
        for path in there:
            link = RecentLink(path)
            link.path_chosen.connect(self.path_chosen)
            self._recent.addWidget(link, 0, Qt.AlignmentFlag.AlignLeft)

    def _label(self, text: str, role: str) -> QLabel:
        label = QLabel(text)
        label.setProperty("role", role)
        return label


class RecentLink(QPushButton):
    """A file name that is pressed to open the file."""

    path_chosen = Signal(object)

    def __init__(self, path: Path, parent: QWidget | None = None) -> None:
        super().__init__(_short(path), parent)
        self._path = path
        self.setProperty("kind", "link")
        self.setToolTip(f"Open {path}")
        self.setAccessibleName(f"Open {path.name}")
        self.clicked.connect(self._pressed)

    def _pressed(self) -> None:
        self.path_chosen.emit(self._path)


def _short(path: Path) -> str:
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
