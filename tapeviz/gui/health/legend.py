"""The legend under the health map: nine bins with their ratios, and the special values as they are drawn."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from tapeviz.analysis.format import sci
from tapeviz.analysis.magnitude import ABSOLUTE_HIGH, ABSOLUTE_LOW, Special
from tapeviz.gui.health.geometry import LEGEND_FROM, Geometry
from tapeviz.gui.painting import draw_special
from tapeviz.gui.theme import Theme

_RATIOS = ("10⁻⁴", "10⁻³", "10⁻²", "10⁻¹", "1", "10¹", "10²", "10³", "10⁴")
_TILE, _HEIGHT = 28, 13
_SPECIALS = ((Special.NAN, ""), (Special.POSINF, ""), (Special.ZERO, "0"), (Special.UNDERFLOW, "underflow"),
             (Special.NONE, "None"), (Special.NOT_CAPTURED, "not captured"))
_SPECIALS_WIDTH = 390
LEGEND_LINE = 24            # of special tiles


def legend_lines(width: int, height: int, theme: Theme) -> int:
    """1 where the special tiles fit beside the scale, else as many lines as they need below it, if there is room."""
    if _fits_beside(width, theme):
        return 1
    needed = 2 if width >= theme.px(12 + _SPECIALS_WIDTH) else 3
    return needed if height >= theme.px(LEGEND_FROM + LEGEND_LINE * (needed - 1)) else 1


def _fits_beside(width: int, theme: Theme) -> bool:
    return width >= theme.px(12 + 92 + 9 * _TILE + 24 + _SPECIALS_WIDTH)


def draw_legend(painter: QPainter, g: Geometry, width: int, total: int, absolute: bool, theme: Theme) -> None:
    """Scale at the left edge of the map, special tiles beside or below it."""
    if not g.has_legend:
        return
    top = float(g.legend + theme.px(8))
    tile = min(theme.px(_TILE), max(4, (width - g.left - g.names) // 9))
    height = theme.px(_HEIGHT)
    muted = QColor(theme.muted)
    painter.setFont(theme.ui_font(11, 600))
    painter.setPen(muted)
    middle = Qt.AlignmentFlag.AlignVCenter
    painter.drawText(QRectF(g.names, top, g.left - g.names, height), middle, "Norm" if absolute else "Ratio")
    fills = theme.absolute_bins if absolute else theme.bins
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    for i, fill in enumerate(fills):
        painter.fillRect(QRectF(g.left + i * tile, top, tile, height), QColor(fill))
    painter.setPen(QPen(QColor(theme.control), 1))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(QRectF(g.left - 0.5, top - 0.5, 9 * tile + 1, height + 1))
    painter.setFont(theme.ui_font(10.5))
    painter.setPen(muted)
    below = top + height + theme.px(2)
    if absolute:
        # at the ends and the middle: the bins are cut at fixed values, most of which are no round powers
        for place in (0.0, 0.5, 1.0):
            exponent = ABSOLUTE_LOW + place * (ABSOLUTE_HIGH - ABSOLUTE_LOW)
            painter.drawText(QRectF(g.left + place * 9 * tile - 30, below, 60, theme.px(14)),
                             Qt.AlignmentFlag.AlignHCenter, sci(10.0**exponent, 0))
    else:
        roomy = tile >= theme.px(24)
        for i, text in enumerate(_RATIOS):
            if not roomy and i % 4:
                continue
            painter.drawText(QRectF(g.left + i * tile - 10, below, tile + 20, theme.px(14)),
                             Qt.AlignmentFlag.AlignHCenter, text)
    lines = legend_lines(width, total, theme)
    if lines == 1 and not _fits_beside(width, theme):
        return
    if lines == 1:
        x, y = float(g.left + 9 * tile + theme.px(28)), top - theme.px(2)
    else:
        x, y = float(max(g.names, min(g.left, width - theme.px(_SPECIALS_WIDTH)))), below + theme.px(17)
    if lines < 3:
        _draw_specials(painter, QPointF(x, y), theme, _SPECIALS)
        return
    for line in range(2):
        _draw_specials(painter, QPointF(x, y + line * theme.px(LEGEND_LINE)), theme, _SPECIALS[4 * line:4 * line + 4])


def _draw_specials(painter: QPainter, at: QPointF, theme: Theme, specials: tuple[tuple[Special, str], ...]) -> None:
    font = theme.ui_font(11.5)
    metrics = QFontMetricsF(font)
    x, height = at.x(), theme.px(16)
    for special, word in specials:
        draw_special(painter, QRectF(round(x), at.y(), theme.px(26), height), special, theme)
        x += theme.px(26 + 5)
        if word:
            width = metrics.horizontalAdvance(word)
            painter.setFont(font)
            painter.setPen(QColor(theme.muted))
            painter.drawText(QRectF(x, at.y(), width + 4, height), Qt.AlignmentFlag.AlignVCenter, word)
            x += width + theme.px(10)
