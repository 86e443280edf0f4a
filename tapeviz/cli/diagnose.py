"""`tapeviz diagnose FILE|SCRIPT`: the findings, for a person or as JSON."""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from tapeviz.analysis.findings import diagnose
from tapeviz.analysis.report import as_json, as_text
from tapeviz.capture.launcher import run_headless
from tapeviz.cli.errors import UserError, existing_file, is_recording
from tapeviz.cli.run import add_run_options, config_of
from tapeviz.recording.reader import open_recording
from tapeviz.recording.schema import SUFFIX


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
        _report(target, options.json)
        return 0
    with tempfile.TemporaryDirectory(prefix="tapeviz-") as folder:
        options.script = options.target
        options.output = options.output or str(Path(folder) / (target.stem + SUFFIX))
        config = config_of(options)
        code = run_headless(config, echo=True, stdout_to_stderr=options.json)
        if config.recording is None or not config.recording.exists():
            return code or 1   # the worker has said why
        if code == 2:          # the script could not even start: that has been said, there is nothing to diagnose
            return code
        _report(config.recording, options.json)
        return code


def _report(path: Path, as_object: bool) -> None:
    with open_recording(path) as recording:
        findings = diagnose(recording)
        print(json.dumps(as_json(recording, findings), indent=2) if as_object else as_text(recording, findings))
