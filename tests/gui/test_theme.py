"""The colours reach the contrast the design asks for, the style sheet is complete, the fonts load."""

from __future__ import annotations

import re
from itertools import product

import pytest
from PySide6.QtGui import QColor, QFontInfo, QFontMetricsF, QPalette
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from tapeviz.gui import theme as themes
from tapeviz.gui.theme import DARK, LIGHT, PROJECTOR, THEMES, Theme, contrast

TEXT = ("text", "muted", "accent", "error", "warning", "info", "ok", "keyword", "string", "number", "function",
        "comment")
MARKS = ("control", "edge", "focus")
GROUNDS = ("window", "surface", "raised")
EVERY = pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)


def test_contrast_follows_wcag():
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)
    assert contrast("#123456", "#123456") == 1


@EVERY
def test_text_is_readable_on_every_ground(theme: Theme) -> None:
    least = 7 if theme.projector else 4.5
    for name, ground in product(TEXT, GROUNDS):
        ratio = contrast(getattr(theme, name), getattr(theme, ground))
        assert ratio >= least, f"{name} on {ground} of {theme.name}: {ratio:.2f}"


@EVERY
def test_outlines_and_rings_are_visible(theme: Theme) -> None:
    for name, ground in product(MARKS, GROUNDS):
        ratio = contrast(getattr(theme, name), getattr(theme, ground))
        assert ratio >= 3, f"{name} on {ground} of {theme.name}: {ratio:.2f}"


@EVERY
def test_text_on_accent_selection_and_bins(theme: Theme) -> None:
    assert contrast(theme.on_accent, theme.accent) >= (7 if theme.projector else 4.5)
    assert contrast(theme.text, theme.selection) >= (7 if theme.projector else 4.5)
    assert contrast(theme.muted, theme.selection) >= 4.5
    for bin_ in range(-4, 5):
        assert contrast(theme.bin_fill(bin_), theme.bin_ink(bin_)) >= 4.5, bin_
    for fill, ink in zip(theme.absolute_bins, theme.absolute_bin_text, strict=True):
        assert contrast(fill, ink) >= 4.5, fill


# The smallest ratios of the design's own table, to catch a token that was mistyped.
TABLE = {
    ("text", "dark"): 11.3, ("muted", "dark"): 6.2, ("accent", "dark"): 6.6, ("control", "dark"): 3.3,
    ("error", "dark"): 6.3, ("warning", "dark"): 8.5, ("info", "dark"): 7.7, ("ok", "dark"): 7.6,
    ("focus", "dark"): 8.7, ("edge", "dark"): 4.4, ("comment", "dark"): 5.6, ("string", "dark"): 8.5,
    ("text", "light"): 13.7, ("muted", "light"): 5.5, ("accent", "light"): 6.0, ("control", "light"): 3.1,
    ("error", "light"): 5.5, ("warning", "light"): 5.4, ("info", "light"): 5.6, ("ok", "light"): 5.4,
    ("focus", "light"): 8.0, ("edge", "light"): 3.9, ("comment", "light"): 5.2, ("string", "light"): 5.5,
    ("text", "projector"): 19.1, ("muted", "projector"): 9.7, ("accent", "projector"): 9.7,
    ("control", "projector"): 5.4, ("error", "projector"): 8.7, ("warning", "projector"): 9.1,
}


@pytest.mark.parametrize(("token", "name"), TABLE)
def test_ratios_are_those_of_the_design(token: str, name: str) -> None:
    theme = THEMES[name]
    lowest = min(contrast(getattr(theme, token), getattr(theme, ground)) for ground in GROUNDS)
    assert lowest == pytest.approx(TABLE[token, name], abs=0.06)


def test_bins_do_not_depend_on_the_theme():
    assert DARK.bins == LIGHT.bins == PROJECTOR.bins
    assert len(set(DARK.bins)) == 9


@EVERY
def test_style_sheet_has_no_hole_and_palette_no_grey_of_fusion(theme: Theme, qapp: QApplication) -> None:
    text = themes.stylesheet(theme)
    assert "$" not in text
    assert text.count("{") == text.count("}")
    known = {getattr(theme, f) for f in (*TEXT, *MARKS, *GROUNDS, "border", "on_accent", "selection")}
    assert theme.accent in text
    assert len(set(re.findall(r"#[0-9a-f]{6}", text)) - known) <= 6   # hover, pressed, ... are mixtures
    palette = themes.palette(theme)
    assert palette.color(QPalette.ColorRole.Base) == QColor(theme.surface)
    assert palette.color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.Text) != QColor(theme.text)


def test_scale_is_held_between_its_limits():
    assert DARK.scaled(0.1).scale == 0.8
    assert DARK.scaled(9).scale == 3.0
    assert DARK.scaled(2).px(22) == 44
    assert DARK.px(0) == 0


def test_shipped_fonts_are_used_and_figures_have_one_width(qapp: QApplication) -> None:
    themes.load_fonts()
    assert QFontInfo(DARK.ui_font()).family() == "Inter"
    assert QFontInfo(DARK.mono_font()).family() == "JetBrains Mono"
    metrics = QFontMetricsF(DARK.ui_font(20))
    assert metrics.horizontalAdvance("111") == pytest.approx(metrics.horizontalAdvance("808"))
    assert DARK.scaled(2).ui_font(12.5).pointSizeF() == pytest.approx(2 * DARK.ui_font(12.5).pointSizeF())


def test_themes_change_without_new_widgets(qtbot: QtBot, qapp: QApplication) -> None:
    button = QPushButton("Run")
    button.setProperty("kind", "primary")
    qtbot.addWidget(button)
    button.resize(90, 30)
    try:
        for theme in (DARK, LIGHT, PROJECTOR):
            themes.apply(theme, qapp)
            ground = button.grab().toImage().pixelColor(45, 3)
            assert ground.name() == theme.accent, theme.name
    finally:
        qapp.setStyleSheet("")


@EVERY
def test_docks_are_told_apart_in_every_theme(theme: Theme) -> None:
    gap = re.search(r"QMainWindow::separator \{ background: (#\w+);", themes.stylesheet(theme))
    assert gap is not None
    assert gap[1] != theme.surface
