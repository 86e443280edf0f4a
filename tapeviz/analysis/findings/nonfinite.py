"""Rules about NaN and infinity: which operation made the first one that mattered, and why."""

from __future__ import annotations

import numpy as np

from tapeviz.analysis.findings import kinds
from tapeviz.analysis.findings.context import Context, counted
from tapeviz.analysis.findings.facts import ABSENT
from tapeviz.analysis.findings.finding import Finding
from tapeviz.analysis.findings.origins import Origin, domain_problem, first_entries, is_initial, origin_of
from tapeviz.analysis.format import plain, sci
from tapeviz.recording.schema import NONE, Role, TensorFlag, What

EXP_LIMIT = {"float16": 11.09, "float32": 88.72, "float64": 709.78}
LARGEST = {"float16": 65504.0, "float32": 3.4e38, "float64": 1.8e308}
EPSILON_FIX = {
    "log": "Add a small number or clip the argument (log(p + 1e-7)), or compute the loss from logits.",
    "sqrt": "Clip the argument at 0, or add a small number to it.",
    "divide": "Add a small number to the denominator, or use divide_no_nan.",
}


def nonfinite(context: Context) -> list[Finding]:
    """The first NaN or infinity that reached the loss or a gradient."""
    facts = context.facts
    if facts.harm is None:
        return _without_gradient(context)
    iteration, pass_ = facts.harm
    target = int(facts.passes["target"][pass_])
    if facts.value_bad[target]:
        origin = origin_of(facts, target)
        found = _forward(context, origin, iteration, pass_) if origin is not None else None
    else:
        found = _backward(context, pass_, iteration)
    return [found, *_spread(context)] if found is not None else _spread(context)


def _without_gradient(context: Context) -> list[Finding]:
    """Something that no gradient was asked for (any more): the program saw that its loss was lost, and stopped."""
    facts = context.facts
    last = _last_result(context)
    if last == ABSENT or not facts.value_bad[last]:
        return []
    origin = origin_of(facts, last)
    return [_forward(context, origin, facts.iteration_of(facts.maker(last)), ABSENT)] if origin is not None else []


def _last_result(context: Context) -> int:
    """What the program made of its numbers after the last gradient call, where that is known; else ABSENT.

    That is the loss, if it was computed once more where the losses before were; and the last number of all, if there
    was no gradient call, or the program ended with an error.
    """
    facts = context.facts
    own = facts.gradient_passes
    since = int(facts.passes["at_op"].max()) if len(facts.passes) else 0
    made = np.flatnonzero((facts.tensors["role"] == Role.INTERMEDIATE) & (facts.tensors["op"] < facts.op_count)
                          & (facts.tensors["op"] >= since) & (facts.tensors["flags"] & TensorFlag.INTEGER == 0))
    if not len(made):
        return ABSENT
    ops = facts.ops[facts.tensors["op"][made]]
    makers = facts.tensors["op"][facts.passes["target"][own].astype(np.int64)]
    known = np.unique(facts.ops[makers[makers < facts.op_count]][["kind", "loc"]])
    losses = made[np.isin(ops[["kind", "loc"]], known)]
    if len(losses) and facts.value_bad[losses[-1]]:
        return int(losses[-1])
    failed = context.recording.status == "failed" or any(
        event.kind == "exception" for event in context.recording.events)
    return int(made[-1]) if failed or not len(facts.passes) else ABSENT


# --- forward ------------------------------------------------------------------------------------------------------

def _forward(context: Context, origin: Origin, iteration: int, pass_: int) -> Finding:
    facts = context.facts
    if origin.op == ABSENT:
        return _bad_leaf(context, origin.tensor, iteration)
    name, op = facts.name_of(origin.op), origin.op
    began = facts.iteration_of(op)
    problem = domain_problem(facts, op)
    output = facts.stats[int(facts.value_row[origin.tensor])]
    evidence: dict[str, object] = {
        "nan": int(output["nan"]), "posinf": int(output["posinf"]), "neginf": int(output["neginf"]),
        "n": int(output["n"]), "entries": first_entries(context.recording.value(origin.tensor), "nonfinite")}
    if problem or (name in kinds.DOMAIN and not output["posinf"]):
        given = _argument_name(context, op)
        return context.finding(
            "nan-forward-domain", "error", f"{name} outside its domain",
            f"{name} was given {problem or 'an argument outside its domain'}{given} {context.at(op)}, iteration "
            f"{began}; the result holds {_what_came(output)}.",
            EPSILON_FIX.get("log" if name.startswith("log") else name,
                            "Keep the argument inside the domain: clip it or add a small number."),
            op=op, iteration=began, affected=(*_made(context, origin.tensor), *_reached(context, pass_)),
            evidence=evidence)
    return _overflow(context, origin, began, pass_, evidence)


def _overflow(context: Context, origin: Origin, iteration: int, pass_: int,
              evidence: dict[str, object]) -> Finding:
    facts, op, tensor = context.facts, origin.op, origin.tensor
    name = facts.name_of(op)
    dtype = context.recording.dtype(int(facts.tensors["dtype"][tensor])) or "float32"
    largest = [float(facts.column("max_abs", facts.value_row[[t]])[0]) for t in facts.inputs(op)
               if t < len(facts.tensors)]
    highest = [float(facts.column("max", facts.value_row[[t]])[0]) for t in facts.inputs(op)
               if t < len(facts.tensors)]
    evidence |= {"largest_inputs": largest, "limit": LARGEST.get(dtype)}
    if name in kinds.EXPONENTIAL:
        top = highest[0] if name in ("exp", "exp2", "expm1") else largest[0]
        said = f"{name}({plain(top)}) does not fit into {dtype}"
        if name != "exp2" and dtype in EXP_LIMIT:
            said += f" (the limit is {EXP_LIMIT[dtype]})"
        fix = ("Subtract the maximum before exp (log-sum-exp), or use softmax, logsumexp or a loss that takes logits; "
               "start with smaller weights.")
    else:
        sizes = " and ".join(sci(x) for x in largest if x == x) or "its arguments"
        said = f"the result of {name} (arguments up to {sizes}) does not fit into {dtype}"
        fix = "Keep the numbers small: scale the data or the weights, normalise, or lower the learning rate."
    return context.finding(
        "nan-overflow", "error", f"{name} overflows",
        f"{said[0].upper()}{said[1:]} {context.at(op)}, iteration {iteration}{_argument_name(context, op)}.", fix,
        op=op, iteration=iteration, affected=(*_made(context, tensor), *_reached(context, pass_)), evidence=evidence)


def _bad_leaf(context: Context, tensor: int, iteration: int) -> Finding:
    facts, recording = context.facts, context.recording
    record = facts.tensors[tensor]
    named = record["name"] != NONE or record["variable"] != NONE
    name = recording.tensor_name(tensor) if named else "a constant"
    users = facts.users(tensor)
    op = users[0][0] if users else ABSENT
    place = facts.place(op)
    what = "the data"
    if record["variable"] != NONE:
        variable = recording.variable(int(record["variable"]))
        place = facts.place_of_loc(variable.loc) if is_initial(facts, tensor) else place
        what = "the start value" if is_initial(facts, tensor) else "the assigned value"
    elif defined := facts.defined_at(name, *place):
        place = (place[0], defined)
    row = facts.stats[int(facts.value_row[tensor])]
    entries = first_entries(recording.value(tensor), "nonfinite")
    where = f", first at {list(entries[0])}" if entries and entries[0] else ""
    return context.finding(
        "nan-input", "error", "The data are not finite",
        f"{name} ({what}) holds {_what_came(row)} among {counted(int(row['n']), 'number')}, before anything is "
        f"computed with it{where}.",
        f"Clean it before use: find the rows with ~np.isfinite({name if name.isidentifier() else 'data'}) and drop or "
        "fill them.",
        op=op, place=place, iteration=iteration, affected=(name,),
        evidence={"nan": int(row["nan"]), "inf": int(row["posinf"]) + int(row["neginf"]), "entries": entries})


# --- backward -----------------------------------------------------------------------------------------------------

def _backward(context: Context, pass_: int, iteration: int) -> Finding | None:
    """The loss is finite and a gradient is not: the first backward step that made it so."""
    facts = context.facts
    ops, starts = facts.steps_by_pass
    for op in ops[starts[pass_]:starts[pass_ + 1]].tolist():
        outputs = np.arange(facts.ops["output"][op], facts.ops["output"][op] + facts.ops["nout"][op], dtype=np.int64)
        came = facts.cotangent_rows(np.full(len(outputs), pass_), outputs)
        inputs = facts.inputs(op)
        slots = np.arange(len(inputs))
        sent = facts.contribution_rows(np.full(len(slots), pass_), np.full(len(slots), op), slots)
        if (facts.bad[sent[sent != ABSENT]] > 0).any() and not (facts.bad[came[came != ABSENT]] > 0).any():
            return _bad_step(context, pass_, op, inputs, outputs.tolist(), iteration)
    return None


def _bad_step(context: Context, pass_: int, op: int, inputs: list[int], outputs: list[int],
              iteration: int) -> Finding:
    facts = context.facts
    name = facts.name_of(op)
    hidden = [t for t in (*inputs, *outputs) if t < len(facts.tensors) and facts.value_bad[t]]
    if hidden:
        select = _hider(context, list(facts.recording.op_outputs(op)))
        origin = origin_of(facts, hidden[0])
        if origin is not None and facts.name_of(select if select != ABSENT else op) not in kinds.SELECT:
            return _forward(context, origin, iteration, pass_)     # a bounded function, 1/inf: it only looks finite
        return _masked(context, pass_, op, hidden, select, iteration)
    zeros = [t for t in inputs if t < len(facts.tensors) and facts.column("zero", facts.value_row[[t]])[0] > 0]
    evidence: dict[str, object] = {"inputs_with_zeros": [context.recording.tensor_name(t) for t in zeros]}
    if name in kinds.SINGULAR:
        entries = first_entries(context.recording.value(zeros[0]), "zero") if zeros else []
        evidence["entries"] = entries
        where = f" (entry {list(entries[0])})" if entries and entries[0] else ""
        select = _select_after(context, outputs)
        more = (f" {facts.name_of(select).capitalize()} behind it does not help: it sends back 0, and 0 times infinity "
                "is NaN." if select != ABSENT else "")
        return context.finding(
            "nan-backward-singular", "error", f"The gradient of {name} is not finite",
            f"The loss is finite, but {kinds.SINGULAR[name]}, and that is where it was evaluated{where} "
            f"{context.at(op)}, iteration {iteration}.{more}",
            _singular_fix(name), op=op, iteration=iteration, affected=_reached(context, pass_), evidence=evidence)
    came = facts.cotangent_rows(np.array([pass_]), np.array(outputs[:1], np.int64))
    size = float(facts.column("max_abs", came)[0])
    return context.finding(
        "nan-overflow", "error", "A gradient overflows",
        f"The loss is finite, but the backward step of {name} {context.at(op)} made numbers that do not fit "
        f"(the gradient that came in was up to {sci(size)}), iteration {iteration}.",
        "Clip the gradients, lower the learning rate, or scale the loss and the weights down.",
        op=op, iteration=iteration, affected=_reached(context, pass_), evidence=evidence)


def _masked(context: Context, pass_: int, op: int, hidden: list[int], select: int, iteration: int) -> Finding:
    facts = context.facts
    origin = origin_of(facts, hidden[0])
    maker = origin.op if origin is not None and origin.op != ABSENT else op
    chooser = facts.name_of(select) if select != ABSENT else facts.name_of(op)
    problem = domain_problem(facts, maker) or "what it cannot take"
    name = facts.name_of(maker)
    return context.finding(
        "nan-masked-branch", "error", f"{chooser} hides a NaN from the value, not from the gradient",
        f"The loss is finite because {chooser} {context.at(select)} does not choose the bad entries, but the gradient "
        f"still goes through {name} {context.at(maker)}, which was given {problem}: 0 times infinity is NaN "
        f"(iteration {iteration}).",
        f"Make the argument safe before {name}: y = where(ok, x, 1); where(ok, {name}(y), 0).",
        op=select if select != ABSENT else op, iteration=iteration,
        affected=(*_made(context, hidden[0]), *_reached(context, pass_)),
        evidence={"hidden_in": context.recording.tensor_name(hidden[0]), "made_by": name,
                  "made_at_line": facts.place(maker)[1]})


def _hider(context: Context, tensors: list[int]) -> int:
    """The first operation downstream whose result is finite although its input is not."""
    facts = context.facts
    seen, queue = set(tensors), list(tensors)
    while queue:
        tensor = queue.pop(0)
        for user, _ in facts.users(tensor):
            outputs = list(facts.recording.op_outputs(user))
            if facts.value_bad[tensor] and outputs and not any(facts.value_bad[t] for t in outputs):
                return user
            fresh = [t for t in outputs if t not in seen and t < len(facts.tensors)]
            seen.update(fresh)
            queue.extend(fresh)
    return ABSENT


def _select_after(context: Context, outputs: list[int]) -> int:
    """An operation that chooses and reads one of these tensors directly."""
    facts = context.facts
    for tensor in outputs:
        for user, slot in facts.users(tensor):
            if facts.name_of(user) == "where" and slot > 0:
                return user
    return ABSENT


def _singular_fix(name: str) -> str:
    if name in ("arcsin", "arccos", "arctanh"):
        return f"Keep the argument of {name} away from -1 and 1: clip it to (-1 + 1e-6, 1 - 1e-6)."
    if name in ("norm", "std", "hypot"):
        return "Write it as sqrt(sum of squares + 1e-12), or choose a safe argument with where before it."
    return f"Add a small number before {name} (for example {name}(x + 1e-9)), or choose a safe argument with where."


# --- what follows -------------------------------------------------------------------------------------------------

def _spread(context: Context) -> list[Finding]:
    """Which variables became NaN, and when."""
    facts = context.facts
    versions = np.flatnonzero((facts.tensors["role"] == Role.VARIABLE) & facts.value_bad)
    if not len(versions):
        return []
    variables = facts.tensors["variable"][versions]
    names = context.names(np.unique(variables).tolist())
    assigns = facts.recording.assigns
    at = np.flatnonzero(np.isin(assigns["tensor"], versions))
    if not len(at):
        return []
    iteration = int(facts.iteration_of_assigns[at[0]])
    shown = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    return [context.finding(
        "nan-spread", "error", "Variables have become NaN",
        f"Since iteration {iteration} {shown} {'are' if len(names) > 1 else 'is'} not finite: nothing that is "
        "computed afterwards means anything.",
        "Repair the cause and start again: a variable that is NaN stays NaN.",
        place=facts.place_of_loc(int(assigns["loc"][at[0]])), iteration=iteration, affected=names,
        evidence={"variables": len(names)})]


def _made(context: Context, tensor: int) -> tuple[str, ...]:
    name = context.facts.tensors["name"][tensor]
    return (context.recording.name(int(name)),) if name != NONE else ()


def _reached(context: Context, pass_: int) -> tuple[str, ...]:
    """Variables whose gradient in this call is not finite."""
    facts = context.facts
    rows = np.flatnonzero((facts.stats["what"] == What.GRADIENT) & (facts.stats["pass"] == pass_) & (facts.bad > 0))
    return tuple(dict.fromkeys(context.recording.tensor_name(t) for t in facts.stats["tensor"][rows].tolist()))


def _argument_name(context: Context, op: int) -> str:
    """" (p)" if the program calls the argument so."""
    for tensor in context.facts.inputs(op)[-1:]:
        if tensor < len(context.facts.tensors) and context.facts.tensors["name"][tensor] != NONE:
            return f" ({context.recording.name(int(context.facts.tensors['name'][tensor]))})"
    return ""


def _what_came(output: np.void) -> str:
    parts = [f"{int(output[field])} {word}" for field, word in (("nan", "NaN"), ("neginf", "-Inf"), ("posinf", "Inf"))
             if output[field]]
    return " and ".join(parts)
