"""The step card of the session's focus: one backward step explained on its real numbers."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QScrollArea, QStackedLayout, QWidget

from tapeviz.analysis.arrays import extreme, first_nonfinite
from tapeviz.analysis.captured import nearest_captured
from tapeviz.analysis.names import op_number
from tapeviz.analysis.steps import Contribution, StepCard, step_card
from tapeviz.gui.painting import guarded
from tapeviz.gui.session import Session
from tapeviz.gui.stagebar import EmptyState
from tapeviz.gui.stepper.card import CardView
from tapeviz.gui.stepper.forward import ForwardView
from tapeviz.recording.rows import RecordingError

EMPTY = "Choose a backward step to see what it does: press F10 to step, or choose an operation."


class StepPanel(QWidget):
    """Shows analysis.steps.step_card of the focus; bound to the focus both ways."""

    go_to = Signal(str, int)      # file, line

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._stale = True
        self._card: StepCard | None = None
        self._argument = ""       # the name of the argument a person chose last, e.g. that of the kernel
        self._slot = -1
        self.setAccessibleName("Step")
        self.card = CardView(session.theme)
        self.forward = ForwardView()
        self._stack = QStackedLayout(self)
        self.setProperty("role", "page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.empty = EmptyState(EMPTY)
        self._stack.addWidget(self.empty)
        for view in (self.card, self.forward):
            view.setProperty("role", "page")
            scroll = QScrollArea()
            scroll.setWidgetResizable(True)
            scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
            scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            scroll.setWidget(view)
            self._stack.addWidget(scroll)
        self.card.element_chosen.connect(self._element_chosen)
        self.card.slot_chosen.connect(self._slot_chosen)
        self.card.step_chosen.connect(self._step_chosen)
        self.card.link_chosen.connect(self._link_chosen)
        self.card.nearest_wanted.connect(self._to_nearest)
        self.forward.link_chosen.connect(self._link_chosen)
        session.recording_changed.connect(self._recording_changed)
        session.grew.connect(self._changed)
        session.focus_changed.connect(self._changed)
        session.theme_changed.connect(self._changed)
        self.refresh()

    # --- showing ---------------------------------------------------------------------------------

    def settle(self) -> None:
        """Bring everything up to date now, for pictures."""
        self.refresh()

    def _recording_changed(self) -> None:
        self._argument, self._slot = "", -1
        self._changed()

    def _changed(self, _: object = None) -> None:
        if self.isVisible():
            self.refresh()
        else:
            self._stale = True

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self.refresh()

    def refresh(self) -> None:
        """Show the step in focus, or the operation if no backward step undoes it."""
        self._stale = False
        recording, focus, theme = self._session.recording, self._session.focus, self._session.theme
        self._card = None
        if recording is None or (focus.op is None and focus.step is None):
            self.empty.setText(EMPTY)
            self._stack.setCurrentIndex(0)
        elif focus.pass_ is None or focus.step is None:
            self._stack.setCurrentIndex(2)
            self.forward.show_op(recording, focus, theme)
        else:
            try:
                self._card = card = step_card(recording, focus.pass_, focus.step)
            except RecordingError as error:
                self.empty.setText(str(error))
                self._stack.setCurrentIndex(0)
                return
            entry = self._chosen(card)
            self._slot = entry.slot if entry is not None else -1
            self._stack.setCurrentIndex(1)
            self.card.show_card(card, op_number(recording, card.op), self._slot, self._element(entry), theme)
            nearest = nearest_captured(recording, card.iteration) if self.card.lacks_values else None
            self.card.offer_nearest(nearest if nearest != card.iteration else None)

    def _chosen(self, card: StepCard) -> Contribution | None:
        """The contribution to the tensor in focus, else to the argument chosen last, else the first."""
        if not card.contributions:
            return None
        focused = [c for c in card.contributions if c.target.tensor == self._session.focus.tensor]
        names = {rule.slot: rule.argument for rule in card.rules}
        named = [c for c in card.contributions if names.get(c.slot) == self._argument]
        same_slot = [c for c in focused if c.slot == self._slot]
        for found in (same_slot, focused, named):
            if found:
                return found[0]
        return card.contributions[0]

    def _element(self, entry: Contribution | None) -> tuple[int, ...] | None:
        """The element in focus if it is one of this contribution; else a broken one, else the largest."""
        if entry is None or entry.target.value is None:
            return None
        value, element = entry.target.value, self._session.focus.element
        if element is not None and self._session.focus.tensor == entry.target.tensor and len(element) == value.ndim:
            return element
        return first_nonfinite(value) or extreme(abs(value), largest=True)

    # --- choosing --------------------------------------------------------------------------------

    def _slot_chosen(self, slot: int) -> None:
        card = self._card
        if card is None:
            return
        self._slot = slot
        self._argument = next((rule.argument for rule in card.rules if rule.slot == slot), "")
        entry = next((c for c in card.contributions if c.slot == slot), None)
        if entry is not None and entry.target.tensor != self._session.focus.tensor:
            self._session.set_focus(pass_=card.pass_, step=card.step, tensor=entry.target.tensor)
        self.refresh()

    def _element_chosen(self, element: tuple[int, ...]) -> None:
        card = self._card
        entry = next((c for c in card.contributions if c.slot == self._slot), None) if card is not None else None
        if card is not None and entry is not None:
            self._session.set_focus(pass_=card.pass_, step=card.step, tensor=entry.target.tensor, element=element)

    def _step_chosen(self, step: int) -> None:
        if self._card is not None:
            self._session.set_focus(pass_=self._card.pass_, step=step)

    def _link_chosen(self) -> None:
        recording, op = self._session.recording, self._session.focus.op
        if recording is not None and op is not None:
            self.go_to.emit(*recording.op_line(op))

    def _to_nearest(self) -> None:
        recording = self._session.recording
        nearest = nearest_captured(recording, self._session.focus.iteration) if recording is not None else None
        if nearest is not None:
            self._session.set_focus(iteration=nearest)
