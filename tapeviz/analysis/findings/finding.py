"""What a rule says: a finding with its place, its numbers and its remedy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SEVERITIES = ("error", "warning", "info")     # the worst first


@dataclass(frozen=True, slots=True)
class Finding:
    """One diagnosis of a run.

    id: its name, as in the documentation; op: name of the operation it is about, "" if there is none
    file, line: the line to look at, "" and 0 if unknown; iteration: where it shows first
    op_id: that very operation, -1 if there is none; affected: variables and tensors that suffer, by name
    evidence: the numbers it was decided on; consequences: findings that follow from this one
    """

    id: str
    severity: str
    title: str
    message: str
    fix: str
    file: str = ""
    line: int = 0
    op: str = ""
    iteration: int = 0
    affected: tuple[str, ...] = ()
    evidence: Mapping[str, object] = field(default_factory=dict)
    consequences: tuple[Finding, ...] = ()
    op_id: int = -1
