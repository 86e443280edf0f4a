"""The banner under the toolbar: what went wrong, in one line with its evidence, and where to go."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from tapeviz.gui.icons import icon
from tapeviz.gui.painting import draw_severity, guarded
from tapeviz.gui.session import Session

EXAMPLE_OF_A_TAPE = (
    "import gradtape as gt\n"
    "with gt.GradientTape() as tape:\n"
    "    loss = ...\n"
    "gradients = tape.gradient(loss, variables)"
)


class Glyph(QWidget):
    """The severity glyph."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.severity = "error"

    @guarded(QSize(22, 22))
    def sizeHint(self) -> QSize:
        side = self._session.theme.px(20)
        return QSize(side, side)

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        draw_severity(painter, self.rect().toRectF(), self.severity, self._session.theme)
        painter.end()


class ProblemBanner(QFrame):
    """Shows the session's problem; hidden when there is none or the user has closed it."""

    go_to = Signal(str, int)      # file, line

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setProperty("role", "banner")
        self.setObjectName("banner")
        self.setAccessibleName("Problem")
        self.glyph = Glyph(session)
        self.title, self.detail, self.kept = QLabel(), QLabel(), QLabel()
        self.title.setProperty("role", "title")
        self.detail.setProperty("role", "error")
        self.kept.setProperty("role", "muted")
        self.detail.setTextFormat(Qt.TextFormat.PlainText)
        self.detail.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.detail.setWordWrap(True)
        self.detail.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        self.button = QPushButton()
        self.button.clicked.connect(self._pressed)
        self.shut = QToolButton()
        self.shut.setProperty("kind", "icon")
        self.shut.setAccessibleName("Close this message")
        self.shut.setToolTip("Close this message")
        self.shut.clicked.connect(self.hide)

        head = QHBoxLayout()
        head.setSpacing(10)
        head.addWidget(self.title)
        head.addWidget(self.kept)
        head.addStretch(1)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addLayout(head)
        words.addWidget(self.detail)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 8, 8)
        row.setSpacing(10)
        row.addWidget(self.glyph)
        row.addLayout(words, 1)
        row.addWidget(self.button)
        row.addWidget(self.shut)

        session.problem_changed.connect(self.refresh)
        session.theme_changed.connect(self.refresh)
        self.refresh()

    def refresh(self, _: object = None) -> None:
        problem = self._session.problem
        if problem is None:
            self.hide()
            return
        self.shut.setIcon(icon("close", self._session.theme))
        self.glyph.severity = "info" if problem.kind == "nothing-recorded" else "error"
        self.glyph.setToolTip("Information" if problem.kind == "nothing-recorded" else "Error")
        self.title.setText(problem.title)
        self.detail.setText(problem.detail)
        self.detail.setVisible(bool(problem.detail))
        self.detail.setToolTip("")
        self.kept.setText(problem.kept)
        if problem.kind == "nothing-recorded":
            self.button.setText("Show how to open a tape")
        elif problem.line:
            self.button.setText(f"Go to line {problem.line}")
        self.button.setVisible(bool(problem.line) or problem.kind == "nothing-recorded")
        self.glyph.update()
        self.show()

    def _pressed(self) -> None:
        problem = self._session.problem
        if problem is None:
            return
        if problem.kind == "nothing-recorded":
            self.detail.setText(EXAMPLE_OF_A_TAPE)
            self.detail.show()
        else:
            self.go_to.emit(problem.file, problem.line)
