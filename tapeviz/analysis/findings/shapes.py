"""Rules about the structure of the computation: visible in the very first iteration, without any statistics."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from tapeviz.analysis.findings import kinds
from tapeviz.analysis.findings.context import Context
from tapeviz.analysis.findings.facts import ABSENT
from tapeviz.analysis.findings.finding import Finding
from tapeviz.analysis.format import shape_text
from tapeviz.recording.schema import NONE, OpFlag, Role

GROWING_FOR = 10       # so many gradient calls in a row, each longer than the one before
GROWN = 3.0
_SOFTMAXES = {"softmax": 0, "log_softmax": 0, **kinds.CROSS_ENTROPY}


def _one_per_line(context: Context, names: frozenset[str]) -> Iterator[int]:
    """The first recorded operation of these kinds on every line, for every shape of its result."""
    facts = context.facts
    wanted = facts.is_kind(names) & (facts.ops["flags"] & OpFlag.RECORDED > 0)
    wanted[facts.op_count:] = False
    ops = np.flatnonzero(wanted)
    outputs = facts.ops["output"][ops]
    keys = facts.ops["loc"][ops].astype(np.int64) << 32 | facts.tensors["shape"][outputs]
    yield from ops[np.sort(np.unique(keys, return_index=True)[1])].tolist()


# --- normalisers over a single number -----------------------------------------------------------------------------

def constant_normaliser(context: Context) -> list[Finding]:
    """A softmax over one number, or a mean over one number that is then subtracted: the result is a constant."""
    facts = context.facts
    for op in _one_per_line(context, frozenset(_SOFTMAXES) - {"sigmoid_cross_entropy"}):
        name = facts.name_of(op)
        shape = facts.shape(facts.inputs(op)[_SOFTMAXES[name]])
        axis = context.recording.op_attrs(op).get("axis", -1)
        if shape and isinstance(axis, int) and -len(shape) <= axis < len(shape) and shape[axis] == 1:
            return [_constant(context, op, f"{name} over a single number is always "
                              f"{'0' if 'log' in name or 'entropy' in name else '1'}, whatever its argument: its shape "
                              f"is {shape_text(shape)}, and the axis has length 1.",
                              "For one output use sigmoid (with sigmoid_cross_entropy as the loss), or give the last "
                              "layer one output per class.")]
    for op in _one_per_line(context, frozenset({"mean"})):
        source = facts.inputs(op)[0]
        shape = facts.shape(source)
        output = int(facts.ops["output"][op])
        if np.prod(shape) > 1 and np.prod(facts.shape(output)) == np.prod(shape):
            for user, _ in facts.users(output):
                if facts.name_of(user) == "subtract" and source in facts.inputs(user):
                    return [_constant(context, user, f"The mean {context.at(op)} is taken over a single number (shape "
                                      f"{shape_text(shape)}), so that subtracting it leaves 0, whatever the input.",
                                      "Use batches of more than one, or normalise over another axis (layer norm).")]
    return []


def _constant(context: Context, op: int, message: str, fix: str) -> Finding:
    severity = "warning" if context.progress.word == "improving" else "error"
    return context.finding("constant-normaliser", severity, "The result does not depend on the input", message, fix,
                           op=op, iteration=context.facts.iteration_of(op),
                           affected=context.names(_trained(context)))


def _trained(context: Context) -> list[int]:
    given = context.gradients.variable[context.gradients.given]
    return list(dict.fromkeys(given[:64].tolist()))


# --- losses that compare everything with everything ---------------------------------------------------------------

def loss_broadcast(context: Context) -> list[Finding]:
    """Prediction (N, 1) against target (N,): the difference is N x N."""
    facts = context.facts
    for op in _one_per_line(context, kinds.DIFFERENCE | {"mean_squared_error", "huber"}):
        tensors = facts.inputs(op)
        left, right = (facts.shape(t) for t in tensors[:2])
        whole = np.broadcast_shapes(left, right)
        if len(whole) != 2 or whole[0] != whole[1] or whole[0] < 2 or {left, right} & {whole}:
            continue
        flat, column = (left, right) if len(left) == 1 or left[:1] == (1,) else (right, left)
        if column != (whole[0], 1) or flat not in ((whole[0],), (1, whole[0])) or _same_origin(context, tensors):
            continue
        if not _is_reduced(context, op):
            continue
        n = whole[0]
        return [context.finding(
            "loss-broadcast", "error" if context.progress.word != "improving" else "warning",
            "Every prediction is compared with every target",
            f"{shape_text(left)} and {shape_text(right)} make {shape_text(whole)} {context.at(op)}: each of the {n} "
            f"predictions is compared with all {n} targets, so that the best the model can do is predict their mean.",
            "Give both the same shape: target[:, None] or prediction[:, 0].", op=op,
            iteration=facts.iteration_of(op), affected=context.names(_trained(context)),
            evidence={"left": left, "right": right, "result": whole})]
    return []


def _same_origin(context: Context, tensors: list[int]) -> bool:
    """Whether two operands are forms of the same tensor (pairwise distances are meant to be pairwise)."""
    roots = []
    for tensor in tensors[:2]:
        while True:
            op = context.facts.maker(tensor)
            if op == ABSENT or context.facts.name_of(op) not in kinds.TRANSPARENT:
                break
            tensor = context.facts.inputs(op)[0]
        roots.append(tensor)
    return roots[0] == roots[1]


def _is_reduced(context: Context, op: int) -> bool:
    """Whether the result goes, element by element, into a mean or sum and nothing else."""
    facts = context.facts
    if facts.name_of(op) in ("mean_squared_error", "huber"):
        return True
    queue = list(facts.recording.op_outputs(op))
    for _ in range(8):
        users = [user for tensor in queue for user, _ in facts.users(tensor)]
        if any(facts.name_of(user) in ("mean", "sum") for user in users):
            return True
        queue = [t for user in users if facts.name_of(user) in kinds.ELEMENTWISE_ERROR
                 for t in facts.recording.op_outputs(user)]
    return False


# --- two activations in a row -------------------------------------------------------------------------------------

def loss_activation_mismatch(context: Context) -> list[Finding]:
    """The output of a softmax (or sigmoid) goes into a loss that applies it again."""
    facts = context.facts
    for op in _one_per_line(context, frozenset(kinds.CROSS_ENTROPY)):
        name = facts.name_of(op)
        logits = facts.inputs(op)[kinds.CROSS_ENTROPY[name]]
        maker = facts.maker(logits)
        while maker != ABSENT and facts.name_of(maker) in kinds.TRANSPARENT:
            maker = facts.maker(facts.inputs(maker)[0])
        if maker == ABSENT or facts.name_of(maker) not in ("softmax", "sigmoid", "relu", "log_softmax"):
            continue
        first = facts.name_of(maker)
        if first == "log_softmax":
            continue
        again = "sigmoid" if name.startswith("sigmoid") else "softmax"
        classes = facts.shape(logits)[-1] if facts.shape(logits) else 1
        floor = ""
        if first == again == "softmax" and classes > 1:
            least = np.log1p((classes - 1) / np.e)
            floor = f" With {classes} classes the loss cannot fall below {least:.2f}."
        said = (f"{again} is applied twice: {context.at(maker)} and again inside {name} {context.at(op)}."
                if first == again else
                f"{first} {context.at(maker)} limits what {name} {context.at(op)} is given, which expects any number.")
        return [context.finding(
            "loss-activation-mismatch", "warning", "The loss expects logits and gets the output of an activation",
            said[0].upper() + said[1:] + floor, f"Give {name} the numbers before {first}.", op=maker,
            iteration=facts.iteration_of(maker), affected=context.names(_trained(context)),
            evidence={"activation": first, "loss": name, "loss_line": facts.place(op)[1]})]
    return []


# --- tapes --------------------------------------------------------------------------------------------------------

def tape_growth(context: Context) -> list[Finding]:
    """The backward pass walks through more operations in every iteration."""
    facts = context.facts
    passes = context.progress.passes
    if len(passes) < GROWING_FOR + 1:
        return []
    _, starts = facts.steps_by_pass
    counts = np.diff(starts)[passes]
    recent = counts[-GROWING_FOR - 1:]
    if not (np.diff(recent) > 0).all() or counts[-1] <= GROWN * max(counts[0], 1):
        return _entered_again(context)
    first = int(np.argmax(counts > counts[0]))
    number = int(facts.passes["tape"][passes[first]])
    reused = number != NONE and number == int(facts.passes["tape"][passes[0]])
    place, name = _tape_of(context, number)
    said = (f"The same tape ({name or 'it'}, made at line {place[1]}) is used for the whole run" if reused else
            "A tensor of earlier iterations is still connected")
    return [context.finding(
        "tape-growth", "warning" if context.progress.word == "improving" else "error",
        "Each iteration also differentiates all earlier ones",
        f"{said}: the backward pass walks through {counts[0]} operations in the first iteration, {counts[-1]} in "
        f"iteration {int(context.progress.iterations[-1])}. Time and memory grow with every step, and the gradient is "
        "that of all steps together.",
        "Open a new tape in every iteration; carry numbers over with stop_gradient or float().",
        place=place, iteration=int(context.progress.iterations[first]), affected=(name,) if name else (),
        evidence={"first": int(counts[0]), "last": int(counts[-1])})]


def _tape_of(context: Context, number: int) -> tuple[tuple[str, int], str]:
    """Where a tape is made, and its name if it has one before it is entered."""
    facts = context.facts
    if not 0 <= number < len(facts.recording.tapes):
        return ("", 0), ""
    place = facts.place_of_loc(int(facts.recording.tapes["loc"][number]))
    entered = re.search(r"with\s+([A-Za-z_]\w*)\s*(?::|,|as)", facts.source_line(*place))
    if not entered:
        return place, ""
    return (place[0], facts.defined_at(entered[1], *place) or place[1]), entered[1]


def _entered_again(context: Context) -> list[Finding]:
    """One tape that is entered in every iteration and keeps what it recorded, though the gradients do not need it."""
    facts, progress = context.facts, context.progress
    used = facts.passes["tape"][progress.passes]
    tapes = facts.recording.tapes
    for number in np.unique(used[used < len(tapes)]).tolist():
        iterations = np.unique(progress.iterations[used == number])
        if not tapes["persistent"][number] or tapes["entered"][number] <= GROWING_FOR or len(iterations) <= GROWING_FOR:
            continue
        place, name = _tape_of(context, number)
        if any(f"{name}.reset(" in line for line in facts.source_lines.get(place[0], [])):
            continue
        return [context.finding(
            "tape-growth", "warning", "One tape records the whole run",
            f"The same persistent tape ({name or 'it'}, made at line {place[1]}) is entered "
            f"{int(tapes['entered'][number])} times, in iterations {int(iterations[0])} to {int(iterations[-1])}, and "
            "keeps all that it has recorded: memory grows with every step.",
            "Open a new tape in every iteration (with gt.GradientTape() as tape:), or call its reset().",
            place=place, iteration=int(iterations[0]), affected=(name,) if name else (),
            evidence={"entered": int(tapes["entered"][number]), "threshold": GROWING_FOR})]
    return []


# --- start values -------------------------------------------------------------------------------------------------

def symmetric_init(context: Context) -> list[Finding]:
    """The units of a hidden layer start equal and stay equal."""
    facts, recording = context.facts, context.recording
    same = []
    for variable in _trained(context):
        shape = recording.variable(variable).shape
        versions = np.flatnonzero((facts.tensors["variable"] == variable) & (facts.tensors["role"] == Role.VARIABLE))
        if len(shape) != 2 or min(shape) < 2 or len(versions) < 2:
            continue
        first = recording.value(int(versions[0]))
        kept = next((value for t in versions[:0:-1].tolist() if (value := recording.value(t)) is not None), None)
        if first is None or kept is None or not (_equal_columns(first) and _equal_columns(kept)):
            continue
        if _feeds_a_layer(context, variable):
            same.append(variable)
    if not same:
        return []
    names = context.names(same)
    start = recording.variable(same[0])
    zero = bool((np.asarray(recording.value(_first_version(context, same[0]))) == 0).all())
    return [context.finding(
        "symmetric-init", "error" if context.progress.fell > 0.5 else "warning",
        "All units of a layer are copies of each other",
        f"The {start.shape[1]} columns of {names[0]} start {'at zero' if zero else 'equal'} and are still equal at "
        f"the end: every unit gets the same gradient, so that {start.shape[1]} units can do no more than one.",
        "Start with random numbers, for example rng.normal(0, (2 / inputs) ** 0.5, shape).",
        place=facts.place_of_loc(start.loc), affected=names, evidence={"units": start.shape[1], "all_zero": zero})]


def _first_version(context: Context, variable: int) -> int:
    tensors = context.facts.tensors
    return int(np.flatnonzero((tensors["variable"] == variable) & (tensors["role"] == Role.VARIABLE))[0])


def _equal_columns(value: np.ndarray) -> bool:
    wide = np.asarray(value, np.float64)
    spread = np.abs(wide - wide[:, :1]).max()
    return bool(spread <= 1e-6 * max(float(np.abs(wide).max()), 1e-30))


def _feeds_a_layer(context: Context, variable: int) -> bool:
    """Whether the layer of this variable is followed by another one."""
    facts = context.facts
    tensor = _first_version(context, variable)
    seen, queue = {tensor}, [tensor]
    first = True
    while queue:
        following = []
        for current in queue:
            for user, _ in facts.users(current):
                if not first and facts.name_of(user) in kinds.LINEAR:
                    return True
                following += [t for t in facts.recording.op_outputs(user)
                              if t not in seen and facts.ops["flags"][user] & OpFlag.RECORDED]
        seen.update(following)
        queue, first = following, False
    return False
