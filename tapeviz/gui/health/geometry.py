"""Where things are in the health map: rows, columns, the side panel, axis and legend, in widget pixels."""

from __future__ import annotations

from dataclasses import dataclass

from tapeviz.gui.theme import Theme

ROW_MAX, ROW_MIN = 36, 6
LEGEND_FROM = 190       # height of the view below which the rows need the legend's place
WIDEST = 24.0           # pixels of one iteration


@dataclass(frozen=True)
class Geometry:
    """All lengths in pixels; columns are iterations `first` .. `last` - 1, `per` pixels each."""

    left: int           # of the map
    top: int
    width: int          # of the map, as many pixels as its columns need
    room: int           # the pixels the map may have
    height: int         # of the part of the map that is visible
    row: int            # height of a row
    rows: int
    scroll: int
    first: int
    last: int
    per: float
    side: int           # left edge of the panel at the right
    side_width: int
    axis: int           # top of the iteration axis
    legend: int         # top of the legend
    has_legend: bool
    names: int          # left edge of the row names

    @property
    def content(self) -> int:
        return self.row * self.rows

    @property
    def overflow(self) -> int:
        return max(0, self.content - self.height)

    def row_top(self, row: int) -> int:
        return self.top + row * self.row - self.scroll

    def row_at(self, y: float) -> int | None:
        if not self.top <= y < self.top + self.height:
            return None
        row = int((y - self.top + self.scroll) // self.row)
        return row if 0 <= row < self.rows else None

    def x_of(self, iteration: int) -> float:
        return self.left + (iteration - self.first) * self.per

    def iteration_at(self, x: float) -> int | None:
        """The iteration under x, held inside the map; None when there is none."""
        if self.last <= self.first:
            return None
        at = self.first + int((x - self.left) // self.per)
        return min(max(at, self.first), self.last - 1)

    def in_map(self, x: float, y: float) -> bool:
        return self.left <= x < self.left + self.width and self.top <= y < self.top + min(self.height, self.content)


def arrange(width: int, height: int, rows: int, span: tuple[int, int], scroll: int, theme: Theme) -> Geometry:
    """Divide the widget: names left, map, values right, axis and legend below."""
    pad, names_width, side_width = theme.px(12), theme.px(92), theme.px(170)
    if width < theme.px(520):     # a narrow dock: the map needs the place more than the bars do
        side_width = 0
    left, top = pad + names_width, theme.px(26)
    room = max(theme.px(40), width - left - pad - (side_width + theme.px(16) if side_width else 0))
    has_legend = height >= theme.px(LEGEND_FROM)
    axis_height, legend_height = theme.px(26), theme.px(42) if has_legend else 0
    space = max(theme.px(ROW_MIN), height - top - axis_height - legend_height)
    row = min(theme.px(ROW_MAX), max(theme.px(ROW_MIN), space // max(rows, 1)))
    shown = min(space, row * rows)
    first, last = span
    count = max(last - first, 1)
    per = _column_width(room, count)
    map_width = max(1, round(per * count))
    return Geometry(
        left=left, top=top, width=map_width, room=room, height=shown, row=row, rows=rows,
        scroll=min(max(scroll, 0), max(0, row * rows - shown)), first=first, last=last, per=per,
        side=left + room + theme.px(16), side_width=side_width, axis=top + shown,
        legend=top + shown + axis_height, has_legend=has_legend, names=pad,
    )


def _column_width(room: int, count: int) -> float:
    """Pixels per iteration, in steps where there is room: a live map rescales now and then, not with each iteration."""
    per = min(room / count, WIDEST)
    if per >= 4:
        return float(int(per))
    return int(per * 8) / 8 if per >= 1 else per


def ticks(first: int, last: int, least: int) -> list[int]:
    """Round iteration numbers at least `least` apart, with the first and the last one always among them."""
    if last - first <= 1:
        return [first]
    step = 1
    for digit in range(20):
        candidate = (1, 2, 5)[digit % 3] * 10 ** (digit // 3)
        step = candidate
        if candidate >= least:
            break
    inner = range(-(-first // step) * step, last, step)
    end = last - 1
    return [first, *(t for t in inner if t - first >= least and end - t >= least), end]
