"""An operation that no backward step of the pass undoes: what it computed, and why the pass went past it."""

from __future__ import annotations

from pathlib import PurePath

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from tapeviz.analysis.focus import Focus
from tapeviz.analysis.formulas import formula, title
from tapeviz.analysis.names import op_number
from tapeviz.gui.formula import FormulaLabel
from tapeviz.gui.stepper.blocks import MatrixBlock
from tapeviz.gui.theme import Theme
from tapeviz.recording.reader import Recording
from tapeviz.recording.rows import RecordingError
from tapeviz.recording.schema import OpFlag

NOT_KEPT = "The elements were not kept in this recording."


def reason(recording: Recording, focus: Focus) -> str:
    """Why the operation in focus has no backward step, in one sentence."""
    assert focus.op is not None
    flags = OpFlag(int(recording.ops["flags"][focus.op]))
    if flags & OpFlag.FAILED:
        return "This operation raised an exception: there is no result to take a gradient of."
    if focus.pass_ is None:
        return "No gradient was taken in this iteration."
    if flags & OpFlag.NONDIFFERENTIABLE:
        return "This operation has no gradient: nothing flows back through it."
    if flags & OpFlag.STOPS_GRADIENT:
        return "This operation stops the gradient: nothing flows back through it."
    if not flags & OpFlag.RECORDED:
        return "No tape recorded this operation, so no backward step undoes it."
    return "The backward pass did not reach this operation: the target does not depend on it."


class ForwardView(QWidget):
    """Title, sentence, formula and result."""

    link_chosen = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title, self.sentence, self.place = QLabel(), QLabel(), QLabel()
        self.title.setProperty("role", "title")
        for label in (self.sentence, self.place):
            label.setProperty("role", "muted")
        for label in (self.title, self.sentence):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
            label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.link = QPushButton()
        self.link.setProperty("kind", "link")
        self.link.setToolTip("Show this line in the source")
        self.link.clicked.connect(self.link_chosen)
        self.formula = FormulaLabel(20)
        self.result = MatrixBlock(74)
        row = QHBoxLayout()
        row.addWidget(self.place)
        row.addWidget(self.link)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 10, 12, 12)
        column.setSpacing(10)
        column.addWidget(self.title)
        column.addLayout(row)
        for widget in (self.sentence, self.formula, self.result):
            column.addWidget(widget)
        column.addStretch(1)

    def show_op(self, recording: Recording, focus: Focus, theme: Theme) -> None:
        """Show the operation in focus."""
        op = focus.op
        if op is None:
            return
        file, line = recording.op_line(op)
        self.title.setText(title(recording, op))
        self.place.setText(f"operation {op_number(recording, op)}, iteration {focus.iteration}")
        self.link.setText(f"{PurePath(file).name}:{line}")
        self.link.setVisible(bool(line))
        self.sentence.setText(reason(recording, focus))
        latex = formula(recording, op)
        self.formula.setVisible(bool(latex))
        self.formula.show_formula(latex, theme)
        outputs = recording.op_outputs(op)
        self.result.setVisible(bool(outputs))
        if outputs:
            try:
                value, missing = recording.value(outputs[0]), NOT_KEPT
            except RecordingError as error:
                value, missing = None, str(error)
            self.result.show_block("", "result", value, missing, theme)
