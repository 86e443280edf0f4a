"""What things are called: in plain text for lists and boxes, in LaTeX for formulas."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tapeviz.recording.reader import Recording
from tapeviz.recording.schema import NONE, Role

_GREEK = frozenset({
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi",
    "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi",
    "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega",
})
# Commands whose argument is text: letters inside are no variables.
_TEXT = r"\\(?:mathrm|text|operatorname\*?|mathtt|textrm|mathbf)\s*\{[^{}]*\}"
_TOKEN = re.compile(rf"{_TEXT}|\\[A-Za-z]+|\\.|[A-Za-z][A-Za-z0-9]*|.", re.DOTALL)
_NUMBERED = re.compile(r"([A-Za-z]+?)_?(\d+)\Z")
_BARRED_NUMBER = re.compile(r"\\bar\{([A-Za-z]|\\[A-Za-z]+|\\mathrm\{[^{}]*\})_\{([^{}]*)\}\}")
_GROUP = r"\{((?:[^{}]|\{[^{}]*\})*)\}"      # braces, with braces inside
_TWO_INDICES = re.compile(rf"_{_GROUP}_(?:{_GROUP}|(\w))")
_INDEXED = re.compile(r"([A-Za-z_]\w*)\[(\d+)\]\Z")


def own_name(recording: Recording, tensor: int) -> str:
    """The name the user gave to a tensor (or to its variable); "" when it has none."""
    if not 0 <= tensor < len(recording.tensors):
        return ""
    row = recording.tensors[tensor]
    if int(row["name"]) != NONE:
        return recording.name(int(row["name"]))
    return recording.variable(int(row["variable"])).name if int(row["variable"]) != NONE else ""


def is_number(name: str) -> bool:
    """Whether a name is a number written in the program: not a name to look things up by."""
    try:
        float(name)
    except ValueError:
        return False
    return True


def op_number(recording: Recording, op: int) -> int:
    """Position of an op within its iteration, from 1: the number that lists and cards show."""
    return op - recording.ops_of(recording.iteration_of(op)).start + 1


def tensor_text(recording: Recording, tensor: int) -> str:
    """The user's name, else the op that made it and its number ("matmul 25"), else what it is ("constant")."""
    name = own_name(recording, tensor)
    if name or not 0 <= tensor < len(recording.tensors):
        return name or "?"
    row = recording.tensors[tensor]
    maker = int(row["op"])
    if maker < len(recording.ops):
        nth = tensor - int(recording.ops["output"][maker])
        text = f"{recording.op_name(maker)} {op_number(recording, maker)}"
        return f"{text}.{nth + 1}" if int(recording.ops["nout"][maker]) > 1 else text
    role = int(row["role"])
    return Role(role).name.lower() if role in Role._value2member_map_ else "tensor"


def tensor_latex(recording: Recording, tensor: int, fallback: str) -> str:
    """The user's name as LaTeX, else `fallback` (the name of the argument in the op's own formula)."""
    name = own_name(recording, tensor)
    return latex_name(name) if name else fallback


def latex_name(name: str) -> str:
    """A name from a program as LaTeX: "h8" is h_{8}, "sigma" the letter, "dense_1/kernel" upright text."""
    if is_number(name):
        return name
    leaf = name.rsplit("/", 1)[-1].removesuffix(":0")
    indexed = _INDEXED.fullmatch(leaf)
    if indexed:
        return f"{latex_name(indexed[1])}_{{{indexed[2]}}}"
    numbered = _NUMBERED.fullmatch(leaf)
    if numbered:
        return f"{_letters(numbered[1])}_{{{numbered[2]}}}"
    if len(leaf) == 2 and leaf[0].isupper() and leaf[1].islower():      # Wx, Wh: a matrix and what it is for
        return f"{leaf[0]}_{{{leaf[1]}}}"
    return _letters(leaf)


def _letters(word: str) -> str:
    if len(word) == 1 and word.isalpha():
        return word
    if word in _GREEK:
        return f"\\{word}"
    escaped = re.sub(r"[\\{}$&#^~%]", "", word).replace("_", r"\_")
    return f"\\mathrm{{{escaped}}}" if escaped else "x"


def substitute(formula: str, names: Mapping[str, str]) -> str:
    """An op's LaTeX formula with its arguments' names replaced by those of the operands.

    Only whole identifiers are replaced: a letter inside a command (`\\max`) or inside upright text stays.  A run of
    letters is one identifier if an argument is called so, else each letter is one, as LaTeX sets them.
    """
    pieces: list[str] = []
    for token in _TOKEN.findall(formula):
        if token in names:
            _put(pieces, names[token])
        elif token[0].isalpha():
            for letter in token:
                if letter in names:
                    _put(pieces, names[letter])
                else:
                    pieces.append(letter)
        else:
            pieces.append(token)
    return _one_index("".join(pieces))


def _one_index(formula: str) -> str:
    """Two indices after each other (a number of the name, an index of the formula) are one: h_{8,k}."""
    return _TWO_INDICES.sub(lambda m: f"_{{{m[1]},{m[2] or m[3]}}}", formula)


def _put(pieces: list[str], name: str) -> None:
    """Append a name, in braces where LaTeX would otherwise take only its first letter."""
    i = len(pieces) - 1
    while i >= 0 and not pieces[i].strip():
        i -= 1
    before = pieces[i] if i >= 0 else ""
    if before in ("^", "_", r"\bar", r"\hat", r"\tilde", r"\sqrt") and len(name) > 1:
        del pieces[i + 1:]
        pieces.append(f"{{{name}}}")
    elif re.fullmatch(r"\\[A-Za-z]+", before) and i == len(pieces) - 1 and name[:1].isalpha():
        pieces.append(f" {name}")
    else:
        pieces.append(name)


def barred(latex: str) -> str:
    """A gradient's name: the bar stands over the letter, not over its number."""
    return _BARRED_NUMBER.sub(r"\\bar{\1}_{\2}", f"\\bar{{{latex}}}")


def tidy_bars(formula: str) -> str:
    """The same for every gradient in a formula."""
    return _one_index(_BARRED_NUMBER.sub(r"\\bar{\1}_{\2}", formula))
