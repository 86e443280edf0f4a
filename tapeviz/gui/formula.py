"""Formulas: LaTeX drawn as vectors in the text colour, and as plain text where it cannot be parsed."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache

from PySide6.QtCore import QByteArray, QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QSizePolicy, QWidget

from tapeviz.gui.painting import colour, guarded
from tapeviz.gui.theme import Theme

LEAST_SHRINK = 0.6      # a formula may shrink to this share of its size before plain text takes over
_PLUS_ASSIGN = re.compile(
    r"(?:<mrow>)?<mo>(?:\+|&#x0002B;)</mo>(?:</mrow>)?(?:<mrow>)?<mo>(?:=|&#x0003D;)</mo>(?:</mrow>)?")
_LETTER = re.compile(r"<mi>([A-Za-z]|&#x003[0-9A-F]{2};)</mi>")   # Latin and Greek; names of functions stay upright
_UNKNOWN = re.compile(r"<m(?:text|i|o)[^>]*>\s*(?:&#x0005C;|\\)")   # a command the parser passed through as letters


def tidied(latex: str) -> str:
    r"""LaTeX in the words ziamath knows: it drops the argument of \mathrel and centres a bar over name and index."""
    latex = re.sub(r"\\mathsf\s*(?:\{T\}|T(?![A-Za-z]))", r"\\top ", latex)
    latex = re.sub(r"\^(?:\{T\}|T(?![A-Za-z]))", r"^{\\top}", latex)
    latex = re.sub(r"\\mathrel\{([^{}]*)\}", r"{\1}", latex)
    latex = re.sub(r"\\bar\{([A-Za-z])_(\{[^{}]*\}|\w)\}", r"\\bar{\1}_\2", latex)
    return re.sub(r"\\bar\{(\\(?:mathrm|mathit|text|operatorname)\{[^{}]*\})\}", r"\\overline{\1}", latex)


@lru_cache(maxsize=512)
def formula(latex: str, px: float, ink: str, bold: bool = False) -> QSvgRenderer | None:
    """The formula `px` pixels high in colour `ink`, or None when it cannot be parsed."""
    # Imported when the first formula is drawn: 0.2 s that a window without formulas does not wait for.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)   # of importlib.resources, inside ziamath
        from ziamath import zmath
        from ziamath.config import config
        from ziamath.tex import tex2mml
    config.svg2 = False   # QtSvg clips the glyphs of the newer form
    try:
        mathml = tex2mml(tidied(latex))
        if _UNKNOWN.search(mathml):
            return None
        mathml = _PLUS_ASSIGN.sub("<mo>+=</mo>", mathml).replace("<math ", f'<math mathcolor="{ink}" ', 1)
        if bold:
            mathml = _LETTER.sub(r'<mi mathvariant="bold-italic">\1</mi>', mathml)
        svg = zmath.Math(mathml, size=px).svg()
    except Exception:   # noqa: BLE001 - the parser raises whatever its own code hits; plain text is the answer to all
        return None
    # ziamath draws the line of \overline black whatever colour was asked for
    renderer = QSvgRenderer(QByteArray(svg.replace('fill="black"', f'fill="{ink}"').encode()))
    return renderer if renderer.isValid() else None


_SYMBOLS = {
    "odot": "⊙", "cdot": "·", "times": "×", "top": "ᵀ", "sum": "Σ", "prod": "Π", "partial": "∂", "le": "≤", "ge": "≥",
    "ne": "≠", "infty": "∞", "sqrt": "√", "to": "→", "in": "∈", "pm": "±", "alpha": "α", "beta": "β", "gamma": "γ",
    "delta": "δ", "epsilon": "ε", "theta": "θ", "lambda": "λ", "mu": "μ", "pi": "π", "sigma": "σ", "tau": "τ",
    "phi": "φ", "omega": "ω",
}


def plain(latex: str) -> str:
    """The formula as one line of text, for the clipboard, screen readers and what cannot be parsed."""
    text = re.sub(r"\\(?:mathrm|mathit|mathbf|boldsymbol|text|operatorname|mathrel)\s*", "", latex)
    text = re.sub(r"\\(?:bar|overline)\{([A-Za-z])(_?[^{}]*|_\{[^{}]*\})\}", "\\1\u0304\\2", text)
    text = re.sub(r"\\(?:bar|overline)\s*\{((?:[^{}]|\{[^{}]*\})*)\}", "bar(\\1)", text)
    text = re.sub(r"\\d?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"(\1)/(\2)", text)
    text = re.sub(r"\\([A-Za-z]+)", lambda found: _SYMBOLS.get(found[1], found[1]), text)
    text = re.sub(r"\\[,;:! ]", " ", text).replace("\\_", "_").replace("\\", "")
    text = text.replace("^{ᵀ}", "ᵀ").replace("^ᵀ", "ᵀ")
    text = re.sub(r"[{}&]", "", text)
    return re.sub(r"\s+", " ", text).strip()


def draw_formula(painter: QPainter, rect: QRectF, latex: str, px: float, theme: Theme, *, bold: bool = False,
                 alignment: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft) -> float:
    """Draw the formula into `rect`, made smaller if it is too wide; the width it took is returned."""
    picture = formula(latex, px * theme.scale, theme.text, bold)
    box = picture.viewBoxF() if picture is not None else QRectF()
    share = min(1.0, rect.width() / box.width(), rect.height() / box.height()) if box.width() else 1.0
    if picture is not None and share >= LEAST_SHRINK:
        place = QRectF(0, 0, box.width() * share, box.height() * share)
        place.moveCenter(rect.center())
        if alignment & Qt.AlignmentFlag.AlignLeft:
            place.moveLeft(rect.left())
        picture.render(painter, place)
        return place.width()
    painter.setPen(colour(theme.text))
    painter.setFont(theme.mono_font(11.5))
    flags = alignment | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextWordWrap
    painter.drawText(rect, flags, plain(latex))
    return min(QFontMetricsF(painter.font()).horizontalAdvance(plain(latex)), rect.width())


class FormulaLabel(QWidget):
    """A widget that shows one formula."""

    def __init__(self, px: float = 25, bold: bool = True, centred: bool = True,
                 parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._px, self._bold = px, bold
        centre, left = Qt.AlignmentFlag.AlignHCenter, Qt.AlignmentFlag.AlignLeft
        self._alignment = centre if centred else left
        self._latex = ""
        self._theme: Theme | None = None
        policy = QSizePolicy.Policy.Expanding if centred else QSizePolicy.Policy.Preferred
        self.setSizePolicy(policy, QSizePolicy.Policy.Fixed)

    @property
    def latex(self) -> str:
        return self._latex

    def show_formula(self, latex: str, theme: Theme) -> None:
        """Show another formula, or the same in another theme."""
        if (latex, theme) != (self._latex, self._theme):
            self._latex, self._theme = latex, theme
            self.setAccessibleName(plain(latex))
            self.setToolTip(plain(latex))
            self.updateGeometry()
            self.update()

    @guarded(QSize(10, 10))
    def sizeHint(self) -> QSize:
        theme = self._theme
        if theme is None or not self._latex:
            return QSize(0, 0)
        picture = formula(self._latex, self._px * theme.scale, theme.text, self._bold)
        if picture is None:
            metrics = QFontMetricsF(theme.mono_font(11.5))
            width = metrics.horizontalAdvance(plain(self._latex))
            lines = 1 + int(width / max(self.width(), 200)) if self._alignment & Qt.AlignmentFlag.AlignHCenter else 1
            return QSize(int(width) + 2, int(metrics.height() * lines) + 4)
        box = picture.viewBoxF()
        return QSize(int(box.width()) + 6, int(box.height()) + 4)

    @guarded(QSize(10, 10))
    def minimumSizeHint(self) -> QSize:
        hint = self.sizeHint()
        theme = self._theme
        least = theme.px(60) if theme is not None and self._alignment & Qt.AlignmentFlag.AlignHCenter else hint.width()
        return QSize(min(hint.width(), least), hint.height())

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._theme is None or not self._latex:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(2, 1, -2, -1)
        draw_formula(painter, box, self._latex, self._px, self._theme, bold=self._bold, alignment=self._alignment)
        painter.end()

    @guarded()
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.updateGeometry()
