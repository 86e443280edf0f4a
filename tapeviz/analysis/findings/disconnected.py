"""Rules about missing gradients: sources for which gradient() returned None, by reason."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from tapeviz.analysis import none_reason
from tapeviz.analysis.findings import kinds
from tapeviz.analysis.findings.context import Context
from tapeviz.analysis.findings.finding import Finding
from tapeviz.recording.schema import NONE, State

TITLES = {
    "unwatched-source": "The tape does not watch the source",
    "graph-break": "The way to the loss leaves the tape",
    "nondiff-op": "An operation without gradient on the way to the loss",
    "stop-gradient": "The gradient is stopped on purpose, and nothing else reaches these",
    "unused-variable": "Not used by the loss",
    "integer-source": "Integers have no gradient",
}
SEARCHED = 64        # sources that are looked into; those of one reason are usually many


def disconnected(context: Context) -> list[Finding]:
    """Sources without gradient, grouped by where their way to the target is cut."""
    facts, recording = context.facts, context.recording
    results = facts.results
    if not len(results):
        return []
    missing = (results["state"] == State.NONE) | (results["state"] == State.ZERO_UNCONNECTED)
    connected = set(results["variable"][~missing & (results["variable"] != NONE)].tolist())
    found: dict[tuple[str, str, int], list[tuple[none_reason.NoneReason, int, bool]]] = defaultdict(list)
    seen: set[tuple[int, int, str]] = set()
    for row in results[missing]:
        pass_, variable = int(row["pass"]), int(row["variable"])
        name = recording.name(int(row["name"])) if row["name"] != NONE else ""
        key = (int(facts.passes["loc"][pass_]), variable, name)
        if key in seen or len(seen) >= SEARCHED or int(facts.passes["parent"][pass_]) != NONE:
            continue
        seen.add(key)
        if variable != NONE and (variable in connected or not recording.variable(variable).trainable):
            continue
        reason = none_reason.why_none(recording, pass_, int(row["source"]), facts)
        if reason is not None:
            alone = not bool((~missing & (results["pass"] == pass_)).any())
            found[reason.reason, reason.file, reason.line].append((reason, pass_, alone))
    return [_finding(context, group) for group in found.values()] + _flat(context)


def _flat(context: Context) -> list[Finding]:
    """Gradients that are exactly zero because they came through an operation that is flat everywhere."""
    facts, gradients, progress = context.facts, context.gradients, context.progress
    zero = [v for v in np.unique(gradients.variable[gradients.given]).tolist()
            if (gradients.size[(gradients.variable == v) & gradients.given] == 0).all()]
    if not zero or not len(progress.passes):
        return []
    pass_ = int(progress.passes[0])
    for op in facts.walked(pass_).tolist():
        if facts.name_of(op) not in kinds.FLAT:
            continue
        sent = facts.column("l2", facts.contribution_rows(np.array([pass_]), np.array([op]), np.array([0])))[0]
        came = facts.column("l2", facts.cotangent_rows(np.array([pass_]), facts.ops["output"][[op]].astype(int)))[0]
        if sent == 0 and came > 0:
            name = facts.name_of(op)
            return [context.finding(
                "nondiff-op", "error", TITLES["nondiff-op"],
                f"{name} {context.at(op)} is flat everywhere: its gradient is exactly 0, and so is that of "
                f"{', '.join(context.names(zero)[:6])}.",
                f"Leave {name} out of the loss, or pass the gradient straight through it: "
                f"x + stop_gradient({name}(x) - x).",
                op=op, iteration=int(progress.iterations[0]), affected=context.names(zero),
                evidence={"gradient_in": float(came), "gradient_out": float(sent)})]
    return []


def _finding(context: Context, group: list[tuple[none_reason.NoneReason, int, bool]]) -> Finding:
    reason, pass_, alone = group[0]
    names = tuple(dict.fromkeys(member.source for member, _, _ in group))
    alone = any(one for _, _, one in group)
    mild = reason.reason in ("unused-variable", "stop-gradient") and not alone
    sentence = reason.sentence
    if len(names) > 1:
        sentence += f" The same holds for {', '.join(names[1:6])}{' and others' if len(names) > 6 else ''}."
    return Finding(
        reason.reason, "warning" if mild else "error", TITLES[reason.reason], sentence, reason.fix, reason.file,
        reason.line, reason.op, int(context.facts.pass_iterations[pass_]), names,
        {"sources_without_gradient": len(names), "all_sources": alone,
         "passes": int(np.unique(context.facts.results["pass"]).size)}, op_id=reason.op_id)
