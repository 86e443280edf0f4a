"""The workbench: all panels in docks; every perspective has an arrangement of its own that the user may change."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QEvent, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QDockWidget, QMainWindow, QMenu, QStackedWidget, QTabBar, QTabWidget, QWidget

from tapeviz.gui.painting import guarded
from tapeviz.gui.panels import PANELS, PanelSpec
from tapeviz.gui.perspectives import BY_ID, PERSPECTIVES, Perspective
from tapeviz.gui.session import Session

LAYOUT_VERSION = 1
_AREA = Qt.DockWidgetArea
_ACROSS, _DOWN = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
PERSPECTIVE_IDS = tuple(perspective.id for perspective in PERSPECTIVES)


class PanelDock(QDockWidget):
    """A dock without a title bar (its tab names it); floating, it gets the usual one."""

    def __init__(self, spec: PanelSpec, parent: QWidget) -> None:
        super().__init__(spec.title, parent)
        self.spec = spec
        self.setObjectName(spec.id)
        self._bare = QWidget(self)
        self.setTitleBarWidget(self._bare)
        self.topLevelChanged.connect(self._dress)

    def _dress(self, floating: bool) -> None:
        # A null pointer gives the native title bar back, by which a floating dock is moved and closed.
        self.setTitleBarWidget(None if floating else self._bare)  # type: ignore[arg-type]  # the stub forgets None


class Bench(QMainWindow):
    """The docks of one perspective.

    Every perspective has docks of its own, and the panels move from one to the other: taking docks out of a
    QMainWindow and arranging them anew leaves empty tab bars and places behind (Qt 6.11).
    """

    def __init__(self, perspective: Perspective, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowFlags(Qt.WindowType.Widget)
        self.perspective = perspective
        self._session = session
        self._unsized = True
        self._floating: list[PanelDock] = []
        self.setObjectName(f"bench-{perspective.id}")
        options = QMainWindow.DockOption
        self.setDockOptions(options.AllowNestedDocks | options.AllowTabbedDocks | options.GroupedDragging)
        self.setTabPosition(_AREA.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.setDocumentMode(True)
        self.setCorner(Qt.Corner.BottomRightCorner, _AREA.RightDockWidgetArea)
        self.setCorner(Qt.Corner.TopRightCorner, _AREA.RightDockWidgetArea)
        self.setCorner(Qt.Corner.BottomLeftCorner, _AREA.BottomDockWidgetArea)
        self.docks = {spec.id: PanelDock(spec, self) for spec in PANELS}
        self._arrange()

    def take(self, panels: dict[str, QWidget]) -> None:
        """Put the panels into these docks."""
        for id, panel in panels.items():
            self.docks[id].setWidget(panel)
        for dock in self._floating:
            dock.show()
        self._floating = []
        self._dress_tabs()

    def leave(self) -> None:
        """Floating docks are windows of their own: they would stay when another perspective is shown."""
        self._floating = [dock for dock in self.docks.values() if dock.isFloating() and dock.isVisible()]
        for dock in self._floating:
            dock.hide()

    @property
    def sized(self) -> bool:
        return not self._unsized

    def restore(self, state: QByteArray) -> None:
        """An arrangement of an earlier start."""
        if self.restoreState(state, LAYOUT_VERSION):
            self._unsized = False

    def _arrange(self) -> None:
        perspective = self.perspective
        first = {place: self.docks[getattr(perspective, place)[0]] for place in ("left", "stage", "right", "bottom")}
        self.addDockWidget(_AREA.LeftDockWidgetArea, first["left"])
        self.splitDockWidget(first["left"], first["stage"], _ACROSS)
        self.addDockWidget(_AREA.RightDockWidgetArea, first["right"])
        self.addDockWidget(_AREA.BottomDockWidgetArea, first["bottom"])
        used = set()
        for place, front in first.items():
            last = front
            used.update(getattr(perspective, place))
            for id in getattr(perspective, place)[1:]:
                self.tabifyDockWidget(last, self.docks[id])
                last = self.docks[id]
                self._lay_out()      # without it every further dock leaves a tab bar of its own behind
            front.raise_()
        for id, dock in self.docks.items():
            if id not in used:
                self.addDockWidget(_AREA.LeftDockWidgetArea, dock)
                dock.hide()

    def _size(self) -> None:
        """Give the places their widths; only a shown window has any to give."""
        self._unsized = False
        perspective, scale = self.perspective, self._session.theme.scale
        self._lay_out()
        fronts = [self.docks[getattr(perspective, place)[0]] for place in ("left", "stage", "right")]
        self.resizeDocks(fronts, list(perspective.widths(self.width(), scale)), _ACROSS)
        self.resizeDocks([self.docks[perspective.bottom[0]]], [perspective.height(self.height(), scale)], _DOWN)
        self._lay_out()

    def _lay_out(self) -> None:
        layout = self.layout()
        if layout is not None:
            layout.activate()

    def _dress_tabs(self) -> None:
        """Qt makes the tab bars of docks itself, whenever docks are put together."""
        for bar in self.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly):
            bar.setExpanding(False)
            bar.setDrawBase(False)
            bar.setElideMode(Qt.TextElideMode.ElideRight)
            bar.setUsesScrollButtons(False)
            bar.setAccessibleName("Panels at this place")

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._unsized:
            self._size()

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._unsized and self.isVisible():
            self._size()

    @guarded(False)
    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() == QEvent.Type.ChildPolished:
            self._dress_tabs()
        return done


class Workbench(QStackedWidget):
    """Benches by perspective, made when they are first shown; `perspective` is the one in front."""

    perspective_changed = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.perspective = ""
        self._benches: dict[str, Bench] = {}
        self._states: dict[str, QByteArray] = {}
        self.panels: dict[str, QWidget] = {spec.id: spec.make(session) for spec in PANELS}
        session.findings_changed.connect(self._count_findings)
        session.recording_changed.connect(self._count_findings)
        session.theme_changed.connect(self._rescale)
        self._rescale()

    def panel(self, id: str) -> QWidget:
        return self.panels[id]

    @property
    def bench(self) -> Bench:
        """The arrangement in front."""
        return self._benches[self.perspective]

    def dock(self, id: str) -> PanelDock:
        return self.bench.docks[id]

    # --- perspectives --------------------------------------------------------------------------

    def show_perspective(self, id: str) -> None:
        """Arrange the panels for a job, as the user left it the last time."""
        if id == self.perspective or id not in BY_ID:
            return
        if self.perspective:
            self.bench.leave()
        self.perspective = id
        self._show_bench()
        self.perspective_changed.emit(id)

    def _show_bench(self) -> None:
        bench = self._benches.get(self.perspective)
        if bench is None:
            bench = self._benches[self.perspective] = Bench(BY_ID[self.perspective], self._session)
            self.addWidget(bench)
            state = self._states.get(self.perspective)
            if state is not None:
                bench.restore(state)
        bench.take(self.panels)
        self.setCurrentWidget(bench)
        self._count_findings()

    def reset_layout(self) -> None:
        """The shown perspective as it was delivered."""
        self._states.pop(self.perspective, None)
        old = self._benches.pop(self.perspective)
        self._show_bench()
        self.removeWidget(old)
        old.deleteLater()

    def states(self) -> dict[str, QByteArray]:
        """Every arrangement as it is now, to be kept for the next start."""
        changed = {id: bench.saveState(LAYOUT_VERSION) for id, bench in self._benches.items() if bench.sized}
        return self._states | changed

    def take_states(self, states: dict[str, QByteArray]) -> None:
        """Arrangements kept from an earlier start."""
        self._states.update(states)

    def fill_menu(self, menu: QMenu) -> None:
        """Check marks of the docks of the shown perspective."""
        menu.clear()
        menu.addActions([dock.toggleViewAction() for dock in self.bench.docks.values()])

    # --- panels --------------------------------------------------------------------------------

    def raise_panel(self, id: str, *, keyboard: bool = False) -> None:
        """Bring a panel to the front because the user asked for it."""
        dock = self.dock(id)
        dock.show()
        dock.raise_()
        if keyboard:
            self.panels[id].setFocus(Qt.FocusReason.ShortcutFocusReason)
            if not self.panels[id].hasFocus():
                child = self.panels[id].nextInFocusChain()
                while child is not None and child is not self.panels[id] and not self.panels[id].isAncestorOf(child):
                    child = child.nextInFocusChain()
                child.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def current_panel(self) -> str:
        """The panel that has the keyboard, else the one in front of the stage."""
        widget = self.window().focusWidget()
        for id, panel in self.panels.items():
            if widget is not None and (panel is widget or panel.isAncestorOf(widget)):
                return id
        shown = self.visible_panels()
        stage = BY_ID[self.perspective].stage if self.perspective else ()
        return next((id for id in stage if id in shown), shown[0] if shown else "health")

    def visible_panels(self) -> list[str]:
        """Panels that can be seen now, in the order of the table."""
        return [id for id, panel in self.panels.items() if not panel.visibleRegion().isEmpty()]

    def _count_findings(self) -> None:
        count = len(self._session.findings)
        for bench in self._benches.values():
            dock = bench.docks["findings"]
            dock.setWindowTitle(f"{dock.spec.title}  {count}" if count else dock.spec.title)

    def _rescale(self, _: object = None) -> None:
        # At large text the least sizes would push the window off the screen: panels scroll instead.
        factor = min(self._session.theme.scale, 1.25)
        for spec in PANELS:
            width, height = spec.least
            self.panels[spec.id].setMinimumSize(round(width * factor), round(height * factor))
