"""How special values look inside the cells of the health map: patterns, never a colour of the scale."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QPixmap

from tapeviz.analysis.magnitude import Special
from tapeviz.gui.health.cells import NAN, NEGINF, NONE, NOT_CAPTURED, POSINF, UNDERFLOW, ZERO
from tapeviz.gui.painting import draw_special
from tapeviz.gui.theme import Theme

LEAST_WIDTH = 2          # one bad iteration among a hundred thousand is still two pixels wide
WORD = (40, 18)          # from this size on it is named
SPECIALS = {NAN: Special.NAN, POSINF: Special.POSINF, NEGINF: Special.NEGINF}
_NO_PEN = QPen(Qt.PenStyle.NoPen)


def draw_cell(painter: QPainter, rect: QRectF, code: int, theme: Theme) -> None:
    """Fill a cell, or neighbouring cells with one special value."""
    if rect.width() < LEAST_WIDTH:
        rect = QRectF(rect.left(), rect.top(), LEAST_WIDTH, rect.height())
    if code in (NAN, POSINF, NEGINF) and rect.width() >= WORD[0] and rect.height() >= WORD[1]:
        draw_special(painter, rect, SPECIALS[code], theme)
    elif code == NAN:
        painter.fillRect(rect, Qt.GlobalColor.black)
    elif code in (POSINF, NEGINF):
        painter.fillRect(rect, Qt.GlobalColor.black)
        line = max(1.0, round(rect.height() / 8))
        painter.fillRect(QRectF(rect.left(), rect.center().y() - line / 2, rect.width(), line),
                         Qt.GlobalColor.white)
    elif code == NONE:
        painter.fillRect(rect, QColor(theme.surface))
        pen = QPen(QColor(theme.muted), 1)
        pen.setDashPattern([3, 2])
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(rect.adjusted(0.5, 1.5, -0.5, -1.5))
    else:
        painter.fillRect(rect, _pattern(code, theme))


@lru_cache(maxsize=64)
def _pattern(code: int, theme: Theme) -> QBrush:
    if code == ZERO:
        return QBrush(_stripes())
    if code == UNDERFLOW:
        return QBrush(_dots())
    assert code == NOT_CAPTURED, code
    return QBrush(_hatch(theme))


def _stripes() -> QPixmap:
    """White with 2 px stripes at 45 degrees; the texture has the pitch of the stripes, so it joins."""
    pixmap = QPixmap(6, 6)
    pixmap.fill(Qt.GlobalColor.white)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor("#444444"), 1.6))
    for shift in (-6, 0, 6):
        painter.drawLine(QPointF(shift - 1, 7), QPointF(shift + 7, -1))
    painter.end()
    return pixmap


def _dots() -> QPixmap:
    pixmap = QPixmap(5, 5)
    pixmap.fill(Qt.GlobalColor.white)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(_NO_PEN)
    painter.setBrush(QColor("#333333"))
    painter.drawEllipse(QPointF(2.5, 2.5), 0.95, 0.95)
    painter.end()
    return pixmap


def _hatch(theme: Theme) -> QPixmap:
    pixmap = QPixmap(6, 6)
    pixmap.fill(QColor(theme.surface))
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(theme.control), 0.8))
    painter.drawLine(QPointF(-1, 7), QPointF(7, -1))
    painter.drawLine(QPointF(-1, -1), QPointF(7, 7))
    painter.end()
    return pixmap
