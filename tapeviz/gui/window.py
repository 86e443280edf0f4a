"""The main window: menus, toolbar, time strip, workbench and status bar around one session."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QAction, QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QLabel,
    QMainWindow,
    QMenu,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from tapeviz.capture.launcher import RunConfig
from tapeviz.gui.actions import Actions, recording_for, runs_folder
from tapeviz.gui.banner import ProblemBanner
from tapeviz.gui.cards import ExampleCard
from tapeviz.gui.commands import fill_menus, make_actions
from tapeviz.gui.findings.panel import FindingsPanel
from tapeviz.gui.graph.panel import GraphPanel
from tapeviz.gui.oplist.panel import OperationsPanel
from tapeviz.gui.output.panel import OutputPanel
from tapeviz.gui.painting import guarded
from tapeviz.gui.perspectives import BY_ID
from tapeviz.gui.playback import Playback
from tapeviz.gui.preferences import Preferences
from tapeviz.gui.session import Session
from tapeviz.gui.source.panel import SourcePanel
from tapeviz.gui.start import StartPage
from tapeviz.gui.statusbar import MainStatusBar
from tapeviz.gui.stepper.panel import StepPanel
from tapeviz.gui.strip import TimeStrip
from tapeviz.gui.theme import Theme, apply
from tapeviz.gui.toolbar import MainToolBar
from tapeviz.gui.workbench import PERSPECTIVE_IDS, Workbench
from tapeviz.recording.schema import SUFFIX

SAY_MS = 6000
INPUT_WORDS = "The script waits for a line: type it in Output"


class MainWindow(QMainWindow):
    """One session in one window; closing it stops the script."""

    def __init__(self, session: Session, preferences: Preferences | None = None) -> None:
        super().__init__()
        # Before the first widget: a style sheet leaves labels that were made earlier with the font of then.
        dress_application(session.theme)
        self.session = session
        self.preferences = preferences or Preferences()
        self.setObjectName("window")
        self.setAccessibleName("tapeviz")
        self.setAcceptDrops(True)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(1440, 900)
        self.setMinimumSize(960, 560)
        self.playback = Playback(session, self)
        self.workbench = Workbench(session)
        self.start_page = StartPage(session, runs_folder() if preferences is not None else None)
        self.strip = TimeStrip(session)
        self.banner = ProblemBanner(session)
        self.commands = make_actions(Actions(self), self)
        for action in self.commands.values():
            self.addAction(action)
        self._build()
        self._connect()
        self._restore()
        self._dress()
        self._show_what_is_open()
        self.stack.setFocus()       # else the first button of the toolbar has the keyboard

    # --- building ------------------------------------------------------------------------------

    def _build(self) -> None:
        menus = fill_menus(self.menuBar(), self.commands)
        self._recent_menu = QMenu("Open recent", menus["File"])
        menus["File"].insertMenu(self.commands["file.start"], self._recent_menu)
        self._panels_menu = QMenu("Panels", menus["View"])
        self._panels_menu.aboutToShow.connect(self._list_panels)
        menus["View"].insertMenu(self.commands["view.reset"], self._panels_menu)
        self.title_label = QLabel()
        self.title_label.setProperty("role", "muted")
        self.title_label.setContentsMargins(0, 0, 12, 0)
        self.title_label.setAlignment(Qt.AlignmentFlag.AlignVCenter)
        self.menuBar().setCornerWidget(self.title_label)
        self.toolbar = MainToolBar(self.session, self.playback, self.commands)
        self.addToolBar(self.toolbar)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.start_page)
        self.stack.addWidget(self.workbench)
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for widget in (self.banner, self.strip):
            column.addWidget(widget)
        column.addWidget(self.stack, 1)
        self.setCentralWidget(body)
        self.status = MainStatusBar(self.session)
        self.setStatusBar(self.status)

    def _connect(self) -> None:
        session = self.session
        session.recording_changed.connect(self._show_what_is_open)
        session.worker_changed.connect(self._show_what_is_open)
        session.problem_changed.connect(self._show_what_is_open)
        session.theme_changed.connect(self._dress)
        session.input_wanted.connect(self._input_wanted)
        session.worker_changed.connect(self._input_over)
        output = self.workbench.panel("output")
        assert isinstance(output, OutputPanel)
        output.answered.connect(self._input_over)
        self.workbench.perspective_changed.connect(self._perspective_shown)
        self.banner.go_to.connect(self.show_line)
        for id in ("step", "findings"):
            panel = self.workbench.panel(id)
            assert isinstance(panel, StepPanel | FindingsPanel)
            panel.go_to.connect(self.show_line)
        self.start_page.example_chosen.connect(self.run_example)
        self.start_page.path_chosen.connect(self.open_path)
        self.start_page.script_wanted.connect(self.commands["file.script"].trigger)
        self.start_page.recording_wanted.connect(self.commands["file.recording"].trigger)
        self._recent_menu.triggered.connect(self._recent_chosen)

    def _restore(self) -> None:
        states = {id: state for id in PERSPECTIVE_IDS if (state := self.preferences.bytes(f"layout/{id}")) is not None}
        self.workbench.take_states(states)
        geometry = self.preferences.bytes("geometry")
        if geometry is not None:
            self.restoreGeometry(geometry)
        wanted = self.preferences.perspective()
        self.workbench.show_perspective(wanted if wanted in BY_ID else "diagnose")
        self._list_recent()

    # --- what Actions and the command line ask for -----------------------------------------------

    def open_path(self, path: Path) -> None:
        """Open a recording, or a script without running it."""
        path = Path(path)
        if not self.source_panel().may_close():
            return
        if path.suffix == ".py":
            self.session.open_script(path)
        elif not self.session.open(path):
            return
        self.preferences.add_recent(path)
        self._list_recent()

    def start(self, config: RunConfig) -> None:
        """Run a script."""
        if self.session.run(config):
            self.preferences.add_recent(config.script)
            self._list_recent()

    def run_example(self, path: Path) -> None:
        if not self.source_panel().may_close():
            return
        self.start(RunConfig(script=path, cwd=path.parent, recording=recording_for(path)))

    def show_start_page(self) -> None:
        self.stack.setCurrentWidget(self.start_page)
        self.strip.hide()

    def show_perspective(self, id: str) -> None:
        self.stack.setCurrentWidget(self.workbench)
        self.workbench.show_perspective(id)

    def show_line(self, file: str, line: int) -> None:
        """A line of the user's code, in front, because it was asked for."""
        self.stack.setCurrentWidget(self.workbench)
        self.workbench.raise_panel("source")
        self.source_panel().show_line(file, line)

    def source_panel(self) -> SourcePanel:
        panel = self.workbench.panel("source")
        assert isinstance(panel, SourcePanel)
        return panel

    def operations_panel(self) -> OperationsPanel:
        panel = self.workbench.panel("operations")
        assert isinstance(panel, OperationsPanel)
        return panel

    def graph_panel(self) -> GraphPanel:
        panel = self.workbench.panel("graph")
        assert isinstance(panel, GraphPanel)
        return panel

    def say(self, text: str, *, error: bool = False) -> None:
        """A word in the status bar, gone after a while; an error stays until the next word."""
        self.status.say(text, 0 if error else SAY_MS)

    # --- following the session -------------------------------------------------------------------

    def _show_what_is_open(self, _: object = None) -> None:
        session = self.session
        shown = session.recording is not None or session.script is not None
        blocked = session.problem is not None and session.problem.blocks and session.script is None
        page = self.workbench if shown and not blocked else self.start_page
        if page is not self.stack.currentWidget():
            self.stack.setFocus()       # else a button of the toolbar or a tab would have the keyboard after this
            self.stack.setCurrentWidget(page)
        self.strip.setVisible(session.recording is not None)
        name = session.script.name if session.script is not None else (
            session.recording.path.name if session.recording is not None else "")
        self.setWindowTitle(f"{name} — tapeviz" if name else "tapeviz")
        self.title_label.setText(name)
        self.menuBar().setCornerWidget(self.title_label)      # measured anew only when it is set
        for id in ("file.copy", "file.export"):
            self.commands[id].setEnabled(session.recording is not None)
        self.commands["file.save"].setEnabled(session.script is not None)

    def _input_wanted(self) -> None:
        self.say(INPUT_WORDS, error=True)

    def _input_over(self, _: object = None) -> None:
        self.status.take_back(INPUT_WORDS)

    def _perspective_shown(self, id: str) -> None:
        self.commands[f"view.{id}"].setChecked(True)
        self.strip.set_tall(id == "diagnose")
        for panel in (self.source_panel(), self.operations_panel(), self.graph_panel()):
            panel.set_stepping(id == "step")

    def _dress(self, _: object = None) -> None:
        theme = self.session.theme
        dress_application(theme)
        self.toolbar.setFixedHeight(theme.px(42))
        # A menu bar gives its corner the height of one line and no more.
        self.title_label.setMinimumHeight(theme.px(28))
        self.commands[f"view.{theme.name}"].setChecked(True)
        self.preferences.set_theme(theme)

    def _list_recent(self) -> None:
        paths = [path for path in self.preferences.recent() if path.exists()]
        self._recent_menu.clear()
        for path in paths:
            action = self._recent_menu.addAction(str(path))
            action.setData(str(path))
        self._recent_menu.setEnabled(bool(paths))
        self.start_page.show_recent(paths)

    def _list_panels(self) -> None:
        self.workbench.fill_menu(self._panels_menu)

    def _recent_chosen(self, action: QAction) -> None:
        self.open_path(Path(str(action.data())))

    # --- Qt --------------------------------------------------------------------------------------

    @guarded(False)
    def event(self, event: QEvent) -> bool:
        # A button that has the keyboard keeps Space: the shortcut that plays would take it away.
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) \
                and event.key() == Qt.Key.Key_Space and isinstance(self.focusWidget(), QAbstractButton | ExampleCard):
            event.accept()
            return True
        return super().event(event)

    @guarded()
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _dropped(event) is not None:
            event.acceptProposedAction()

    @guarded()
    def dropEvent(self, event: QDropEvent) -> None:
        path = _dropped(event)
        if path is not None:
            event.acceptProposedAction()
            self.open_path(path)

    @guarded()
    def closeEvent(self, event: QCloseEvent) -> None:
        if not self.source_panel().may_close():
            event.ignore()
            return
        self.playback.stop()
        self.preferences.set_bytes("geometry", self.saveGeometry())
        self.preferences.set_perspective(self.workbench.perspective)
        for id, state in self.workbench.states().items():
            self.preferences.set_bytes(f"layout/{id}", state)
        self.session.close()
        super().closeEvent(event)


def dress_application(theme: Theme) -> None:
    """The look is the application's, not the window's, so that dialogs and floating docks have it."""
    application = QApplication.instance()
    if isinstance(application, QApplication):
        apply(theme, application)


def _dropped(event: QDropEvent) -> Path | None:
    """The first script or recording among the dropped files."""
    for url in event.mimeData().urls():
        path = Path(url.toLocalFile())
        if path.suffix in (".py", SUFFIX) and path.is_file():
            return path
    return None
