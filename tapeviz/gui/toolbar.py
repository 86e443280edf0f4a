"""The toolbar: run, the backward step with its slider, the iteration, the perspectives and the search field."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, QSize, Qt
from PySide6.QtGui import QAction, QFontMetrics
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QSlider, QSpinBox, QToolBar, QToolButton, QWidget

from tapeviz.gui.icons import icon
from tapeviz.gui.perspectives import PERSPECTIVES
from tapeviz.gui.playback import Playback
from tapeviz.gui.session import Session

_ICONS = {"run.pause": "pause", "run.stop": "stop", "step.first": "first", "step.previous": "previous",
          "step.next": "next", "step.last": "last", "step.play": "play"}


class MainToolBar(QToolBar):
    """Everything that is pressed often; shows the focus and sets it."""

    def __init__(self, session: Session, playback: Playback, actions: dict[str, QAction],
                 parent: QWidget | None = None) -> None:
        super().__init__("Toolbar", parent)
        self.setObjectName("toolbar")
        self.setMovable(False)
        layout = self.layout()
        if layout is not None:
            layout.setContentsMargins(0, 0, 0, 0)
        self.setAccessibleName("Run, steps and iterations")
        self._session, self._playback, self._commands = session, playback, actions
        self._buttons: dict[str, QToolButton] = {}
        self._labels: list[QLabel] = []

        self.run_button = self._button("run.run", "primary")
        self.run_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._button("run.pause", "icon")
        self._button("run.stop", "icon")
        self.addSeparator()
        self._button("step.first", "icon")
        self._button("step.previous", "icon")
        self.step_label = self._label("Backward step – of –", "The step of the backward pass that is looked at")
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName("Backward step")
        self.slider.setToolTip("Drag to walk through the backward pass (F10, Shift+F10)")
        self.slider.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.slider.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.slider.valueChanged.connect(self._slid)
        self.addWidget(self.slider)
        self._button("step.next", "icon")
        self._button("step.last", "icon")
        self._button("step.play", "icon")
        self.addSeparator()
        self._label("Iteration", "")
        self.iteration = QSpinBox()
        self.iteration.setAccessibleName("Iteration")
        self.iteration.setToolTip("The iteration that is looked at (Ctrl+Left, Ctrl+Right)")
        self.iteration.setKeyboardTracking(False)
        self.iteration.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.iteration.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.iteration.valueChanged.connect(self._iteration_typed)
        self.addWidget(self.iteration)
        self.count_label = self._label("of –", "How many iterations were recorded")
        stretch = QWidget()
        stretch.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.addWidget(stretch)
        self.addWidget(self._segments())
        self._button("step.find", "")

        session.focus_changed.connect(self.show_focus)
        session.grew.connect(self.show_focus)
        session.recording_changed.connect(self.show_state)
        session.worker_changed.connect(self.show_state)
        session.theme_changed.connect(self.dress)
        playback.playing_changed.connect(self.dress)
        self.dress()
        self.show_state()

    def _button(self, id: str, kind: str) -> QToolButton:
        button = QToolButton()
        button.setDefaultAction(self._commands[id])
        button.setProperty("kind", kind)
        button.setAccessibleName(self._commands[id].text())
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._buttons[id] = button
        self.addWidget(button)
        return button

    def _label(self, text: str, tip: str) -> QLabel:
        label = QLabel(text)
        label.setToolTip(tip)
        label.setAlignment(Qt.AlignmentFlag.AlignVCenter)
        self._labels.append(label)
        self.addWidget(label)
        return label

    def _segments(self) -> QWidget:
        holder = self._segments_holder = QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        for place, perspective in enumerate(PERSPECTIVES):
            button = QToolButton()
            button.setDefaultAction(self._commands[f"view.{perspective.id}"])
            button.setProperty("kind", "segment")
            end = {0: "first", len(PERSPECTIVES) - 1: "last"}.get(place, "middle")
            button.setProperty("place", end)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.setAccessibleName(f"Perspective {perspective.title}")
            row.addWidget(button)
        return holder

    def dress(self) -> None:
        """Icons and widths of the current theme and scale."""
        theme = self._session.theme
        for id, name in _ICONS.items():
            shown = "pause" if id == "step.play" and self._playback.playing else name
            self._commands[id].setIcon(icon(shown, theme))
        self._commands["run.run"].setIcon(icon("run", theme, theme.on_accent))
        self._commands["step.find"].setIcon(icon("find", theme))
        self.setIconSize(QSize(theme.px(16), theme.px(16)))
        self._buttons["step.find"].setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        # A toolbar gives a widget its hint and no more, and the hints of these are those of before the style sheet.
        for widget in (self._segments_holder, self.slider, *self._labels):
            widget.setFixedHeight(theme.px(28))
        self.slider.setMinimumWidth(theme.px(56))
        self.slider.setMaximumWidth(theme.px(180))
        # The wider of its two words, so that nothing moves when the script is held.
        word = QFontMetrics(theme.ui_font(12.5, 600)).horizontalAdvance("Resume")
        self.run_button.setFixedWidth(word + theme.px(16 + 8 + 2 * 14) + 10)     # icon, gap, padding, what Qt adds
        self.iteration.setFixedWidth(theme.px(72))
        digits = self.fontMetrics()
        self.step_label.setMinimumWidth(digits.horizontalAdvance("Backward step 888 of 888"))

    def show_state(self) -> None:
        """Run reads Resume while the script is held; buttons are on only where they do something."""
        session = self._session
        state = session.state
        self._commands["run.run"].setText("Resume" if state == "paused" else "Run")
        there = session.script is not None and session.script.exists()
        self._commands["run.run"].setEnabled(there and state not in ("starting", "running"))
        self._commands["run.restart"].setEnabled(there)
        self._commands["run.pause"].setEnabled(session.active)
        self._commands["run.stop"].setEnabled(session.active)
        for id in ("run.op", "run.node", "run.iteration"):
            self._commands[id].setEnabled(state == "paused")
        self.show_focus()

    def show_focus(self, _focus: object = None) -> None:
        """The numbers of the focus; nothing is emitted."""
        recording = self._session.recording
        step, count = self._playback.position()
        total = len(recording.iterations) if recording is not None else 0
        with QSignalBlocker(self.slider), QSignalBlocker(self.iteration):
            self.slider.setRange(0, max(count - 1, 0))
            self.slider.setValue(max(step, 0))
            self.iteration.setRange(0, max(total - 1, 0))
            self.iteration.setValue(self._session.focus.iteration)
        number = str(step + 1) if step >= 0 else "–"
        self.step_label.setText(f"Backward step <b>{number}</b> of {count or '–'}")
        self.count_label.setText(f"of {total or '–'}")
        self.slider.setEnabled(count > 0)
        self.iteration.setEnabled(total > 0)
        back, forth = step > 0, 0 <= step + 1 < count or self._session.state == "paused"
        for id, on in (("step.first", back), ("step.previous", back), ("step.next", forth), ("step.last", forth),
                       ("step.play", count > 0)):
            self._commands[id].setEnabled(on)

    def _slid(self, value: int) -> None:
        self._playback.to(value)

    def _iteration_typed(self, value: int) -> None:
        self._session.set_focus(iteration=value)
