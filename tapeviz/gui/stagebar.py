"""The row of controls over a view: segmented buttons, zoom buttons, a readout; and the sentence of an empty view."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QPalette, QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QToolButton, QWidget

from tapeviz.gui.icons import icon
from tapeviz.gui.painting import guarded
from tapeviz.gui.theme import Theme

PADDING = 26             # px beside the text of a button, border included


def on_surface(panel: QWidget) -> None:
    """Fill a panel with the surface of docks, its toolbar included."""
    panel.setBackgroundRole(QPalette.ColorRole.Base)
    panel.setAutoFillBackground(True)


class SteadyButton(QPushButton):
    """A checkable button as wide unchecked as checked, when its text is bold: its neighbours never move."""

    @guarded(default=QSize())
    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        bold = QFont(self.font())
        bold.setWeight(QFont.Weight.DemiBold)
        wanted = QFontMetrics(bold).horizontalAdvance(self.text()) + PADDING
        return QSize(max(hint.width(), wanted), hint.height())

    @guarded(default=QSize())
    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()


class Segments(QWidget):
    """Buttons of which exactly one is checked; emits the index when a person chooses another."""

    chosen = Signal(int)

    def __init__(self, names: Sequence[str], name: str, tips: Sequence[str] = (), current: int = 0,
                 parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self._group = QButtonGroup(self)
        for i, text in enumerate(names):
            button = SteadyButton(text, self)
            button.setCheckable(True)
            button.setChecked(i == current)
            button.setProperty("kind", "segment")
            button.setProperty("place", "first" if i == 0 else "last" if i == len(names) - 1 else "middle")
            button.setAccessibleName(f"{name}: {text}")
            if tips:
                button.setToolTip(tips[i])
            row.addWidget(button)
            self._group.addButton(button, i)
        self._group.idClicked.connect(self.chosen)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    @property
    def current(self) -> int:
        return self._group.checkedId()

    def button(self, index: int) -> SteadyButton:
        button = self._group.button(index)
        assert isinstance(button, SteadyButton)
        return button


def icon_button(parent: QWidget, name: str, text: str, key: str, theme: Theme) -> QToolButton:
    """A small square button; `key` does the same in the view and is named in the tooltip."""
    button = QToolButton(parent)
    button.setFocusPolicy(Qt.FocusPolicy.NoFocus)     # the key is the way for those without a mouse
    button.setProperty("kind", "icon")
    button.setProperty("icon_name", name)
    button.setToolTip(f"{text} ({key})" if key else text)
    button.setAccessibleName(text)
    dress(button, theme)
    return button


def dress(button: QToolButton, theme: Theme) -> None:
    """Colour the icon of a button for a theme."""
    button.setIcon(icon(str(button.property("icon_name")), theme, size=16))
    button.setIconSize(QSize(theme.px(16), theme.px(16)))
    button.setFixedSize(theme.px(28), theme.px(28))


class Readout(QLabel):
    """Text at the right of the bar, cut at its front where there is no room: the value at its end stays."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._whole = ""
        self.setProperty("role", "mono")
        self.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    @property
    def whole(self) -> str:
        return self._whole

    def show_text(self, text: str) -> None:
        self._whole = text
        self.setToolTip(text)
        self._fit()

    def _fit(self) -> None:
        self.setText(self.fontMetrics().elidedText(self._whole, Qt.TextElideMode.ElideLeft, self.width()))

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()


class EmptyState(QLabel):
    """One sentence in the middle of a view that has nothing to show."""

    def __init__(self, sentence: str, parent: QWidget | None = None) -> None:
        super().__init__(sentence, parent)
        self.setProperty("role", "empty")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setWordWrap(True)
        self.setMargin(24)
