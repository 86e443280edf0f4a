"""The graph's canvas: tiles below, hover and focus above; mouse, wheel and keys."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from PySide6.QtCore import QEasingCurve, QEvent, QPointF, QRectF, Qt, QTimer, QVariantAnimation, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPaintEngine,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from tapeviz.gui.graph.boxes import FULL, box_height, box_rect, corner_radius, ring
from tapeviz.gui.graph.drawing import Drawing, paint_drawing
from tapeviz.gui.graph.minimap import Minimap
from tapeviz.gui.graph.tiles import Tiles, snapped
from tapeviz.gui.graph.view import View, fitting, opening
from tapeviz.gui.graph.walking import neighbour
from tapeviz.gui.painting import brush, colour, guarded, pen
from tapeviz.gui.theme import Theme

TIP_MS, PAN_MS = 400, 180
STEP = 80.0              # px that W, A, S and D move
DRAG = 4.0               # px from which a press is a drag
WHEEL = 1.2              # zoom per notch
# Pictures in files that stay sharp: painted without tiles.
_VECTOR = (QPaintEngine.Type.SVG, QPaintEngine.Type.Pdf, QPaintEngine.Type.Picture)


class Canvas(QWidget):
    """Paints the drawing it is given; says what a person does with it."""

    box_chosen = Signal(int)
    box_opened = Signal(int)         # double click or Enter
    left = Signal()                  # Backspace: fold what is around
    view_changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.frames = 0              # painted so far
        self._drawing: Drawing | None = None
        self._view = View()
        self._viewed = False         # whether the drawing has been given its first view
        self._touched = False        # whether a person has moved the view since
        self._ringed = False         # the ring of the keyboard's focus is for those who came by keyboard
        self._chosen: int | None = None
        self._hovered: int | None = None
        self._tiles = Tiles(self._paint_tile)
        self._minimap = Minimap()
        self._pressed: QPointF | None = None
        self._last = QPointF()
        self._dragging = self._mapping = False
        self._target: View | None = None
        self._start = View()
        self._motion = QVariantAnimation(self)
        self._motion.setDuration(PAN_MS)
        self._motion.setStartValue(0.0)
        self._motion.setEndValue(1.0)
        self._motion.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._motion.valueChanged.connect(self._moved)
        self._tip = QTimer(self)
        self._tip.setSingleShot(True)
        self._tip.setInterval(TIP_MS)
        self._tip.timeout.connect(self._show_tip)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMinimumSize(160, 100)
        self.setAccessibleName("Graph of operations")

    # --- what to show --------------------------------------------------------------------------

    @property
    def drawing(self) -> Drawing | None:
        return self._drawing

    @property
    def view(self) -> View:
        return self._view

    @property
    def chosen(self) -> int | None:
        return self._chosen

    def set_drawing(self, drawing: Drawing | None, fresh: bool = False) -> None:
        """Show a drawing; the view stays unless it is `fresh` (another recording) or the first one."""
        self._drawing = drawing
        self._tiles.clear()
        self._hovered = None
        if fresh or drawing is None:
            self._viewed = self._touched = False
        self._first_view()
        self.update()

    def add_bars(self, bars: Mapping[int, tuple[float, ...]]) -> None:
        """Distributions of gradients that have been read for boxes of this drawing."""
        if bars and self._drawing is not None:
            self._drawing = replace(self._drawing, bars={**self._drawing.bars, **bars})
            self._tiles.clear()
            self.update()

    def boxes_on_screen(self) -> list[int]:
        """Boxes of which there is something to be seen, if they are large enough to be read."""
        if self._drawing is None or box_height(self._view) < FULL * self._theme.scale:
            return []
        return [int(box) for box in self._drawing.geometry.boxes_in(*self._view.rect(self.width(), self.height()))]

    def set_chosen(self, box: int | None) -> None:
        """The focused box; the view moves only if it is off screen."""
        changed = box != self._chosen
        self._chosen = box
        if changed:
            if box is not None and self._drawing is not None:
                self.setAccessibleDescription(self._drawing.dress.describe(box).replace("\n", ", "))
                self._bring(box)
            self.update()

    def set_theme(self, theme: Theme) -> None:
        factor = theme.scale / self._theme.scale
        self._theme = theme
        if factor != 1.0:
            self._view = self._view.zoomed(factor, self.width() / 2, self.height() / 2)
        self._tiles.clear()
        self.update()

    def _first_view(self) -> None:
        if not self._viewed and self._drawing is not None and len(self._drawing.geometry) and self.width() > 1:
            self._jump(opening(self._drawing.geometry.bounds, self.width(), self.height(), self._theme.scale))
            self._viewed = True

    # --- view ----------------------------------------------------------------------------------

    def set_view(self, view: View) -> None:
        """Show another part, as a person wants it."""
        self._touched = True
        self._jump(view)

    def _jump(self, view: View) -> None:
        self._motion.stop()
        self._target = None
        if view != self._view:
            self._view = view
            self.update()
            self.view_changed.emit()

    def pan(self, dx: float, dy: float) -> None:
        """Move what is on screen by so many pixels."""
        self.set_view(self._view.panned(dx, dy))

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        point = at if at is not None else QPointF(self.width() / 2, self.height() / 2)
        self.set_view(self._view.zoomed(factor, point.x(), point.y()))

    def zoom_in(self) -> None:
        self.zoom(WHEEL * WHEEL)

    def zoom_out(self) -> None:
        self.zoom(1 / (WHEEL * WHEEL))

    def fit(self) -> None:
        """Show all of the graph."""
        if self._drawing is not None:
            self.set_view(fitting(self._drawing.geometry.bounds, self.width(), self.height(), self._theme.scale))

    def settle(self) -> None:
        """End the motion under way."""
        if self._target is not None:
            self._jump(self._target)

    def _bring(self, box: int) -> None:
        """Move a box that is off screen to where it can be seen."""
        self._first_view()
        if self._drawing is None or box >= len(self._drawing.geometry):
            return
        rect = box_rect(self._drawing.geometry, box, self._view)
        room = QRectF(0, 0, self.width(), self.height())
        covered = self._over_map(rect.center()) or self._over_map(rect.bottomRight())
        if (room.contains(rect) and not covered) or (rect.width() > room.width() and room.intersects(rect)):
            return
        centre = rect.center() - room.center()
        target = self._view.panned(-centre.x(), -centre.y())
        if not self.isVisible() or not self._touched:      # nobody knows his way about yet: no motion
            self._jump(target)
            return
        self._start, self._target = self._view, target
        self._motion.stop()
        self._motion.start()

    def _moved(self, share: float) -> None:
        if self._target is None:
            return
        a, b = self._start, self._target
        self._view = View(b.scale, a.x + (b.x - a.x) * share, a.y + (b.y - a.y) * share)
        if share >= 1.0:
            self._target = None
            self.view_changed.emit()
        self.update()

    # --- painting ------------------------------------------------------------------------------

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        self.frames += 1
        painter = QPainter(self)
        theme, drawing = self._theme, self._drawing
        if drawing is None:
            painter.fillRect(self.rect(), colour(theme.surface))
        else:
            view = snapped(self._view)
            if painter.paintEngine().type() in _VECTOR:
                paint_drawing(painter, drawing, view, QRectF(self.rect()), theme, vector=True)
            else:
                self._tiles.draw(painter, view, self.width(), self.height(), self.devicePixelRatioF())
            self._paint_marks(painter, drawing, view)
            if self._minimap.shown(drawing, view, self.width(), self.height(), theme):
                self._minimap.paint(painter, drawing, view, self.width(), self.height(), theme)
        if self.hasFocus() and self._ringed:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            painter.setPen(pen(theme.focus, 2.0))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(1, 1, self.width() - 2, self.height() - 2))
        painter.end()

    def paint_vector(self, painter: QPainter, rect: QRectF) -> None:
        """Paint all of the graph into `rect` without pixmaps: for SVG, PDF and large PNG."""
        if self._drawing is None:
            return
        view = fitting(self._drawing.geometry.bounds, rect.width(), rect.height(), 4.0)
        painter.save()
        painter.translate(rect.topLeft())
        paint_drawing(painter, self._drawing, view, QRectF(0, 0, rect.width(), rect.height()), self._theme, True)
        self._paint_marks(painter, self._drawing, view)
        painter.restore()

    def _paint_tile(self, painter: QPainter, view: View, rect: QRectF) -> None:
        if self._drawing is not None:
            paint_drawing(painter, self._drawing, view, rect, self._theme)

    def _paint_marks(self, painter: QPainter, drawing: Drawing, view: View) -> None:
        """What changes without the drawing: current step, focus, hover."""
        theme, dress = self._theme, drawing.dress
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        size = min(max(view.scale / theme.scale, 0.3), 1.5)
        current = dress.current
        if current >= 0:
            rect = box_rect(drawing.geometry, current, view)
            radius = corner_radius(dress, current, rect)
            ring(painter, rect, theme.accent, 6.0 * size, radius, 2.5 * size, 0.32)
            ring(painter, rect, theme.accent, 2.5, radius, -1.25)
        chosen = self._chosen
        if chosen is not None and chosen != current and chosen < len(drawing.geometry):
            rect = box_rect(drawing.geometry, chosen, view)
            ring(painter, rect, theme.focus, 2.0, corner_radius(dress, chosen, rect), 1.0)
            if rect.height() > 12:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(brush(theme.focus))
                for corner in (rect.topLeft(), rect.topRight(), rect.bottomLeft(), rect.bottomRight()):
                    painter.drawRect(QRectF(corner.x() - 2.5, corner.y() - 2.5, 5, 5))
        if self._hovered is not None and self._hovered not in (current, chosen):
            rect = box_rect(drawing.geometry, self._hovered, view)
            ring(painter, rect, theme.text, 1.0, corner_radius(dress, self._hovered, rect), -1.0)

    # --- mouse ---------------------------------------------------------------------------------

    def box_at(self, at: QPointF) -> int | None:
        """The box under a point of the widget."""
        if self._drawing is None:
            return None
        return self._drawing.geometry.box_at(*self._view.to_scene(at.x(), at.y()))

    def _over_map(self, at: QPointF) -> bool:
        return (self._drawing is not None
                and self._minimap.shown(self._drawing, self._view, self.width(), self.height(), self._theme)
                and self._minimap.rect(self.width(), self.height(), self._theme).contains(at))

    def _go_on_map(self, at: QPointF) -> None:
        if self._drawing is None:
            return
        rect = self._minimap.rect(self.width(), self.height(), self._theme)
        x, y = self._minimap.scene_at(self._drawing, rect, at)
        scale = self._view.scale
        self.set_view(View(scale, x - self.width() / 2 / scale, y - self.height() / 2 / scale))

    @guarded()
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() not in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            return
        self._tip.stop()
        QToolTip.hideText()
        self._pressed = self._last = event.position()
        self._dragging = event.button() == Qt.MouseButton.MiddleButton
        self._mapping = self._over_map(event.position())
        if self._mapping:
            self._go_on_map(event.position())

    @guarded()
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        at = event.position()
        if self._pressed is None:
            self._hover(None if self._over_map(at) else self.box_at(at))
            return
        if self._mapping:
            self._go_on_map(at)
            return
        if not self._dragging and (at - self._pressed).manhattanLength() >= DRAG:
            self._dragging = True
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
        if self._dragging:
            moved = at - self._last
            self.pan(moved.x(), moved.y())
        self._last = at

    @guarded()
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._pressed is not None and not self._dragging and not self._mapping:
            box = self.box_at(event.position())
            if box is not None:
                self.box_chosen.emit(box)
        self._pressed = None
        self._dragging = self._mapping = False
        self.unsetCursor()

    @guarded()
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        box = self.box_at(event.position())
        if box is not None and not self._over_map(event.position()):
            self.box_opened.emit(box)

    @guarded()
    def wheelEvent(self, event: QWheelEvent) -> None:
        self.zoom(WHEEL ** (event.angleDelta().y() / 120), event.position())
        event.accept()

    @guarded()
    def focusInEvent(self, event: QFocusEvent) -> None:
        keys = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)
        self._ringed = event.reason() in keys
        self.update()

    @guarded()
    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.update()

    @guarded()
    def leaveEvent(self, event: QEvent) -> None:
        self._hover(None)

    def _hover(self, box: int | None) -> None:
        if box == self._hovered:
            return
        self._hovered = box
        QToolTip.hideText()
        self._tip.stop()
        if box is not None:
            self._tip.start()
        self.setCursor(Qt.CursorShape.PointingHandCursor if box is not None else Qt.CursorShape.ArrowCursor)
        self.update()

    def _show_tip(self) -> None:
        if self._hovered is not None and self._drawing is not None:
            rect = box_rect(self._drawing.geometry, self._hovered, self._view)
            at = QPointF(min(max(rect.left(), 0), self.width()), min(rect.bottom() + 4, self.height())).toPoint()
            QToolTip.showText(self.mapToGlobal(at), self._drawing.dress.describe(self._hovered), self)

    # --- keys ----------------------------------------------------------------------------------

    @guarded()
    def keyPressEvent(self, event: QKeyEvent) -> None:
        blocked = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
        if event.modifiers() & blocked or not self._key(Qt.Key(event.key())):
            event.ignore()

    def _key(self, key: Qt.Key) -> bool:
        pans = {Qt.Key.Key_W: (0, STEP), Qt.Key.Key_S: (0, -STEP), Qt.Key.Key_A: (STEP, 0), Qt.Key.Key_D: (-STEP, 0)}
        views = {Qt.Key.Key_Plus: self.zoom_in, Qt.Key.Key_Equal: self.zoom_in, Qt.Key.Key_Minus: self.zoom_out,
                 Qt.Key.Key_0: self.fit}
        walks = {Qt.Key.Key_Up: "up", Qt.Key.Key_Down: "down", Qt.Key.Key_Left: "left", Qt.Key.Key_Right: "right"}
        if key in pans:
            self.pan(*pans[key])
        elif key in views:
            views[key]()
        elif key in walks:
            self._walk(walks[key])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._chosen is not None:
            self.box_opened.emit(self._chosen)
        elif key == Qt.Key.Key_Backspace:
            self.left.emit()
        else:
            return False
        return True

    def _walk(self, way: str) -> None:
        drawing = self._drawing
        if drawing is None or not len(drawing.geometry):
            return
        if self._chosen is None:
            box = drawing.geometry.nearest_box(*self._view.to_scene(self.width() / 2, self.height() / 2))
        else:
            box = neighbour(drawing, self._chosen, way)
        if box is not None:
            self.box_chosen.emit(box)

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        if not self._touched:
            self._viewed = False
        self._first_view()
        if not self._touched and self._chosen is not None:
            self._bring(self._chosen)


def pan_times(canvas: Canvas, frames: int = 240, distance: float = 15.0) -> list[float]:
    """Seconds per frame while the canvas is dragged down and back up, cold tiles included.

    Raises RuntimeError if the canvas is not on screen: a frame that is not painted takes no time.
    """
    painted = canvas.frames
    way = 1.0
    times = []
    for frame in range(frames):
        if frame == frames // 2:
            way = -1.0
        started = time.perf_counter()
        canvas.pan(distance * 0.3 * way, -distance * way)
        canvas.repaint()
        times.append(time.perf_counter() - started)
    if canvas.frames - painted < frames:
        raise RuntimeError(f"only {canvas.frames - painted} of {frames} frames were painted: is the canvas shown?")
    return times
