"""Rules about signals that shrink or grow on their way through many layers or time steps."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from math import inf, log

import numpy as np

from tapeviz.analysis.findings import kinds
from tapeviz.analysis.findings.context import Context, counted
from tapeviz.analysis.findings.facts import ABSENT, Floats, Ints
from tapeviz.analysis.findings.finding import Finding
from tapeviz.analysis.findings.plan import LEAST_LEVELS, Group, Hop
from tapeviz.analysis.format import plain, sci
from tapeviz.recording.schema import NONE

VANISHED_DEPTH = 1e-3      # gradient at the first layers as a share of that at the last one
VANISHED_PLATEAU = 1e-2    # the same where the loss does not fall either
PLATEAU = 0.85             # last losses as a share of the first
VANISHED_TIME = 1e-6
REACH = 1e-3               # a step counts as learnable while its gradient is above this share
WORKS = 0.1                # a loss that falls below this share of the start shows that all is well
OFTEN = 0.8                # share of the iterations in which it must be so
AT_START = 0.1             # ... or, for a note, of those at the beginning
GREW = 1e3
LARGE_GRADIENT = 1e2
GROWN_WEIGHTS = 3.0        # weights this much larger than at the start: it is the steps that are to blame


@dataclass(frozen=True, slots=True)
class Flow:
    """Sizes of the signals of one group of gradient calls: one row per call, one column per level, input first."""

    group: Group
    gradient: Floats
    value: Floats

    @property
    def levels(self) -> int:
        """How many signals there are in a row."""
        return int(self.gradient.shape[1])

    @property
    def half(self) -> int:
        """How many of them count as early."""
        return max((self.levels + 1) // 2, 1)

    def gradient_left(self) -> Floats:
        """Per call, the smallest gradient of the early signals as a share of that of the last one."""
        with np.errstate(all="ignore"):
            early = np.where(self.gradient[:, :self.half] > 0, self.gradient[:, :self.half], np.nan)
            return np.asarray(np.fmin.reduce(early, axis=1) / self.gradient[:, -1])

    def gradient_grown(self) -> Floats:
        """Per call, the largest gradient of the early signals as a multiple of that of the last one."""
        with np.errstate(all="ignore"):
            return np.asarray(np.fmax.reduce(self.gradient[:, :self.half], axis=1) / self.gradient[:, -1])

    def value_grown(self) -> Floats:
        """Per call, the last value that is not zero as a multiple of the first."""
        with np.errstate(all="ignore"):
            early = np.where(self.value[:, :self.half] > 0, self.value[:, :self.half], np.nan)
            return np.asarray(np.fmax.reduce(self.value[:, self.half:], axis=1) / np.fmin.reduce(early, axis=1))


def flows(context: Context) -> list[Flow]:
    """The signals of every group of gradient calls that has enough of them in a row."""
    return [measure(context, group) for group in context.groups if len(group.plan.signals) >= LEAST_LEVELS]


def measure(context: Context, group: Group) -> Flow:
    """Sizes of the largest gradient and value at every level."""
    facts = context.facts
    gradient, value = [], []
    for nodes in group.plan.signals:
        ops = group.ops[:, list(nodes)]
        outputs = facts.ops["output"][ops].astype(np.int64)
        passes = np.broadcast_to(group.passes[:, None], outputs.shape)
        rows = facts.cotangent_rows(passes, outputs)
        gradient.append(_largest(_sizes(context, rows)))
        value.append(_largest(_sizes(context, facts.value_row[outputs])))
    return Flow(group, np.stack(gradient, axis=1), np.stack(value, axis=1))


def _sizes(context: Context, rows: Ints) -> Floats:
    sizes = context.facts.column("l2", rows)
    if len(context.facts.stats):
        sizes = np.where((rows != ABSENT) & (context.facts.bad[rows] > 0), inf, sizes)
    return sizes


def _largest(sizes: Floats) -> Floats:
    return np.asarray(np.fmax.reduce(sizes, axis=1))


# --- shrinking ----------------------------------------------------------------------------------------------------

def vanishing(context: Context) -> list[Finding]:
    """The gradient of early layers (or time steps) is next to nothing compared with that of the last."""
    calls = max(context.progress.end, 1)
    rows: list[tuple[int, bool, Flow, int]] = []     # gradient call, whether vanished, where to look
    for flow in flows(context):
        time = flow.group.plan.recurrent >= 0
        left = flow.gradient_left()
        gone = left < _threshold(context, time)
        if time:
            gone &= _reach(flow) < flow.levels / 2
        usable = np.isin(flow.group.passes, context.progress.passes[:calls])
        # of a net whose units have all died there is nothing to compare
        known = np.flatnonzero(usable & (np.isfinite(left) if usable.sum() > 1 else True))
        rows += [(int(flow.group.passes[row]), bool(gone[row]), flow, row) for row in known.tolist()]
    rows.sort(key=lambda one: one[0])
    gone_rows = [one for one in rows if one[1]]
    covered = sum(len(flow.group.passes) for flow in {id(one[2]): one[2] for one in rows}.values())
    if covered < calls / 2 or len(gone_rows) < max(AT_START * len(rows), 1):
        return []
    _, _, flow, row = gone_rows[0]
    found = _vanished(context, flow, row, flow.group.plan.recurrent >= 0)
    if len(gone_rows) >= OFTEN * len(rows):
        return [found]
    if all(one[1] for one in rows[:len(gone_rows)]):
        return [_recovered(found, rows[len(gone_rows)][0], context)]
    return []


def _recovered(finding: Finding, pass_: int, context: Context) -> Finding:
    """The training found its way out: worth knowing, and no more."""
    iteration = int(context.facts.pass_iterations[pass_])
    return replace(finding, severity="info", title="The gradient vanished at the start",
                   message=f"{finding.message} From iteration {iteration} on it is no longer so.")


def _threshold(context: Context, time: bool) -> float:
    if time:
        return VANISHED_TIME
    stuck = context.progress.word in ("flat", "worse") or (
        context.progress.word == "improving" and context.progress.fell > PLATEAU)
    return VANISHED_PLATEAU if stuck else VANISHED_DEPTH


def _reach(flow: Flow) -> Floats:
    """Per call, how many signals, from the last one backwards, keep REACH of its gradient."""
    with np.errstate(all="ignore"):
        kept = flow.gradient[:, ::-1] >= REACH * flow.gradient[:, -1:]
    return np.where(kept.all(axis=1), flow.levels, np.argmin(kept, axis=1)).astype(np.float64)


def _vanished(context: Context, flow: Flow, row: int, time: bool) -> Finding:
    group, progress = flow.group, context.progress
    sizes = flow.gradient[row]
    early = np.where(sizes[:flow.half] > 0, sizes[:flow.half], np.nan)
    first, last = float(np.nanmin(early)), float(sizes[-1])
    at = int(np.nanargmin(early))
    factor = (first / last) ** (1 / max(flow.levels - 1 - at, 1))
    below = np.flatnonzero(sizes < 0.1 * last)
    level = int(below[-1]) if len(below) else 0
    op, slope = _guilty(context, flow, row, level, shrinks=True)
    iteration = int(context.facts.pass_iterations[group.passes[row]])
    severity = progress.severity()
    if severity == "info" and not time and progress.fell > WORKS:
        severity = "warning"     # the last layers learn, and hide that the first do not
    evidence: dict[str, object] = {
        "gradient_first": first, "gradient_last": last, "ratio": first / last, "factor_per_step": factor,
        "levels": flow.levels, "slope_of_op": slope, "threshold": _threshold(context, time)}
    name = context.facts.name_of(op)
    if time:
        reach = int(_reach(flow)[row])
        recurrent = context.names([group.plan.recurrent])
        state = _state_names(context, flow, row, reach)
        evidence["reach"] = reach
        return context.finding(
            "vanishing-time", severity, "The gradient vanishes on its way back in time",
            f"Nothing older than {counted(reach, 'step')} can be learned: going back one step multiplies the gradient "
            f"by {plain(factor, 2)}, and after {counted(flow.levels, 'step')} {sci(first / last)} of it is left "
            f"({sci(last)} at the last step, {sci(first)} at step {at + 1}).",
            "Start with an orthogonal recurrent matrix, use gates (LSTM or GRU with forget bias 1) or attention, or "
            "feed shorter sequences.",
            op=op, iteration=iteration, affected=(*recurrent, *state), evidence=evidence)
    affected = context.names(group.plan.variables[k] for k in range(min(flow.levels, len(group.plan.variables)))
                             if sizes[k] < VANISHED_DEPTH * last or k <= at)
    why = kinds.SLOPE.get(name) or f"{name} multiplies the gradient by {plain(slope, 2)} per layer"
    fix = ("Replace it by relu or elu, start with larger weights (He or Glorot), add residual connections or "
           "normalisation." if name in kinds.SLOPE else
           "Start with larger weights (He: standard deviation sqrt(2 / inputs)), add residual connections or "
           "normalisation.")
    return context.finding(
        "vanishing-depth", severity, "The gradient vanishes on its way to the first layers",
        f"{why[0].upper()}{why[1:]}. From the last of {counted(flow.levels, 'layer')} back to layer {at + 1} the "
        f"gradient shrinks from {sci(last)} to {sci(first)}, to {sci(first / last)} of its size: a factor "
        f"{plain(factor, 2)} per layer.",
        fix, op=op, iteration=iteration, affected=affected, evidence=evidence)


def _state_names(context: Context, flow: Flow, row: int, reach: int) -> tuple[str, ...]:
    """What the program calls the state whose early steps get no gradient."""
    nodes = [nodes[-1] for nodes in flow.group.plan.signals]
    outputs = context.facts.ops["output"][flow.group.ops[row][nodes]]
    names = {context.recording.name(int(context.facts.tensors["name"][t])) for t in outputs.tolist()
             if context.facts.tensors["name"][t] != NONE}
    return tuple(f"{name} (before the last {counted(reach, 'step')})" for name in sorted(names))[:1]


def _guilty(context: Context, flow: Flow, row: int, level: int, shrinks: bool) -> tuple[int, float]:
    """The operation that shrinks (or grows) the gradient most, at or next to a level, and its mean factor."""
    facts, group = context.facts, flow.group
    pass_ = int(group.passes[row])
    by_kind: dict[str, list[float]] = defaultdict(list)
    hops = [hop for between in group.plan.hops_of[:-1] for hop in between]
    for hop in hops:
        gain = _gain(context, pass_, int(group.ops[row][hop.node]), hop)
        if 0 < gain < inf and facts.name_of(int(group.ops[row][hop.node])) not in kinds.ARRANGING:
            by_kind[facts.name_of(int(group.ops[row][hop.node]))].append(log(gain))
    if not by_kind:
        nodes = group.plan.signals[level]
        return int(group.ops[row][nodes[-1]]), 1.0
    mean = {name: sum(gains) / max(len(group.plan.hops_of) - 1, 1) for name, gains in by_kind.items()}
    worst = (min if shrinks else max)(mean, key=lambda name: mean[name])
    candidates = sorted(range(max(len(group.plan.hops_of) - 1, 0)), key=lambda k: (abs(k - level), k))
    for k in candidates:
        for hop in group.plan.hops_of[k]:
            op = int(group.ops[row][hop.node])
            if facts.name_of(op) == worst:
                return op, float(np.exp(mean[worst]))
    return int(group.ops[row][hops[0].node]), 1.0


def _gain(context: Context, pass_: int, op: int, hop: Hop) -> float:
    """What an operation multiplies the gradient by on its way back."""
    facts = context.facts
    one = np.array([pass_])
    sent = facts.column("l2", facts.contribution_rows(one, np.array([op]), np.array([hop.slot])))[0]
    came = facts.column("l2", facts.cotangent_rows(one, facts.ops["output"][[op]].astype(np.int64)))[0]
    return float(sent / came) if came > 0 else 0.0


# --- growing ------------------------------------------------------------------------------------------------------

def exploding(context: Context) -> list[Finding]:
    """The signal or its gradient grows more than a thousandfold through the layers (or time steps)."""
    found = []
    for flow in flows(context):
        backward, forward = flow.gradient_grown(), flow.value_grown()
        grown = (backward > GREW) | (forward > GREW)
        for row in np.flatnonzero(grown).tolist():
            if _is_large(context, flow, row):
                if _weights_grown(context, flow, row) < GROWN_WEIGHTS:
                    found.append(_exploded(context, flow, row, float(backward[row]), float(forward[row])))
                break
    return sorted(found, key=lambda finding: finding.iteration)[:1]


def _is_large(context: Context, flow: Flow, row: int) -> bool:
    gradients = context.gradients
    of_pass = gradients.pass_ == flow.group.passes[row]
    sizes = gradients.size[of_pass]
    return bool(gradients.bad[of_pass].any() or (sizes > LARGE_GRADIENT).any() or np.isinf(flow.value[row]).any())


def _weights_grown(context: Context, flow: Flow, row: int) -> float:
    """How much larger the weights are than at the start: the median over the layers."""
    facts = context.facts
    target = int(facts.passes["target"][flow.group.passes[row]])
    ratios = []
    for variable in set(flow.group.plan.variables):
        versions = np.flatnonzero((facts.tensors["variable"] == variable) & (facts.tensors["role"] == 2))
        versions = versions[versions <= target]
        if len(versions):
            first, now = facts.value_of("l2", versions[[0, -1]])
            if first > 0 and np.isfinite(now):
                ratios.append(float(now / first))
    return float(np.median(ratios)) if ratios else 1.0


def _exploded(context: Context, flow: Flow, row: int, backward: float, forward: float) -> Finding:
    group, progress = flow.group, context.progress
    time = group.plan.recurrent >= 0
    by_value = not backward > GREW or (forward > backward and not time)
    ratio = max(x for x in (backward, forward) if x == x)
    factor = ratio ** (1 / max(flow.levels - 1, 1))
    op, _ = _guilty(context, flow, row, 0, shrinks=False)
    pass_ = int(group.passes[row])
    iteration = int(context.facts.pass_iterations[pass_])
    gradients = context.gradients
    largest = gradients.size[gradients.pass_ == pass_]
    size = float(np.nanmax(largest)) if np.isfinite(largest).any() else inf
    severity = progress.severity() if progress.word != "unknown" else "error"
    evidence: dict[str, object] = {
        "value_ratio": forward, "gradient_ratio": backward, "factor_per_step": factor, "levels": flow.levels,
        "largest_gradient": size, "threshold": GREW}
    loss = progress.losses[np.searchsorted(progress.passes, pass_)] if pass_ in progress.passes else np.nan
    what = "signal" if by_value else "gradient"
    result = f"the loss is {sci(float(loss))} and the largest gradient norm {sci(size)}"
    if time:
        return context.finding(
            "exploding-time", severity, "The gradient explodes on its way back in time",
            f"Going back one step multiplies the {what} by {plain(factor, 3)}: over {counted(flow.levels, 'step')} "
            f"that is {sci(ratio)}; {result}.",
            "Clip the gradients by their global norm, start with an orthogonal recurrent matrix, use gates, or feed "
            "shorter sequences.",
            op=op, iteration=iteration, affected=context.names([group.plan.recurrent]), evidence=evidence)
    return context.finding(
        "exploding-depth", severity, "The signal explodes on its way through the layers",
        f"Each layer multiplies the {what} by about {plain(factor, 3)}; after {counted(flow.levels, 'layer')} "
        f"that is {sci(ratio)}: {result}.",
        "Start with smaller weights (He: standard deviation sqrt(2 / inputs), Glorot), normalise, or scale the "
        "residual branches.",
        op=op, iteration=iteration, affected=context.names(group.plan.variables), evidence=evidence)
