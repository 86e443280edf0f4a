"""`tapeviz diagnose FILE|SCRIPT`: the findings, for a person or as JSON."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tapeviz.analysis.findings import diagnose
from tapeviz.analysis.report import as_json, as_text
from tapeviz.cli.errors import UserError, existing_file, is_recording
from tapeviz.cli.run import add_run_options, config_of, nothing_to_see, record, say_where, shortfall
from tapeviz.recording.reader import open_recording


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `diagnose`."""
    parser.add_argument("target", metavar="FILE|SCRIPT", help="a recording, or a script that is run first")
    parser.add_argument("--json", action="store_true", help="one JSON object; the script's output goes to stderr")
    add_run_options(parser)


def main(options: argparse.Namespace) -> int:
    """Returns 0, or 1 if the script failed (it is diagnosed all the same)."""
    target = existing_file(options.target, "recording or script")
    if is_recording(target):
        if options.script_arguments:
            raise UserError(f"{target} is a recording: it takes no arguments ({' '.join(options.script_arguments)})")
        if options.output is not None:
            raise UserError(f"{target} is a recording already: -o is for a script that is run first")
        _report(target, options.json)
        return 0
    options.script = options.target
    config = config_of(options)
    code = record(config, stdout_to_stderr=options.json)
    if code == 2 or config.recording is None:   # it could not even start: that has been said
        return code
    say_where(config.recording)
    _report(config.recording, options.json, code)
    return code


def _report(path: Path, as_object: bool, code: int | None = None) -> None:
    with open_recording(path) as recording:
        findings = diagnose(recording)
        for note in (*shortfall(recording, code), *(nothing_to_see(recording) if as_object else ())):
            print(f"tapeviz: {note}", file=sys.stderr)
        print(json.dumps(as_json(recording, findings), indent=2) if as_object else as_text(recording, findings))
