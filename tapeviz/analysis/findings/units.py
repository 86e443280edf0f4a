"""Rules about activations: units that never fire, units driven to where the slope is next to nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tapeviz.analysis.findings import kinds
from tapeviz.analysis.findings.context import Context
from tapeviz.analysis.findings.facts import Floats
from tapeviz.analysis.findings.finding import Finding
from tapeviz.analysis.findings.plan import Group
from tapeviz.analysis.format import percent, plain, sci

DEAD_ERROR, DEAD_WARNING = 0.9, 0.5
WINDOW = 10               # iterations at the end in which a unit must not have fired
LEAST_BATCH = 8           # with fewer examples a silent unit means nothing
SATURATED = 0.5
FLAT_SLOPE = 1e-3


@dataclass(frozen=True, slots=True)
class Site:
    """One activation of a network over the iterations: its operations, and a share of its units in each."""

    group: Group
    node: int
    share: Floats
    is_inner: bool      # followed by another layer

    def op(self, row: int) -> int:
        """Its operation in one gradient call."""
        return int(self.group.ops[row][self.node])


def _sites(context: Context, names: frozenset[str], field: str) -> Iterator[Site]:
    facts = context.facts
    end = context.progress.end
    for group in context.groups:
        rows = np.isin(group.passes, context.progress.passes[:max(end, 1)])
        if rows.sum() < max(end, 1) / 2:
            continue
        for node, op in enumerate(group.ops[0].tolist()):
            if facts.name_of(op) in names:
                outputs = facts.ops["output"][group.ops[rows, node]].astype(np.int64)
                share = facts.value_of(field, outputs)
                if np.isfinite(share).any():
                    yield Site(group, node, share, group.plan.level[node] < max(group.plan.level, default=0))


def dead_relu(context: Context) -> list[Finding]:
    """Rectifiers whose units are zero for every example, iteration after iteration, until the end."""
    facts, progress = context.facts, context.progress
    found = []
    for site in _sites(context, kinds.RECTIFIER, "low"):
        shape = facts.shape(int(facts.ops["output"][site.op(0)]))
        if not site.is_inner or len(shape) < 2 or np.prod(shape[:-1]) < LEAST_BATCH:
            continue
        dead = float(np.nanmin(site.share[-WINDOW:]))
        if dead < DEAD_WARNING or (dead < DEAD_ERROR and progress.word in ("improving", "unknown")):
            continue
        limit = DEAD_ERROR if dead >= DEAD_ERROR else DEAD_WARNING
        alive = np.flatnonzero(site.share < limit)
        row = int(alive[-1]) + 1 if len(alive) else 0
        found.append((dead, site, min(row, len(site.share) - 1)))
    if not found:
        return []
    dead, site, row = max(found, key=lambda one: (one[0], -one[1].node))
    op = site.op(row)
    iteration = int(facts.pass_iterations[site.group.passes[row]])
    count = facts.shape(int(facts.ops["output"][op]))[-1]
    since = "from the start" if row == 0 else f"since iteration {iteration}"
    before = "" if row == 0 else _jump_before(context, iteration)
    return [context.finding(
        "dead-relu", "error" if dead >= DEAD_ERROR else "warning", "Units are dead",
        f"{percent(dead)} of the {count} units {context.at(op)} are zero for every example {since}: no gradient passes "
        f"through them, so that nothing can wake them up.{before}",
        "Use a smaller learning rate, start with He weights and biases of 0, or use leaky_relu.",
        op=op, iteration=iteration, affected=_variables_before(context, site),
        evidence={"share": dead, "units": count, "threshold": DEAD_ERROR if dead >= DEAD_ERROR else DEAD_WARNING})]


def _jump_before(context: Context, iteration: int) -> str:
    """The largest step of the iteration before, if it was large."""
    updates = context.updates
    of = np.flatnonzero((updates.iteration == iteration - 1) & (updates.relative > 0.5))
    if not len(of):
        return ""
    worst = of[np.argmax(updates.relative[of])]
    name = context.recording.variable(int(updates.variable[worst])).name
    return f" The step before it moved {name} by {plain(float(updates.relative[worst]), 2)} times its size."


def _variables_before(context: Context, site: Site) -> tuple[str, ...]:
    """Variables of the layers up to this activation."""
    level = site.group.plan.level[site.node]
    return context.names(site.group.plan.variables[:level])


def saturated_activation(context: Context) -> list[Finding]:
    """Sigmoid, tanh or softmax units that sit where their slope is next to nothing, and stay there."""
    facts, progress = context.facts, context.progress
    if progress.converged:
        return []
    found = []
    for site in _sites(context, kinds.SATURATING, "saturated"):
        known = site.share[np.isfinite(site.share)]
        n = max(len(known) // 8, 1)
        start, end = float(known[:n].mean()), float(known[-n:].mean())
        if not (start > SATURATED and end > SATURATED):
            continue
        slope = _slope(context, site)
        if slope < FLAT_SLOPE or progress.word in ("flat", "worse"):
            found.append((start, slope, site))
    if not found:
        return []
    share, slope, site = max(found, key=lambda one: (one[0], -one[2].node))
    op = site.op(0)
    name = facts.name_of(op)
    severity = progress.severity()
    if progress.word == "improving" and not site.is_inner:
        severity = "info"
    where = {"tanh": "beyond -0.99 and 0.99", "softmax": "above 0.999 in one place",
             "sigmoid": "within 0.001 of 0 or 1"}.get(name, "at a limit")
    given = facts.inputs(op)[0]
    low, high = (float(facts.value_of(field, np.array([given]))[0]) for field in ("min", "max"))
    return [context.finding(
        "saturated-activation", severity, f"{name} is saturated",
        f"{percent(share)} of the outputs of {name} {context.at(op)} are {where}, where the curve is flat (arguments "
        f"from {plain(low)} to {plain(high)}): only {sci(slope)} of the gradient passes.",
        "Bring its argument near 0: smaller start weights, scaled inputs (1/sqrt(d) in attention), a smaller offset; "
        "or use a loss that takes the logits.",
        op=op, iteration=int(facts.pass_iterations[site.group.passes[0]]), affected=_variables_before(context, site),
        evidence={"share": share, "slope": slope, "threshold": SATURATED})]


def _slope(context: Context, site: Site) -> float:
    """How much of the gradient passes, at the median over the iterations."""
    facts = context.facts
    ops = site.group.ops[:, site.node]
    sent = facts.column("l2", facts.contribution_rows(site.group.passes, ops, np.zeros(len(ops), np.int64)))
    came = facts.column("l2", facts.cotangent_rows(site.group.passes, facts.ops["output"][ops].astype(np.int64)))
    with np.errstate(all="ignore"):
        ratios = sent / came
    usable = ratios[np.isfinite(ratios)]
    return float(np.median(usable)) if len(usable) else 1.0
