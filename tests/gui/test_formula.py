"""Formulas are drawn in the text colour, and what cannot be parsed is still readable."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tapeviz.gui.formula import FormulaLabel, formula, plain, tidied
from tapeviz.gui.theme import DARK, LIGHT, Theme, load_fonts

GOOD = (
    r"\bar{h}_{8} += \bar{Y}\,W_{9}^{\top}", r"\bar{x} \mathrel{+}= \bar{y} \odot \cos(x)",
    r"\frac{\bar{y}}{2\sqrt{x}}",
    r"\bar{\mathrm{dense\_1}} += \operatorname{softmax}(a) - y", r"\begin{cases} a & x > 0 \\ 0 & x \le 0 \end{cases}",
)


@pytest.mark.parametrize("latex", GOOD)
def test_formulas_of_the_op_table_can_be_drawn(qapp: QApplication, latex: str) -> None:
    picture = formula(latex, 25, DARK.text, True)
    assert picture is not None
    assert picture.viewBoxF().width() > 20


@pytest.mark.parametrize("latex", [r"\nosuchcommand{x}", r"\frac{a}", r"\begin{cases} a"])
def test_what_cannot_be_parsed_is_no_picture(qapp: QApplication, latex: str) -> None:
    assert formula(latex, 25, DARK.text) is None


def test_the_same_formula_is_made_once(qapp: QApplication) -> None:
    assert formula("x + y", 25, DARK.text) is formula("x + y", 25, DARK.text)
    assert formula("x + y", 25, DARK.text) is not formula("x + y", 25, LIGHT.text)


def test_plain_text_reads_like_the_formula() -> None:
    assert plain(r"\bar{h}_{8} \mathrel{+}= \bar{Y}\,W_{9}^{\top}") == "h\u0304_8 += Y\u0304 W_9ᵀ"
    assert plain(r"\bar{x} += \bar{y} \odot \cos(x)") == "x\u0304 += y\u0304 ⊙ cos(x)"
    assert plain(r"\frac{a}{n}\sum_i x_i") == "(a)/(n)Σ_i x_i"


def test_a_bar_stands_over_the_name_not_over_its_index() -> None:
    assert tidied(r"\bar{h_{8}}") == r"\bar{h}_{8}"
    assert tidied(r"W^{\mathsf T}\,g") == r"W^{\top }\,g"
    assert tidied("A^T B^{T}") == r"A^{\top} B^{\top}"
    assert tidied(r"\bar{\mathrm{loss}}") == r"\overline{\mathrm{loss}}"


def _ink(label: FormulaLabel) -> set[str]:
    image = label.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(image.constBits(), np.uint32)
    return {f"#{int(p) & 0xFFFFFF:06x}" for p in np.unique(pixels)}


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda t: t.name)
@pytest.mark.parametrize("latex", [r"\overline{AB}", r"\frac{a}{b}", r"\nosuchcommand{xy}"])
def test_every_part_has_the_text_colour(qtbot: QtBot, theme: Theme, latex: str) -> None:
    load_fonts()
    label = FormulaLabel(40)
    qtbot.addWidget(label)
    label.setStyleSheet(f"background: {theme.surface}")
    label.show_formula(latex, theme)
    label.resize(200, 90)
    seen = _ink(label)
    assert len(seen) > 2
    # antialiasing mixes the two colours, so every pixel lies between them
    low, high = sorted((theme.text, theme.surface), key=lambda c: int(c[1:3], 16))
    for pixel in seen:
        for i in (1, 3, 5):
            assert int(low[i:i + 2], 16) - 1 <= int(pixel[i:i + 2], 16) <= int(high[i:i + 2], 16) + 1, pixel


def test_a_wide_formula_is_made_smaller_not_cut(qtbot: QtBot) -> None:
    load_fonts()
    label = FormulaLabel(25)
    qtbot.addWidget(label)
    label.show_formula("+".join("abcdefghijk"), DARK)
    full = label.sizeHint().width()
    label.setStyleSheet(f"background: {DARK.surface}")
    label.resize(int(full * 0.7), 40)
    image = label.grab().toImage()
    edge = [image.pixel(x, y) for x in (0, image.width() - 1) for y in range(image.height())]
    assert len(set(edge)) == 1   # nothing touches the border
