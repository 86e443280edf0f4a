"""An example card of the start page: title, one sentence, and the loss of its last run as a sparkline."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QEnterEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QWidget

from tapeviz.gui.painting import brush, colour, draw_focus_ring, guarded, pen
from tapeviz.gui.session import Session


@dataclass(frozen=True, slots=True)
class Example:
    """A shipped script: what its first docstring line says, split at the colon."""

    path: Path
    title: str
    sentence: str


def example_of(path: Path) -> Example:
    """The title and the sentence of a script, from the first line of its docstring; else its name."""
    try:
        text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    except (SyntaxError, ValueError, OSError):
        text = ""
    line = text.strip().split("\n")[0].rstrip(".").replace("`", "")
    title, _, rest = line.partition(":")
    if not rest:
        title, _, rest = line.partition(", ")
    rest = rest.strip()
    return Example(path, title or path.stem.replace("_", " "), rest[:1].upper() + rest[1:] + ("." if rest else ""))


class ExampleCard(QWidget):
    """A card that is pressed to run the example."""

    chosen = Signal(object)      # Path

    def __init__(self, session: Session, example: Example, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self.example = session, example
        self._losses = np.empty(0)
        self._hover = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(f"Run the example {example.title}")
        self.setAccessibleDescription(example.sentence)
        self.setToolTip(f"Run {example.path.name}")
        session.theme_changed.connect(self.rescale)
        self.rescale()

    def set_losses(self, losses: np.ndarray) -> None:
        """The loss of the last run; fewer than two values: no sparkline."""
        self._losses = losses
        self.update()

    def rescale(self, _: object = None) -> None:
        theme = self._session.theme
        self.setFixedSize(QSize(theme.px(216), theme.px(124)))
        self.update()

    @guarded()
    def enterEvent(self, event: QEnterEvent) -> None:
        self._hover = True
        self.update()

    @guarded()
    def leaveEvent(self, event: object) -> None:
        self._hover = False
        self.update()

    @guarded()
    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()       # the release is wanted too

    @guarded()
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.chosen.emit(self.example.path)

    @guarded()
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit(self.example.path)
        else:
            super().keyPressEvent(event)

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._session.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(pen(theme.text if self._hover else theme.control))
        painter.setBrush(brush(theme.raised))
        painter.drawRoundedRect(box, theme.px(8), theme.px(8))
        pad = theme.px(12)
        inner = box.adjusted(pad, pad - 2, -pad, -pad)
        wrapped = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop) | int(Qt.TextFlag.TextWordWrap)
        painter.setFont(theme.ui_font(13, 600))
        painter.setPen(colour(theme.text))
        used = painter.boundingRect(inner, wrapped, self.example.title)
        painter.drawText(inner, wrapped, self.example.title)
        painter.setFont(theme.ui_font(12))
        painter.setPen(colour(theme.muted))
        below = inner.adjusted(0, used.height() + theme.px(3), 0, 0)
        painter.drawText(below, wrapped, self.example.sentence)
        if len(self._losses) > 1:
            height = theme.px(30)
            self._paint_losses(painter, QRectF(inner.left(), inner.bottom() - height, inner.width(), height))
        if self.hasFocus():
            draw_focus_ring(painter, self.rect().toRectF(), theme, theme.px(8))
        painter.end()

    def _paint_losses(self, painter: QPainter, box: QRectF) -> None:
        values = self._losses
        low, high = float(values.min()), float(values.max())
        span = (high - low) or 1.0
        xs = box.left() + np.linspace(0, box.width(), len(values))
        ys = box.bottom() - 2 - (values - low) / span * (box.height() - 4)
        painter.setPen(pen(self._session.theme.muted, 1.25))
        painter.drawPolyline(QPolygonF([QPointF(float(x), float(y)) for x, y in zip(xs, ys, strict=True)]))
