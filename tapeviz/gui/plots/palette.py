"""Colours and dashes of curves.

Six colours per theme, at least 3:1 against the surface and at least 26 apart (CIELAB) from each other in normal vision
and with any of the three simulated colour deficiencies; after six curves the dashes change, after 24 they repeat.
"""

from __future__ import annotations

from tapeviz.gui.theme import Theme

ON_DARK = ("#dc5f28", "#4f82ff", "#ffbcf0", "#2fe69a", "#d5f235", "#a8627a")
ON_LIGHT = ("#d0169f", "#3f2cf5", "#7b7915", "#5a1018", "#05916c", "#050a38")
# Lengths in px of pen down and pen up, in turn; the empty one is a solid line.
DASHES: tuple[tuple[float, ...], ...] = ((), (8, 4), (3, 3), (12, 3, 3, 3))


def curve_colours(theme: Theme) -> tuple[str, ...]:
    return ON_DARK if theme.dark else ON_LIGHT


def curve_style(index: int, theme: Theme) -> tuple[str, tuple[float, ...]]:
    """Colour and dashes of curve number `index`."""
    colours = curve_colours(theme)
    return colours[index % len(colours)], DASHES[index // len(colours) % len(DASHES)]
