"""The filter of the operation table: words, and conditions such as `grad<1e-8`, `line:42`, `shape:*,64`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from tapeviz.analysis.magnitude import OK, Special
from tapeviz.analysis.opcolumns import OpRows

_CONDITION = re.compile(r"(grad|value|us|step|line|op|number|iteration)(<=|>=|!=|<|>|=)(.*)\Z", re.IGNORECASE)
_FIELD = re.compile(r"(op|output|line|shape|file|health|step|number|iteration):(.+)\Z", re.IGNORECASE)
_WORDS = {"nan": Special.NAN, "zero": Special.ZERO, "none": Special.NONE, "underflow": Special.UNDERFLOW}
_RANGE = re.compile(r"(\d+)(?:-(\d+))?\Z")


@dataclass(frozen=True, slots=True)
class Filtered:
    """Which rows match; `problem` says which part of the text was not understood (it matches nothing)."""

    mask: np.ndarray
    problem: str = ""


def filter_rows(rows: OpRows, text: str) -> Filtered:
    """The rows that match every part of the text (parts are separated by blanks).

    A bare word is looked for in op, output, file:line and shape.  Fields: op: output: file: line: shape: step: number:
    iteration: health:.  Numbers: grad value us step line with < <= > >= = !=; `grad=nan`, `grad=zero`, `grad=none`.
    """
    mask = np.ones(len(rows), dtype=bool)
    for part in text.split():
        found = _matches(rows, part)
        if found is None:
            return Filtered(np.zeros(len(rows), dtype=bool), f"not understood: {part}")
        mask &= found
    return Filtered(mask)


def _matches(rows: OpRows, part: str) -> np.ndarray | None:
    condition = _CONDITION.match(part)
    if condition and condition[1].lower() != "op":
        return _compare(rows, condition[1].lower(), condition[2], condition[3])
    if condition:
        same = _by_text(rows.name, rows.names, lambda t: t == condition[3].lower())
        return {"=": same, "!=": np.asarray(~same)}.get(condition[2])
    field = _FIELD.match(part)
    if field:
        return _in_field(rows, field[1].lower(), field[2].lower())
    return _anywhere(rows, part.lower())


def _compare(rows: OpRows, what: str, operator: str, operand: str) -> np.ndarray | None:
    codes = {"grad": rows.code, "value": rows.value_code}.get(what)
    word = operand.lower()
    if codes is not None and (word in _WORDS or word == "inf") and operator in ("=", "!="):
        if word == "inf":
            hit = (codes == Special.POSINF.value) | (codes == Special.NEGINF.value)
        else:
            hit = codes == _WORDS[word].value
        return np.asarray(~hit if operator == "!=" else hit)
    try:
        number = float(operand)
    except ValueError:
        return None
    column = {"grad": rows.grad, "value": rows.value, "us": rows.duration / 1e3, "step": rows.step, "line": rows.line,
              "number": rows.number, "iteration": rows.iteration}[what].astype(float)
    if codes is not None:
        # zero and underflow are numbers to a comparison; NaN, Inf, None and what was not captured never match
        usable = (codes == OK) | (codes == Special.ZERO.value) | (codes == Special.UNDERFLOW.value)
    else:
        usable = rows.step > 0 if what == "step" else np.ones(len(rows), dtype=bool)
    compare = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "=": np.equal,
               "!=": np.not_equal}[operator]
    return np.asarray(usable & compare(column, number))


def _in_field(rows: OpRows, field: str, wanted: str) -> np.ndarray | None:
    if field in ("line", "step", "number", "iteration"):
        span = _RANGE.match(wanted)
        if not span:
            return None
        column = getattr(rows, field)
        return np.asarray((column >= int(span[1])) & (column <= int(span[2] or span[1])))
    if field == "shape":
        return _by_text(rows.shape, rows.shapes, lambda t: _shape_like(t, wanted))
    if field == "health":
        words = [rows.word(i).lower() for i in range(len(rows))]
        return np.array([word.startswith(wanted) for word in words], dtype=bool)
    column, texts = {"op": (rows.name, rows.names), "output": (rows.output, rows.outputs),
                     "file": (rows.file, rows.files)}[field]
    return _by_text(column, texts, lambda t: _like(t, wanted))


def _anywhere(rows: OpRows, word: str) -> np.ndarray:
    found = np.zeros(len(rows), dtype=bool)
    for column, texts in ((rows.name, rows.names), (rows.output, rows.outputs), (rows.shape, rows.shapes)):
        found |= _by_text(column, texts, lambda t: _like(t, word))
    file, colon, line = word.rpartition(":")
    if colon and line.isdecimal():
        found |= _by_text(rows.file, rows.files, lambda t: t.endswith(file)) & (rows.line == int(line))
    elif word.isdecimal():
        found |= rows.line == int(word)
    else:
        found |= _by_text(rows.file, rows.files, lambda t: _like(t.replace("\\", "/").rpartition("/")[2], word))
    return found


def _by_text(column: np.ndarray, texts: tuple[str, ...], matches: Callable[[str], bool]) -> np.ndarray:
    """Match each distinct text once."""
    allowed = np.array([matches(text.lower()) for text in texts], dtype=bool)
    return np.asarray(allowed[column])


def _like(text: str, wanted: str) -> bool:
    return fnmatchcase(text, wanted) if "*" in wanted or "?" in wanted else wanted in text


def _shape_like(text: str, wanted: str) -> bool:
    """"[32,64]" is like "*,64", "32,64" and "[32,64]"; "scalar" only like itself."""
    return fnmatchcase(text.strip("[]"), wanted.strip("[]"))
