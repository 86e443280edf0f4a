"""Gradient norms, update-to-weight ratios and the loss over the iterations, bound to the focus both ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QScrollArea,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from tapeviz.analysis.focus import Focus, variable_tensor
from tapeviz.analysis.series import Series, gradient_lines, loss_series
from tapeviz.analysis.updates import update_ratios
from tapeviz.gui.painting import guarded
from tapeviz.gui.plots.legend import WIDTH, Legend, value_text
from tapeviz.gui.plots.lines import Lines, lines_of
from tapeviz.gui.session import Session
from tapeviz.gui.stagebar import EmptyState, Readout, Segments, dress, icon_button, on_surface
from tapeviz.gui.theme import Theme
from tapeviz.recording.reader import Recording
from tapeviz.recording.schema import NONE

if TYPE_CHECKING:
    from tapeviz.gui.plots.area import PlotArea


@dataclass(frozen=True)
class Mode:
    """What the plot shows.  `log`: on an axis of decades; `guide`: a value to compare with."""

    name: str
    tip: str
    series: Callable[[Recording], Sequence[Series]]
    log: bool
    empty: str
    guide: float | None = None


def _loss(recording: Recording) -> Sequence[Series]:
    return [loss_series(recording)]


MODES = (
    Mode("Gradient norm", "L2 norm of the gradient of every variable, on an axis of decades", gradient_lines, True,
         "No gradient of a variable has been recorded yet."),
    Mode("Update ratio", "L2 norm of each update divided by that of the weight, on an axis of decades", update_ratios,
         True, "No update of a variable has been recorded yet.", guide=1e-3),
    Mode("Loss", "The target of the backward pass of every iteration", _loss, False,
         "No scalar target has been recorded yet."),
)

NARROW = 440             # px of width below which the plot needs the legend's place


class PlotsPanel(QWidget):
    """Toolbar, plot and legend.  pyqtgraph is imported when the panel is first shown."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._lines: Lines | None = None
        self._stale = True
        self._strong: int | None = None
        self._pointed: tuple[int, int] = (-1, -1)
        self.area: PlotArea | None = None
        self.setAccessibleName("Plots")
        on_surface(self)
        theme = session.theme
        self._mode = Segments([mode.name for mode in MODES], "Quantity", [mode.tip for mode in MODES])
        self._readout = Readout(self)
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
        self.legend = Legend(theme, self)
        self._scroll = QScrollArea(self)
        self._scroll.setWidget(self.legend)
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setFixedWidth(theme.px(WIDTH) + 12)
        self._row = QHBoxLayout()
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(0)
        self._row.addWidget(self._scroll)
        self._empty = EmptyState("", self)
        content = QWidget(self)
        content.setLayout(self._row)
        self._stack = QStackedLayout()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(content)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addLayout(self._stack, 1)

        self._mode.chosen.connect(self._mode_chosen)
        self.legend.row_chosen.connect(self._row_chosen)
        self.legend.row_hovered.connect(self._row_hovered)
        session.recording_changed.connect(self._recording_changed)
        session.grew.connect(self._grew)
        session.focus_changed.connect(self._focus_changed)
        session.theme_changed.connect(self._theme_changed)
        self._show_lines()

    @property
    def lines(self) -> Lines | None:
        return self._lines

    def settle(self) -> None:
        """Bring everything up to date now, for pictures."""
        self._make_area()
        self.refresh()

    def refresh(self) -> None:
        """Read the recording again and show it."""
        if self.area is None:
            return
        mode, recording = MODES[self._mode.current], self._session.recording
        series = [s for s in mode.series(recording) if len(s.x)] if recording is not None else []
        self._lines = lines_of(series, mode.log) if series else None
        self._stale = False
        self._show_lines()
        self._focus_changed(self._session.focus)

    def _show_lines(self) -> None:
        lines = self._lines
        self._empty.setText(MODES[self._mode.current].empty)
        self._stack.setCurrentIndex(0 if lines is None else 1)
        self.legend.set_lines(lines)
        if self.area is not None:
            mode = MODES[self._mode.current]
            self.area.set_guide(mode.guide if lines is not None else None)
            self.area.set_lines(lines)

    def _make_area(self) -> None:
        if self.area is not None:
            return
        # pyqtgraph takes 0.4 to 0.6 s to import; the window shows itself before that.
        from tapeviz.gui.plots.area import PlotArea

        area = PlotArea(self._session.theme, self)
        self._row.insertWidget(0, area, 1)
        area.iteration_chosen.connect(self._iteration_chosen)
        area.pointed.connect(self._pointed_at)
        area.moved.connect(self._moved)
        self.legend.hidden_changed.connect(area.curves.set_hidden)
        for button, slot in zip(self._buttons, (area.zoom_out, area.zoom_in, area.fit), strict=True):
            button.clicked.connect(slot)
        self.area = area
        self.setFocusProxy(area)

    # --- the session speaks --------------------------------------------------------------------

    def _recording_changed(self) -> None:
        if self.area is not None:
            self.area.fit()
        self._grew()

    def _grew(self) -> None:
        # Hidden plots are not worth their time; they catch up when they are shown.
        if self.isVisible():
            self.refresh()
        else:
            self._stale = True

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        self._scroll.setVisible(self.width() >= self._session.theme.px(NARROW))

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        if self.area is None:
            QTimer.singleShot(0, self, self.settle)
        elif self._stale:
            self.refresh()

    def _focus_changed(self, focus: Focus) -> None:
        if self.area is None or self._stale:
            return
        self.area.set_cursor(focus.iteration)
        self._strong = self._row_of(focus)
        self._mark()

    def _theme_changed(self, theme: Theme) -> None:
        self.legend.set_theme(theme)
        self._scroll.setFixedWidth(theme.px(WIDTH) + 12)
        for button in self._buttons:
            dress(button, theme)
        if self.area is not None:
            self.area.set_theme(theme)

    # --- a person speaks -----------------------------------------------------------------------

    def _mode_chosen(self, index: int) -> None:
        self._make_area()
        if self.area is not None:
            self.area.fit()
        self.refresh()
        if self.area is not None:
            self.area.fit()

    def _iteration_chosen(self, iteration: int) -> None:
        self._session.set_focus(iteration=iteration)

    def _moved(self, by: int) -> None:
        if self._lines is not None:
            wanted = self._session.focus.iteration + by
            self._session.set_focus(iteration=min(max(wanted, int(self._lines.x[0])), int(self._lines.x[-1])))

    def _row_chosen(self, row: int) -> None:
        recording, lines = self._session.recording, self._lines
        if recording is None or lines is None:
            return
        variable = lines.variables[row]
        if variable is not None:
            tensor = variable_tensor(recording, self._session.focus.iteration, variable)
            if tensor is not None:
                self._session.set_focus(iteration=self._session.focus.iteration, tensor=tensor)

    def _row_hovered(self, row: int) -> None:
        self._pointed = (self._pointed[0], row)
        self._mark()

    def _pointed_at(self, iteration: int, row: int) -> None:
        self._pointed = (iteration, row)
        self._mark()

    def _mark(self) -> None:
        """Thick curve, values in the legend and the readout: what the mouse is on, else the focus."""
        lines, (iteration, row) = self._lines, self._pointed
        if self.area is None or lines is None:
            self._readout.show_text("")
            return
        iteration = self._session.focus.iteration if iteration < 0 else iteration
        strong = self._strong if row < 0 else row
        if strong is None and len(lines.names) == 1:
            strong = 0
        self.area.curves.set_strong(strong)
        self.legend.set_strong(strong)
        self.legend.set_iteration(iteration)
        if strong is None:
            self._readout.show_text(f"iteration {iteration}")
        else:
            value = value_text(lines, strong, iteration) or "nothing recorded"
            self._readout.show_text(f"{lines.names[strong]}, iteration {iteration}: {value}")

    def _row_of(self, focus: Focus) -> int | None:
        recording, lines = self._session.recording, self._lines
        if recording is None or lines is None or focus.tensor is None or focus.tensor >= len(recording.tensors):
            return None
        variable = int(recording.tensors["variable"][focus.tensor])
        if variable == NONE or variable not in lines.variables:
            return None
        return lines.variables.index(variable)
