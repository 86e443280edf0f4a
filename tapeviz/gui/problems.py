"""What went wrong, in the words the window shows: one sentence, the evidence in mono, where to go."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tapeviz.recording.reader import Recording


@dataclass(frozen=True, slots=True)
class Problem:
    """A state that the window shows in a banner until the next run or recording."""

    kind: str                 # cannot-open, cannot-start, unreadable, script-failed, nothing-/not-recorded, killed
    title: str
    detail: str = ""          # shown in mono: an exception line, a path
    file: str = ""
    line: int = 0
    kept: str = ""            # what of the recording is still there
    blocks: bool = False      # nothing else can be shown


def cannot_open(path: Path, reason: str) -> Problem:
    return Problem("cannot-open", f"{path.name} cannot be opened as a recording.", reason, str(path), blocks=True)


def cannot_start(script: Path, reason: str) -> Problem:
    return Problem("cannot-start", f"{script.name} could not be started.", reason, str(script), blocks=True)


def unreadable(path: Path, reason: str) -> Problem:
    return Problem("unreadable", "The recording cannot be read any further.", reason, str(path))


def not_recorded(path: Path, reason: str) -> Problem:
    return Problem("not-recorded", "The script goes on, but it is no longer recorded.", reason, str(path))


def problem_of(recording: Recording | None, state: str, said: str = "") -> Problem | None:
    """What is to be said about a run that has ended in `state`; None while it runs and when all is well.

    said: the last error message of the worker, e.g. by which signal it was killed
    """
    if recording is None or state in ("", "starting", "running", "paused"):
        return None
    if state == "failed":
        return _failed(recording)
    if state == "killed":
        words, file, line = _last_place(recording)
        return Problem("killed", "The script's process ended abruptly.", "; ".join(filter(None, (said, words))), file,
                       line, _kept(recording))
    if recording.meta.get("failed"):
        return Problem("not-recorded", "The end of this run was not recorded.", str(recording.meta["failed"]),
                       str(recording.path), kept=_kept(recording))
    if state == "finished" and not len(recording.tapes):
        return Problem("nothing-recorded", "The script ran but no tape recorded anything.")
    return None


def _failed(recording: Recording) -> Problem:
    for event in reversed(recording.events):
        if event.kind == "exception":
            data = event.data
            message = f"{data.get('type', 'Exception')}: {data.get('message', '')}"
            file, line = _users_frame(recording, data.get("frames"))
            return Problem("script-failed", "The script stopped with an exception.", message, file, line,
                           _kept(recording))
    return Problem("script-failed", "The script stopped before its end.", "", kept=_kept(recording))


def _users_frame(recording: Recording, frames: object) -> tuple[str, int]:
    """The innermost frame in a file of which the recording has the text; else the innermost of all."""
    if not isinstance(frames, list) or not frames:
        return "", 0
    known = {source.path for source in recording.sources}
    chosen = next((f for f in reversed(frames) if f.get("file") in known), frames[-1])
    return str(chosen.get("file", "")), int(chosen.get("line") or 0)


def _last_place(recording: Recording) -> tuple[str, str, int]:
    if not len(recording.ops):
        return "It had not recorded an operation yet.", "", 0
    last = len(recording.ops) - 1
    file, line = recording.op_line(last)
    return f"last operation: {recording.op_name(last)}, number {last}", file, line


def _kept(recording: Recording) -> str:
    count = len(recording.iterations)
    return f"Kept up to iteration {count - 1}." if count else ""
