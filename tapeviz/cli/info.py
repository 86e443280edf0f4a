"""`tapeviz info FILE`: what a recording holds."""

from __future__ import annotations

import argparse
import json

from tapeviz.cli.errors import existing_file
from tapeviz.recording.reader import open_recording
from tapeviz.recording.summary import summary


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `info`."""
    parser.add_argument("recording", metavar="FILE", help="a recording (*.tapeviz)")
    parser.add_argument("--json", action="store_true", help="one JSON object")


def main(options: argparse.Namespace) -> int:
    """Print the summary."""
    with open_recording(existing_file(options.recording, "recording")) as recording:
        facts = summary(recording)
    if options.json:
        print(json.dumps(facts, indent=2))
        return 0
    width = max(map(len, facts))
    for key, value in facts.items():
        print(f"{key.replace('_', ' '):{width}}  {_words(value)}")
    return 0


def _words(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_words(inner)}" for key, inner in value.items())
    if isinstance(value, (list, tuple)):
        return " ".join(map(str, value)) or "none"
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
