"""Every command of the window, once: menus, keys, tooltips and the overlay of keys come from this table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar


@dataclass(frozen=True, slots=True)
class Command:
    """One thing a user can do.  `slot` is the name of a method of Actions; `group` makes exclusive check marks."""

    id: str
    text: str
    key: str                  # several keys: "Ctrl+F | /"
    menu: str
    tooltip: str
    slot: str
    group: str = ""
    checkable: bool = False
    separator: bool = False   # a line above it in the menu

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(key.strip() for key in self.key.split(" | ")) if self.key else ()


def _c(id: str, text: str, key: str, menu: str, tooltip: str, slot: str, *, group: str = "",
       checkable: bool = False, separator: bool = False) -> Command:
    return Command(id, text, key, menu, tooltip, slot, group, checkable or bool(group), separator)


COMMANDS: tuple[Command, ...] = (
    _c("file.script", "Open script…", "Ctrl+O", "File", "Choose a Python script to look at and run", "open_script"),
    _c("file.recording", "Open recording…", "Ctrl+Shift+O", "File",
       "Choose a .tapeviz file of an earlier run", "open_recording"),
    _c("file.start", "Start page", "", "File",
       "Examples and recent files; what is open stays open", "show_start_page"),
    _c("file.save", "Save script", "Ctrl+S", "File",
       "Write the edited script to its file", "save_script", separator=True),
    _c("file.copy", "Save copy of recording…", "Ctrl+Shift+S", "File",
       "Write the whole recording to another file", "save_copy"),
    _c("file.export", "Export current view…", "Ctrl+E", "File",
       "Save a picture of the view that has the keyboard, PNG or SVG", "export_view"),
    _c("file.quit", "Quit", "Ctrl+Q", "File", "Stop the script and close the window", "quit", separator=True),

    _c("run.run", "Run", "F5", "Run",
       "Run the script from its beginning; a paused script goes on", "run_or_continue"),
    _c("run.restart", "Run again", "Ctrl+F5", "Run", "Stop the script and run it from its beginning", "restart"),
    _c("run.pause", "Pause or resume", "F6", "Run",
       "Hold the script at its next operation, or let it go on", "pause_or_resume"),
    _c("run.stop", "Stop", "Shift+F5", "Run", "End the script; what it recorded is kept", "stop"),
    _c("run.op", "Run one operation", "F11", "Run",
       "Let the paused script run its next operation", "step_op", separator=True),
    _c("run.node", "Run one backward step", "Shift+F11", "Run",
       "Let the paused script undo its next operation", "step_node"),
    _c("run.iteration", "Run one iteration", "Ctrl+F11", "Run",
       "Let the paused script run to its next iteration", "step_iteration"),

    _c("step.next", "Next backward step", "F10", "Step",
       "Undo the next operation of this backward pass", "next_step"),
    _c("step.previous", "Previous backward step", "Shift+F10", "Step", "Go back to the step before", "previous_step"),
    _c("step.first", "First backward step", "Ctrl+Home", "Step",
       "The step at the loss, where the pass begins", "first_step"),
    _c("step.last", "Last backward step", "Ctrl+End", "Step", "The last step of this backward pass", "last_step"),
    _c("step.selected", "Step to the selected operation", "Ctrl+F10", "Step",
       "Undo everything down to the operation that is selected", "step_to_selected"),
    _c("step.play", "Play or pause the backward pass", "Space", "Step",
       "Walk through the backward pass, two steps a second", "play"),
    _c("step.iteration.next", "Next iteration", "Ctrl+Right | ]", "Step",
       "The same place, one iteration later", "next_iteration", separator=True),
    _c("step.iteration.previous", "Previous iteration", "Ctrl+Left | [", "Step",
       "The same place, one iteration earlier", "previous_iteration"),
    _c("step.iteration.first", "First iteration", "Home", "Step",
       "The same place in the first iteration", "first_iteration"),
    _c("step.iteration.last", "Last iteration, live", "End", "Step",
       "The newest iteration; stays with it while the script runs", "last_iteration"),
    _c("step.iteration.go", "Go to iteration…", "Ctrl+G", "Step",
       "Type the number of an iteration", "go_to_iteration"),
    _c("step.finding.next", "Next finding", "N", "Step",
       "The next finding: its iteration and its operation", "next_finding", separator=True),
    _c("step.finding.previous", "Previous finding", "Shift+N", "Step", "The finding before", "previous_finding"),
    _c("step.find", "Find operation", "Ctrl+F | /", "Step",
       "Filter the operations by name, output, line or shape", "find"),

    _c("view.diagnose", "Diagnose", "Ctrl+Alt+1", "View",
       "Health map, findings and operations", "perspective_diagnose", group="perspective"),
    _c("view.step", "Step", "Ctrl+Alt+2", "View",
       "Source, graph and the card of the backward step", "perspective_step", group="perspective"),
    _c("view.plot", "Plot", "Ctrl+Alt+3", "View",
       "Gradient norms over the iterations, large", "perspective_plot", group="perspective"),
    _c("view.reset", "Reset this layout", "", "View",
       "Put the docks of this perspective back to their places", "reset_layout"),
    _c("view.dark", "Dark theme", "", "View",
       "Light text on dark ground", "theme_dark", group="theme", separator=True),
    _c("view.light", "Light theme", "", "View", "Dark text on light ground", "theme_light", group="theme"),
    _c("view.projector", "Projector theme", "", "View",
       "Black on white with strong lines, for a beamer", "theme_projector", group="theme"),
    _c("view.larger", "Larger text", "Ctrl++ | Ctrl+=", "View",
       "All text and icons one step larger", "larger", separator=True),
    _c("view.smaller", "Smaller text", "Ctrl+-", "View", "All text and icons one step smaller", "smaller"),
    _c("view.normal", "Normal text size", "Ctrl+0", "View", "Text at 100 %", "normal_size"),
    _c("view.full", "Full screen", "Ctrl+Shift+F", "View", "The window without its frame, and back", "full_screen"),
    _c("view.next", "Next panel", "Ctrl+F6", "View", "Move the keyboard to the next panel", "next_panel"),

    _c("help.keys", "Keys", "F1", "Help", "Every key of the window, over the window", "show_keys"),
    _c("help.about", "About tapeviz", "", "Help", "Version and licences", "about", separator=True),
)

MENUS = ("File", "Run", "Step", "View", "Help")


def in_menu(menu: str) -> Iterator[Command]:
    """The commands of one menu in their order."""
    return (command for command in COMMANDS if command.menu == menu)


def tooltip_of(command: Command) -> str:
    """The tooltip with the key, as buttons show it."""
    return f"{command.tooltip} ({command.keys[0]})" if command.keys else command.tooltip


def make_actions(target: QObject, parent: QObject) -> dict[str, QAction]:
    """One QAction per command, connected to the method of `target` that its row names."""
    actions: dict[str, QAction] = {}
    groups: dict[str, QActionGroup] = {}
    for command in COMMANDS:
        action = QAction(command.text, parent)
        action.setObjectName(command.id)
        action.setShortcuts([QKeySequence(key) for key in command.keys])
        action.setToolTip(tooltip_of(command))
        action.setCheckable(command.checkable)
        if command.group:
            group = groups.setdefault(command.group, QActionGroup(parent))
            group.addAction(action)
        action.triggered.connect(getattr(target, command.slot))
        actions[command.id] = action
    return actions


def fill_menus(bar: QMenuBar, actions: dict[str, QAction]) -> dict[str, QMenu]:
    """The menu bar from the table; the menus by name, for those that get more (recent files, docks)."""
    menus: dict[str, QMenu] = {}
    for name in MENUS:
        menu = bar.addMenu(f"&{name}")      # Alt+F: the way in without a mouse
        menu.setToolTipsVisible(True)
        for command in in_menu(name):
            if command.separator:
                menu.addSeparator()
            menu.addAction(actions[command.id])
        menus[name] = menu
    return menus
