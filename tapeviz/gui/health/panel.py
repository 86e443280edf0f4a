"""The health map of the session's recording: every layer in every iteration, bound to the focus both ways."""

from __future__ import annotations

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from tapeviz.analysis.focus import Focus, variable_tensor
from tapeviz.analysis.series import HealthMap, health
from tapeviz.gui.health.rows import rows_of
from tapeviz.gui.health.view import HealthView
from tapeviz.gui.painting import guarded
from tapeviz.gui.session import Session
from tapeviz.gui.stagebar import EmptyState, Readout, Segments, dress, icon_button, on_surface
from tapeviz.gui.theme import Theme
from tapeviz.recording.schema import NONE

EMPTY = "No gradient of a variable has been recorded yet."
UNRUN = "Press Run (F5) to see the gradients of {}."


class HealthPanel(QWidget):
    """Toolbar and map; computes nothing, asks `analysis.series.health`."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._map: HealthMap | None = None
        self._stale = True
        self.setAccessibleName("Health map")
        on_surface(self)
        theme = session.theme
        self._mode = Segments(("Relative", "Absolute"), "Scale", (
            "Colour by the ratio to the median layer of the same iteration", "Colour by the norm itself, 1e-12 to 1e4"))
        self._readout = Readout(self)
        self.view = HealthView(theme, self)
        self.setFocusProxy(self.view)
        self._buttons = [
            icon_button(self, "minus", "Show more iterations", "-", theme),
            icon_button(self, "plus", "Show fewer iterations", "+", theme),
            icon_button(self, "fit", "Show all iterations", "0", theme),
        ]
        bar = QHBoxLayout()
        bar.setContentsMargins(12, 6, 12, 6)
        bar.setSpacing(6)
        bar.addWidget(self._mode)
        bar.addWidget(self._readout, 1)
        for button in self._buttons:
            bar.addWidget(button)
        full = QWidget(self)
        column = QVBoxLayout(full)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(self.view, 1)
        self._stack = QStackedLayout(self)
        self.empty = EmptyState(EMPTY, self)
        self._stack.addWidget(self.empty)
        self._stack.addWidget(full)

        self._mode.chosen.connect(self._mode_chosen)
        for button, slot in zip(self._buttons, (self.view.zoom_out, self.view.zoom_in, self.view.fit), strict=True):
            button.clicked.connect(slot)
        self.view.cell_chosen.connect(self._cell_chosen)
        session.recording_changed.connect(self._recording_changed)
        session.worker_changed.connect(self._show_sentence)
        session.grew.connect(self._grew)
        session.focus_changed.connect(self._focus_changed)
        session.theme_changed.connect(self._theme_changed)
        self.refresh()

    def settle(self) -> None:
        """Bring everything up to date now, for pictures."""
        self.refresh()

    def refresh(self) -> None:
        """Read the recording again and show it."""
        recording = self._session.recording
        self._map = health(recording) if recording is not None else None
        self._stale = False
        self._show_rows()
        self._focus_changed(self._session.focus)

    def _show_rows(self) -> None:
        if self._map is None or not self._map.names or not len(self._map.iterations):
            self._stack.setCurrentIndex(0)
            self._show_sentence()
            return
        self.view.set_rows(rows_of(self._map, absolute=self._mode.current == 1))
        self._stack.setCurrentIndex(1)

    def _show_sentence(self, _: object = None) -> None:
        """Whoever has opened a script sees what to do next."""
        session = self._session
        waits = session.recording is None and session.script is not None and not session.active
        self.empty.setText(UNRUN.format(session.script.name) if waits and session.script is not None else EMPTY)

    # --- the session speaks --------------------------------------------------------------------

    def _recording_changed(self) -> None:
        self.view.fit()
        self._grew()

    def _grew(self) -> None:
        # A hidden map is not worth its time; it catches up when it is shown.
        if self.isVisible():
            self.refresh()
        else:
            self._stale = True

    def _focus_changed(self, focus: Focus) -> None:
        if self._stale or self._map is None:
            return
        row = self._row_of(focus)
        self.view.set_cursor(row, focus.iteration)
        self._readout.show_text(self.view.describe(row, focus.iteration))

    def _theme_changed(self, theme: Theme) -> None:
        self.view.set_theme(theme)
        for button in self._buttons:
            dress(button, theme)

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        if self._stale:
            self.refresh()

    # --- a person speaks -----------------------------------------------------------------------

    def _mode_chosen(self, index: int) -> None:
        self._show_rows()
        self._focus_changed(self._session.focus)

    def _cell_chosen(self, row: int, iteration: int) -> None:
        recording = self._session.recording
        if recording is None or self._map is None:
            return
        if row < 0:
            self._session.set_focus(iteration=iteration)
            return
        tensor = variable_tensor(recording, iteration, self._map.variables[row])
        if tensor is None:
            self._session.set_focus(iteration=iteration)
        else:
            self._session.set_focus(iteration=iteration, tensor=tensor)

    # --- rows and tensors ----------------------------------------------------------------------

    def _row_of(self, focus: Focus) -> int | None:
        recording = self._session.recording
        if recording is None or self._map is None or focus.tensor is None:
            return None
        if not focus.tensor < len(recording.tensors):
            return None
        variable = int(recording.tensors[focus.tensor]["variable"])
        if variable == NONE or variable not in self._map.variables:
            return None
        return self._map.variables.index(variable)
