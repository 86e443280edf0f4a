"""A row that wraps."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from tapeviz.gui.flow import FlowRow


def _row(qtbot: QtBot) -> tuple[FlowRow, list[QWidget]]:
    row = FlowRow()
    qtbot.addWidget(row)
    buttons = [QWidget() for _ in range(3)]
    for button in buttons:
        button.setFixedSize(80, 24)
        row.add(button, right=button is buttons[-1])
    return row, buttons


def test_on_one_line_the_last_keeps_to_the_right(qtbot: QtBot) -> None:
    row, buttons = _row(qtbot)
    row.resize(400, row.heightForWidth(400))
    row.show()
    assert [b.geometry().x() for b in buttons] == [0, 86, 320]
    assert len({b.geometry().y() for b in buttons}) == 1


def test_too_narrow_it_goes_on_in_the_next_line(qtbot: QtBot) -> None:
    row, buttons = _row(qtbot)
    assert row.heightForWidth(200) > row.heightForWidth(400)
    row.resize(200, row.heightForWidth(200))
    row.show()
    assert buttons[2].geometry().y() > buttons[0].geometry().bottom()
    assert all(b.geometry().right() < 200 for b in buttons)


def test_what_is_hidden_takes_no_room_and_what_comes_later_is_seen(qtbot: QtBot) -> None:
    row, buttons = _row(qtbot)
    row.resize(400, 30)
    row.show()
    buttons[0].hide()
    QApplication.processEvents()
    assert buttons[1].geometry().x() == 0
    late = QLabel("late")
    row.add(late)
    assert late.isVisible()
    hidden = QLabel("hidden")
    hidden.hide()
    row.add(hidden)
    assert not hidden.isVisible()
    row.remove(late)
    assert late.parent() is None
    late.deleteLater()
