"""The rules, in one visible list, and the doctor that applies them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from weakref import WeakKeyDictionary

from tapeviz.analysis.findings import precision, shapes, training, units
from tapeviz.analysis.findings.context import Context
from tapeviz.analysis.findings.disconnected import disconnected
from tapeviz.analysis.findings.finding import Finding
from tapeviz.analysis.findings.flow import exploding, vanishing
from tapeviz.analysis.findings.nonfinite import nonfinite
from tapeviz.analysis.findings.order import fold
from tapeviz.analysis.findings.plan import Planner
from tapeviz.recording.reader import Recording

Rule = Callable[[Context], list[Finding]]


def each(examine: Rule, *ids: str) -> list[Rule]:
    """One rule per diagnosis for an examination that may end with any of several; it is made only once."""
    def rule_for(id: str) -> Rule:
        def rule(context: Context) -> list[Finding]:
            return [finding for finding in context.once(examine) if finding.id == id]

        rule.__name__ = id.replace("-", "_")
        rule.__doc__ = examine.__doc__
        return rule

    return [rule_for(id) for id in ids]


# Every diagnosis is one rule here; the order is that of reading, root causes are found by `fold`.
RULES: list[Rule] = [
    *each(nonfinite, "nan-input", "nan-forward-domain", "nan-overflow", "nan-backward-singular", "nan-masked-branch",
          "nan-spread"),
    *each(exploding, "exploding-depth", "exploding-time"),
    training.lr_too_large,
    training.unscaled_input,
    training.sign_flipped,
    training.loss_unbounded,
    training.grad_accumulated,
    *each(disconnected, "unwatched-source", "graph-break", "nondiff-op", "stop-gradient", "unused-variable",
          "integer-source"),
    shapes.tape_growth,
    shapes.constant_normaliser,
    shapes.loss_broadcast,
    shapes.loss_activation_mismatch,
    shapes.symmetric_init,
    precision.fp16_range,
    units.dead_relu,
    units.saturated_activation,
    *each(vanishing, "vanishing-depth", "vanishing-time"),
    training.update_too_small,
    training.var_not_updated,
    training.converged,
]

_planners: WeakKeyDictionary[Recording, Planner] = WeakKeyDictionary()


def diagnose(recording: Recording, rules: Sequence[Rule] = RULES) -> list[Finding]:
    """What is wrong with a run, root causes first, consequences folded under them; empty for a healthy one.

    May be called again and again while the recording grows: what was learned of its structure is kept.
    """
    planner = _planners.setdefault(recording, Planner())
    context = Context(recording, planner)
    return fold([finding for rule in rules for finding in rule(context)])


class Doctor:
    """Diagnoses one recording while it grows; asked again before anything has come, it answers from memory."""

    def __init__(self, recording: Recording, rules: Sequence[Rule] = RULES) -> None:
        self.recording = recording
        self._rules = rules
        self._revision = -1
        self._findings: list[Finding] = []

    def diagnose(self) -> list[Finding]:
        """The findings as of now."""
        if self._revision != self.recording.revision:
            self._findings = diagnose(self.recording, self._rules)
            self._revision = self.recording.revision
        return self._findings
