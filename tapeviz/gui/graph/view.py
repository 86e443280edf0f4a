"""Which part of the drawing is on screen: a scale and the scene point at the widget's corner."""

from __future__ import annotations

from dataclasses import dataclass, replace

SCALE_MIN, SCALE_MAX = 0.002, 4.0
MARGIN = 24.0            # px around a drawing that fits


@dataclass(frozen=True)
class View:
    """screen = (scene - (x, y)) * scale."""

    scale: float = 1.0
    x: float = 0.0
    y: float = 0.0

    def to_screen(self, x: float, y: float) -> tuple[float, float]:
        return (x - self.x) * self.scale, (y - self.y) * self.scale

    def to_scene(self, px: float, py: float) -> tuple[float, float]:
        return px / self.scale + self.x, py / self.scale + self.y

    def panned(self, dx: float, dy: float) -> View:
        """Moved so that what is on screen moves by (dx, dy) pixels."""
        return replace(self, x=self.x - dx / self.scale, y=self.y - dy / self.scale)

    def zoomed(self, factor: float, px: float, py: float) -> View:
        """Larger or smaller about a point of the screen that stays where it is."""
        scale = min(max(self.scale * factor, SCALE_MIN), SCALE_MAX)
        x, y = self.to_scene(px, py)
        return View(scale, x - px / scale, y - py / scale)

    def rect(self, width: float, height: float) -> tuple[float, float, float, float]:
        """Left, top, right, bottom of what a screen of that size shows."""
        return self.x, self.y, self.x + width / self.scale, self.y + height / self.scale


def fitting(bounds: tuple[float, float, float, float], width: float, height: float, largest: float) -> View:
    """The view that shows all of `bounds`, no larger than `largest`, in the middle."""
    left, top, right, bottom = bounds
    scale = min((width - 2 * MARGIN) / max(right - left, 1.0), (height - 2 * MARGIN) / max(bottom - top, 1.0), largest)
    scale = min(max(scale, SCALE_MIN), SCALE_MAX)
    return View(scale, (left + right) / 2 - width / 2 / scale, (top + bottom) / 2 - height / 2 / scale)


def opening(bounds: tuple[float, float, float, float], width: float, height: float, natural: float) -> View:
    """The first view of a drawing: at natural size, all of it if it fits, else its lower end, where the loss is."""
    whole = fitting(bounds, width, height, natural)
    if whole.scale >= 0.6 * natural:
        return whole
    left, _, right, bottom = bounds
    return View(natural, (left + right) / 2 - width / 2 / natural, bottom + MARGIN / natural - height / natural)
