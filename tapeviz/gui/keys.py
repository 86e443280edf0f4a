"""The overlay of keys: every command that has one, by menu, over the window until a key is pressed."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QKeySequence, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from tapeviz.gui.commands import MENUS, Command, in_menu
from tapeviz.gui.painting import brush, colour, guarded, pen
from tapeviz.gui.theme import Theme

_ROW, _HEAD, _MARGIN, _GAP = 22, 30, 28, 36


class KeysOverlay(QWidget):
    """Covers the window; any key or click takes it away."""

    def __init__(self, window: QWidget, theme: Theme) -> None:
        super().__init__(window)
        self._theme = theme
        self.setObjectName("keys")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAccessibleName("Keys of the window")
        self.setAccessibleDescription("; ".join(
            f"{command.text}: {', '.join(command.keys)}"
            for menu in MENUS for command in in_menu(menu) if command.keys))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setGeometry(window.rect())
        window.installEventFilter(self)

    @staticmethod
    def toggle(window: QWidget, theme: Theme) -> None:
        """Show the keys, or take them away if they are shown."""
        shown = window.findChild(KeysOverlay, "keys")
        if shown is not None:
            shown.close()
            return
        overlay = KeysOverlay(window, theme)
        overlay.show()
        overlay.raise_()
        overlay.setFocus(Qt.FocusReason.PopupFocusReason)

    @guarded(False)
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and isinstance(watched, QWidget):
            self.setGeometry(watched.rect())
        return False

    @guarded()
    def keyPressEvent(self, event: QKeyEvent) -> None:
        self.close()

    @guarded()
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.close()

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme
        painter = QPainter(self)
        painter.fillRect(self.rect(), colour(theme.window, 0.82))
        columns = _columns()
        row, head = theme.px(_ROW), theme.px(_HEAD)
        height = max(sum(head + row * len(rows) for _, rows in column) for column in columns) + 2 * theme.px(_MARGIN)
        width = min(self.width() - 24, theme.px(330) * len(columns) + theme.px(_MARGIN))
        card = QRectF((self.width() - width) / 2, max(12, (self.height() - height) / 2), width, height)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen(theme.control))
        painter.setBrush(brush(theme.raised))
        painter.drawRoundedRect(card, theme.px(8), theme.px(8))
        each = (width - theme.px(_MARGIN)) / len(columns)
        for index, column in enumerate(columns):
            box = QRectF(card.left() + theme.px(_MARGIN) + index * each, card.top() + theme.px(_MARGIN),
                         each - theme.px(_MARGIN), height)
            self._paint_column(painter, box, column)
        painter.end()

    def _paint_column(self, painter: QPainter, box: QRectF, column: list[tuple[str, list[Command]]]) -> None:
        theme = self._theme
        y, row, head = box.top(), theme.px(_ROW), theme.px(_HEAD)
        plain, mono, title = theme.ui_font(12), theme.mono_font(11), theme.ui_font(11, 600)
        keys_width = QFontMetricsF(mono)
        for menu, commands in column:
            painter.setFont(title)
            painter.setPen(colour(theme.muted))
            painter.drawText(QRectF(box.left(), y, box.width(), head - 6),
                             Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, menu)
            y += head
            for command in commands:
                keys = "  ".join(QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
                                 for key in command.keys)
                line = QRectF(box.left(), y, box.width(), row)
                painter.setFont(mono)
                painter.setPen(colour(theme.accent))
                painter.drawText(line, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, keys)
                line.setWidth(box.width() - keys_width.horizontalAdvance(keys) - 8)
                painter.setFont(plain)
                painter.setPen(colour(theme.text))
                text = QFontMetricsF(plain).elidedText(command.text, Qt.TextElideMode.ElideRight, line.width())
                painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
                y += row


def _columns() -> list[list[tuple[str, list[Command]]]]:
    """Menus with their commands that have keys, in three columns of about the same height."""
    groups = [(menu, [command for command in in_menu(menu) if command.keys]) for menu in MENUS]
    columns: list[list[tuple[str, list[Command]]]] = [[], [], []]
    for group in sorted(groups, key=lambda g: -len(g[1])):
        min(columns, key=lambda column: sum(len(rows) + 2 for _, rows in column)).append(group)
    return columns
