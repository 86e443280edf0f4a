"""The time strip: the loss and the worst gradient of every iteration, findings, and the iteration in focus."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from tapeviz.analysis.findings import Finding
from tapeviz.analysis.format import plain, sci
from tapeviz.analysis.magnitude import OK, Special
from tapeviz.analysis.strip import Strip, make_strip
from tapeviz.gui.painting import brush, colour, draw_focus_ring, draw_special, guarded, pen, severity_colour
from tapeviz.gui.session import Session

TALL, LOW = 48, 32
_LABEL, _BAND, _PAD, _FLAG_W, _FLAG_H = 96, 6, 12, 34, 15
_LOSS_LETTERS = 6       # a longer number would reach into its label
_WORSE = {"info": 0, "warning": 1, "error": 2}


class TimeStrip(QWidget):
    """Click or drag chooses the iteration; the cursor's flag stands where it covers no data of its iteration."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._height = TALL
        self._strip: Strip | None = None
        self._findings: list[Finding] = []
        self._dragging = False
        self.setAccessibleName("Time strip: loss and worst gradient over the iterations")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setMouseTracking(True)
        session.recording_changed.connect(self.refresh)
        session.grew.connect(self.refresh)
        session.findings_changed.connect(self._take_findings)
        session.focus_changed.connect(self._focus_changed)
        session.theme_changed.connect(self._dress)
        self._dress()
        self._take_findings()
        self.refresh()

    def set_tall(self, tall: bool) -> None:
        """48 px where the strip is looked at, 32 px where it only gives orientation."""
        self._height = TALL if tall else LOW
        self._dress()

    def refresh(self) -> None:
        recording = self._session.recording
        columns = max(1, int(self._field().width()))
        self._strip = make_strip(recording, columns) if recording is not None else None
        self.update()

    def _take_findings(self) -> None:
        # The worst is drawn last, on top of its neighbours.
        self._findings = sorted(self._session.findings, key=lambda f: _WORSE.get(f.severity, 0))
        self.update()

    def _focus_changed(self, _: object) -> None:
        self.update()

    def _dress(self, _: object = None) -> None:
        self.setFixedHeight(self._session.theme.px(self._height))
        self.update()

    # --- geometry ------------------------------------------------------------------------------

    def _field(self) -> QRectF:
        """Where iterations are: between the label and the right margin."""
        theme = self._session.theme
        left, pad = theme.px(_LABEL), theme.px(_PAD)
        return QRectF(left, 0, max(1, self.width() - left - pad), self.height())

    def x_of(self, iteration: int) -> float:
        """The middle of an iteration's column."""
        field, count = self._field(), self._count()
        return field.left() + (iteration + 0.5) / max(count, 1) * field.width()

    def iteration_at(self, x: float) -> int:
        """The iteration under a place, clamped to what there is."""
        field, count = self._field(), self._count()
        return int(min(max((x - field.left()) / field.width() * count, 0), count - 1)) if count else 0

    def _count(self) -> int:
        return self._strip.count if self._strip is not None else 0

    # --- painting ------------------------------------------------------------------------------

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._session.theme
        painter = QPainter(self)
        painter.fillRect(self.rect(), colour(theme.surface))
        painter.fillRect(QRectF(0, self.height() - 1, self.width(), 1), colour(theme.border))
        if self._strip is not None and self._strip.count:
            self._paint_band(painter, self._strip)
            self._paint_loss(painter, self._strip)
            self._paint_findings(painter)
            self._paint_cursor(painter)
        self._paint_label(painter)
        if self.hasFocus():
            draw_focus_ring(painter, QRectF(self.rect()), theme)
        painter.end()

    def _band(self) -> QRectF:
        field, theme = self._field(), self._session.theme
        height = theme.px(_BAND) + 2
        return QRectF(field.left(), self.height() - height - 3, field.width(), height)

    def _edges(self, strip: Strip) -> np.ndarray:
        field = self._field()
        starts = np.append(strip.first, strip.count)
        return field.left() + starts / strip.count * field.width()

    def _paint_band(self, painter: QPainter, strip: Strip) -> None:
        """Neighbours of the same colour are one rectangle: a long run has few of them."""
        theme, band = self._session.theme, self._band()
        edges = self._edges(strip)
        codes = np.where(strip.special == OK, strip.bin.astype(np.int16), 100 + strip.special.astype(np.int16))
        turns = np.flatnonzero(np.diff(codes)) + 1
        for begin, end in zip([0, *turns.tolist()], [*turns.tolist(), len(codes)], strict=True):
            box = QRectF(edges[begin], band.top() + 1, max(1.0, edges[end] - edges[begin]), band.height() - 2)
            code = int(codes[begin])
            if code < 100:
                painter.fillRect(box, brush(theme.bin_fill(code)))
            else:
                draw_special(painter, box, Special(code - 100), theme)
        painter.setPen(pen(theme.control))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(band.adjusted(0.5, 0.5, -0.5, -0.5))

    def _loss_box(self) -> QRectF:
        theme, field = self._session.theme, self._field()
        top = theme.px(9 if self._height == TALL else 7)
        return QRectF(field.left(), top, field.width(), self._band().top() - top - 2)

    def _paint_loss(self, painter: QPainter, strip: Strip) -> None:
        theme, box = self._session.theme, self._loss_box()
        known = np.isfinite(strip.low)
        if not known.any():
            return
        low, high = float(np.nanmin(strip.low)), float(np.nanmax(strip.high))
        span = (high - low) or 1.0
        edges = self._edges(strip)
        middle = (edges[:-1] + edges[1:]) / 2
        tops = box.bottom() - (strip.high - low) / span * box.height()
        bottoms = box.bottom() - (strip.low - low) / span * box.height()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen(theme.muted, 1.0))
        single = np.array_equal(strip.low[known], strip.high[known])
        points: list[QPointF] = []
        for i in range(len(middle)):
            if not known[i]:
                _draw_line(painter, points)
                points = []
                continue
            points.append(QPointF(middle[i], tops[i]))
            if not single:
                points.append(QPointF(middle[i], bottoms[i]))
        _draw_line(painter, points)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_findings(self, painter: QPainter) -> None:
        theme = self._session.theme
        half, height = theme.px(8) / 2, theme.px(6)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        for finding in self._findings:
            x = self.x_of(finding.iteration)
            painter.setBrush(brush(severity_colour(finding.severity, theme)))
            painter.drawPolygon(QPolygonF([QPointF(x - half, 0), QPointF(x + half, 0), QPointF(x, height)]))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_cursor(self, painter: QPainter) -> None:
        theme, field = self._session.theme, self._field()
        x = round(self.x_of(self._session.focus.iteration))
        painter.fillRect(QRectF(x - 1, 1, 2, self.height() - 3), colour(theme.accent))
        font = theme.mono_font(10.5, 600)
        text = str(self._session.focus.iteration)
        width = max(theme.px(_FLAG_W), QFontMetricsF(font).horizontalAdvance(text) + theme.px(10))
        left = x + 5 if x + 5 + width <= field.right() + theme.px(_PAD) else x - 5 - width
        flag = QRectF(left, 1, width, theme.px(_FLAG_H))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(brush(theme.accent))
        painter.drawRoundedRect(flag, theme.px(3), theme.px(3))
        painter.setFont(font)
        painter.setPen(colour(theme.on_accent))
        painter.drawText(flag, Qt.AlignmentFlag.AlignCenter, text)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_label(self, painter: QPainter) -> None:
        theme = self._session.theme
        box = QRectF(theme.px(_PAD), 0, theme.px(_LABEL - _PAD - 6), self.height() - 2)
        plain_font, mono = theme.ui_font(11), theme.mono_font(11.5, 600)
        painter.setFont(plain_font)
        painter.setPen(colour(theme.muted))
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | middle, "Loss")
        painter.setFont(mono)
        painter.setPen(colour(theme.text))
        box.setLeft(box.left() + QFontMetricsF(plain_font).horizontalAdvance("Loss "))
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | middle, self._loss_text(self._session.focus.iteration))

    def _loss_text(self, iteration: int) -> str:
        strip = self._strip
        if strip is None or strip.loss is None:
            return "–"
        if not strip.has_loss(iteration):
            return "–"
        text = plain(strip.loss_at(iteration), true_minus=True)
        return text if len(text) <= _LOSS_LETTERS else sci(strip.loss_at(iteration), 2, true_minus=True)

    # --- choosing ------------------------------------------------------------------------------

    def _choose(self, x: float) -> None:
        if self._count():
            self._session.set_focus(iteration=self.iteration_at(x))

    @guarded()
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._dragging = True
            self._choose(event.position().x())

    @guarded()
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._dragging:
            self._choose(event.position().x())

    @guarded()
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._dragging = False

    @guarded()
    def keyPressEvent(self, event: QKeyEvent) -> None:
        by = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if by and self._count():
            wanted = self._session.focus.iteration + by
            self._session.set_focus(iteration=min(max(wanted, 0), self._count() - 1))
        else:
            super().keyPressEvent(event)

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.refresh()

    @guarded(False)
    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and self._count():
            QToolTip.showText(event.globalPos(), self._words(event.pos().x()), self)
            return True
        return super().event(event)

    def _words(self, x: float) -> str:
        iteration = self.iteration_at(x)
        near = [f.title for f in self._findings if abs(self.x_of(f.iteration) - x) <= 5]
        return "\n".join([f"Iteration {iteration}, loss {self._loss_text(iteration)}", *near])

    @guarded(QSize(400, TALL))
    def sizeHint(self) -> QSize:
        return QSize(400, self._session.theme.px(self._height))


def _draw_line(painter: QPainter, points: list[QPointF]) -> None:
    """A stretch of the loss; one point alone is a dot, so that a single iteration is seen too."""
    if len(points) == 1:
        painter.drawEllipse(points[0], 1.5, 1.5)
    elif points:
        painter.drawPolyline(points)
