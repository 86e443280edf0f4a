"""The workbench: all panels in docks; every perspective has an arrangement of its own that the user may change."""

from __future__ import annotations

import json
from typing import cast

from PySide6.QtCore import QByteArray, QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QMainWindow,
    QMenu,
    QStackedWidget,
    QTabBar,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from tapeviz.gui.painting import guarded
from tapeviz.gui.panels import PANELS, PanelSpec
from tapeviz.gui.perspectives import BY_ID, PERSPECTIVES, Perspective
from tapeviz.gui.session import Session

LAYOUT_VERSION = 2
_AREA = Qt.DockWidgetArea
_ACROSS, _DOWN = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
PERSPECTIVE_IDS = tuple(perspective.id for perspective in PERSPECTIVES)


class PanelDock(QDockWidget):
    """A dock without a title bar (its tab names it); floating, it gets the usual one."""

    def __init__(self, spec: PanelSpec, parent: QWidget) -> None:
        super().__init__(spec.title, parent)
        self.spec = spec
        self.setObjectName(spec.id)
        # The panel is put into a holder: a dock whose own widget is hidden warns of negative sizes.
        self.holder = QWidget(self)
        column = QVBoxLayout(self.holder)
        column.setContentsMargins(0, 0, 0, 0)
        self.setWidget(self.holder)
        self.panel: QWidget | None = None
        self._seen = False
        self._bare = QWidget(self)
        self.setTitleBarWidget(self._bare)
        self.topLevelChanged.connect(self._dress)
        self.visibilityChanged.connect(self.show_panel)

    def show_panel(self, seen: bool) -> None:
        """A panel behind another tab is hidden: Qt only moves it out of sight, and it would go on working there."""
        self._seen = seen
        if self.panel is not None and self.panel.parentWidget() is self.holder:
            keyboard = QApplication.focusWidget()
            if not seen and keyboard is not None and self.panel.isAncestorOf(keyboard):
                self.setFocus()      # else the next panel would get it, which may be an editor
            self.panel.setVisible(seen)

    def take(self, panel: QWidget) -> None:
        """Move a panel in here, from wherever it was."""
        self.panel = panel
        layout = self.holder.layout()
        if layout is not None and panel.parentWidget() is not self.holder:
            layout.addWidget(panel)
        panel.setVisible(self._seen)

    def _dress(self, floating: bool) -> None:
        # A null pointer gives the native title bar back, by which a floating dock is moved and closed.
        self.setTitleBarWidget(None if floating else self._bare)  # type: ignore[arg-type]  # the stub forgets None


class Bench(QMainWindow):
    """The docks of one perspective.

    Every perspective has docks of its own, and the panels move from one to the other: taking docks out of a
    QMainWindow and arranging them anew leaves empty tab bars and places behind (Qt 6.11).
    """

    def __init__(self, perspective: Perspective, session: Session, panels: dict[str, QWidget],
                 parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowFlags(Qt.WindowType.Widget)
        self.perspective = perspective
        self._session = session
        self._unsized = True
        self._state: QByteArray | None = None
        self._dragged: dict[str, int] = {}
        self._before_drag: dict[str, QSize] = {}
        self._floating: list[PanelDock] = []
        # The sizes of docks can be set for good only after the window has been shown.  A timer of our own: a
        # QTimer.singleShot that is still pending when its receiver is deleted keeps the receiver's Python half alive.
        self._after_show = QTimer(self)
        self._after_show.setSingleShot(True)
        self._after_show.timeout.connect(self._size)
        self.setObjectName(f"bench-{perspective.id}")
        options = QMainWindow.DockOption
        self.setDockOptions(options.AllowNestedDocks | options.AllowTabbedDocks | options.GroupedDragging)
        self.setTabPosition(_AREA.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.setDocumentMode(True)
        self.setCorner(Qt.Corner.BottomRightCorner, _AREA.RightDockWidgetArea)
        self.setCorner(Qt.Corner.TopRightCorner, _AREA.RightDockWidgetArea)
        self.setCorner(Qt.Corner.BottomLeftCorner, _AREA.BottomDockWidgetArea)
        self.docks = {spec.id: PanelDock(spec, self) for spec in PANELS}
        for id, dock in self.docks.items():
            dock.take(panels[id])

    def take(self, panels: dict[str, QWidget]) -> None:
        """Put the panels into these docks."""
        for id, panel in panels.items():
            self.docks[id].take(panel)
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
        """Whether it has been on the screen: before, its sizes mean nothing."""
        return not self._unsized

    def keep(self) -> QByteArray:
        """The arrangement, for a later start: a line with the sizes the user gave, then what Qt keeps of the docks.

        The sizes in Qt's part are those of a window of that moment: restored before the window has its own size
        they come out as other sizes, and an arrangement nobody touched would be a little different at every start.
        """
        return QByteArray(json.dumps(self._dragged).encode() + b"\n" + bytes(self.saveState(LAYOUT_VERSION).data()))

    def restore(self, kept: QByteArray) -> None:
        """An arrangement of an earlier start, to be taken when it is shown; of another version: as delivered."""
        head, _, state = bytes(kept.data()).partition(b"\n")
        try:
            sizes = json.loads(head)
        except ValueError:
            return
        if isinstance(sizes, dict) and all(isinstance(size, int) for size in sizes.values()):
            self._dragged = {place: sizes[place] for place in ("left", "right", "bottom") if place in sizes}
            self._state = QByteArray(state)

    def _arrange(self) -> None:
        perspective = self.perspective
        first = {place: self.docks[getattr(perspective, place)[0]] for place in ("left", "stage", "right", "bottom")}
        self.addDockWidget(_AREA.LeftDockWidgetArea, first["left"])
        # All in one area, split twice: in an area of its own the bottom does not keep the height it is given.
        self.splitDockWidget(first["left"], first["bottom"], _DOWN)
        self.splitDockWidget(first["left"], first["stage"], _ACROSS)
        self.addDockWidget(_AREA.RightDockWidgetArea, first["right"])
        used = set()
        for place, front in first.items():
            last = front
            used.update(getattr(perspective, place))
            for id in getattr(perspective, place)[1:]:
                self.tabifyDockWidget(last, self.docks[id])
                last = self.docks[id]
            front.raise_()
        for id, dock in self.docks.items():
            if id not in used:
                self.addDockWidget(_AREA.LeftDockWidgetArea, dock)
                dock.hide()

    def _fronts(self) -> dict[str, PanelDock]:
        """The dock by which the size of a place is set: one that is shown there."""
        perspective, fronts = self.perspective, {}
        for place in ("left", "stage", "right", "bottom"):
            for id in getattr(perspective, place):
                dock = self.docks[id]
                if not dock.isFloating() and not dock.isHidden():
                    fronts[place] = dock
                    break
        return fronts

    def _size(self) -> None:
        """Give the places their sizes: what the user dragged them to, else a share of the window.

        Left to itself Qt gives what a growing window gains to the docks at the right and at the bottom.
        """
        perspective, scale, fronts = self.perspective, self._session.theme.scale, self._fronts()
        self._unsized = False
        self._lay_out()
        left, _, right = perspective.widths(self.width(), scale)
        rule = {"left": left, "right": right, "bottom": perspective.height(self.height(), scale)}
        sizes = rule | self._dragged
        across = [(dock, sizes[place]) for place, dock in fronts.items() if place in ("left", "right")]
        if "stage" in fronts:
            rest = self.width() - sum(width for _, width in across) - 8
            across.insert(min(1, len(across)), (fronts["stage"], max(200, rest)))
        if across:
            self.resizeDocks([dock for dock, _ in across], [width for _, width in across], _ACROSS)
        if "bottom" in fronts:
            above = [fronts[place] for place in ("left", "stage") if place in fronts][:1]
            heights = [max(100, self.height() - sizes["bottom"] - 4)] * len(above)
            self.resizeDocks([*above, fronts["bottom"]], [*heights, sizes["bottom"]], _DOWN)
        self._lay_out()

    def _sizes(self) -> dict[str, QSize]:
        return {place: dock.size() for place, dock in self._fronts().items()}

    def _remember(self) -> None:
        """The user has dragged something: what has another size now keeps it when the window grows."""
        for place, size in self._sizes().items():
            before = self._before_drag.get(place, size)
            if place == "bottom" and size.height() != before.height():
                self._dragged[place] = size.height()
            elif place in ("left", "right") and size.width() != before.width():
                self._dragged[place] = size.width()

    def _lay_out(self) -> None:
        layout = self.layout()
        if layout is not None:
            layout.activate()

    def _dress_tabs(self) -> None:
        """Qt makes the tab bars of docks itself, whenever docks are put together."""
        bars = self.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)
        for bar in bars:
            bar.setExpanding(False)
            bar.setDrawBase(False)
            bar.setElideMode(Qt.TextElideMode.ElideRight)
            bar.setUsesScrollButtons(False)
            bar.setAccessibleName("Panels at this place")

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._unsized:
            # Only now: docks that are put together before the window is shown leave tab bars behind (Qt 6.11).
            self._arrange()
            if self._state is not None:
                self.restoreState(self._state, LAYOUT_VERSION)
        self._size()        # also when it comes back: the window may have grown meanwhile
        self._after_show.start()

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.isVisible():
            self._size()

    @guarded(False)
    def event(self, event: QEvent) -> bool:
        # Drags of separators are handled in here, before any mouse event handler.
        if event.type() == QEvent.Type.MouseButtonPress:
            self._before_drag = self._sizes()
        done = super().event(event)
        if event.type() == QEvent.Type.MouseButtonRelease and self._before_drag != self._sizes():
            self._remember()
        elif event.type() == QEvent.Type.ChildPolished:
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
            bench = self._benches[self.perspective] = Bench(BY_ID[self.perspective], self._session, self.panels)
            bench.resize(self.size())
            self.addWidget(bench)
            state = self._states.get(self.perspective)
            if state is not None:
                bench.restore(state)
        bench.take(self.panels)
        self._rescale()
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
        changed = {id: bench.keep() for id, bench in self._benches.items() if bench.sized}
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
            _give_keyboard(self.panels[id])

    def current_panel(self) -> str:
        """The panel that has the keyboard, else the one in front of the stage."""
        widget = cast("QWidget | None", self.window().focusWidget())      # the stub forgets None
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
            for bench in self._benches.values():
                bench.docks[spec.id].holder.setMinimumSize(round(width * factor), round(height * factor))


def _give_keyboard(panel: QWidget) -> None:
    """To the first widget of a panel that takes it."""
    takers = [panel, *panel.findChildren(QWidget)]
    for widget in takers:
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisible() and widget.isEnabled():
            widget.setFocus(Qt.FocusReason.ShortcutFocusReason)
            return
