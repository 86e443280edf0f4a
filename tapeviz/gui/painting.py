"""What every painted view shares: the guard of Qt overrides, cached pens, and the glyphs of special values."""

from __future__ import annotations

import functools
import sys
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPen, QPolygonF

from tapeviz.analysis.magnitude import Special
from tapeviz.gui.theme import Theme

Report = Callable[[type[BaseException], BaseException, TracebackType | None], None]
F = TypeVar("F", bound=Callable[..., Any])


def _to_stderr(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    traceback.print_exception(kind, error, trace, file=sys.stderr)


report: list[Report] = [_to_stderr]   # who is told of an exception inside a Qt override; tests add one that fails


def guarded(default: Any = None) -> Callable[[F], F]:
    """Keep exceptions inside an override of a Qt virtual and return `default` instead.

    On Python 3.11 an exception raised by C code that leaves such an override ends the process (a segmentation
    fault inside PySide), so every override in this package wears this.
    """
    def decorate(function: F) -> F:
        @functools.wraps(function)
        def run(*arguments: Any) -> Any:
            try:
                return function(*arguments)
            except Exception:   # noqa: BLE001 - nothing may get out
                kind, error, trace = sys.exc_info()
                if kind is not None and error is not None:
                    for tell in list(report):
                        tell(kind, error, trace)
                return default
        return run   # type: ignore[return-value]   # same signature, which typing cannot say for methods
    return decorate


@functools.lru_cache(maxsize=512)
def colour(name: str, alpha: float = 1.0) -> QColor:
    """QColor of a #rrggbb string; do not change it, it is shared."""
    result = QColor(name)
    result.setAlphaF(alpha)
    return result


@functools.lru_cache(maxsize=512)
def brush(name: str, alpha: float = 1.0) -> QBrush:
    return QBrush(colour(name, alpha))


@functools.lru_cache(maxsize=512)
def pen(name: str, width: float = 1.0, dashes: tuple[float, ...] = (), alpha: float = 1.0) -> QPen:
    """A pen `width` px wide; `dashes` are lengths in px."""
    result = QPen(colour(name, alpha), width)
    if dashes:
        result.setDashPattern([d / width for d in dashes])
        result.setCapStyle(Qt.PenCapStyle.FlatCap)
    return result


def elided(text: str, font: QFont, width: float, middle: bool = False) -> str:
    """`text` cut with an ellipsis so that it fits into `width`."""
    mode = Qt.TextElideMode.ElideMiddle if middle else Qt.TextElideMode.ElideRight
    return QFontMetricsF(font).elidedText(text, mode, width)


def crisp(rect: QRectF, width: float = 1.0) -> QRectF:
    """`rect` moved inwards so that an outline of that width falls on whole pixels."""
    half = width / 2
    return rect.adjusted(half, half, -half, -half)


def diagonals(rect: QRectF, pitch: float, falling: bool = False) -> list[QLineF]:
    """Lines at 45 degrees that fill a rectangle and end at its edges: SVG files know no clipping."""
    lines = []
    height = rect.height()
    x = rect.left() - height + pitch / 2
    while x < rect.right() and height > 0:
        first, last = max(0.0, rect.left() - x), min(height, rect.right() - x)
        start, slope = (rect.top(), 1) if falling else (rect.bottom(), -1)
        if first < last:
            lines.append(QLineF(x + first, start + slope * first, x + last, start + slope * last))
        x += pitch
    return lines


def _fill_stripes(painter: QPainter, rect: QRectF) -> None:
    painter.fillRect(rect, colour("#ffffff"))
    painter.setPen(pen("#444444", 2.0))
    painter.drawLines(diagonals(rect, 6))


def _fill_dots(painter: QPainter, rect: QRectF) -> None:
    painter.fillRect(rect, colour("#ffffff"))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(brush("#333333"))
    y = rect.top() + 2.5
    while y < rect.bottom():
        x = rect.left() + 2.5
        while x < rect.right():
            painter.drawEllipse(QPointF(x, y), 0.9, 0.9)
            x += 5
        y += 5


def _fill_hatch(painter: QPainter, rect: QRectF, theme: Theme) -> None:
    painter.fillRect(rect, colour(theme.surface))
    painter.setPen(pen(theme.control, 0.8))
    painter.drawLines(diagonals(rect, 6) + diagonals(rect, 6, falling=True))


_LETTERS = {Special.NAN: "NaN", Special.POSINF: "∞", Special.NEGINF: "−∞"}


def draw_special(painter: QPainter, rect: QRectF, special: Special, theme: Theme) -> None:
    """A tile, cell or band whose value is no ordinary number: each kind has a pattern or word of its own."""
    rect = QRectF(rect)
    painter.save()
    painter.setClipRect(rect, Qt.ClipOperation.IntersectClip)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    small = rect.width() < 14 or rect.height() < 8   # room for a mark but not for a word
    if special in _LETTERS:
        painter.fillRect(rect, colour("#000000"))
        if small:
            if special is not Special.NAN:
                middle = rect.center().y()
                painter.fillRect(QRectF(rect.left(), middle - 1, rect.width(), 2), colour("#ffffff"))
        else:
            size = 9.5 if special is Special.NAN else 14
            font = theme.ui_font(min(size, rect.height() / theme.scale * 0.9), 700)
            painter.setFont(font)
            painter.setPen(colour("#ffffff"))
            painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, _LETTERS[special])
    elif special is Special.ZERO:
        _fill_stripes(painter, rect)
    elif special is Special.UNDERFLOW:
        _fill_dots(painter, rect)
    elif special is Special.NOT_CAPTURED:
        _fill_hatch(painter, rect, theme)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    if special is Special.NONE:
        painter.setPen(pen(theme.muted, 1.0, (3, 2)))
        painter.drawRect(crisp(rect))
    elif not small:
        painter.setPen(pen(theme.control))
        painter.drawRect(crisp(rect))
    painter.restore()


def draw_chip(painter: QPainter, rect: QRectF, text: str, what: int | Special, theme: Theme) -> None:
    """A number on the fill of its decade (-4 to 4), or a special value as word on its pattern."""
    rect = crisp(QRectF(rect))
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setFont(theme.mono_font(10.5))
    radius = theme.px(3)
    if isinstance(what, Special):
        if what in (Special.NAN, Special.POSINF, Special.NEGINF):
            painter.setPen(pen(theme.control))
            painter.setBrush(brush("#000000"))
            painter.drawRoundedRect(rect, radius, radius)
            painter.setPen(colour("#ffffff"))
        elif what is Special.NONE:
            painter.setPen(pen(theme.muted, 1.0, (3, 2)))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(rect, radius, radius)
            painter.setPen(colour(theme.muted))
        else:
            draw_special(painter, rect, what, theme)
            _plate(painter, rect, text, theme)
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)
    else:
        painter.setPen(pen(theme.control))
        painter.setBrush(brush(theme.bin_fill(what)))
        painter.drawRoundedRect(rect, radius, radius)
        if theme.projector:
            _plate(painter, rect, text, theme)
        else:
            painter.setPen(colour(theme.bin_ink(what)))
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)
    painter.restore()


def _plate(painter: QPainter, rect: QRectF, text: str, theme: Theme) -> None:
    """The surface under a number that would not be readable on the fill; leaves the pen ready for the text."""
    width = QFontMetricsF(painter.font()).horizontalAdvance(text) + theme.px(4)
    plate = QRectF(0, 0, min(width, rect.width() - 2), rect.height() - 2)
    plate.moveCenter(rect.center())
    painter.setPen(pen(theme.text, 1.0) if theme.projector else Qt.PenStyle.NoPen)
    painter.setBrush(brush(theme.surface))
    painter.drawRoundedRect(plate, theme.px(4), theme.px(4))
    painter.setPen(colour(theme.text))


def severity_colour(severity: str, theme: Theme) -> str:
    """The token of "error", "warning", "info" or "ok"."""
    return {"error": theme.error, "warning": theme.warning, "info": theme.info}.get(severity, theme.ok)


def draw_severity(painter: QPainter, rect: QRectF, severity: str, theme: Theme) -> None:
    """Octagon, triangle, circle or tick: severity is a shape first and a colour second."""
    side = min(rect.width(), rect.height())
    box = QRectF(0, 0, side, side)
    box.moveCenter(QRectF(rect).center())
    stroke = max(1.5, side / 12)
    box = box.adjusted(stroke, stroke, -stroke, -stroke)
    name = severity_colour(severity, theme)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    line = QPen(colour(name), stroke)
    line.setCapStyle(Qt.PenCapStyle.RoundCap)
    line.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(line)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    x, y, w = box.center().x(), box.center().y(), box.width() / 2
    if severity == "ok":
        tick = QPolygonF([QPointF(x - w * 0.75, y), QPointF(x - w * 0.2, y + w * 0.55),
                          QPointF(x + w * 0.8, y - w * 0.6)])
        painter.drawPolyline(tick)
        painter.restore()
        return
    if severity == "error":
        cut = w * 0.414
        painter.drawPolygon(QPolygonF([
            QPointF(x - cut, y - w), QPointF(x + cut, y - w), QPointF(x + w, y - cut), QPointF(x + w, y + cut),
            QPointF(x + cut, y + w), QPointF(x - cut, y + w), QPointF(x - w, y + cut), QPointF(x - w, y - cut)]))
    elif severity == "warning":
        painter.drawPolygon(QPolygonF([
            QPointF(x, y - w * 0.9), QPointF(x + w, y + w * 0.85), QPointF(x - w, y + w * 0.85)]))
        y += w * 0.22
    else:
        painter.drawEllipse(QPointF(x, y), w, w)
    top, bottom, dot = y - w * 0.48, y + w * 0.08, y + w * 0.46
    if severity == "info":   # an i, not an exclamation mark
        top, bottom, dot = y - w * 0.05, y + w * 0.48, y - w * 0.44
    painter.drawLine(QPointF(x, top), QPointF(x, bottom))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(brush(name))
    painter.drawEllipse(QPointF(x, dot), stroke * 0.62, stroke * 0.62)
    painter.restore()


def draw_focus_ring(painter: QPainter, rect: QRectF, theme: Theme, radius: float = 0.0) -> None:
    """The 2 px ring that shows where the keyboard is."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, radius > 0)
    painter.setPen(pen(theme.focus, 2.0))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(crisp(QRectF(rect), 2.0), radius, radius)
    painter.restore()
