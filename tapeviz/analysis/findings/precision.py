"""Rules about number formats: gradients that are too small for float16."""

from __future__ import annotations

import numpy as np

from tapeviz.analysis.findings.context import Context
from tapeviz.analysis.findings.facts import ABSENT
from tapeviz.analysis.findings.finding import Finding
from tapeviz.analysis.format import percent, plain
from tapeviz.recording.schema import NONE, Role

LOST = 0.2           # share of the entries of a gradient that are exactly 0 ...
CROWDED = 0.2        # ... while so many of the others are subnormal
OFTEN = 0.5          # of the iterations
SMALLEST = 6e-8      # what float16 can hold at all
COARSE = 16.0        # gradients of fewer such steps are rounded so roughly that they mean little


def fp16_range(context: Context) -> list[Finding]:
    """Gradients in float16 of which many entries have become exactly 0 and the others crowd at the lower end."""
    facts, gradients = context.facts, context.gradients
    if not len(gradients.row) or not len(context.progress.passes):
        return []
    affected = {}
    for variable in np.unique(gradients.variable[gradients.given]).tolist():
        if context.recording.variable(variable).dtype != "float16":
            continue
        rows = gradients.row[(gradients.variable == variable) & (gradients.row != ABSENT)]
        stats = facts.stats[rows]
        n = np.maximum(stats["n"], 1)
        zeros, tiny = stats["zero"] / n, stats["subnormal"] / n
        coarse = stats["l2"] / np.sqrt(n) < COARSE * SMALLEST
        lost = ((zeros > LOST) & (tiny > CROWDED)) | ((zeros + tiny > 1 - CROWDED) & coarse)
        if len(rows) and lost.mean() >= OFTEN:
            affected[variable] = float(np.median(stats["zero"] / n))
    if not affected:
        return []
    worst = max(affected, key=lambda v: affected[v])
    scale, place, op = _loss_scale(context)
    name = context.recording.variable(worst).name
    said = f" The loss is scaled by {plain(scale)} only." if scale == scale else " The loss is not scaled."
    return [context.finding(
        "fp16-range", "error" if context.progress.word != "improving" else "warning",
        "Gradients are too small for float16",
        f"{percent(affected[worst])} of the gradient entries of {name} are smaller than float16 can hold "
        f"({SMALLEST:g}) and have become exactly 0; most of the others are so close to it that they are rounded "
        f"roughly.{said}",
        "Multiply the loss by a large number (such as 1024) and divide the gradients by it, or compute in float32.",
        op=op, place=place, affected=context.names(affected),
        evidence={"share_lost": affected[worst], "scale": scale, "threshold": LOST})]


def _loss_scale(context: Context) -> tuple[float, tuple[str, int], int]:
    """The number that the loss is multiplied by at the end, where it is set; NaN and the loss itself without one."""
    facts = context.facts
    target = int(facts.passes["target"][context.progress.passes[0]])
    op = facts.maker(target)
    if op == ABSENT:
        return np.nan, ("", 0), ABSENT
    if facts.name_of(op) == "multiply":
        for tensor in facts.inputs(op):
            maker = facts.maker(tensor)
            while maker != ABSENT and facts.name_of(maker) == "cast":
                tensor = facts.inputs(maker)[0]
                maker = facts.maker(tensor)
            record = facts.tensors[tensor]
            if record["role"] == Role.CONSTANT and facts.shape(tensor) == ():
                file, line = facts.place(op)
                name = context.recording.name(int(record["name"])) if record["name"] != NONE else ""
                value = float(facts.value_of("mean", np.array([tensor]))[0])
                return value, (file, facts.defined_at(name, file, line) or line), op
    return np.nan, facts.place(op), op
