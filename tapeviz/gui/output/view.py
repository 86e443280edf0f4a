"""The text of the output: read-only, remembers at which operation each line was printed."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent, QTextBlock, QTextBlockUserData, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from tapeviz.gui.painting import guarded


class _PrintedAt(QTextBlockUserData):
    """The operation after which a line was printed."""

    def __init__(self, op: int) -> None:
        super().__init__()
        self.op = op


class OutputView(QPlainTextEdit):
    """Emits the operation of the line that is clicked."""

    op_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.setUndoRedoEnabled(False)
        self.setAccessibleName("Printed text; a click goes to the operation at which a line was printed")
        self._kept: list[_PrintedAt] = []      # Qt owns the data of a block, Python must keep its half alive

    def forget(self) -> None:
        """Start with an empty page."""
        self.clear()
        self._kept.clear()

    def append_text(self, text: str, form: QTextCharFormat, op: int | None) -> None:
        """Write at the end; scrolls along only if the end was in sight."""
        bar = self.verticalScrollBar()
        at_end = bar.value() >= bar.maximum() - 1
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        first = cursor.blockNumber()
        cursor.insertText(text, form)
        if op is not None:
            block = self.document().findBlockByNumber(min(first, self.blockCount() - 1))
            while block.isValid():
                if block.userData() is None and block.length() > 1:
                    self._mark(block, op)
                block = block.next()
        if at_end:
            bar.setValue(bar.maximum())

    def _mark(self, block: QTextBlock, op: int) -> None:
        data = _PrintedAt(op)
        self._kept.append(data)
        block.setUserData(data)

    def op_at(self, line: int) -> int | None:
        """The operation of a line (from 0)."""
        data = self.document().findBlockByNumber(line).userData()
        return data.op if isinstance(data, _PrintedAt) else None

    @guarded()
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and not self.textCursor().hasSelection():
            op = self.op_at(self.cursorForPosition(event.position().toPoint()).blockNumber())
            if op is not None:
                self.op_chosen.emit(op)
