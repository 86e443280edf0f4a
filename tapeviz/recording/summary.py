"""The facts of a recording at a glance, for `tapeviz info` and the start page."""

from __future__ import annotations

from tapeviz.recording.database import companions
from tapeviz.recording.reader import Recording
from tapeviz.recording.schema import RECORDS, VERSION

_FROM_META = ("script", "argv", "cwd", "framework", "framework_version", "python", "numpy", "platform", "level")


def summary(recording: Recording) -> dict[str, object]:
    """What it is of, how the run ended, how much it holds; plain values, ready for JSON.

    duration: seconds until the end, or until the last thing recorded; bytes_per_op: of the whole file
    """
    size = sum(path.stat().st_size for path in (recording.path, *companions(recording.path)[:1]) if path.exists())
    ops, passes = len(recording.ops), len(recording.passes)
    facts: dict[str, object] = {"recording": str(recording.path), "status": recording.status}
    if "failed" in recording.meta:
        facts["failed"] = recording.meta["failed"]   # why the recording ends before the run did
    facts |= {key: recording.meta[key] for key in _FROM_META if key in recording.meta}
    facts |= {
        "format": recording.meta.get("version", VERSION),
        "duration": round(_duration(recording), 3),
        "iterations": len(recording.iterations),
        "ops": ops,
        "gradient_calls": passes,
        "variables": [variable.name for variable in recording.variables],
        "records": {kind: len(recording.records(kind)) for kind in RECORDS},
        "value_bytes": int(recording.values["nbytes"].sum()),
        "events": _event_counts(recording),
        "sources": [source.path for source in recording.sources],
        "size": size,
        "bytes_per_op": round(size / ops, 1) if ops else 0.0,
    }
    return facts


def _duration(recording: Recording) -> float:
    said = recording.meta.get("duration")
    if isinstance(said, (int, float)):
        return float(said)
    latest = [int(records["t"].max()) for records in (recording.ops, recording.steps) if len(records)]
    return max([*latest, *(event.t for event in recording.events)], default=0) / 1e9


def _event_counts(recording: Recording) -> dict[str, int]:
    counts: dict[str, int] = {}
    for event in recording.events:
        counts[event.kind] = counts.get(event.kind, 0) + 1
    return counts
