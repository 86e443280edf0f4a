"""The step card: its parts from top to bottom, filled from one StepCard of the analysis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from tapeviz.analysis.explain import Explanation, explain_element
from tapeviz.analysis.format import plain as plain_number
from tapeviz.analysis.steps import Accumulation, Contribution, StepCard
from tapeviz.gui.flow import FlowRow
from tapeviz.gui.formula import FormulaLabel
from tapeviz.gui.stepper.blocks import Chip, MatrixBlock
from tapeviz.gui.stepper.choosers import ArgumentChooser, PlaneChooser
from tapeviz.gui.stepper.contributions import ContributionList
from tapeviz.gui.stepper.matrix import MatrixView
from tapeviz.gui.stepper.pair import Pair
from tapeviz.gui.theme import Theme

CHIPS = 3      # other results that are shown as chips; more are reached by the chooser


def label(role: str, wrap: bool = False) -> QLabel:
    """A label with a role of the style sheet."""
    result = QLabel()
    result.setProperty("role", role)
    result.setTextFormat(Qt.TextFormat.PlainText)
    if wrap:
        result.setWordWrap(True)
        result.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
    return result


class CardView(QWidget):
    """Shows one step; which argument and which element are chosen is told outwards and set from outside."""

    element_chosen = Signal(object)      # full index
    slot_chosen = Signal(int)
    step_chosen = Signal(int)
    link_chosen = Signal()
    nearest_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._card: StepCard | None = None
        self._slot = -1
        self._element: tuple[int, ...] | None = None
        self._make_head()
        self._make_rule()
        self.incoming, self.local = MatrixBlock(44), MatrixBlock(39)
        self.operands = Pair(self.incoming, self.local)
        self.contribution = MatrixBlock(74, interactive=True)
        self.plane = PlaneChooser()
        self.check = label("small")
        self.contribution.head.add(self.check, right=True)
        self._make_why()
        self.list_title = label("heading", wrap=True)
        self.list = ContributionList()
        self.accumulated = MatrixBlock(74, interactive=True)
        self.also = label("small")
        self.also.setText("also:")
        self.chips: list[Chip] = []
        self.accumulated.head.add(self.also, right=True)
        self.missing = MatrixView()      # cross-hatch and a sentence
        self.nearest = QPushButton()
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(12, 10, 12, 12)
        self.column.setSpacing(10)
        self.column.addLayout(self._head)
        for part in (self.rule_card, self.plane, self.operands, self.contribution, self.why_card, self.missing):
            self.column.addWidget(part)
        self.column.addWidget(self.nearest, 0, Qt.AlignmentFlag.AlignLeft)
        below = QVBoxLayout()
        below.setSpacing(4)
        below.addWidget(self.list_title)
        below.addWidget(self.list)
        self.column.addLayout(below)
        self.column.addWidget(self.accumulated)
        self.column.addStretch(1)
        self.link.clicked.connect(self.link_chosen)
        self.nearest.clicked.connect(self.nearest_wanted)
        self.arguments.chosen.connect(self.slot_chosen)
        self.contribution.matrix.chosen.connect(self.element_chosen)
        self.accumulated.matrix.chosen.connect(self.element_chosen)
        self.plane.chosen.connect(self._plane_chosen)
        self.list.step_chosen.connect(self.step_chosen)

    # --- the parts -------------------------------------------------------------------------------

    def _make_head(self) -> None:
        self.title, self.pill = label("title", wrap=True), label("pill")
        self.undone, self.iteration = label("muted"), label("muted")
        self.link = QPushButton()
        self.link.setProperty("kind", "link")
        self.link.setToolTip("Show this line in the source")
        self.pill.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        first, second = QHBoxLayout(), FlowRow()
        first.addWidget(self.title, 1)
        first.addWidget(self.pill, 0, Qt.AlignmentFlag.AlignTop)
        second.add(self.undone)
        second.add(self.link)
        second.add(self.iteration, right=True)
        self._head = QVBoxLayout()
        self._head.setSpacing(1)
        self._head.addLayout(first)
        self._head.addWidget(second)

    def _make_rule(self) -> None:
        self.rule_card = QFrame()
        self.rule_card.setProperty("role", "card")
        self.arguments = ArgumentChooser()
        heading = label("heading")
        heading.setText("Rule")
        self.rule, self.shapes = FormulaLabel(25), label("mono", wrap=True)
        self.shapes.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        top = FlowRow()
        top.add(heading)
        top.add(self.arguments, right=True)
        column = QVBoxLayout(self.rule_card)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(4)
        column.addWidget(top)
        column.addWidget(self.rule)
        column.addWidget(self.shapes)

    def _make_why(self) -> None:
        self.why_card = QFrame()
        self.why_card.setProperty("role", "card")
        self.why_title, self.why_text = label("title", wrap=True), label("mono", wrap=True)
        self.why_text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column = QVBoxLayout(self.why_card)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(4)
        column.addWidget(self.why_title)
        column.addWidget(self.why_text)

    # --- showing ---------------------------------------------------------------------------------

    def show_card(self, card: StepCard, number: int, slot: int, element: tuple[int, ...] | None,
                  theme: Theme) -> None:
        """Show a step with one of its arguments and one element of the contribution to it.

        number: that of the operation within its iteration, as lists show it
        """
        self._card, self._slot, self._element, self._theme = card, slot, element, theme
        self.title.setText(card.title)
        self.pill.setText(f"Step {card.step + 1} of {card.count}")
        self.undone.setText(f"undoes operation {number}")
        self.link.setText(f"{card.file.replace(chr(92), '/').rsplit('/', 1)[-1]}:{card.line}" if card.line else "")
        self.link.setAccessibleName(f"Source {card.file} line {card.line}")
        self.link.setVisible(bool(card.line))
        self.iteration.setText(f"iteration {card.iteration}")
        entry = next((c for c in card.contributions if c.slot == slot), None)
        total = next((a for a in card.accumulations if entry is not None and a.tensor == entry.target.tensor), None)
        self._show_rule(card, slot)
        self._show_numbers(card, entry)
        self._show_sum(card, entry, total)
        self._settle()

    def _settle(self) -> None:
        """Lay everything out now: the layouts tell each other by events, and the steps between would be seen."""
        for block in (self.incoming, self.local, self.contribution, self.accumulated):
            block.settle()
        self.operands.relayout()
        self.column.activate()

    def offer_nearest(self, iteration: int | None) -> None:
        """Offer to go to an iteration whose elements were kept; None: there is none, or it is this one."""
        self.nearest.setVisible(iteration is not None)
        if iteration is not None:
            self.nearest.setText(f"Go to iteration {iteration}, the nearest captured")

    @property
    def lacks_values(self) -> bool:
        """Whether the step is shown without its elements."""
        return not self.missing.isHidden()

    def _show_rule(self, card: StepCard, slot: int) -> None:
        names = _names(card)
        self.arguments.show_names(names, slot)
        rule = next((r for r in card.rules if r.slot == slot), None)
        latex = rule.latex if rule is not None else ""
        self.rule.show_formula(latex or card.formula, self._theme)
        self.shapes.setText(rule.shapes if rule is not None else "")
        self.rule_card.setVisible(bool(latex or card.formula))

    def _show_numbers(self, card: StepCard, entry: Contribution | None) -> None:
        theme, cotangent = self._theme, card.cotangents[0] if card.cotangents else None
        value = entry.target.value if entry is not None else None
        missing = entry.target.missing if entry is not None else "No gradient flows to this argument."
        known = value is not None or (cotangent is not None and cotangent.value is not None)
        for part in (self.operands, self.contribution):
            part.setVisible(known)
        self.missing.setVisible(not known)
        self.missing.show_value("", None, missing, theme)
        why = None
        if value is not None and self._element is not None and entry is not None:
            why = explain_element(card, entry.slot, self._element)
        lead = self._element[:-2] if self._element is not None else ()
        self.plane.show_shape(value.shape if value is not None else (), lead)
        self.why_card.setVisible(why is not None)
        if not known:
            return
        latex = rf"\bar{{{cotangent.latex}}}" if cotangent is not None and cotangent.latex else ""
        self.incoming.show_block(latex, "incoming", cotangent.value if cotangent is not None else None,
                                 cotangent.missing if cotangent is not None else "", theme)
        self._show_local(why)
        self.contribution.show_block("=", "contribution of this step", value, missing, theme)
        self.contribution.matrix.mark(self._element, lead=lead)
        self._show_check(card)
        if why is not None:
            self._show_why(why)

    def _show_local(self, why: Explanation | None) -> None:
        """What the incoming gradient is multiplied with; in both, what made the chosen element is marked."""
        local = why.local if why is not None else None
        self.local.setVisible(local is not None)
        if why is not None and local is not None:
            self.local.show_block(why.local_latex, "local derivative", local, "", self._theme)
            self.local.matrix.mark(**_marks([t.local for t in why.terms if t.local is not None], local.ndim))
        matrices = why is not None and local is not None and not why.elementwise
        self.operands.set_order(local_first=why is not None and why.local_first)
        self.operands.set_operator("" if local is None else "·" if matrices or local.ndim == 0 else "⊙")
        incoming = self._card.cotangents[0].value if self._card is not None and self._card.cotangents else None
        terms = [t.incoming for t in why.terms] if why is not None else []
        self.incoming.matrix.mark(**_marks(terms, incoming.ndim if incoming is not None else 0))

    def _show_why(self, why: Explanation) -> None:
        number = self.contribution.matrix.text_of(why.index) or plain_number(why.value, true_minus=True)
        where = f"element [{','.join(map(str, why.index))}]" if why.index else "it"
        self.why_title.setText(f"Why is {where} {number}?")
        self.why_text.setText(why.text)

    def _show_check(self, card: StepCard) -> None:
        error = card.numeric_check
        self.check.setVisible(error is not None)
        if error is not None:
            self.check.setText(f"numeric check, error {plain_number(error)}")

    def _show_sum(self, card: StepCard, entry: Contribution | None, total: Accumulation | None) -> None:
        theme = self._theme
        for part in (self.list_title, self.list, self.accumulated):
            part.setVisible(total is not None)
        self._show_chips(card, entry)
        if total is None:
            return
        self.list_title.setText(f"Contributions to {total.name} (norms)")
        self.list.show_sum(total, card.step, theme)
        words = f"accumulated, {total.arrived} of {total.total}"
        self.accumulated.show_block(rf"\bar{{{total.latex}}}", words, total.running.value, total.running.missing, theme)
        element = self._element if total.running.value is not None else None
        self.accumulated.matrix.setVisible(total.running.value is not None or not self.lacks_values)
        self.accumulated.matrix.mark(element, lead=element[:-2] if element is not None else ())

    def _show_chips(self, card: StepCard, entry: Contribution | None) -> None:
        for chip in self.chips:
            self.accumulated.head.remove(chip)
            chip.deleteLater()
        others = [c for c in card.contributions if c is not entry and (
            entry is None or c.target.tensor != entry.target.tensor)][:CHIPS]
        self.chips = []
        for other in others:
            total = next((a for a in card.accumulations if a.tensor == other.target.tensor), None)
            size = total.running.size if total is not None else other.target.size
            chip = Chip(other.slot, rf"\bar{{{other.target.latex}}}", other.target.name, size, self._theme)
            chip.clicked.connect(self.slot_chosen)
            self.accumulated.head.add(chip)
            self.chips.append(chip)
        self.also.setVisible(bool(others))

    def _plane_chosen(self, lead: tuple[int, ...]) -> None:
        tail = self._element[-2:] if self._element is not None and len(self._element) > 2 else (0, 0)
        self.element_chosen.emit((*lead, *tail))


def _names(card: StepCard) -> list[tuple[int, str]]:
    """Slots with what the user calls the argument; one that is used twice is numbered."""
    names = [rule.argument for rule in card.rules]
    return [(rule.slot, f"{rule.argument} ({rule.slot + 1})" if names.count(rule.argument) > 1 else rule.argument)
            for rule in card.rules]


class Marks(TypedDict):
    """Arguments of MatrixView.mark."""

    element: tuple[int, ...] | None
    row: int | None
    column: int | None
    lead: tuple[int, ...]


def _marks(places: Sequence[tuple[int, ...]], ndim: int) -> Marks:
    """A frame around a single place, a tint over the row or column that several share."""
    if not places:
        return Marks(element=None, row=None, column=None, lead=())
    lead = places[0][:-2] if ndim > 2 else ()
    if len(places) == 1:
        return Marks(element=places[0], row=None, column=None, lead=lead)
    rows, columns = {(0, 0, *p)[-2] for p in places}, {(0, 0, *p)[-1] for p in places}
    return Marks(element=None, row=rows.pop() if len(rows) == 1 else None,
                 column=columns.pop() if len(rows) != 1 and len(columns) == 1 else None, lead=lead)
