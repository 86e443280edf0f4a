"""The workbench: all panels in docks, arranged by perspectives that remember what the user changed."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabBar, QWidget

from tapeviz.gui.painting import guarded
from tapeviz.gui.panels import PANELS, PanelSpec
from tapeviz.gui.perspectives import BY_ID, PERSPECTIVES, Perspective
from tapeviz.gui.session import Session

LAYOUT_VERSION = 1
_AREA = Qt.DockWidgetArea
_ACROSS, _DOWN = Qt.Orientation.Horizontal, Qt.Orientation.Vertical


class PanelDock(QDockWidget):
    """A dock without a title bar (its tab names it); floating, it gets the usual one."""

    def __init__(self, spec: PanelSpec, panel: QWidget, parent: QWidget) -> None:
        super().__init__(spec.title, parent)
        self.spec = spec
        self.panel = panel
        self.setObjectName(spec.id)
        self.setWidget(panel)
        self._bare = QWidget(self)
        self.setTitleBarWidget(self._bare)
        self.topLevelChanged.connect(self._dress)

    def _dress(self, floating: bool) -> None:
        # A null pointer gives the native title bar back, by which a floating dock is moved and closed.
        self.setTitleBarWidget(None if floating else self._bare)  # type: ignore[arg-type]  # the stub forgets None


class Workbench(QMainWindow):
    """Docks of all panels; `perspective` is the arrangement shown."""

    perspective_changed = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowFlags(Qt.WindowType.Widget)
        self.setObjectName("workbench")
        self._session = session
        self.perspective = ""
        self._states: dict[str, QByteArray] = {}
        self._unsized = False
        self.setDockOptions(
            QMainWindow.DockOption.AllowNestedDocks | QMainWindow.DockOption.AllowTabbedDocks
            | QMainWindow.DockOption.GroupedDragging
        )
        self.setTabPosition(_AREA.AllDockWidgetAreas, self.tabPosition(_AREA.TopDockWidgetArea).North)
        self.setDocumentMode(True)
        self.setCorner(Qt.Corner.BottomRightCorner, _AREA.RightDockWidgetArea)
        self.setCorner(Qt.Corner.TopRightCorner, _AREA.RightDockWidgetArea)
        self.setCorner(Qt.Corner.BottomLeftCorner, _AREA.BottomDockWidgetArea)
        self.docks = {spec.id: PanelDock(spec, spec.make(session), self) for spec in PANELS}
        for dock in self.docks.values():
            self.addDockWidget(_AREA.LeftDockWidgetArea, dock)
            dock.hide()
        session.findings_changed.connect(self._count_findings)
        session.recording_changed.connect(self._count_findings)
        session.theme_changed.connect(self._rescale)
        self._rescale()

    def panel(self, id: str) -> QWidget:
        return self.docks[id].panel

    # --- perspectives --------------------------------------------------------------------------

    def show_perspective(self, id: str) -> None:
        """Arrange the docks for a job; changes to the arrangement left behind are remembered."""
        if id == self.perspective or id not in BY_ID:
            return
        if self.perspective:
            self._states[self.perspective] = self.saveState(LAYOUT_VERSION)
        self.perspective = id
        state = self._states.get(id)
        if state is None or not self.restoreState(state, LAYOUT_VERSION):
            self._arrange(BY_ID[id])
        self._dress_tabs()
        self.perspective_changed.emit(id)

    def reset_layout(self) -> None:
        """The shown perspective as it was delivered."""
        self._states.pop(self.perspective, None)
        self._arrange(BY_ID[self.perspective])
        self._dress_tabs()

    def states(self) -> dict[str, QByteArray]:
        """Every arrangement as it is now, to be kept for the next start."""
        if self.perspective and not self._unsized:
            self._states[self.perspective] = self.saveState(LAYOUT_VERSION)
        return dict(self._states)

    def take_states(self, states: dict[str, QByteArray]) -> None:
        """Arrangements kept from an earlier start."""
        self._states.update(states)

    def raise_panel(self, id: str, *, keyboard: bool = False) -> None:
        """Bring a panel to the front because the user asked for it."""
        dock = self.docks[id]
        dock.show()
        dock.raise_()
        if keyboard:
            dock.panel.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def current_panel(self) -> str:
        """The panel that has the keyboard, else the one in front of the stage."""
        for id, dock in self.docks.items():
            widget = self.focusWidget()
            if widget is not None and dock.isAncestorOf(widget):
                return id
        stage = BY_ID[self.perspective].stage if self.perspective else ()
        return next((id for id in stage if not self.docks[id].visibleRegion().isEmpty()), "health")

    def visible_panels(self) -> list[str]:
        """Panels that can be seen now, in the order of the table."""
        return [id for id, dock in self.docks.items() if not dock.visibleRegion().isEmpty()]

    def _arrange(self, perspective: Perspective) -> None:
        for dock in self.docks.values():
            dock.setFloating(False)
            self.removeDockWidget(dock)
        first = {place: self.docks[getattr(perspective, place)[0]] for place in ("left", "stage", "right", "bottom")}
        self.addDockWidget(_AREA.LeftDockWidgetArea, first["left"])
        self.splitDockWidget(first["left"], first["stage"], _ACROSS)
        self.addDockWidget(_AREA.RightDockWidgetArea, first["right"])
        self.addDockWidget(_AREA.BottomDockWidgetArea, first["bottom"])
        for place, front in first.items():
            last = front
            front.show()
            for id in getattr(perspective, place)[1:]:
                dock = self.docks[id]
                self.tabifyDockWidget(last, dock)
                dock.show()
                last = dock
            front.raise_()
        self._unsized = True
        self._size()

    def _size(self) -> None:
        """Give the places their widths; only a shown window has any to give."""
        if not (self._unsized and self.isVisible() and self.perspective):
            return
        self._unsized = False
        perspective, scale = BY_ID[self.perspective], self._session.theme.scale
        self._lay_out()
        fronts = [self.docks[getattr(perspective, place)[0]] for place in ("left", "stage", "right")]
        self.resizeDocks(fronts, list(perspective.widths(self.width(), scale)), _ACROSS)
        self.resizeDocks([self.docks[perspective.bottom[0]]], [perspective.height(self.height(), scale)], _DOWN)
        self._lay_out()

    def _lay_out(self) -> None:
        layout = self.layout()
        if layout is not None:
            layout.activate()

    # --- tabs ----------------------------------------------------------------------------------

    def _dress_tabs(self) -> None:
        """Qt makes the tab bars of docks itself, whenever docks are put together."""
        for bar in self.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly):
            bar.setExpanding(False)
            bar.setDrawBase(False)
            bar.setElideMode(Qt.TextElideMode.ElideRight)
            bar.setUsesScrollButtons(False)
            bar.setAccessibleName("Panels at this place")

    def _count_findings(self) -> None:
        count = len(self._session.findings)
        dock = self.docks["findings"]
        dock.setWindowTitle(f"{dock.spec.title}  {count}" if count else dock.spec.title)

    def _rescale(self) -> None:
        for dock in self.docks.values():
            width, height = dock.spec.least
            theme = self._session.theme
            # At large text the least sizes would push the window off the screen: panels scroll instead.
            factor = min(theme.scale, 1.25)
            dock.panel.setMinimumSize(QSize(round(width * factor), round(height * factor)))

    # --- Qt ------------------------------------------------------------------------------------

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._size()

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._dress_tabs()


PERSPECTIVE_IDS = tuple(perspective.id for perspective in PERSPECTIVES)
