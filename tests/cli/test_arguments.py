"""How a command line is divided between tapeviz and the user's script."""

from __future__ import annotations

import argparse

import pytest

from tapeviz.cli import run
from tapeviz.cli.commands import COMMANDS, parser, split


def divided(line: str) -> tuple[str, str]:
    options = argparse.ArgumentParser(add_help=False)
    run.arguments(options)
    ours, theirs = split(line.split(), options)
    return " ".join(ours), " ".join(theirs)


@pytest.mark.parametrize(
    ("line", "ours", "theirs"),
    [
        ("run s.py", "run s.py", ""),
        ("run s.py a b", "run s.py", "a b"),
        ("run --headless -o f s.py a", "run --headless -o f s.py", "a"),
        ("run s.py a --headless -o f b", "run s.py --headless -o f", "a b"),
        ("run s.py --lr 0.1 x --level values", "run s.py --level values", "--lr 0.1 x"),
        ("run s.py --output=f -v", "run s.py --output=f", "-v"),
        ("run s.py -- --headless -o f", "run s.py", "--headless -o f"),
        ("run --headless -- s.py -o f", "run --headless s.py", "-o f"),
        ("run s.py --headless=no", "run s.py", "--headless=no"),
    ],
)
def test_options_are_found_on_both_sides_of_the_script(line: str, ours: str, theirs: str) -> None:
    assert divided(line) == (ours, theirs)


def test_help_lists_every_command() -> None:
    text = parser("0").format_help()
    for command in COMMANDS:
        assert command.name in text
        assert command.help in text
