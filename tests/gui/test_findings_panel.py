"""The findings panel: cards in order, what their buttons do, what is folded, muted and counted."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from tapeviz.analysis.evidence import Bars, Spark, lines_of, picture_of
from tapeviz.analysis.findings import RULES, Finding
from tapeviz.analysis.magnitude import Special
from tapeviz.gui.findings.panel import EMPTY, NOTHING, FindingsPanel
from tapeviz.gui.session import Session
from tapeviz.recording.writer import Writer

LAST = Finding("var-not-updated", "info", "W1 stays as it is", "It has not changed since iteration 1.", "", iteration=3)
FOLLOWER = Finding("loss-plateau", "info", "The loss stays", "It moves by 0.1 % in 40 iterations.", "", iteration=3,
                   consequences=(LAST,))
VANISHING = Finding(
    "vanishing-depth", "error", "Gradients vanish with depth", "The norm falls 3.5x per layer.", "Use ReLU.",
    "/home/me/train.py", 14, "sigmoid", 2, ("W1", "W2"),
    {"layers": ["W1", "W2", "W3"], "norms": [1e-5, 1e-3, 1e-1], "factor per layer": 3.5}, (FOLLOWER,), op_id=50)
LOSS = Finding("loss-chance", "warning", "Loss stays at chance level", "Mean 1.442; guessing gives 1.386.", "",
               iteration=3, evidence={"loss": [1.5, 1.44, 1.45, 1.43]})


@pytest.fixture
def panel(qtbot: QtBot, trained: Session) -> FindingsPanel:
    trained.findings = [VANISHING, LOSS]
    panel = FindingsPanel(trained)
    qtbot.addWidget(panel)
    panel.resize(352, 800)
    panel.show()
    return panel


def _texts(panel: FindingsPanel) -> str:
    return "\n".join(label.text() for label in panel.findChildren(QLabel) if label.isVisible())


def test_a_card_says_what_since_when_and_where(panel: FindingsPanel) -> None:
    assert [card.finding.id for card in panel.cards] == ["vanishing-depth", "loss-chance"]
    text = _texts(panel)
    for said in ("Gradients vanish with depth", "falls 3.5x per layer", "since iteration 2", "since iteration 3"):
        assert said in text
    assert panel.cards[0].link.text() == "train.py:14"
    assert panel.cards[0].accessibleName() == "Error: Gradients vanish with depth"


def test_show_me_moves_the_focus(qtbot: QtBot, panel: FindingsPanel, trained: Session) -> None:
    qtbot.mouseClick(panel.cards[0].show_me, Qt.MouseButton.LeftButton)
    assert trained.focus.op == 50
    assert panel.cards[0].property("role") == "focused-card"
    qtbot.mouseClick(panel.cards[1].show_me, Qt.MouseButton.LeftButton)
    assert trained.focus.iteration == 3


def test_the_link_goes_to_the_line(qtbot: QtBot, panel: FindingsPanel) -> None:
    with qtbot.waitSignal(panel.go_to) as caught:
        qtbot.mouseClick(panel.cards[0].link, Qt.MouseButton.LeftButton)
    assert caught.args == ["/home/me/train.py", 14]


def test_why_unfolds_rule_evidence_and_remedy(qtbot: QtBot, panel: FindingsPanel) -> None:
    assert "vanishing-depth" not in _texts(panel)
    panel.cards[0].why.setFocus()
    qtbot.keyClick(panel.cards[0].why, Qt.Key.Key_Space)
    text = _texts(panel)
    for said in ("rule vanishing-depth", "factor per layer: 3.5", "affects W1, W2", "Try: Use ReLU."):
        assert said in text
    panel.refresh()      # the rules ran again: what was open stays open
    assert "rule vanishing-depth" in _texts(panel)


def test_consequences_are_folded_under_their_cause(qtbot: QtBot, panel: FindingsPanel) -> None:
    assert panel.cards[0].fold.text() == "2 consequences"
    assert "The loss stays" not in _texts(panel)
    qtbot.mouseClick(panel.cards[0].fold, Qt.MouseButton.LeftButton)
    assert "The loss stays" in _texts(panel)
    assert "W1 stays as it is" in _texts(panel)      # what follows from what follows


def test_muted_findings_can_be_brought_back(qtbot: QtBot, panel: FindingsPanel) -> None:
    with qtbot.waitSignal(panel.badge_changed) as caught:
        qtbot.mouseClick(panel.cards[0].mute, Qt.MouseButton.LeftButton)
    assert caught.args == [1]
    assert [card.finding.id for card in panel.cards] == ["loss-chance"]
    assert panel.muted_count.text() == "1 muted"
    qtbot.mouseClick(panel.muted_count, Qt.MouseButton.LeftButton)
    assert len(panel.cards) == 2


def test_the_footer_counts_the_rules_that_found_nothing(panel: FindingsPanel) -> None:
    assert panel.clear.text() == f"{len(RULES) - 4} of {len(RULES)} rules clear"
    assert panel.footer.isVisible()


def test_many_findings_show_seven_then_all(qtbot: QtBot, panel: FindingsPanel, trained: Session) -> None:
    trained.findings = [Finding(f"rule-{i}", "info", f"Number {i}", "", "") for i in range(10)]
    trained.findings_changed.emit()
    assert len(panel.cards) == 7
    assert panel.more.text() == "3 more"
    qtbot.mouseClick(panel.more, Qt.MouseButton.LeftButton)
    assert len(panel.cards) == 10


def test_nothing_found_is_good_news(panel: FindingsPanel, trained: Session) -> None:
    trained.findings = []
    trained.findings_changed.emit()
    assert panel.empty.text() == f"{len(RULES)} rules clear"
    assert panel.empty.isVisible()


def test_where_nothing_was_recorded_no_rule_is_praised(qtbot: QtBot, session: Session, tmp_path: Path) -> None:
    Writer(tmp_path / "a.tapeviz", {"script": "a.py"}).close("failed")
    session.open(tmp_path / "a.tapeviz")
    panel = FindingsPanel(session)
    qtbot.addWidget(panel)
    panel.show()
    assert panel.empty.text() == NOTHING


def test_the_keyboard_stays_with_the_button_that_was_pressed(qtbot: QtBot, panel: FindingsPanel) -> None:
    panel.activateWindow()
    panel.cards[0].show_me.setFocus()
    old = panel.cards[0]
    qtbot.keyClick(old.show_me, Qt.Key.Key_Space)
    assert panel.cards[0] is not old
    assert panel.focusWidget() is panel.cards[0].show_me
    panel.cards[0].mute.setFocus()
    qtbot.keyClick(panel.cards[0].mute, Qt.Key.Key_Space)
    assert panel.focusWidget() is panel.muted_count


def test_nothing_open(qtbot: QtBot, session: Session) -> None:
    panel = FindingsPanel(session)
    qtbot.addWidget(panel)
    panel.show()
    assert panel.empty.text() == EMPTY
    assert not panel.footer.isVisible()


@pytest.mark.parametrize("width", [280, 320, 352])
def test_cards_fit_into_the_panel(panel: FindingsPanel, width: int) -> None:
    panel.resize(width, 500)
    QApplication.processEvents()
    for card in panel.cards:
        assert card.width() <= panel.area.viewport().width() - 10
        assert card.show_me.geometry().right() <= card.width()


def test_pictures_of_evidence() -> None:
    assert picture_of(None, VANISHING) == Bars(("W1", "W2", "W3"), (1e-5, 1e-3, 1e-1))
    assert picture_of(None, LOSS) == Spark("loss", (1.5, 1.44, 1.45, 1.43), 3)
    bare = Finding("x", "info", "", "", "", evidence={"ratio": 3.5, "name": "abc", "flags": [True, False, True]})
    assert picture_of(None, bare) is None


def test_without_numbers_of_its_own_a_finding_is_shown_in_the_recording(trained: Session) -> None:
    recording = trained.recording
    layers = picture_of(recording, Finding("vanishing-depth", "error", "", "", "", iteration=2))
    assert isinstance(layers, Bars)
    assert layers.names == ("W1", "W2", "W3", "W4")
    assert all(value > 0 for value in layers.values)
    course = picture_of(recording, Finding("var-not-updated", "error", "", "", "", iteration=3, affected=("W2",)))
    assert isinstance(course, Spark)
    assert (course.name, len(course.values), course.cursor) == ("gradient of W2", 4, 3)
    loss = picture_of(recording, Finding("loss-unbounded", "error", "", "", "", iteration=1))
    assert isinstance(loss, Spark)
    assert loss.name == "loss"


def test_evidence_in_words() -> None:
    lines = lines_of({"limit": 0.001, "first_nan": 7, "where": "log", "norms": list(range(1, 20)), "by": {"W1": 1e-9}})
    assert lines == ["limit: 0.001", "first nan: 7", "where: log", "norms: 19 values, 1 to 19", "by: W1 1.0e−9"]


def test_a_course_names_its_gaps() -> None:
    spark = Spark("loss", (1.0, math.nan, math.nan, 2.0, math.inf))
    assert spark.gaps() == [(1, 2, Special.NAN), (4, 4, Special.POSINF)]
    told = Spark("loss", (math.nan, 1.0), state=(Special.NOT_CAPTURED.value, 0))
    assert told.gaps() == [(0, 0, Special.NOT_CAPTURED)]
