"""Rules about the steps of the training: too long, too short, none at all, in the wrong direction."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from tapeviz.analysis.findings import kinds
from tapeviz.analysis.findings.context import Context
from tapeviz.analysis.findings.facts import ABSENT, Floats
from tapeviz.analysis.findings.finding import Finding
from tapeviz.analysis.findings.progress import eighths
from tapeviz.analysis.format import percent, plain, sci
from tapeviz.recording.schema import NONE, AssignKind, Role, What

GREW = 10.0              # the loss by this factor, at its peak and from the first to the last eighth
LONG_STEP = 0.1          # of the size of the variable
DOWNHILL, UPHILL = 0.5, -0.9
SHORT_STEP, SHORT_STEP_WARNING = 1e-7, 1e-5
HAS_GRADIENT = 1e-3
SMALL = 1e-3             # a variable smaller than this is taken to be so large when steps are compared with it
NOT_MOVED = 0.9          # share of the iterations without a step
AT_REST = 1e-5           # a gradient below this share of the variable is that of a minimum
FEWEST = 10              # iterations before one speaks of a variable that does not move
LARGE_INPUT = 20.0       # root mean square
COLUMN_RATIO = COLUMN_SIZE = 50.0
FAR_BELOW = -1000.0
STEADILY = 0.8           # share of the first half's fall that the second half brings
FURTHER = 1.5            # times the value in the middle
SAME_DIRECTION = 0.999
STEADY = 0.05
_RATE_NAMES = re.compile(r"(?i)^(lr|rate|eta|alpha|step|step_?size|learning_?rate|\w*lr|\w*rate)$")


# --- the learning rate --------------------------------------------------------------------------------------------

@dataclass(frozen=True, slots=True)
class Rate:
    """The learning rate as far as the program shows it: what it is called, its value, where it is set."""

    name: str
    value: float
    place: tuple[str, int]


def rate_of(context: Context, variable: int | None = None) -> Rate:
    """Where the size of the steps is decided: the line that sets the rate, else the one that makes the step."""
    facts, updates = context.facts, context.updates
    of = np.flatnonzero(updates.variable == variable) if variable is not None else np.arange(len(updates.variable))
    given = set(context.gradients.variable.tolist())
    rows = [row for row in of[:64].tolist() if int(updates.variable[row]) in given]
    if not rows:
        return Rate("", np.nan, ("", 0))
    row = rows[0]
    place = facts.place_of_loc(int(updates.loc[row]))
    text = facts.source_line(*place)
    optimizer = re.search(r"([A-Za-z_]\w*)\.(?:apply_gradients|minimize|step|update)\(", text)
    if optimizer and (line := facts.defined_at(optimizer[1], *place)):
        made = facts.source_line(place[0], line)
        number = re.search(r"\(\s*(?:learning_rate\s*=\s*)?([0-9][0-9.e+-]*)", made)
        return Rate(optimizer[1], float(number[1]) if number else np.nan, (place[0], line))
    constant = _scalar_factor(context, int(updates.by[row]))
    if constant == ABSENT:
        return Rate("", np.nan, place)
    value = float(facts.value_of("mean", np.array([constant]))[0])
    number_of = int(facts.tensors["name"][constant])
    name = context.recording.name(number_of) if number_of != NONE else ""
    line = facts.defined_at(name, *place)
    return Rate(name if line else "", value, (place[0], line or place[1]))


def _scalar_factor(context: Context, op: int) -> int:
    """The constant number that a gradient was multiplied by before the step, ABSENT if there is none."""
    facts = context.facts
    found, queue = ABSENT, [op]
    seen: set[int] = set()
    while queue and len(seen) < 32:
        current = queue.pop(0)
        if not 0 <= current < facts.op_count or current in seen:
            continue
        seen.add(current)
        for tensor in facts.inputs(current):
            record = facts.tensors[tensor]
            if record["role"] == Role.CONSTANT and facts.shape(tensor) == () and facts.name_of(current) == "multiply":
                name = context.recording.name(int(record["name"])) if record["name"] != NONE else ""
                if _RATE_NAMES.match(name):
                    return tensor
                found = tensor if found == ABSENT else found
            queue.append(facts.maker(tensor))
    return found


def _said(rate: Rate) -> str:
    value = f" ({plain(rate.value)})" if rate.value == rate.value else ""
    return f"{rate.name}{value}" if rate.name else f"the learning rate{value}"


# --- too long -----------------------------------------------------------------------------------------------------

def _diverges(context: Context) -> bool:
    """Whether the loss runs away although the steps point downhill, and they are long."""
    losses = np.abs(context.progress.finite)
    if len(losses) < 2 or context.progress.word not in ("worse", "non-finite"):
        return False
    first, last = eighths(losses)
    start = max(float(np.median(first)), 1e-12)
    if losses.max() <= GREW * max(losses[0], 1e-12) or float(np.median(last)) <= GREW * start:
        return False
    updates = context.updates
    usable = updates.iteration <= context.progress.iterations[len(losses) - 1]
    cosines = updates.cosine[usable]
    if np.isfinite(cosines).any() and np.nanmedian(cosines) <= DOWNHILL:
        return False
    relative = updates.relative[usable]
    return bool(np.isfinite(relative).any() and np.nanmax(relative) > LONG_STEP)


def lr_too_large(context: Context) -> list[Finding]:
    """Every step overshoots by more than the one before: the loss grows until it overflows."""
    if not _diverges(context) or context.progress.finite[-1] < 0:
        return []
    progress, updates = context.progress, context.updates
    losses = progress.finite
    lowest = int(np.argmin(losses))
    grown = losses[lowest:]
    per_step = float((grown[-1] / max(grown[0], 1e-12)) ** (1 / max(len(grown) - 1, 1)))
    row = min(lowest + 1, len(losses) - 1)
    variables = updates.variable[np.nan_to_num(updates.relative) > LONG_STEP]
    counts = {v: int((variables == v).sum()) for v in np.unique(variables).tolist()}
    rate = rate_of(context)
    most = sorted(counts, key=lambda v: (-counts[v], v))
    longest = float(np.nanmax(updates.relative[updates.iteration <= progress.iterations[len(losses) - 1]]))
    stable = 2 / (1 + np.sqrt(per_step))     # of a quadratic: the error is multiplied by 1 - rate * curvature
    advice = (f" A rate below about {sci(rate.value * stable)} would be stable here."
              if rate.value == rate.value and per_step > 1 else "")
    return [context.finding(
        "lr-too-large", "error", "The learning rate is too large",
        f"The loss is multiplied by {plain(per_step, 3)} at every step from iteration {int(progress.iterations[row])} "
        f"on ({sci(float(losses[0]))} at the start, {sci(float(losses[-1]))} at iteration "
        f"{int(progress.iterations[len(losses) - 1])}); the steps are up to {plain(longest, 2)} times as long as the "
        f"variables. Each one jumps over the minimum: {_said(rate)} is too large.{advice}",
        "Divide the learning rate by 10; warm up; or clip the gradients.",
        place=rate.place, iteration=int(progress.iterations[row]), affected=context.names(most),
        evidence={"loss_factor_per_step": per_step, "longest_relative_step": longest, "rate": rate.value,
                  "threshold": GREW})]


def unscaled_input(context: Context) -> list[Finding]:
    """Data far from 1, or columns of very different size, go straight into the first layer, and training suffers."""
    facts, progress = context.facts, context.progress
    diverges = _diverges(context)
    slow = _stands_still(progress.finite)
    if not (diverges or slow) or not len(progress.passes):
        return []
    for tensor, op in _data(context):
        values = facts.value_of("l2", np.array([tensor]))[0] / max(np.sqrt(np.prod(facts.shape(tensor))), 1)
        columns = _columns(context, tensor)
        large = diverges and values > LARGE_INPUT
        uneven = len(columns) > 1 and columns.max() > COLUMN_SIZE and (
            columns.max() / max(columns[columns > 0].min(initial=np.inf), 1e-30) > COLUMN_RATIO)
        if not (large or uneven):
            continue
        name = context.recording.tensor_name(tensor)
        base = re.split(r"\W", name)[0]
        file, line = facts.place(op)
        defined = facts.defined_at(base, file, line)
        if uneven:
            big, small = int(np.argmax(columns)), int(np.argmin(columns))
            said = (f"column {big} of {name} is {plain(float(columns[big]), 3)} in size, column {small} "
                    f"{plain(float(columns[small]), 3)}: one step size cannot fit both.")
        else:
            said = (f"{name} is {plain(float(values), 3)} in size (root mean square), and the gradient of its weight "
                    "grows with the square of that: the step is far too long.")
        lowest = int(np.argmin(progress.finite)) if diverges else 0
        row = min(lowest + 1, len(progress.finite) - 1) if diverges else 0
        weights = [int(facts.tensors["variable"][t]) for t in facts.inputs(op) if facts.tensors["variable"][t] != NONE]
        return [context.finding(
            "unscaled-input", "error" if diverges else "warning", "The input is not scaled",
            said[0].upper() + said[1:],
            f"Standardise it: {base or 'x'} = ({base or 'x'} - {base or 'x'}.mean(0)) / {base or 'x'}.std(0).",
            op=op, place=(file, defined or line), iteration=int(progress.iterations[row]),
            affected=(name, *context.names(weights)),
            evidence={"rms": float(values), "columns": columns[:16].tolist(), "threshold": LARGE_INPUT})]
    return []


def _stands_still(losses: Floats) -> bool:
    """Whether the loss is far from zero and has hardly moved during the second half."""
    if len(losses) < 2 * FEWEST or abs(losses[-1]) <= 0.05 * abs(losses[0]):
        return False
    middle, last = eighths(losses[len(losses) // 2:])
    return bool(np.median(last) > 0.95 * np.median(middle))


def _data(context: Context) -> list[tuple[int, int]]:
    """Constants with more than one number that meet a variable in a product, with the operation."""
    facts = context.facts
    walked = facts.walked(int(context.progress.passes[0]))
    found = []
    for op in walked[walked < facts.op_count].tolist():
        if facts.name_of(op) in kinds.LINEAR | kinds.PRODUCT:
            inputs = facts.inputs(op)
            if any(facts.tensors["variable"][t] != NONE for t in inputs):
                found += [(t, op) for t in inputs if facts.tensors["role"][t] == Role.CONSTANT and facts.shape(t)
                          and context.recording.dtype(int(facts.tensors["dtype"][t])).startswith("float")]
    return found


def _columns(context: Context, tensor: int) -> Floats:
    """Root mean square of every column, if the values were kept."""
    value = context.recording.value(tensor)
    if value is None or value.ndim != 2 or value.shape[0] < 2:
        return np.zeros(0)
    return np.asarray(np.sqrt(np.mean(np.square(value.astype(np.float64)), axis=0)))


# --- too short, or none -------------------------------------------------------------------------------------------

def update_too_small(context: Context) -> list[Finding]:
    """The gradient is there, the steps are next to nothing, and the loss stays where it is."""
    progress, updates = context.progress, context.updates
    if progress.word not in ("flat", "unknown") or len(progress.finite) < FEWEST or progress.converged:
        return []
    slowest, worst = np.inf, None
    largest: dict[int, float] = {}
    for variable in np.unique(context.gradients.variable[context.gradients.given]).tolist():
        rows = np.flatnonzero((updates.variable == variable) & (updates.size > 0))
        if len(rows) < FEWEST / 2:
            continue
        share = updates.size[rows] / np.maximum(updates.before[rows], SMALL)
        first, last = eighths(share)
        gradient = np.nanmedian(context.gradients.size[context.gradients.variable == variable])
        if not gradient > HAS_GRADIENT:
            continue
        largest[variable] = float(max(np.median(first), np.median(last)))   # warm-ups and decays to zero are meant so
        if largest[variable] < slowest:
            slowest, worst = largest[variable], variable
    if worst is None or max(largest.values()) > SHORT_STEP_WARNING:
        return []
    rate = rate_of(context, worst)
    size = float(np.nanmedian(context.gradients.size[context.gradients.variable == worst]))
    name = context.recording.variable(worst).name
    return [context.finding(
        "update-too-small", "error" if max(largest.values()) < SHORT_STEP else "warning", "The steps are too small",
        f"{name} moves by {sci(slowest)} of its size per step although its gradient is {sci(size)}: {_said(rate)} is "
        f"too small, and the loss stays at {plain(float(progress.finite[-1]))}.",
        "Use a larger learning rate (steps of about 1e-3 of the size of a variable are usual).",
        place=rate.place, iteration=int(progress.iterations[0]), affected=context.names(largest),
        evidence={"relative_step": slowest, "rate": rate.value, "threshold": SHORT_STEP})]


def var_not_updated(context: Context) -> list[Finding]:
    """A variable has a gradient and nevertheless never moves."""
    gradients, updates, progress = context.gradients, context.updates, context.progress
    last = progress.iterations[max(progress.end - 1, 0)] if len(progress.iterations) else 0
    still = []
    for variable in np.unique(gradients.variable[gradients.given]).tolist():
        rows = (gradients.variable == variable) & (gradients.size > 0) & ~gradients.bad & (gradients.iteration <= last)
        with_gradient = np.unique(gradients.iteration[rows])
        if len(with_gradient) < FEWEST or not context.recording.variable(variable).trainable:
            continue
        moved = np.unique(updates.iteration[(updates.variable == variable) & ~(updates.size == 0)])
        before = updates.before[updates.variable == variable]
        scale = float(np.nanmax(before, initial=SMALL)) if len(before) else 0.0
        if len(moved) < (1 - NOT_MOVED) * len(with_gradient) and np.median(gradients.size[rows]) > AT_REST * scale:
            still.append(variable)
    if not still:
        return []
    names = context.names(still)
    of = np.flatnonzero(updates.variable == still[0])
    tried = len(of) > 0
    others = bool(np.isin(updates.variable, still, invert=True).any())
    size = float(np.nanmedian(gradients.size[gradients.variable == still[0]]))
    rate = rate_of(context, still[0])
    if tried:
        why = (f"the step that is added is exactly 0 ({_said(rate)})" if rate.value == 0 else
               f"the step is smaller than {context.recording.variable(still[0]).dtype} can add to it")
        severity = "error" if progress.word in ("flat", "worse", "unknown") else "warning"
        fix = "Look at the learning rate and its schedule (an integer division?)." if rate.value == 0 else (
            "Keep the weights in float32, or use a larger learning rate.")
    else:
        why = "no assignment touches it between two gradient calls"
        severity = "warning" if others else "info"
        fix = f"Apply the gradient ({names[0]}.assign_sub(rate * g), or pass it to the optimizer), or leave it out."
    place = rate.place if tried else context.facts.place_of_loc(context.recording.variable(still[0]).loc)
    return [context.finding(
        "var-not-updated", severity, "A variable does not move",
        f"{names[0]} has a gradient ({sci(size)}) and stays as it is: {why}.", fix, place=place,
        iteration=int(progress.iterations[0]) if len(progress.iterations) else 0, affected=names,
        evidence={"gradient": size, "assigned": tried, "rate": rate.value})]


# --- in the wrong direction ---------------------------------------------------------------------------------------

def sign_flipped(context: Context) -> list[Finding]:
    """The steps go with the gradient, uphill, and the loss rises."""
    progress, updates = context.progress, context.updates
    if progress.word not in ("worse", "non-finite") or not len(updates.cosine):
        return []
    uphill = []
    for variable in np.unique(context.gradients.variable).tolist():
        cosines = updates.cosine[(updates.variable == variable) & np.isfinite(updates.cosine)]
        if len(cosines) >= 3 and np.median(cosines) < UPHILL:
            uphill.append(variable)
    losses = progress.finite
    if not uphill or len(losses) < 3 or losses[-1] <= losses[0]:
        return []
    row = int(np.flatnonzero(np.isin(updates.variable, uphill))[0])
    names = context.names(uphill)
    return [context.finding(
        "sign-flipped", "error", "The steps go uphill",
        f"{names[0]} is moved along its gradient, not against it, and the loss rises from {plain(float(losses[0]))} to "
        f"{plain(float(losses[-1]))}.",
        "Subtract the gradient: assign_sub. (If the target is meant to be maximised, all is well.)",
        place=context.facts.place_of_loc(int(updates.loc[row])), iteration=int(updates.iteration[row]), affected=names,
        evidence={"threshold": UPHILL})]


def loss_unbounded(context: Context) -> list[Finding]:
    """The loss runs towards minus infinity: it has no lower bound."""
    progress, facts = context.progress, context.facts
    losses = progress.finite
    if len(losses) < FEWEST or losses[-1] >= FAR_BELOW:
        return []
    early, late = -np.diff(losses[[0, len(losses) // 2, -1]])     # one that has a bound comes to rest near it
    if late < STEADILY * early or losses[-1] > FURTHER * losses[len(losses) // 2]:
        return []
    pace = "falls ever faster" if late > 1.5 * early else "falls on and on"
    scale = max(abs(float(losses[0])), 1.0)
    row = int(np.argmax(losses < -GREW * scale))
    target = int(facts.passes["target"][progress.passes[row]])
    op = facts.maker(target)
    return [context.finding(
        "loss-unbounded", "error", "The loss has no lower bound",
        f"It runs from {plain(float(losses[0]))} to {plain(float(losses[-1]))} and {pace}: the training "
        "makes numbers large instead of learning anything.",
        "Bound the loss (a softplus or hinge of each term), add a penalty on the gradient or the weights, and check "
        "its sign.",
        op=op, iteration=int(progress.iterations[row]), affected=context.names(
            context.gradients.variable[context.gradients.given][:64].tolist()),
        evidence={"first": float(losses[0]), "last": float(losses[-1]), "threshold": FAR_BELOW})]


def grad_accumulated(context: Context) -> list[Finding]:
    """Every step repeats all gradients since the beginning: a sum that is never cleared."""
    recording, updates, gradients = context.recording, context.updates, context.gradients
    found = []
    for variable in np.unique(gradients.variable[gradients.given]).tolist():
        rows = np.flatnonzero((gradients.variable == variable) & gradients.given)
        steps = np.flatnonzero((updates.variable == variable) & (updates.size > 0))
        total = None
        like_sum, like_last, lengths = [], [], []
        at = 0
        for row in rows.tolist():
            gradient = recording.value(int(gradients.tensor[row]), What.GRADIENT, int(gradients.pass_[row]))
            if gradient is None or gradient.dtype.kind != "f" or not np.isfinite(gradient).all():
                break
            wide = gradient.astype(np.float64)
            total = wide if total is None else total + wide
            while at < len(steps) and updates.iteration[steps[at]] < gradients.iteration[row]:
                at += 1
            if at >= len(steps) or updates.iteration[steps[at]] != gradients.iteration[row]:
                continue
            step = recording.value(int(updates.tensor[steps[at]]), What.UPDATE)
            if step is None:
                break
            if not total.any():
                continue
            like_sum.append(_cosine(-step, total))
            like_last.append(_cosine(-step, wide))
            lengths.append(float(np.linalg.norm(step.astype(np.float64)) / np.linalg.norm(total)))
            if len(like_sum) == FEWEST and np.mean(np.array(like_sum) > SAME_DIRECTION) < 0.5:
                break
        if len(like_sum) >= FEWEST and np.mean(np.array(like_sum) > SAME_DIRECTION) > 0.9 and (
                np.median(like_last) < 0.99) and _is_steady(lengths):
            found.append((variable, like_sum, like_last))
    if not found:
        return []
    variables = [variable for variable, _, _ in found]
    place = _accumulating_line(context)
    return [context.finding(
        "grad-accumulated", "error" if context.progress.word != "improving" else "warning",
        "Gradients are added up and never cleared",
        f"The steps of {context.recording.variable(variables[0]).name} follow the sum of all gradients since the "
        f"start (cosine {np.median(found[0][1]):.4f}), not the last one ({np.median(found[0][2]):.2f}): each step "
        "repeats all earlier ones, and the training swings.",
        "Set the sum back to zero after every step.", place=place, iteration=1, affected=context.names(variables),
        evidence={"cosine_with_sum": float(np.median(found[0][1])), "cosine_with_last": float(np.median(found[0][2]))})]


def _is_steady(lengths: list[float]) -> bool:
    """Whether steps are one and the same multiple of the sums: optimizers with a memory are not like that."""
    middle = float(np.median(lengths))
    return bool(np.median(np.abs(np.array(lengths) - middle)) < STEADY * middle)


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    a, b = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b / size) if size > 0 else 0.0


def _accumulating_line(context: Context) -> tuple[str, int]:
    """Where something that is no trained variable is added to; else where the step is made."""
    facts, assigns = context.facts, context.recording.assigns
    trained = set(context.gradients.variable.tolist())
    for assign in assigns[:256]:
        if assign["kind"] == AssignKind.ADD and int(assign["variable"]) not in trained:
            return facts.place_of_loc(int(assign["loc"]))
    return facts.place_of_loc(int(assigns["loc"][0])) if len(assigns) else ("", 0)


# --- good news ----------------------------------------------------------------------------------------------------

def converged(context: Context) -> list[Finding]:
    """Small gradients because the minimum is reached."""
    progress = context.progress
    if not progress.converged:
        return []
    losses = progress.finite
    row = int(np.argmax(np.abs(losses) < 1e-3 * abs(losses[0])))
    return [context.finding(
        "converged", "info", "The training has converged",
        f"The loss has fallen from {plain(float(losses[0]))} to {plain(float(losses[-1]))} "
        f"({percent(float(abs(losses[-1] / losses[0])))} of the start): small gradients mean that the minimum is "
        "reached.", "Stop here, or go on with a smaller learning rate.",
        iteration=int(progress.iterations[row]), evidence={"share": float(losses[-1] / losses[0])})]
