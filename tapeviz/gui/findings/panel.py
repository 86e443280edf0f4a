"""The findings of the recording as cards, the root cause first; what a rule found clear is counted below."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from tapeviz.analysis.evidence import followers, picture_of
from tapeviz.analysis.findings import RULES, Finding
from tapeviz.analysis.format import plural
from tapeviz.gui.findings.card import FindingCard, SeverityGlyph
from tapeviz.gui.painting import guarded
from tapeviz.gui.session import Session

MOST = 7
EMPTY = "The findings of a run appear here."
NOTHING = "No gradient was recorded: there is nothing to examine."
_BUTTONS = ("show_me", "why", "mute", "link", "fold")


class FindingsPanel(QWidget):
    """Shows session.findings; muting lasts as long as the window."""

    badge_changed = Signal(int)         # how many findings are shown on the tab
    go_to = Signal(str, int)            # file, line

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._stale = True
        self._muted: set[str] = set()
        self._opened: dict[tuple[object, ...], frozenset[str]] = {}
        self._all = False
        self.cards: list[FindingCard] = []
        self.setAccessibleName("Findings")
        self.setProperty("role", "page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.footer = QFrame()
        self.footer.setProperty("role", "footer")
        self._footer_row = QHBoxLayout(self.footer)
        self.clear, self.muted_count = QLabel(), QPushButton()
        self.clear.setProperty("role", "muted")
        self.muted_count.setProperty("kind", "text")
        self.muted_count.clicked.connect(self._unmute)
        self._tick: SeverityGlyph | None = None
        self._footer_row.addWidget(self.clear)
        self._footer_row.addStretch(1)
        self._footer_row.addWidget(self.muted_count)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.area, 1)
        column.addWidget(self.footer)
        session.recording_changed.connect(self._recording_changed)
        session.findings_changed.connect(self._findings_changed)
        session.focus_changed.connect(self._focus_changed)
        session.theme_changed.connect(self._findings_changed)
        self._focused: tuple[object, ...] | None = None
        self.refresh()

    # --- showing ---------------------------------------------------------------------------------

    def settle(self) -> None:
        """Bring everything up to date now, for pictures."""
        self.refresh()

    @property
    def shown(self) -> list[Finding]:
        """The findings that are not muted."""
        return [f for f in self._session.findings if f.id not in self._muted]

    def _recording_changed(self) -> None:
        self._muted.clear()
        self._opened.clear()
        self._all = False
        self._findings_changed()

    def _findings_changed(self, _: object = None) -> None:
        self.badge_changed.emit(len(self.shown))
        if self.isVisible():
            self.refresh()
        else:
            self._stale = True

    def _focus_changed(self, _: object = None) -> None:
        if self._in_focus() != self._focused:
            self._findings_changed()

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self.refresh()

    def _in_focus(self) -> tuple[object, ...] | None:
        """The first finding that points to what is looked at."""
        focus = self._session.focus
        for finding in self.shown:
            if finding.op_id >= 0 and finding.op_id == focus.op:
                return _key(finding)
        return None

    def refresh(self) -> None:
        """Make the cards again."""
        self._stale = False
        theme, findings = self._session.theme, self.shown
        self._focused = self._in_focus()
        place = self.area.verticalScrollBar().value()
        keyboard = self._keyboard()
        page = QWidget()
        page.setProperty("role", "page")
        column = QVBoxLayout(page)
        column.setContentsMargins(10, 10, 10, 10)
        column.setSpacing(10)
        self.cards = []
        for finding in findings if self._all else findings[:MOST]:
            key = _key(finding)
            picture = picture_of(self._session.recording, finding)
            card = FindingCard(finding, picture, theme, key == self._focused, self._opened.get(key, frozenset()))
            card.wanted.connect(self.show_finding)
            card.line_wanted.connect(self.go_to)
            card.muted.connect(self._mute)
            card.opened.connect(self._part_opened)
            column.addWidget(card)
            self.cards.append(card)
        self.more = QPushButton(f"{len(findings) - MOST} more")
        self.more.setToolTip("Show every finding")
        self.more.clicked.connect(self._show_all)
        self.more.setVisible(not self._all and len(findings) > MOST)
        column.addWidget(self.more, 0, Qt.AlignmentFlag.AlignHCenter)
        if not findings:
            self._add_empty(column)
        column.addStretch(1)
        # not deleted at once: a click on one of the old cards may be what brought us here
        old = self.area.takeWidget()
        if old is not None:
            old.hide()
            old.deleteLater()
        self.area.setWidget(page)
        self.area.verticalScrollBar().setValue(place)
        self._show_footer()
        self._give_keyboard(keyboard)

    def _keyboard(self) -> tuple[tuple[object, ...], str] | None:
        """The button of a card that has the keyboard."""
        for card in self.cards:
            for name in _BUTTONS:
                button = getattr(card, name, None)
                if isinstance(button, QPushButton) and button.hasFocus():
                    return _key(card.finding), name
        return None

    def _give_keyboard(self, before: tuple[tuple[object, ...], str] | None) -> None:
        """To the same button of the new card; otherwise Qt gives it to some button elsewhere in the window."""
        if before is None:
            return
        card = next((card for card in self.cards if _key(card.finding) == before[0]), None)
        button = getattr(card, before[1], None) if card is not None else self.muted_count
        if isinstance(button, QPushButton):
            button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _add_empty(self, column: QVBoxLayout) -> None:
        theme = self._session.theme
        column.addStretch(1)
        row = QHBoxLayout()
        row.addStretch(1)
        text = EMPTY
        recording = self._session.recording
        if recording is not None and not len(recording.passes):
            text = NOTHING
        elif recording is not None:
            row.addWidget(SeverityGlyph("ok", theme, 20))
            text = f"{plural(self._clear_rules(), 'rule')} clear"
        self.empty = QLabel(text)
        self.empty.setProperty("role", "empty")
        self.empty.setWordWrap(text == NOTHING)
        row.addWidget(self.empty)
        row.addStretch(1)
        column.addLayout(row)

    def _clear_rules(self) -> int:
        """Rules that found nothing; what follows from another finding counts as found."""
        found = {f.id for root in self._session.findings for f in (root, *followers(root))}
        return max(0, len(RULES) - len(found))

    def _show_footer(self) -> None:
        known = self._session.recording is not None
        self.footer.setVisible(known and bool(self._session.findings))
        if self._tick is not None:
            self._tick.hide()
            self._tick.deleteLater()
        self._tick = SeverityGlyph("ok", self._session.theme, 16)
        self._footer_row.insertWidget(0, self._tick)
        self.clear.setText(f"{self._clear_rules()} of {len(RULES)} rules clear")
        self.muted_count.setText(f"{len(self._muted)} muted" if self._muted else "none muted")
        self.muted_count.setToolTip("Show the muted findings again" if self._muted else "")
        self.muted_count.setEnabled(bool(self._muted))

    # --- choosing --------------------------------------------------------------------------------

    def show_finding(self, finding: Finding) -> None:
        """Look at the operation and iteration where a finding begins."""
        if finding.op_id >= 0:
            self._session.set_focus(op=finding.op_id)
        else:
            self._session.set_focus(iteration=finding.iteration)

    def _mute(self, finding: Finding) -> None:
        self._muted.add(finding.id)
        self._findings_changed()

    def _unmute(self) -> None:
        self._muted.clear()
        self._findings_changed()

    def _show_all(self) -> None:
        self._all = True
        self.refresh()

    def _part_opened(self, part: str, on: bool) -> None:
        card = self.sender()
        if isinstance(card, FindingCard):
            key = _key(card.finding)
            before = self._opened.get(key, frozenset())
            self._opened[key] = before | {part} if on else before - {part}


def _key(finding: Finding) -> tuple[object, ...]:
    """Tells the same finding again after the rules have run once more."""
    return finding.id, finding.file, finding.line, finding.op_id, finding.title
