"""The named arrangements of the docks: which panels stand where, and how large, for each of the user's jobs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Perspective:
    """Panel ids per place, the first of each in front.  The right place takes the full height."""

    id: str
    title: str
    left: tuple[str, ...]
    stage: tuple[str, ...]
    right: tuple[str, ...]
    bottom: tuple[str, ...]
    left_width: tuple[int, float, int]       # least px, share of the window, most px
    right_width: tuple[int, float, int]
    bottom_height: tuple[int, float, int]

    def widths(self, total: int, scale: float) -> tuple[int, int, int]:
        """Widths of left, stage and right in a window `total` wide at a font scale."""
        left, right = _held(self.left_width, total, scale), _held(self.right_width, total, scale)
        return left, max(200, total - left - right), right

    def height(self, total: int, scale: float) -> int:
        """Height of the bottom place."""
        return min(_held(self.bottom_height, total, scale), total // 2)


def _held(rule: tuple[int, float, int], total: int, scale: float) -> int:
    least, share, most = rule
    return round(min(max(total * share, least * scale), most * scale))


PERSPECTIVES: tuple[Perspective, ...] = (
    Perspective("diagnose", "Diagnose", ("navigator",), ("health", "graph", "source"),
                ("findings", "step", "tensor"), ("operations", "plots", "output"),
                (176, 0.13, 240), (320, 0.245, 440), (190, 0.31, 340)),
    Perspective("step", "Step", ("source",), ("graph", "health"),
                ("step", "tensor", "findings"), ("operations", "plots", "output"),
                (300, 0.27, 560), (400, 0.31, 520), (180, 0.29, 320)),
    Perspective("plot", "Plot", ("navigator",), ("plots", "health", "graph", "source"),
                ("findings", "step", "tensor"), ("operations", "output"),
                (176, 0.13, 240), (320, 0.245, 440), (170, 0.25, 280)),
)
BY_ID = {perspective.id: perspective for perspective in PERSPECTIVES}
