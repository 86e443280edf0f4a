"""The table of commands is complete and without contradictions, and the window is made from it."""

from __future__ import annotations

from collections import Counter

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from tapeviz.gui.actions import Actions
from tapeviz.gui.commands import COMMANDS, MENUS, tooltip_of
from tapeviz.gui.keys import KeysOverlay
from tapeviz.gui.window import MainWindow


def test_every_command_says_what_it_does() -> None:
    for command in COMMANDS:
        assert command.text, command.id
        assert len(command.tooltip) > 10, command.id
        assert command.menu in MENUS, command.id


def test_no_key_and_no_id_twice() -> None:
    keys = Counter(QKeySequence(key).toString() for command in COMMANDS for key in command.keys)
    assert "" not in keys, "a key that Qt does not know"
    assert [key for key, n in keys.items() if n > 1] == []
    assert [id for id, n in Counter(command.id for command in COMMANDS).items() if n > 1] == []


def test_every_slot_is_a_method() -> None:
    for command in COMMANDS:
        assert callable(getattr(Actions, command.slot, None)), f"{command.id}: Actions.{command.slot} is missing"


def test_every_command_is_in_its_menu_with_its_tooltip(window: MainWindow) -> None:
    shown = {}
    for action in window.menuBar().actions():
        menu = action.menu()
        assert isinstance(menu, QMenu)
        for entry in menu.actions():
            if entry.objectName():
                shown[entry.objectName()] = (action.text().replace("&", ""), entry.toolTip())
    assert shown == {command.id: (command.menu, tooltip_of(command)) for command in COMMANDS}


def test_the_overlay_of_keys_comes_and_goes(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.keyClick(window, Qt.Key.Key_F1)
    overlay = window.findChild(KeysOverlay)
    assert overlay is not None
    assert overlay.isVisible()
    assert "Next backward step: F10" in overlay.accessibleDescription()
    qtbot.keyClick(overlay, Qt.Key.Key_Escape)
    assert not overlay.isVisible()


def test_every_menu_has_a_letter_of_its_own(window: MainWindow) -> None:
    letters = [action.text().partition("&")[2][:1] for action in window.menuBar().actions()]
    assert all(letters)
    assert len(set(letters)) == len(MENUS)
