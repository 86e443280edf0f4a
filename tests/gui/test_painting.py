"""Special values look different from each other, and no exception leaves a Qt override."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from tapeviz.analysis.magnitude import Special
from tapeviz.gui import painting
from tapeviz.gui.theme import DARK, LIGHT, PROJECTOR, Theme


def _picture(draw: Callable[[QPainter, QRectF], None], width: int = 60, height: int = 24) -> np.ndarray:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(painting.colour(DARK.surface))
    painter = QPainter(image)
    draw(painter, QRectF(4, 4, width - 8, height - 8))
    painter.end()
    return np.frombuffer(image.constBits(), np.uint32).reshape(height, width).copy()


@pytest.mark.parametrize("size", [(60, 24), (12, 14)])
@pytest.mark.parametrize("theme", [DARK, LIGHT, PROJECTOR], ids=lambda t: t.name)
def test_special_values_can_be_told_apart(qapp: QApplication, theme: Theme, size: tuple[int, int]) -> None:
    pictures = {special: _picture(partial(painting.draw_special, special=special, theme=theme), *size)
                for special in Special}
    for one, other in combinations(pictures, 2):
        if size[0] < 20 and {one, other} == {Special.POSINF, Special.NEGINF}:
            continue   # a few pixels show that it is infinite, not which
        assert (pictures[one] != pictures[other]).any(), (one, other)


def test_severities_are_shapes_not_colours(qapp: QApplication) -> None:
    shapes = {}
    for severity in ("error", "warning", "info", "ok"):
        picture = _picture(partial(painting.draw_severity, severity=severity, theme=DARK), 40, 40)
        shapes[severity] = picture != picture[0, 0]
    for one, other in combinations(shapes, 2):
        assert (shapes[one] ^ shapes[other]).sum() > 20, (one, other)


def test_a_chip_shows_its_decade(qapp: QApplication) -> None:
    fills = []
    for bin_ in (-4, 0, 4):
        picture = _picture(partial(painting.draw_chip, text="1e0", what=bin_, theme=DARK))
        fills.append(f"#{picture[8, 8] & 0xFFFFFF:06x}")
    assert fills == [DARK.bins[0], DARK.bins[4], DARK.bins[8]]


class Broken(QWidget):
    """Its paintEvent raises what would end the process on Python 3.11."""

    @painting.guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        int("x")


def test_an_exception_in_an_override_is_reported_and_kept_inside(qtbot: QtBot) -> None:
    seen: list[BaseException] = []
    tell = lambda kind, error, trace: seen.append(error)
    painting.report[:], before = [tell], list(painting.report)
    try:
        widget = Broken()
        qtbot.addWidget(widget)
        widget.resize(20, 20)
        widget.grab()
    finally:
        painting.report[:] = before
    assert [type(error) for error in seen] == [ValueError]


def test_guard_returns_its_default_and_passes_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(painting, "report", [])

    @painting.guarded(default="safe")
    def divide(a: float, b: float) -> object:
        return a / b

    assert divide(1, 2) == 0.5
    assert divide(1, 0) == "safe"


@pytest.mark.parametrize("falling", [False, True])
@pytest.mark.parametrize("size", [(50, 20), (20, 50), (3, 3), (0, 5), (5, 0)])
def test_diagonals_stay_in_their_box(size: tuple[int, int], falling: bool) -> None:
    box = QRectF(7, 11, *size)
    for line in painting.diagonals(box, 6, falling):
        for point in (line.p1(), line.p2()):
            assert box.left() - 1e-9 <= point.x() <= box.right() + 1e-9
            assert box.top() - 1e-9 <= point.y() <= box.bottom() + 1e-9
        assert abs(abs(line.dx()) - abs(line.dy())) < 1e-9
    assert bool(painting.diagonals(box, 6, falling)) == (size[0] > 0 and size[1] > 0)
