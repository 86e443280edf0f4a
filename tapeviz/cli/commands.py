"""The table of subcommands: name, words for the help, parser, function."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from tapeviz.cli import demo, diagnose, export, info, run, view


@dataclass(frozen=True)
class Command:
    """A subcommand. `arguments` fills its parser; `function` runs it and returns the exit code."""

    name: str
    help: str
    arguments: Callable[[argparse.ArgumentParser], None]
    function: Callable[[argparse.Namespace], int]
    takes_script_arguments: bool = False


class Parser(argparse.ArgumentParser):
    """A parser that tells a mistake in one line, like every other mistake here."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"tapeviz: {message} (see {self.prog} --help)\n")


COMMANDS = (
    Command("run", "run a script and watch it, or record it headless", run.arguments, run.main, True),
    Command("open", "open a recording in the window", view.arguments, view.main),
    Command("info", "say what a recording holds", info.arguments, info.main),
    Command("diagnose", "say what is wrong with the gradients of a recording or script",
            diagnose.arguments, diagnose.main, True),
    Command("export", "write a picture or the data of a view", export.arguments, export.main),
    Command("demo", "run the first example: in the window, or headless with pictures", demo.arguments, demo.main),
)


def parser(version: str) -> argparse.ArgumentParser:
    """The whole parser, from the table."""
    top = Parser(
        prog="tapeviz",
        description="See, step through and debug the gradients of a script. Without a command: the window.",
    )
    top.add_argument("--version", action="version", version=f"tapeviz {version}")
    chosen = top.add_subparsers(metavar="COMMAND", dest="command")
    for command in COMMANDS:
        sub = chosen.add_parser(command.name, help=command.help, description=command.help.capitalize() + ".")
        command.arguments(sub)
        sub.set_defaults(function=command.function)
    return top


def dispatch(arguments: Sequence[str], version: str) -> int:
    """Parse and run. A script's own arguments are taken out first, since they may look like ours."""
    ours, script_arguments = list(arguments), list[str]()
    command = next((c for c in COMMANDS if arguments and c.name == arguments[0]), None)
    if command is not None and command.takes_script_arguments:
        probe = argparse.ArgumentParser(add_help=False)
        command.arguments(probe)
        ours, script_arguments = split(list(arguments), probe)
    try:
        options = parser(version).parse_args(ours)
    except SystemExit as end:   # argparse has said what is wrong (2) or printed the help (0)
        return end.code if isinstance(end.code, int) else 2
    if options.command is None:
        return view.start()
    options.script_arguments = tuple(script_arguments)
    function: Callable[[argparse.Namespace], int] = options.function
    return function(options)


def split(arguments: list[str], options: argparse.ArgumentParser) -> tuple[list[str], list[str]]:
    """Divide `COMMAND … SCRIPT …` into our part and the script's own arguments.

    Our options may stand before or after the script; all else after the script is the script's, and so is
    everything after `--`, even where it looks like one of ours.
    """
    takes_value = {flag: action.nargs != 0 for action in options._actions for flag in action.option_strings}
    ours, theirs = arguments[:1], list[str]()
    script_seen = False
    rest = iter(arguments[1:])
    for word in rest:
        flag, _, value = word.partition("=")
        if word == "--":
            remaining = list(rest)
            if not script_seen and remaining:
                ours.append(remaining.pop(0))
            theirs += remaining
        elif flag in takes_value and not (value and not takes_value[flag]):
            ours.append(word)
            if takes_value[flag] and "=" not in word:
                ours += [following] if (following := next(rest, None)) is not None else []
        elif script_seen:
            theirs.append(word)
        else:
            ours.append(word)
            script_seen = not word.startswith("-")
    return ours, theirs
