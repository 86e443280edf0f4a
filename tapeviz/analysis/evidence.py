"""The evidence of a finding: the picture that shows it best, and its numbers in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tapeviz.analysis.findings.finding import Finding
from tapeviz.analysis.format import plain
from tapeviz.analysis.magnitude import OK, Special
from tapeviz.analysis.sampling import thin
from tapeviz.analysis.series import gradient_lines, health, loss_series
from tapeviz.recording.reader import Recording

POINTS = 240      # of a sparkline: about one per pixel


@dataclass(frozen=True, slots=True)
class Bars:
    """A magnitude per name, in the order from input to output."""

    names: tuple[str, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Spark:
    """A course over iterations, NaN where there is no number; `cursor` is the point that the finding is about.

    state: OK or the code of a Special, one per value; empty: a NaN is a NaN
    """

    name: str
    values: tuple[float, ...]
    cursor: int | None = None
    state: tuple[int, ...] = ()

    def gaps(self) -> list[tuple[int, int, Special]]:
        """First and last index of every stretch without numbers, and what there is instead."""
        found: list[tuple[int, int, Special]] = []
        for i, value in enumerate(self.values):
            if math.isfinite(value):
                continue
            code = self.state[i] if self.state else OK
            special = Special(code) if code != OK else Special.NAN if math.isnan(value) else Special.POSINF
            if found and found[-1][1:] == (i - 1, special):
                found[-1] = (found[-1][0], i, special)
            else:
                found.append((i, i, special))
        return found


def picture_of(recording: Recording | None, finding: Finding) -> Bars | Spark | None:
    """What there is to draw for a finding: its own evidence, else the recorded numbers that it is about."""
    found = _own_picture(finding)
    if found is not None or recording is None:
        return found
    if finding.id.endswith("-depth"):
        return _layers(recording, finding.iteration)
    return _course(recording, finding)


def _own_picture(finding: Finding) -> Bars | Spark | None:
    names, values = _names_and_numbers(finding.evidence)
    if len(values) >= 2 and len(names) == len(values):
        return Bars(tuple(names), tuple(values))
    for key, value in finding.evidence.items():
        numbers = _numbers(value)
        if len(numbers) >= 3 and key not in ("iterations", "steps"):
            return Spark(key.replace("_", " "), tuple(numbers),
                         finding.iteration if 0 <= finding.iteration < len(numbers) else None)
    return None


def _layers(recording: Recording, iteration: int) -> Bars | None:
    """The gradient norm of every kernel in one iteration, from input to output."""
    shown = health(recording)
    if not 0 <= iteration < len(shown.iterations):
        return None
    rows = [row for row in range(len(shown.names)) if shown.shapes[row].count(",") >= 1][::-1]
    if len(rows) < 2:
        rows = list(range(len(shown.names)))[::-1]
    names = tuple(shown.names[row] for row in rows)
    return Bars(names, tuple(float(shown.l2[row, iteration]) for row in rows)) if len(rows) >= 2 else None


def _course(recording: Recording, finding: Finding) -> Spark | None:
    """The gradient norm of the variable that suffers most, else the loss, over the iterations."""
    lines = [line for line in gradient_lines(recording) if line.name in finding.affected[:1]]
    series, name = (lines[0], f"gradient of {lines[0].name}") if lines else (loss_series(recording), "loss")
    if len(series.y) < 3 or not np.isfinite(series.y).any():
        return None
    if len(series.y) <= POINTS:
        values = np.where(series.state == OK, series.y, np.nan)
        cursor = min(max(finding.iteration, 0), len(values) - 1)
        return Spark(name, tuple(values.tolist()), cursor, tuple(series.state.tolist()))
    # low and high of each bucket, one after the other: no spike is lost
    thinned = thin(series.x, series.y, series.state, POINTS // 2)
    values = np.column_stack((thinned.low, thinned.high)).ravel()
    bucket = int(np.searchsorted(thinned.x, finding.iteration, side="right")) - 1
    return Spark(name, tuple(values.tolist()), max(0, 2 * bucket), tuple(np.repeat(thinned.state, 2).tolist()))


def _names_and_numbers(evidence: Mapping[str, object]) -> tuple[list[str], list[float]]:
    for value in evidence.values():
        if isinstance(value, Mapping) and len(value) >= 2:
            numbers = _numbers(list(value.values()))
            if numbers:
                return [str(name) for name in value], numbers
    for value in evidence.values():
        if isinstance(value, Sequence) and not isinstance(value, str) and value and all(
                isinstance(name, str) for name in value):
            for other in evidence.values():
                numbers = _numbers(other)
                if len(numbers) == len(value):
                    return [str(name) for name in value], numbers
    return [], []


def _numbers(value: object) -> list[float]:
    """The numbers of a sequence, None as NaN; empty when it is anything else."""
    if isinstance(value, str) or not isinstance(value, (Sequence, np.ndarray)):
        return []
    if not all(x is None or (isinstance(x, (int, float, np.number)) and not isinstance(x, bool)) for x in value):
        return []
    return [math.nan if x is None else float(x) for x in value]


def followers(finding: Finding) -> list[Finding]:
    """Everything that follows from a finding, directly or not, each cause before its consequences."""
    found: list[Finding] = []
    for one in finding.consequences:
        found += [one, *followers(one)]
    return found


def lines_of(evidence: Mapping[str, object]) -> list[str]:
    """The evidence in words, one line per entry, for "Why"."""
    lines = []
    for key, value in evidence.items():
        name = key.replace("_", " ")
        numbers = _numbers(value)
        if isinstance(value, Mapping):
            lines.append(f"{name}: " + ", ".join(f"{k} {_word(v)}" for k, v in value.items()))
        elif len(numbers) > 8:
            finite = [x for x in numbers if math.isfinite(x)]
            ends = f"{_word(min(finite))} to {_word(max(finite))}" if finite else "none finite"
            lines.append(f"{name}: {len(numbers)} values, {ends}")
        elif isinstance(value, Sequence) and not isinstance(value, str):
            lines.append(f"{name}: " + ", ".join(_word(v) for v in value))
        else:
            lines.append(f"{name}: {_word(value)}")
    return lines


def _word(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        return str(value)
    return plain(float(value), true_minus=True)
