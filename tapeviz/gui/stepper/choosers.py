"""Small controls of the card: which argument, and which plane of an array with more than two axes."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QButtonGroup, QComboBox, QHBoxLayout, QLabel, QPushButton, QSpinBox, QWidget

_BUTTONS, _LETTERS = 4, 26      # more or longer names than this go into a list


class ArgumentChooser(QWidget):
    """Segmented buttons for a few short names, a drop-down list for many; hidden when there is no choice."""

    chosen = Signal(int)      # the key given with the name

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Argument")
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(0)
        self._group: QButtonGroup | None = None
        self.list = QComboBox(self)
        self.list.setAccessibleName("Argument")
        self.list.activated.connect(self._activated)
        self._row.addWidget(self.list)
        self._names: tuple[tuple[int, str], ...] = ()
        self.buttons: list[QPushButton] = []

    @property
    def names(self) -> list[str]:
        """What is offered, in order."""
        return [name for _, name in self._names]

    def show_names(self, names: Sequence[tuple[int, str]], current: int) -> None:
        """Offer these (key, name) pairs; the buttons are rebuilt only when the names change."""
        if tuple(names) != self._names:
            self._names = tuple(names)
            self._rebuild()
        with QSignalBlocker(self.list):
            self.list.setCurrentIndex(max(0, self.list.findData(current)))
        for button, (key, _) in zip(self.buttons, self._names, strict=False):
            button.setChecked(key == current)
        self.setVisible(len(names) > 1)

    def _rebuild(self) -> None:
        for button in self.buttons:
            button.hide()
            button.deleteLater()
        self.buttons = []
        as_buttons = len(self._names) <= _BUTTONS and sum(len(n) for _, n in self._names) <= _LETTERS
        self.list.setVisible(not as_buttons)
        with QSignalBlocker(self.list):
            self.list.clear()
            for key, name in self._names:
                self.list.addItem(name, key)
        if not as_buttons:
            return
        self._group = QButtonGroup(self)
        self._group.idClicked.connect(self.chosen)
        for number, (key, name) in enumerate(self._names):
            button = QPushButton(name, self)
            button.setCheckable(True)
            button.setProperty("kind", "segment")
            last = number == len(self._names) - 1
            button.setProperty("place", "only" if len(self._names) == 1 else "first" if number == 0
                               else "last" if last else "middle")
            button.setToolTip(f"Show what this step adds to {name}")
            self._group.addButton(button, key)
            self._row.addWidget(button)
            self.buttons.append(button)

    def _activated(self, index: int) -> None:
        self.chosen.emit(int(self.list.itemData(index)))


class PlaneChooser(QWidget):
    """A number field for each axis before the last two; hidden when there is none."""

    chosen = Signal(object)      # tuple of the leading indices

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Plane")
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(4)
        self._shape: tuple[int, ...] = ()
        self.fields: list[QSpinBox] = []
        self._row.addStretch(1)

    def show_shape(self, shape: tuple[int, ...], lead: tuple[int, ...]) -> None:
        """Offer the leading axes of an array of this shape."""
        leading = shape[:-2]
        if leading != self._shape:
            self._shape = leading
            self._rebuild()
        for field, value in zip(self.fields, lead, strict=False):
            with QSignalBlocker(field):
                field.setValue(value)
        self.setVisible(bool(leading))

    def _rebuild(self) -> None:
        while self._row.count() > 1:
            item = self._row.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self.fields = []
        for axis, size in enumerate(self._shape):
            label = QLabel(f"axis {axis}", self)
            label.setProperty("role", "small")
            field = QSpinBox(self)
            field.setRange(0, size - 1)
            field.setWrapping(True)
            field.setAccessibleName(f"Index along axis {axis}")
            field.setToolTip(f"Index along axis {axis}, 0 to {size - 1}")
            field.valueChanged.connect(self._changed)
            self._row.insertWidget(2 * axis, label)
            self._row.insertWidget(2 * axis + 1, field)
            self.fields.append(field)

    def _changed(self, _: int) -> None:
        self.chosen.emit(tuple(field.value() for field in self.fields))
