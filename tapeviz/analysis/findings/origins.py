"""Where a value that is not finite came from: the operations (and leaves) at which the trail of bad values begins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tapeviz.analysis.findings import kinds
from tapeviz.analysis.findings.facts import ABSENT, Facts
from tapeviz.recording.schema import NONE, Role


@dataclass(frozen=True, slots=True)
class Origin:
    """The beginning of a trail: an operation with finite inputs, or a leaf (op ABSENT) that was bad from the start."""

    op: int
    tensor: int


def origin_of(facts: Facts, tensor: int) -> Origin | None:
    """The earliest beginning of the trail of bad values that ends at this tensor; None if it is finite.

    Infinities in the data (masks) count only when nothing else explains the trail: then it begins where an operation
    turned them into NaN.
    """
    if not facts.value_bad[tensor]:
        return None
    made_by = _assigned_by(facts)
    seen, stack = {tensor}, [tensor]
    begun: list[Origin] = []
    infinite_leaves: list[Origin] = []
    turned = []
    while stack:
        current = stack.pop()
        op = facts.maker(current)
        if op == ABSENT:
            op = made_by.get(current, ABSENT)
        if op == ABSENT:
            (begun if _count(facts, "nan", current) else infinite_leaves).append(Origin(ABSENT, current))
            continue
        inputs = [t for t in facts.inputs(op) if t < len(facts.tensors)]
        bad = [t for t in inputs if facts.value_bad[t]]
        if not bad:
            begun.append(Origin(op, current))
        elif _count(facts, "nan", current) and not any(_count(facts, "nan", t) for t in bad):
            turned.append(Origin(op, current))
        for t in bad:
            if t not in seen:
                seen.add(t)
                stack.append(t)
    for found in (begun, turned, infinite_leaves):
        if found:
            return min(found, key=lambda origin: origin.op if origin.op != ABSENT else -1)
    return None


def _count(facts: Facts, field: str, tensor: int) -> int:
    row = int(facts.value_row[tensor])
    return int(facts.stats[field][row]) if row != ABSENT else 0


def _assigned_by(facts: Facts) -> dict[int, int]:
    """The operation whose result became each version of a variable, where there is one."""
    assigns = facts.recording.assigns
    known = assigns["by"] != NONE
    return dict(zip(assigns["tensor"][known].tolist(), assigns["by"][known].tolist(), strict=True))


def is_initial(facts: Facts, tensor: int) -> bool:
    """Whether a leaf is data or the start value of a variable (and not what training made of it)."""
    record = facts.tensors[tensor]
    return int(record["role"]) == Role.CONSTANT or (int(record["role"]) == Role.VARIABLE and record["version"] == 0)


def domain_problem(facts: Facts, op: int) -> str:
    """What was wrong with the argument of an operation ("0 (3 of 128 entries)"), "" if it is within its domain."""
    name = facts.name_of(op)
    rows = [facts.stats[row] if (row := int(facts.value_row[t])) != ABSENT else None
            for t in facts.inputs(op) if t < len(facts.tensors)]
    output = facts.stats[int(facts.value_row[int(facts.ops["output"][op])])]
    spoiled = int(output["nan"]) + int(output["posinf"]) + int(output["neginf"])
    if not rows or rows[0] is None:
        return "an argument outside its domain" if name in kinds.DOMAIN else ""
    x = rows[0]
    entries = f"({spoiled} of {int(output['n'])} entries)"
    low, high = float(x["min"]), float(x["max"])
    if name in kinds.DENOMINATOR:
        slot = kinds.DENOMINATOR[name]
        denominator = rows[slot] if slot < len(rows) else None
        return f"a denominator of 0 {entries}" if denominator is not None and denominator["zero"] else ""
    beyond = (
        (name in kinds.POSITIVE_ARGUMENT and low <= 0) or (name in kinds.NONNEGATIVE_ARGUMENT and low < 0)
        or (name in kinds.WITHIN_ONE and max(abs(low), abs(high)) >= 1) or (name == "log1p" and low <= -1)
        or (name == "arccosh" and low < 1) or (name == "power" and (low < 0 or bool(x["zero"])))
        or (name == "xlogy" and rows[-1] is not None and float(rows[-1]["min"]) <= 0)
        or name in ("arctan2", "logabsdet", "inv", "solve", "det", "cholesky"))
    if not beyond:
        return ""
    if name == "xlogy" and rows[-1] is not None:
        low = float(rows[-1]["min"])
    worst = high if name in kinds.WITHIN_ONE and abs(high) >= abs(low) else low
    return f"{_number(worst)} {entries}"


def _number(x: float) -> str:
    return "0" if x == 0 else f"{x:.3g}"


def first_entries(values: np.ndarray | None, wanted: str) -> list[tuple[int, ...]]:
    """Up to eight positions of what is wrong in an array: "nonfinite" or "zero"."""
    if values is None:
        return []
    wide = np.asarray(values)
    mask = ~np.isfinite(wide) if wanted == "nonfinite" else wide == 0
    return [tuple(int(i) for i in index) for index in np.argwhere(mask)[:8]]
