"""Findings for a terminal and for other programs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from tapeviz.analysis.findings import RULES, SEVERITIES, Finding
from tapeviz.analysis.format import plural
from tapeviz.analysis.index import iteration_count
from tapeviz.recording.reader import Recording

_WORDS = {"error": "Error", "warning": "Warning", "info": "Note"}
_WIDTH = 100


def as_json(recording: Recording, findings: Sequence[Finding]) -> dict[str, object]:
    """One object, root causes first; consequences of a finding are in it, in the same shape."""
    return {"recording": str(recording.path), "iterations": iteration_count(recording),
            "findings": [_plain(finding) for finding in findings]}


def _plain(finding: Finding) -> dict[str, object]:
    return {
        "id": finding.id, "severity": finding.severity, "file": finding.file, "line": finding.line, "op": finding.op,
        "iteration": finding.iteration, "affected": list(finding.affected), "message": finding.message,
        "fix": finding.fix, "title": finding.title, "evidence": _jsonable(dict(finding.evidence)),
        "consequences": [_plain(one) for one in finding.consequences]}


def _jsonable(value: object) -> object:
    """JSON has no NaN and no infinity: they are written as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(key): _jsonable(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(part) for part in value]
    return value if isinstance(value, (str, int, float, bool)) or value is None else float(str(value))


def as_text(recording: Recording, findings: Sequence[Finding]) -> str:
    """Findings as a person reads them in a terminal: severity, title, place, message, fix, and what follows from it."""
    script = recording.meta.get("script")
    lines = [f"{Path(str(script)).name if script else recording.path.name}: "
             f"{plural(iteration_count(recording), 'iteration')}, {_ending(recording)}"]
    for finding in findings:
        lines.append("")
        lines.extend(_paragraph(finding))
    if not len(recording.passes):
        what = "a tape was opened, but no gradient was taken" if len(recording.tapes) else "no tape was opened"
        lines += ["", f"Nothing to diagnose: {what} (`with gt.GradientTape() as tape:` ... `tape.gradient(loss, ws)`)."]
        return "\n".join(lines) + "\n"
    worst = sum(finding.severity != "info" for finding in findings)
    clear = max(len(RULES) - len({finding.id for finding in findings}), 0)
    lines += ["", f"{plural(worst, 'problem') if worst else 'No problem'}; {plural(clear, 'rule')} clear."]
    return "\n".join(lines) + "\n"


def _ending(recording: Recording) -> str:
    return recording.status if recording.status != "running" else "still running"


def _paragraph(finding: Finding, indent: str = "") -> Iterator[str]:
    yield f"{indent}{_WORDS[finding.severity]}: {finding.title}  [{finding.id}]"
    inner = indent + "  "
    yield f"{inner}{_place(finding)}"
    yield from _wrapped(finding.message, inner)
    if finding.affected:
        shown = ", ".join(finding.affected[:8])
        more = len(finding.affected) - 8
        yield from _wrapped(f"Affected: {shown}{f' and {more} more' if more > 0 else ''}", inner)
    yield from _wrapped(f"Fix: {finding.fix}", inner)
    if finding.consequences:
        yield f"{inner}Because of that:"
        for one in finding.consequences:
            yield from _paragraph(one, inner + "  ")


def _place(finding: Finding) -> str:
    where = f"{finding.file}:{finding.line}" if finding.line else "no line"
    return f"{where}, iteration {finding.iteration}" + (f", {finding.op}" if finding.op else "")


def _wrapped(text: str, indent: str) -> Iterator[str]:
    line = ""
    for word in text.split():
        if line and len(indent) + len(line) + 1 + len(word) > _WIDTH:
            yield indent + line
            line = word
        else:
            line = f"{line} {word}" if line else word
    if line:
        yield indent + line


def worst_severity(findings: Sequence[Finding]) -> str | None:
    """The worst severity among findings; None if there are none."""
    return min((finding.severity for finding in findings), key=SEVERITIES.index, default=None)
