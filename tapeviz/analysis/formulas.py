"""The formulas of an operation with the user's names: what it computed, and its rule per argument."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tapeviz.analysis.format import shape_text
from tapeviz.analysis.index import remembered
from tapeviz.analysis.names import barred, latex_name, substitute, tensor_latex, tensor_text, tidy_bars
from tapeviz.recording.reader import Recording
from tapeviz.recording.rows import Kind

_INFIX = {
    "matmul": "@", "add": "+", "subtract": "-", "sub": "-", "multiply": "*", "mul": "*", "divide": "/", "div": "/",
    "true_divide": "/", "power": "**", "pow": "**",
}
# A gradient (\\bar y) or a plain letter, not inside a command, and whether it is transposed.
_SYMBOL = re.compile(
    r"(\\bar\s*\{?\s*([A-Za-z][A-Za-z0-9]*)\}?|(?<![\\A-Za-z])([A-Za-z][A-Za-z0-9]*))"
    r"(\s*\^\s*\{?\s*(?:\\top|\\mathsf\s*\{?\s*T|T\b))?")
_LEFT_SIDE = re.compile(r"\s*([A-Za-z])(?:_\{?\w+\}?)?\s*=")
_MANY = "xs"      # the argument of ops that take any number of tensors


@dataclass(frozen=True, slots=True)
class Rule:
    """The vector-Jacobian product of one argument, with the user's names.

    argument: what the user calls the operand; shapes: "[4,5] += [4,4] · [4,5]"
    latex: r"\\bar{h}_{8} += \\bar{Y}\\,W_{9}^\\top"; empty when the op has no formula for it
    """

    slot: int
    argument: str
    latex: str
    shapes: str


def result_symbol(kind: Kind) -> str:
    """The letter that stands for the result in an op's formulas."""
    left = _LEFT_SIDE.match(kind.formula)
    return left[1] if left and left[1] not in kind.arguments else "y"


@dataclass(frozen=True, slots=True)
class Letters:
    """What stands for the tensors of an op in its formulas.

    operands, outputs: in LaTeX, without bars; replaced: for every letter of the table's formulas what stands instead
    """

    operands: tuple[str, ...]
    outputs: tuple[str, ...]
    replaced: dict[str, str]


@remembered
def letters(recording: Recording, op: int) -> Letters:
    """The user's names where there are any; the table's letters for nameless tensors, but never one that is taken.

    A formula may write a matrix large where the argument's name is small.
    """
    kind = recording.kind(int(recording.ops["kind"][op]))
    inputs, results = recording.op_inputs(op), list(recording.op_outputs(op))
    symbol = result_symbol(kind)
    own = [tensor_latex(recording, tensor, "") for tensor in (*inputs, *results)]
    wanted = [_written(kind, slot) for slot in range(len(inputs))]
    wanted += [symbol if i == 0 else f"{symbol}_{{{i + 1}}}" for i in range(len(results))]
    taken = {name for name in own if name}
    given: dict[int, str] = {}      # one name per tensor, even where it is two operands
    chosen = []
    for tensor, name, letter in zip((*inputs, *results), own, wanted, strict=True):
        if tensor not in given:
            given[tensor] = name or _free(letter, taken)
            taken.add(given[tensor])
        chosen.append(given[tensor])
    replaced = {}
    if kind.arguments != (_MANY,):
        replaced = {_written(kind, slot): chosen[slot] for slot in range(min(len(inputs), len(kind.arguments)))}
    if results:
        replaced[symbol] = chosen[len(inputs)]
    return Letters(tuple(chosen[:len(inputs)]), tuple(chosen[len(inputs):]), replaced)


def _written(kind: Kind, slot: int) -> str:
    """The letter of an argument as the formulas write it."""
    if slot >= len(kind.arguments) or kind.arguments == (_MANY,):
        return f"x_{{{slot + 1}}}"
    letter = kind.arguments[slot]
    if len(letter) > 1:
        return latex_name(letter)
    return letter.upper() if not _has(kind.formula, letter) and _has(kind.formula, letter.upper()) else letter


def _has(formula: str, letter: str) -> bool:
    return any(letter in (match[2], match[3]) for match in _SYMBOL.finditer(formula))


def _free(letter: str, taken: set[str]) -> str:
    if letter not in taken:
        return letter
    spare = "UVPQRS" if letter[:1].isupper() else "uvpqrs"
    return next((other for other in spare if other not in taken), f"{letter}'")


def formula(recording: Recording, op: int) -> str:
    """LaTeX of what the op computed, as an equation; empty when the op has no formula."""
    kind = recording.kind(int(recording.ops["kind"][op]))
    if not kind.formula:
        return ""
    named = letters(recording, op)
    right = substitute(kind.formula, named.replaced)
    left = _LEFT_SIDE.match(kind.formula)
    if (left and left[1] not in kind.arguments) or not named.outputs:
        return right
    return f"{named.outputs[0]} = {right}"


def rule(recording: Recording, op: int, slot: int) -> Rule:
    """The rule by which the op's backward step serves one argument."""
    kind = recording.kind(int(recording.ops["kind"][op]))
    tensor = recording.op_inputs(op)[slot]
    vjp = kind.vjps[slot] if slot < len(kind.vjps) else ""
    if kind.arguments == (_MANY,) and kind.vjps:
        vjp = kind.vjps[0]
    latex = ""
    if vjp:
        named = letters(recording, op)
        latex = f"{barred(named.operands[slot])} += {tidy_bars(substitute(vjp, named.replaced))}"
    return Rule(slot, tensor_text(recording, tensor), latex, _shapes(recording, op, slot, kind, vjp))


def _shape(recording: Recording, tensor: int) -> tuple[int, ...]:
    return recording.shape(int(recording.tensors["shape"][tensor])) if tensor < len(recording.tensors) else ()


def _shapes(recording: Recording, op: int, slot: int, kind: Kind, vjp: str) -> str:
    """Shapes of the receiving gradient and of what its rule multiplies, in the order of the formula."""
    inputs = recording.op_inputs(op)
    outputs = recording.op_outputs(op)
    out = _shape(recording, outputs[0]) if outputs else ()
    by_letter: dict[str, tuple[int, ...]] = {}
    for argument, tensor in zip(kind.arguments, inputs, strict=False):
        by_letter[argument] = by_letter[argument.upper()] = _shape(recording, tensor)
    factors = []
    seen = set()
    for match in _SYMBOL.finditer(vjp):
        letter = match[2] or match[3]
        shape = out if match[2] else by_letter.get(letter)
        if letter == result_symbol(kind):
            shape = out
        if shape is None or match[1] in seen:
            continue
        seen.add(match[1])
        factors.append(shape_text((*shape[:-2], *reversed(shape[-2:])) if match[4] else shape))
    return f"{shape_text(_shape(recording, inputs[slot]))} += {' · '.join(factors or [shape_text(out)])}"


def title(recording: Recording, op: int) -> str:
    """"matmul  h8 @ W9", "sigmoid  z"."""
    name = recording.op_name(op)
    operands = [tensor_text(recording, tensor) for tensor in recording.op_inputs(op)]
    sign = _INFIX.get(name)
    text = f" {sign} ".join(operands) if sign and len(operands) == 2 else ", ".join(operands[:4])
    more = ", ..." if len(operands) > 4 else ""
    return f"{name}  {text}{more}".rstrip()
