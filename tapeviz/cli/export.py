"""`tapeviz export FILE --view VIEW -o OUT`: a picture of a view, or the data behind it, by the suffix of OUT."""

from __future__ import annotations

import argparse
import csv
import json
from pathlib import Path

from tapeviz.analysis.findings import diagnose
from tapeviz.analysis.focus import Focus, move
from tapeviz.analysis.report import as_json
from tapeviz.analysis.tables import Table, tables
from tapeviz.cli.errors import UserError, existing_file, writable_place
from tapeviz.cli.view import render
from tapeviz.recording.reader import Recording, open_recording

VIEWS = ("window", "graph", "health", "plots", "step", "ops", "report", "source")
PICTURES_ONLY = ("window", "source")
PICTURES = (".png", ".svg")
DATA = (".csv", ".json")
THEMES = ("dark", "light", "projector")


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `export`."""
    parser.add_argument("recording", metavar="FILE", help="a recording (*.tapeviz)")
    parser.add_argument("--view", choices=VIEWS, default="window", help="what to export (default: %(default)s)")
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help="a .png, .svg, .csv or .json file")
    parser.add_argument("--iteration", type=int, metavar="N", help="which iteration (default: as the window opens)")
    parser.add_argument("--step", type=int, metavar="K", help="which backward step, from 1")
    parser.add_argument("--op", type=int, metavar="ID", help="which operation, by its id in the recording")
    parser.add_argument("--theme", choices=THEMES, default="dark", help="colours of a picture (default: %(default)s)")
    parser.add_argument("--size", type=_size, default=(1280, 720), metavar="WxH",
                        help="size of a picture in pixels (default: 1280x720)")


def main(options: argparse.Namespace) -> int:
    """Write the file. Raises UserError for a suffix, place or focus that cannot be used."""
    path = existing_file(options.recording, "recording")
    out = writable_place(options.output)
    suffix = out.suffix.lower()
    if suffix not in PICTURES + DATA:
        raise UserError(f"cannot tell from {out.name} what to write; end it in {', '.join(PICTURES + DATA)}")
    if suffix in DATA and options.view in PICTURES_ONLY:
        raise UserError(f"the view {options.view} is a picture: end {out.name} in {' or '.join(PICTURES)}")
    with open_recording(path) as recording:
        focus = chosen_focus(recording, options)
        if suffix in DATA:
            _write_data(recording, options.view, focus, out)
            return 0
    try:
        render(path, options.view, out, size=options.size, theme=options.theme, focus=focus)
        if suffix == ".svg" and not out.read_bytes().rstrip().endswith(b"</svg>"):   # Qt does not say it
            raise UserError(f"cannot write {out}: it is not whole; is there room on the disk?")
    except OSError as error:
        raise UserError(f"cannot write {out}: {error.strerror or error}") from None
    return 0


def chosen_focus(recording: Recording, options: argparse.Namespace) -> Focus | None:
    """The focus that the options ask for; None leaves it to the window. Raises UserError for one that is not there."""
    if options.iteration is None and options.step is None and options.op is None:
        return None
    focus = move(recording, Focus())
    if options.iteration is not None:
        if not 0 <= options.iteration < len(recording.iterations):
            raise UserError(f"no iteration {options.iteration}: the recording has {len(recording.iterations)}, from 0")
        focus = move(recording, focus, iteration=options.iteration)
    if options.op is not None:
        if not 0 <= options.op < len(recording.ops):
            raise UserError(f"no operation {options.op}: the recording has {len(recording.ops)}, from 0")
        focus = move(recording, focus, op=options.op)
    if options.step is not None:
        passes = recording.passes_of(focus.iteration)
        pass_ = focus.pass_ if focus.pass_ is not None else (passes[-1] if passes else None)
        steps = int(recording.passes[pass_]["steps"]) if pass_ is not None else 0
        if not 1 <= options.step <= steps:
            raise UserError(f"no backward step {options.step}: iteration {focus.iteration} has {steps}, from 1")
        focus = move(recording, focus, pass_=pass_, step=options.step - 1)
    return focus


def _write_data(recording: Recording, view: str, focus: Focus | None, out: Path) -> None:
    findings = diagnose(recording) if view == "report" else []
    made = tables(recording, view, focus if focus is not None else opening_focus(recording), findings)
    try:
        if out.suffix.lower() == ".csv":
            _write_csv(made[0], out)
        else:
            whole = as_json(recording, findings) if view == "report" else {
                "recording": str(recording.path), "view": view,
                **{table.name: table.records() for table in made},
            }
            out.write_text(json.dumps(whole, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write {out}: {error.strerror or error}") from None


def opening_focus(recording: Recording) -> Focus:
    """Where the window opens: the first backward step of the last iteration."""
    last = max(len(recording.iterations) - 1, 0)
    focus = move(recording, Focus(), iteration=last)
    passes = recording.passes_of(last)
    return move(recording, focus, pass_=passes[-1], step=0) if passes else focus


def _write_csv(table: Table, out: Path) -> None:
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table.columns)
        writer.writerows(table.rows)


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.lower().partition("x")
    if not (width.isdigit() and height.isdigit() and 200 <= int(width) <= 10000 and 200 <= int(height) <= 10000):
        raise argparse.ArgumentTypeError(f"{text!r} is no size; write it like 1920x1080, from 200 to 10000 pixels")
    return int(width), int(height)
