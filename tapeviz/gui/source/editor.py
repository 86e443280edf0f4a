"""One source file in an editor: text, gutter, and the line of the focused operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from PySide6.QtCore import QMimeData, QRect, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QResizeEvent, QTextCursor, QTextFormat
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from tapeviz.analysis.source import LineInfo
from tapeviz.gui.painting import guarded
from tapeviz.gui.source.gutter import Gutter
from tapeviz.gui.source.highlighter import PythonHighlighter
from tapeviz.gui.theme import Theme


@dataclass(frozen=True, slots=True)
class Mark:
    """What a finding leaves at a line."""

    severity: str
    text: str


@dataclass(slots=True)
class Marks:
    """Everything the gutter shows beside the line numbers."""

    lines: Mapping[int, LineInfo] = field(default_factory=dict)
    findings: Mapping[int, Mark] = field(default_factory=dict)
    current: int | None = None


class Editor(QPlainTextEdit):
    """A plain text editor; emits the line that was clicked."""

    line_clicked = Signal(int)

    def __init__(self, path: str, text: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.path = path
        self.theme = theme
        self.recorded = unified(text)       # what the marks belong to
        self._checked = (-1, True)          # revision of the text, and whether it was the recorded one
        self.marks = Marks()
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.setTabChangesFocus(False)
        # Else the band of the current line does not reach the gutter. Before the text, since it counts as an edit.
        self.document().setDocumentMargin(0)
        self.setPlainText(text)
        self.document().setModified(False)
        self.setAccessibleName(f"Source of {path.rsplit('/', 1)[-1]}")
        self._highlighter = PythonHighlighter(self.document(), theme)
        self.gutter = Gutter(self)
        self.blockCountChanged.connect(self._make_room)
        self.updateRequest.connect(self._scroll_gutter)
        self.textChanged.connect(self._edited)
        self.set_theme(theme)
        self.document().setModified(False)

    @property
    def marks_valid(self) -> bool:
        """Counts and swatches belong to the text that ran; an edited text has other lines."""
        revision = self.document().revision()
        if self._checked[0] != revision:
            self._checked = (revision, self.text() == self.recorded)
        return self._checked[1]

    def text(self) -> str:
        """The text as it is; toPlainText() would turn no-break spaces into spaces."""
        return self.document().toRawText().replace("\u2029", "\n")

    def set_theme(self, theme: Theme) -> None:
        edited = self.document().isModified()
        self.theme = theme
        font = theme.mono_font(12)
        self.setFont(font)
        # The style sheet of the window sets a font on every widget; only a style sheet can take it back.
        self.setStyleSheet(f'font-family: "{font.family()}"; font-size: {theme.px(12)}px;')
        self.setTabStopDistance(4 * self.fontMetrics().horizontalAdvance(" "))
        self._highlighter.set_theme(theme)
        self.document().setModified(edited)       # new colours and margins count as changes, for Qt
        self._make_room()
        self._show_current()

    def set_marks(self, marks: Marks) -> None:
        """New gutter columns; scrolls only when the focused line has moved out of sight."""
        moved = marks.current != self.marks.current
        self.marks = marks
        self.gutter.update()
        if moved:
            self._show_current()
            if marks.current is not None:
                self.reveal(marks.current)

    def reveal(self, line: int) -> None:
        """Bring a line into sight, in the middle if it was not."""
        block = self.document().findBlockByNumber(line - 1)
        if not block.isValid():
            return
        box = self.blockBoundingGeometry(block).translated(self.contentOffset())
        if box.top() >= 0 and box.bottom() <= self.viewport().height():
            return
        bar = self.verticalScrollBar()
        height = max(1.0, self.blockBoundingRect(block).height())
        visible = int(self.viewport().height() / height)
        bar.setValue(max(0, line - 1 - visible // 2))

    def go_to(self, line: int) -> None:
        """Put the text cursor on a line and bring it into sight."""
        block = self.document().findBlockByNumber(line - 1)
        if block.isValid():
            self.setTextCursor(QTextCursor(block))
            self.reveal(line)
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_current(self) -> None:
        selections: list[QTextEdit.ExtraSelection] = []
        line = self.marks.current
        block = self.document().findBlockByNumber((line or 0) - 1) if line else None
        if block is not None and block.isValid() and self.marks_valid:
            selection = QTextEdit.ExtraSelection()
            selection.format.setBackground(QColor(self.theme.raised))
            selection.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
            selection.cursor = QTextCursor(block)
            selections.append(selection)
        self.setExtraSelections(selections)

    def _edited(self) -> None:
        self.gutter.update()
        self._show_current()

    def _make_room(self, _: int = 0) -> None:
        self.setViewportMargins(self.gutter.wanted_width(), 0, 0, 0)
        self._place_gutter()

    def _place_gutter(self) -> None:
        box = self.contentsRect()
        self.gutter.setGeometry(QRect(box.left(), box.top(), self.gutter.wanted_width(), box.height()))

    def _scroll_gutter(self, rect: QRect, dy: int) -> None:
        if dy:
            self.gutter.scroll(0, dy)
        else:
            self.gutter.update(0, rect.y(), self.gutter.width(), rect.height())

    # --- Qt ------------------------------------------------------------------------------------

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_gutter()
        if self.marks.current is not None:
            self.reveal(self.marks.current)

    @guarded()
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and not self.textCursor().hasSelection():
            self.line_clicked.emit(self.cursorForPosition(event.position().toPoint()).blockNumber() + 1)

    @guarded(False)
    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        # Files dropped on the editor are opened by the window, not pasted as text.
        return not source.hasUrls() and super().canInsertFromMimeData(source)


def unified(text: str) -> str:
    """Line ends as the editor knows them."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
