"""The time strip by clicks, drags and keys; what it says; that it is not blank."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from tapeviz.gui.session import Session
from tapeviz.gui.strip import LOW, TALL, TimeStrip


@pytest.fixture
def strip(known: None, opened: Session, qtbot: QtBot) -> TimeStrip:
    strip = TimeStrip(opened)
    qtbot.addWidget(strip)
    strip.resize(1000, TALL)
    strip.show()
    return strip


def test_a_click_chooses_the_iteration_under_it(strip: TimeStrip, opened: Session, qtbot: QtBot) -> None:
    for iteration in (0, 5, 11):
        spot = QPoint(round(strip.x_of(iteration)), 20)
        qtbot.mouseClick(strip, Qt.MouseButton.LeftButton, pos=spot)
        assert opened.focus.iteration == iteration


def test_a_drag_goes_through_the_iterations_and_stops_at_the_ends(strip: TimeStrip, opened: Session,
                                                                  qtbot: QtBot) -> None:
    qtbot.mousePress(strip, Qt.MouseButton.LeftButton, pos=QPoint(round(strip.x_of(6)), 20))
    seen = []
    for x in (strip.x_of(7), strip.x_of(8), 5000, -50):
        qtbot.mouseMove(strip, QPoint(round(x), 20))
        seen.append(opened.focus.iteration)
    qtbot.mouseRelease(strip, Qt.MouseButton.LeftButton, pos=QPoint(0, 20))
    assert seen == [7, 8, 11, 0]
    qtbot.mouseMove(strip, QPoint(500, 20))
    assert opened.focus.iteration == 0


def test_keys_move_by_one(strip: TimeStrip, opened: Session, qtbot: QtBot) -> None:
    qtbot.keyClick(strip, Qt.Key.Key_Left)
    assert opened.focus.iteration == 10
    qtbot.keyClick(strip, Qt.Key.Key_Right)
    qtbot.keyClick(strip, Qt.Key.Key_Right)
    assert opened.focus.iteration == 11


def test_the_words_of_a_place(strip: TimeStrip, opened: Session) -> None:
    finding = opened.findings[1]
    words = strip._words(strip.x_of(finding.iteration))
    assert words.startswith(f"Iteration {finding.iteration}, loss ")
    assert finding.title in words


def test_it_is_drawn(strip: TimeStrip, opened: Session) -> None:
    image = strip.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), -1)[:, :image.width()]
    colours, counts = np.unique(pixels, return_counts=True)
    assert len(colours) >= 8
    assert 1 - counts.max() / pixels.size > 0.002
    cursor = int(opened.theme.accent[1:], 16) | 0xFF000000
    columns = np.flatnonzero((pixels == cursor).sum(axis=0) > TALL * 0.8)
    assert abs(columns.mean() - strip.x_of(11)) <= 1


def test_it_is_lower_where_it_only_gives_orientation(strip: TimeStrip) -> None:
    strip.set_tall(False)
    assert strip.height() == LOW


def test_nothing_open(session: Session, qtbot: QtBot) -> None:
    strip = TimeStrip(session)
    qtbot.addWidget(strip)
    strip.resize(600, TALL)
    strip.show()
    strip.grab()
    qtbot.mouseClick(strip, Qt.MouseButton.LeftButton, pos=QPoint(300, 20))
    assert session.focus.iteration == 0
