"""One finding as a card: what is wrong, how it shows, since when, and where to look."""

from __future__ import annotations

from pathlib import PurePath

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from tapeviz.analysis.evidence import Bars, Spark, followers, lines_of
from tapeviz.analysis.findings import Finding
from tapeviz.analysis.format import plural
from tapeviz.gui.findings.evidence import EvidencePicture
from tapeviz.gui.flow import FlowRow
from tapeviz.gui.icons import icon
from tapeviz.gui.painting import draw_severity, guarded
from tapeviz.gui.theme import Theme

WORDS = {"error": "Error", "warning": "Warning", "info": "Note"}


def label(text: str, role: str, wrap: bool = True) -> QLabel:
    """Plain text in a role of the style sheet."""
    result = QLabel(text)
    result.setProperty("role", role)
    result.setTextFormat(Qt.TextFormat.PlainText)
    if wrap:
        result.setWordWrap(True)
        result.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
    return result


class SeverityGlyph(QWidget):
    """The shape of a severity."""

    def __init__(self, severity: str, theme: Theme, side: int = 18, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._severity, self._theme, self._side = severity, theme, side
        self.setFixedSize(theme.px(side), theme.px(side))
        self.setToolTip(WORDS.get(severity, severity))
        self.setAccessibleName(WORDS.get(severity, severity))

    @guarded(QSize(18, 18))
    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(self._side), self._theme.px(self._side))

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        draw_severity(painter, self.rect().toRectF(), self._severity, self._theme)
        painter.end()


class FindingCard(QFrame):
    """Shows a finding; what a person wants of it is told outwards."""

    wanted = Signal(object)       # Finding: look at it
    line_wanted = Signal(str, int)
    muted = Signal(object)        # Finding
    opened = Signal(str, bool)    # key, whether "Why" or the consequences are unfolded

    def __init__(self, finding: Finding, picture: Bars | Spark | None, theme: Theme, focused: bool,
                 parts: frozenset[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.finding = finding
        self._theme, self._parts = theme, parts
        self.setProperty("role", "focused-card" if focused else "card")
        word = WORDS.get(finding.severity, finding.severity)
        self.setAccessibleName(f"{word}: {finding.title}")
        self.setAccessibleDescription(finding.message)
        row = QHBoxLayout(self)
        inset = theme.px(12) - (1 if focused else 0)
        row.setContentsMargins(inset, inset, inset, theme.px(10))
        row.setSpacing(theme.px(10))
        row.addWidget(SeverityGlyph(finding.severity, theme), 0, Qt.AlignmentFlag.AlignTop)
        self._column = QVBoxLayout()
        self._column.setSpacing(theme.px(5))
        row.addLayout(self._column, 1)
        self._column.addWidget(label(finding.title, "title"))
        self._column.addWidget(label(finding.message, "body"))
        if picture is not None:
            self._column.addWidget(EvidencePicture(picture, theme))
        self._add_place()
        self._add_buttons()
        self._add_why()
        self._add_consequences()

    def _add_place(self) -> None:
        finding, row = self.finding, FlowRow()
        row.add(label(f"since iteration {finding.iteration}", "small", wrap=False))
        if finding.line:
            self.link = QPushButton(f"{PurePath(finding.file).name}:{finding.line}")
            self.link.setProperty("kind", "link")
            self.link.setToolTip(f"Show line {finding.line} of {finding.file}")
            self.link.clicked.connect(self._show_line)
            row.add(self.link)
        self._column.addWidget(row)

    def _add_buttons(self) -> None:
        theme, row = self._theme, FlowRow()
        self.show_me = QPushButton("Show me")
        self.show_me.setIcon(icon("eye", theme))
        self.show_me.setIconSize(QSize(theme.px(14), theme.px(14)))
        self.show_me.setToolTip("Go to the operation and iteration where this begins")
        self.show_me.setAccessibleName(f"Show me: {self.finding.title}")
        self.show_me.clicked.connect(self._show_me)
        self.why = QPushButton("Why")
        self.why.setProperty("kind", "text")
        self.why.setCheckable(True)
        self.why.setChecked("why" in self._parts)
        self.why.setToolTip("The rule, its thresholds and the evidence")
        self.why.toggled.connect(self._why_toggled)
        self.mute = QPushButton("Mute")
        self.mute.setProperty("kind", "text")
        self.mute.setToolTip("Hide findings of this rule in this window")
        self.mute.clicked.connect(self._mute)
        row.add(self.show_me)
        row.add(self.why)
        row.add(self.mute, right=True)
        self._column.addWidget(row)

    def _add_why(self) -> None:
        self.reasons = QWidget()
        column = QVBoxLayout(self.reasons)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(self._theme.px(3))
        finding = self.finding
        column.addWidget(label(f"rule {finding.id}", "mono"))
        for line in lines_of(finding.evidence):
            column.addWidget(label(line, "mono"))
        if finding.affected:
            column.addWidget(label("affects " + ", ".join(finding.affected), "small"))
        if finding.fix:
            column.addWidget(label(f"Try: {finding.fix}", "body"))
        self.reasons.setVisible("why" in self._parts)
        self._column.addWidget(self.reasons)

    def _add_consequences(self) -> None:
        found = followers(self.finding)
        self.consequences: QWidget | None = None
        if not found:
            return
        self.fold = QPushButton(plural(len(found), "consequence"))
        self.fold.setProperty("kind", "text")
        self.fold.setCheckable(True)
        self.fold.setChecked("consequences" in self._parts)
        self.fold.setIcon(icon("down" if self.fold.isChecked() else "right", self._theme))
        self.fold.setToolTip("What follows from this and goes away with it")
        self.fold.toggled.connect(self._fold_toggled)
        self._column.addWidget(self.fold, 0, Qt.AlignmentFlag.AlignLeft)
        self.consequences = QWidget()
        column = QVBoxLayout(self.consequences)
        column.setContentsMargins(self._theme.px(4), 0, 0, 0)
        column.setSpacing(self._theme.px(6))
        for follower in found:
            row = QHBoxLayout()
            row.setSpacing(self._theme.px(6))
            row.addWidget(SeverityGlyph(follower.severity, self._theme, 14), 0, Qt.AlignmentFlag.AlignTop)
            row.addWidget(label(f"{follower.title}. {follower.message}", "muted"), 1)
            column.addLayout(row)
        self.consequences.setVisible("consequences" in self._parts)
        self._column.addWidget(self.consequences)

    # --- what a person wants ---------------------------------------------------------------------

    def _show_me(self) -> None:
        self.wanted.emit(self.finding)

    def _show_line(self) -> None:
        self.wanted.emit(self.finding)
        self.line_wanted.emit(self.finding.file, self.finding.line)

    def _mute(self) -> None:
        self.muted.emit(self.finding)

    def _why_toggled(self, on: bool) -> None:
        self.reasons.setVisible(on)
        self.opened.emit("why", on)

    def _fold_toggled(self, on: bool) -> None:
        self.fold.setIcon(icon("down" if on else "right", self._theme))
        if self.consequences is not None:
            self.consequences.setVisible(on)
        self.opened.emit("consequences", on)

    @guarded()
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.wanted.emit(self.finding)
