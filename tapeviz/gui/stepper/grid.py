"""How a matrix is laid out in a given width: which cells are shown, their texts and sizes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QFontMetricsF

from tapeviz.analysis.arrays import Summary, summarize, visible_indices
from tapeviz.analysis.format import cell_texts, sci
from tapeviz.gui.theme import Theme

BRACKET = 8            # px on either side of the cells
LABEL_HEIGHT = 15      # of the numbers of columns
NUMBER_PX = 11
MOST_COLUMNS = 8       # in full where the width allows; rows follow the rule for all axes


@dataclass(frozen=True, slots=True)
class Grid:
    """What is laid out: the shown rows and columns (None: left out), their texts, and sizes in pixels."""

    rows: list[int | None]
    columns: list[int | None]
    texts: dict[tuple[int, int], str]
    cell: float
    gap: float          # width of a column that stands for what was left out
    left: float         # width of the row numbers
    top: float          # height of the column numbers
    lines: tuple[str, ...]

    def width(self) -> float:
        return sum(self.gap if c is None else self.cell for c in self.columns)


def lay_out(matrix: NDArray[np.generic], here: tuple[int | None, int | None], width: float, cell_width: int,
            summary: Summary | None, theme: Theme) -> Grid:
    """Fit a matrix into `width`: fewer columns where there is no room for all, never a cut number.

    here: row and column that must be visible; summary: statistics of the whole, for what is not shown in full
    """
    metrics = QFontMetricsF(theme.mono_font(NUMBER_PX, 600))
    rows = visible_indices(matrix.shape[0], here[0])
    limit = MOST_COLUMNS
    while True:
        columns = visible_indices(matrix.shape[1], here[1], limit)
        texts = _texts(matrix, rows, columns)
        shortened = None in rows or None in columns
        needed = max((metrics.horizontalAdvance(t) for t in texts.values()), default=0.0) + theme.px(7)
        left = metrics.horizontalAdvance(str(matrix.shape[0] - 1)) + theme.px(6) if shortened else 0.0
        gap = theme.px(18)
        gaps = gap * columns.count(None)
        room = width - left - 2 * theme.px(BRACKET) - gaps
        count = max(1, len(columns) - columns.count(None))
        if needed * count <= room or limit <= 2:
            break
        limit -= 1
    cell = max(needed, min(theme.px(cell_width), room / count))
    lines: list[str] = []
    if shortened:
        lines = _summary_lines(summary or summarize(matrix), metrics, width)
    return Grid(rows, columns, texts, cell, gap, left, theme.px(LABEL_HEIGHT) if shortened else 0.0, tuple(lines))


def _texts(matrix: NDArray[np.generic], rows: list[int | None],
           columns: list[int | None]) -> dict[tuple[int, int], str]:
    r = [i for i in rows if i is not None]
    c = [i for i in columns if i is not None]
    if not r or not c:
        return {}
    texts = cell_texts(matrix[np.ix_(r, c)], true_minus=True)
    return {(i, j): texts[a * len(c) + b] for a, i in enumerate(r) for b, j in enumerate(c)}


def _summary_lines(summary: Summary, metrics: QFontMetricsF, width: float) -> list[str]:
    """"min ... max ... norm ...", on as many lines as the width asks for."""
    parts = [f"{word} {sci(x, true_minus=True)}" for word, x in
             (("min", summary.low), ("max", summary.high), ("norm", summary.norm)) if not math.isnan(x)]
    bad = summary.nan + summary.posinf + summary.neginf
    if bad:
        parts.append(f"{bad} not finite")
    lines: list[str] = []
    for part in parts:
        longer = f"{lines[-1]}   {part}" if lines else part
        if lines and metrics.horizontalAdvance(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(part)
    return lines
