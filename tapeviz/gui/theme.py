"""The look of the program as frozen data: colours, magnitude bins and fonts of the three themes."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from string import Template

from PySide6.QtCore import Qt, QTemporaryDir
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from tapeviz.gui.qss import TEMPLATE
from tapeviz.resources import resource

SCALE_MIN, SCALE_MAX = 0.8, 3.0

# Gradient magnitude against a reference, one fill per decade from 1e-4 to 1e4; the same in all themes.
BINS = ("#053061", "#2166ac", "#4393c3", "#92c5de", "#e6e6e6", "#fdb863", "#e08214", "#b35806", "#7f3b08")
BIN_TEXT = ("#ffffff", "#ffffff", "#000000", "#000000", "#000000", "#000000", "#000000", "#ffffff", "#ffffff")
# Magnitude itself, nine bins over 1e-12 ... 1e4: equal steps of the cividis map, safe for colour-blind people.
ABSOLUTE_BINS = ("#00204d", "#06366e", "#414d6b", "#61646f", "#7d7c78", "#9b9477", "#bcaf6f", "#e0cb5e", "#ffea46")
ABSOLUTE_BIN_TEXT = ("#ffffff",) * 4 + ("#000000",) * 5


@dataclass(frozen=True)
class Theme:
    """Every colour is a #rrggbb string; lengths in the code are for scale 1 and pass through `px`."""

    name: str
    window: str
    surface: str
    raised: str
    border: str
    control: str
    edge: str
    text: str
    muted: str
    accent: str
    on_accent: str
    selection: str
    focus: str
    error: str
    warning: str
    info: str
    ok: str
    keyword: str
    string: str
    number: str
    function: str
    comment: str
    dark: bool = False
    projector: bool = False
    bins: tuple[str, ...] = BINS
    bin_text: tuple[str, ...] = BIN_TEXT
    absolute_bins: tuple[str, ...] = ABSOLUTE_BINS
    absolute_bin_text: tuple[str, ...] = ABSOLUTE_BIN_TEXT
    scale: float = 1.0

    def px(self, length: float) -> int:
        """A length of the design in pixels at this font scale."""
        return max(1, round(length * self.scale)) if length else 0

    def scaled(self, scale: float) -> Theme:
        """The same theme at another font scale, held between 80 % and 300 %."""
        return replace(self, scale=min(max(scale, SCALE_MIN), SCALE_MAX))

    def bin_fill(self, bin_: int) -> str:
        """Fill of a decade from -4 to 4."""
        return self.bins[bin_ + 4]

    def bin_ink(self, bin_: int) -> str:
        """Colour of text and marks on that fill."""
        return self.bin_text[bin_ + 4]

    def ui_font(self, px: float = 12.5, weight: int = 400) -> QFont:
        """The font of labels at this theme's scale."""
        return ui_font(px, weight, self.scale)

    def mono_font(self, px: float = 11.5, weight: int = 400) -> QFont:
        """The font of numbers, shapes and code at this theme's scale."""
        return mono_font(px, weight, self.scale)


DARK = Theme(
    name="dark", window="#16191e", surface="#1e2228", raised="#282d35", border="#363d48", control="#727d8e",
    edge="#8592a5", text="#e4e8ee", muted="#a4aebd", accent="#b9a6ff", on_accent="#17131f", selection="#3a3560",
    focus="#d2c6ff", error="#ff8f87", warning="#f0c648", info="#86c8ff", ok="#5fd3b4", keyword="#c4a8ff",
    string="#9fd8b0", number="#f2c078", function="#86c8ff", comment="#9aa6b6", dark=True,
)
LIGHT = Theme(
    name="light", window="#e9ecf0", surface="#ffffff", raised="#f4f6f8", border="#d0d6de", control="#7d8796",
    edge="#6b7686", text="#1b212a", muted="#545f6e", accent="#5b3fc4", on_accent="#ffffff", selection="#e2dbfb",
    focus="#4527b5", error="#b3261e", warning="#7c5800", info="#0a5fa3", ok="#0b6b57", keyword="#6a35b5",
    string="#1c6b3c", number="#8a4b00", function="#0a5fa3", comment="#566271",
)
PROJECTOR = Theme(
    name="projector", window="#ffffff", surface="#ffffff", raised="#f3f4f6", border="#9aa3af", control="#5c6570",
    edge="#3d444d", text="#000000", muted="#383f48", accent="#3f1fa8", on_accent="#ffffff", selection="#dcd2ff",
    focus="#2b1180", error="#8c0f0a", warning="#5a3d00", info="#053f78", ok="#004d3d", keyword="#4f1c99",
    string="#0d4a26", number="#6a3500", function="#053f78", comment="#414952", projector=True,
)
THEMES = {theme.name: theme for theme in (DARK, LIGHT, PROJECTOR)}

FONT_FILES = (
    "Inter-Regular.otf", "Inter-Medium.otf", "Inter-SemiBold.otf", "Inter-Bold.otf",
    "JetBrainsMono-Regular.ttf", "JetBrainsMono-SemiBold.ttf",
)
UI_FAMILY, MONO_FAMILY = "Inter", "JetBrains Mono"


@lru_cache(maxsize=1)
def load_fonts() -> None:
    """Make the shipped fonts known to Qt; needs a QGuiApplication, later calls do nothing."""
    for name in FONT_FILES:
        path = resource("fonts", name)
        if QFontDatabase.addApplicationFont(str(path)) < 0:
            raise RuntimeError(f"the font {path} cannot be loaded: the file is damaged, install tapeviz again")


@lru_cache(maxsize=256)
def _font(family: str, px: float, weight: int, features: tuple[tuple[str, int], ...]) -> QFont:
    font = QFont(family)
    font.setPointSizeF(_points(px))   # pixel sizes are whole numbers in Qt, and 12.5 must not become 12
    font.setWeight(QFont.Weight(weight))
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    for tag, value in features:
        font.setFeature(QFont.Tag(tag), value)
    return font


def _points(px: float) -> float:
    screen = QGuiApplication.primaryScreen()
    return px * 72 / (screen.logicalDotsPerInchY() if screen else 96)


def ui_font(px: float = 12.5, weight: int = 400, scale: float = 1.0) -> QFont:
    """Inter with figures of equal width, so that changing numbers do not dance."""
    return QFont(_font(UI_FAMILY, px * scale, weight, (("tnum", 1), ("cv05", 1))))


def mono_font(px: float = 11.5, weight: int = 400, scale: float = 1.0) -> QFont:
    """JetBrains Mono without ligatures: what is shown is what was written."""
    return QFont(_font(MONO_FAMILY, px * scale, weight, (("calt", 0), ("liga", 0))))


def palette(theme: Theme) -> QPalette:
    """The QPalette that goes with the theme, for everything Fusion draws itself."""
    role, group = QPalette.ColorRole, QPalette.ColorGroup
    colours = {
        role.Window: theme.window, role.Base: theme.surface, role.AlternateBase: theme.surface,
        role.Button: theme.raised, role.ToolTipBase: theme.raised, role.Text: theme.text,
        role.WindowText: theme.text, role.ButtonText: theme.text, role.BrightText: theme.text,
        role.ToolTipText: theme.text, role.PlaceholderText: theme.muted, role.Highlight: theme.selection,
        role.HighlightedText: theme.text, role.Link: theme.accent, role.LinkVisited: theme.accent,
        role.Accent: theme.accent, role.Light: theme.raised, role.Midlight: theme.raised,
        role.Mid: theme.border, role.Dark: theme.border, role.Shadow: theme.border,
    }
    result = QPalette()
    for name, colour in colours.items():
        result.setColor(name, QColor(colour))
    faded = QColor(theme.muted)
    faded.setAlphaF(0.6)
    for name in (role.Text, role.WindowText, role.ButtonText, role.HighlightedText):
        result.setColor(group.Disabled, name, faded)
    return result


def apply(theme: Theme, app: QApplication) -> None:
    """Give the whole application this look: style, palette, font and style sheet."""
    load_fonts()
    app.setStyle("Fusion")
    app.setPalette(palette(theme))
    app.setFont(theme.ui_font())
    app.setStyleSheet(stylesheet(theme))
    # Only colours native title bars, and does nothing on some platforms: the palette above is what counts.
    scheme = Qt.ColorScheme.Dark if theme.dark else Qt.ColorScheme.Light
    app.styleHints().setColorScheme(scheme)


def stylesheet(theme: Theme) -> str:
    """The style sheet of the whole application for this theme and scale."""
    tokens = {f.name: str(getattr(theme, f.name)) for f in fields(theme)}
    tokens |= {
        "hover": _mixed(theme.text, theme.raised, 0.06), "pressed": _mixed(theme.text, theme.raised, 0.12),
        "hover_surface": _mixed(theme.text, theme.surface, 0.06),
        "hover_window": _mixed(theme.text, theme.window, 0.06),
        "accent_hover": _mixed(theme.text, theme.accent, 0.12),
        # Where docks have the colour of what is behind them, the gap between them is a line.
        "gap": theme.border if theme.window == theme.surface else theme.window,
        "faded": _mixed(theme.muted, theme.surface, 0.6),
        "mono": MONO_FAMILY, "chevron": _coloured_chevron(theme.text),
    }
    tokens |= {f"px{n}": f"{theme.px(n)}px" for n in _LENGTHS}
    # In points, because a style sheet rounds pixels of a font.
    tokens |= {f"font{str(n).replace('.', '_')}": f"{_points(n * theme.scale):.4f}pt" for n in _SIZES}
    return Template(TEMPLATE).substitute(tokens)


_LENGTHS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20, 24, 26, 28, 30, 32, 42)
_SIZES = (10.5, 11, 11.5, 12, 12.5, 13, 20)


@lru_cache(maxsize=1)
def _image_folder() -> QTemporaryDir:
    """Where images for the style sheet lie, which takes them from files only; goes away with the process."""
    return QTemporaryDir()


def _coloured_chevron(colour: str) -> str:
    path = Path(_image_folder().filePath(f"chevron-{colour[1:]}.svg"))
    path.write_text(_CHEVRON.format(colour=colour), encoding="ascii")
    return path.as_posix()


_CHEVRON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="{colour}" stroke-width="2.5" '
    'stroke-linecap="round" stroke-linejoin="round"><path d="M5 9l7 7 7-7"/></svg>'
)


def _mixed(top: str, below: str, share: float) -> str:
    """`share` of colour `top` laid over `below`."""
    a, b = QColor(top), QColor(below)
    parts = (round(b_ + (a_ - b_) * share) for a_, b_ in
             ((a.red(), b.red()), (a.green(), b.green()), (a.blue(), b.blue())))
    return "#" + "".join(f"{part:02x}" for part in parts)


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours after WCAG 2, from 1 to 21."""
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    channels = (int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
