"""The start page: one card per shipped example, recent files, sparklines of earlier runs."""

from __future__ import annotations

import ast
from pathlib import Path

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tapeviz.gui.cards import example_of
from tapeviz.gui.session import Session
from tapeviz.gui.sparklines import losses_of
from tapeviz.gui.start import RecentLink, StartPage, examples
from tapeviz.resources import resource
from tests.recording.synthetic import make_recording


def test_every_shipped_example_has_a_card_with_its_words(session: Session, qtbot: QtBot) -> None:
    page = StartPage(session)
    qtbot.addWidget(page)
    scripts = sorted(resource("examples").glob("*.py"))
    assert sorted(card.example.path for card in page.cards) == scripts
    assert len(scripts) >= 7
    assert examples()[0].stem == "chain_rule"
    for card in page.cards:
        doc = ast.get_docstring(ast.parse(card.example.path.read_text("utf-8"))) or ""
        assert card.example.title in doc.replace("`", "")
        assert card.accessibleName() == f"Run the example {card.example.title}"


def test_a_card_is_chosen_by_click_and_by_key(session: Session, qtbot: QtBot) -> None:
    page = StartPage(session)
    qtbot.addWidget(page)
    page.resize(1200, 700)
    page.show()
    with qtbot.waitSignal(page.example_chosen, timeout=500) as by_click:
        qtbot.mouseClick(page.cards[2], Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(page.example_chosen, timeout=500) as by_key:
        qtbot.keyClick(page.cards[3], Qt.Key.Key_Return)
    assert by_click.args == [page.cards[2].example.path]
    assert by_key.args == [page.cards[3].example.path]


def test_recent_files_that_still_exist(session: Session, qtbot: QtBot, tmp_path: Path) -> None:
    page = StartPage(session)
    qtbot.addWidget(page)
    here = tmp_path / "here.py"
    here.write_text("")
    page.show_recent([here, tmp_path / "gone.py"])
    links = page.findChildren(RecentLink)
    assert [link.accessibleName() for link in links] == ["Open here.py"]
    with qtbot.waitSignal(page.path_chosen, timeout=500) as chosen:
        links[0].click()
    assert chosen.args == [here]


def test_the_sparkline_of_an_earlier_run(session: Session, qtbot: QtBot, tmp_path: Path) -> None:
    make_recording(tmp_path / "chain_rule.tapeviz", iterations=9, layers=1)
    assert len(losses_of(tmp_path / "chain_rule.tapeviz")) == 9
    assert len(losses_of(tmp_path / "none.tapeviz")) == 0
    (tmp_path / "linear_regression.tapeviz").write_text("damaged")
    assert len(losses_of(tmp_path / "linear_regression.tapeviz")) == 0
    page = StartPage(session, tmp_path)
    qtbot.addWidget(page)
    page.show()
    qtbot.waitUntil(lambda: not page._unread, timeout=2000)
    assert len(page.cards[0]._losses) == 9
    page.grab()


def test_titles_of_scripts_without_words(tmp_path: Path) -> None:
    plain, broken = tmp_path / "my_net.py", tmp_path / "broken.py"
    plain.write_text("x = 1\n")
    broken.write_text("def (:\n")
    assert example_of(plain).title == "my net"
    assert example_of(broken).title == "broken"
