"""Colours for Python source, one line at a time; the state of a line says which triple quote is still open."""

from __future__ import annotations

import keyword
import re

from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from tapeviz.gui.painting import guarded
from tapeviz.gui.theme import Theme

_OPEN_SINGLE, _OPEN_DOUBLE = 1, 2
_QUOTES = {_OPEN_SINGLE: "'''", _OPEN_DOUBLE: '"""'}
_SOFT = ("match", "case", "type")
_WORDS = "|".join(k for k in keyword.kwlist)
# The order decides: a # within a string is no comment, a keyword within a name is none.
_TOKEN = re.compile(
    r"""(?P<comment>\#.*)"""
    r"""|(?P<triple>[rRbBuUfF]{0,2}(?:'''|\"\"\"))"""
    r"""|(?P<string>[rRbBuUfF]{0,2}(?:'(?:\\.|[^'\\])*'?|"(?:\\.|[^"\\])*"?))"""
    r"""|(?P<number>(?<![\w.])(?:0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+"""
    r"""|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?[jJ]?))"""
    rf"""|(?P<keyword>(?<![\w.])(?:{_WORDS})\b)"""
    rf"""|(?P<soft>(?:(?<=^)|(?<=\s))(?:{"|".join(_SOFT)})(?=\s+[^=\s)\],.:]))"""
    r"""|(?P<decorator>(?<!\S)@[\w.]+)"""
    r"""|(?P<function>[A-Za-z_]\w*(?=\s*\())"""
    r"""|(?P<name>[A-Za-z_]\w*)"""
)


def _format(colour: str) -> QTextCharFormat:
    result = QTextCharFormat()
    result.setForeground(QColor(colour))
    return result


class PythonHighlighter(QSyntaxHighlighter):
    """Keywords, strings, numbers, functions and comments in the theme's colours."""

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        super().__init__(document)
        self._formats: dict[str, QTextCharFormat] = {}
        self._take(theme)

    def set_theme(self, theme: Theme) -> None:
        self._take(theme)
        self.rehighlight()

    def _take(self, theme: Theme) -> None:
        self._formats = {
            "comment": _format(theme.comment), "string": _format(theme.string), "triple": _format(theme.string),
            "number": _format(theme.number), "keyword": _format(theme.keyword), "soft": _format(theme.keyword),
            "function": _format(theme.function), "decorator": _format(theme.function),
        }

    @guarded()
    def highlightBlock(self, text: str) -> None:
        self.setCurrentBlockState(0)
        position = 0
        open_ = self.previousBlockState()
        if open_ in _QUOTES:
            position = self._triple(text, 0, 0, open_)
        while position < len(text):
            match = _TOKEN.search(text, position)
            if match is None:
                return
            kind = match.lastgroup or ""
            if kind == "triple":
                quote = _OPEN_SINGLE if match.group().endswith("'''") else _OPEN_DOUBLE
                position = self._triple(text, match.start(), match.end(), quote)
                continue
            if kind in self._formats:
                self.setFormat(match.start(), match.end() - match.start(), self._formats[kind])
            position = max(match.end(), position + 1)

    def _triple(self, text: str, start: int, search: int, open_: int) -> int:
        """Colour a triple-quoted string from `start`; returns where it ends in this line."""
        end = text.find(_QUOTES[open_], search)
        while end > 0 and _escaped(text, end):
            end = text.find(_QUOTES[open_], end + 1)
        if end < 0:
            self.setCurrentBlockState(open_)
            end = len(text)
        else:
            end += 3
        self.setFormat(start, end - start, self._formats["string"])
        return end


def _escaped(text: str, at: int) -> bool:
    """Whether the quote at `at` is preceded by an odd number of backslashes."""
    before = text[:at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1
