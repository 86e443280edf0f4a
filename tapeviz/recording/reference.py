"""What every field of every record means, and the reference tables in docs/recording-format.md made from that."""

from __future__ import annotations

from enum import IntFlag

from tapeviz.recording import schema
from tapeviz.recording.schema import DENSE, RECORDS

MARK = "<!-- records: made by tapeviz.recording.reference.updated, kept true by tests/recording/test_reference.py -->"

KINDS = {
    "op": "An executed operation.",
    "tensor": "A result, a constant or a variable at one version.",
    "stat": "Statistics of one quantity (`what`) of a tensor, over its finite elements.",
    "step": "One operation undone by a gradient call.",
    "pass": "A gradient call; written when it begins and again when it ends.",
    "result": "What a gradient call returned for one of its sources.",
    "assign": "A variable got a new value.",
    "tape": "A tape; written when it is entered and again when it is left.",
    "watch": "A tape began to watch a tensor.",
    "iteration": "An iteration of the training loop, written when it begins.",
    "value": "Where the elements of a quantity are.",
}

# Fields that mean the same in every record; the entry of a kind comes before them.
COMMON = {
    "id": "its number",
    "op": "operation",
    "pass": "gradient call",
    "tape": "tape",
    "tensor": "tensor",
    "variable": "variable, in table `variable`",
    "loc": "place in the source, in table `loc`",
    "name": "name, in table `name`",
    "shape": "its text in table `name`: `2x3`; empty for a scalar",
    "dtype": "position in the list of element types",
    "t": "when, ns since the start of the run",
    "dur": "how long, ns; at most 4.29 s",
    "what": "which quantity: `What`",
    "slot": "argument of the operation, from 0",
    "reserved": "0",
    "thread": "number of the thread, from 0",
    "at_op": "how many operations had run",
    "persistent": "1 for a persistent tape",
}

FIELDS = {
    "op": {
        "kind": "name and formulas, in table `kind`",
        "phase": "`Phase`",
        "flags": "`OpFlag`",
        "scope": "innermost scope, in table `scope`",
        "nin": "number of inputs",
        "nout": "number of outputs",
        "inputs": "tensors read; if `nin` > 4 the whole list is in table `op_extra`, key `inputs`",
        "output": "first tensor made; the others follow it",
        "tape": "innermost tape that recorded it",
        "pass": "gradient call that ran it, when `phase` is BACKWARD",
        "attrs": "attributes as JSON text, in table `name`",
    },
    "tensor": {
        "op": "operation that made it",
        "version": "of the variable: how many assignments before",
        "role": "`Role`",
        "flags": "`TensorFlag`",
        "digest": "CRC-32 of its elements, 0 if unknown",
    },
    "stat": {
        "tensor": "whose quantity it is; of a gradient: the source",
        "op": "operation that made the tensor; of a contribution: the operation that was undone",
        "pass": "gradient call, if the quantity is one of the backward pass",
        "state": "`State`; the numbers count only if OK",
        "flags": "`StatFlag`",
        "n": "number of elements",
        "nan": "how many are NaN",
        "posinf": "how many are +Inf",
        "neginf": "how many are -Inf",
        "zero": "how many are exactly 0",
        "subnormal": "how many are smaller than the smallest normal number of their type, but not 0",
        "l2": "Euclidean norm, exact where float32 would read 0 or Inf; NaN if no element is finite",
        "min": "smallest element",
        "max": "largest element",
        "mean": "mean",
        "max_abs": "largest magnitude",
        "low": "fraction of elements at the lower end of an activation (0 of ReLU); NaN for others",
        "saturated": "fraction of elements at an end of an activation's range; NaN for others",
        "cosine": "of a contribution: cosine of its angle to the whole cotangent; NaN if unknown",
    },
    "step": {
        "step": "position in the gradient call, from 0",
        "op": "operation that was undone",
        "arrived": "how many contributions had arrived at its outputs",
        "ncontributions": "how many it sent on",
    },
    "pass": {
        "parent": "gradient call within which it ran",
        "status": "`Status`",
        "kind": "`PassKind`",
        "order": "order of derivative, from 1",
        "target": "first target",
        "ntargets": "number of targets",
        "nsources": "number of sources",
        "tape_op": "how many operations had run when its tape was opened",
        "at_op": "how many operations had run when it began",
        "steps": "number of steps; 0 while it runs",
        "t0": "when it began, ns since the start of the run",
        "t1": "when it ended; 0 while it runs",
    },
    "result": {
        "source": "position among the sources of the call",
        "state": "`State`: OK, or why there is no gradient",
        "tensor": "the source: a variable at the version that was read",
    },
    "assign": {
        "version": "the new version",
        "tensor": "the variable at its new version",
        "by": "operation that made the new value",
        "kind": "`AssignKind`",
    },
    "tape": {
        "parent": "tape that was open around it",
        "open": "1 between entering and leaving",
        "enter_op": "how many operations had run when it was entered",
        "exit_op": "how many when it was left",
        "entered": "how often it has been entered",
    },
    "watch": {"explicit": "1 for `watch()`, 0 for the first read of a variable"},
    "iteration": {
        "first_op": "its first operation; NONE: taken back, it was a part of the one before",
        "first_pass": "its first gradient call",
        "by": "`BoundaryBy`",
    },
    "value": {
        "op": "as in `stat`",
        "pass": "as in `stat`",
        "flags": "1: a sample of the elements",
        "blob": "row of table `blob`",
        "offset": "first byte in it",
        "nbytes": "number of bytes: C order, little endian",
        "crc": "CRC-32 of these bytes",
    },
}

_ENUMS = ("Phase", "OpFlag", "Role", "TensorFlag", "What", "State", "StatFlag", "Status", "PassKind", "AssignKind",
          "BoundaryBy")


def meaning(kind: str, field: str) -> str:
    """What a field means. Raises KeyError if nobody has said it."""
    return FIELDS[kind].get(field) or COMMON[field]


def updated(page: str) -> str:
    """The text of docs/recording-format.md with the reference of this version in place of the one it has."""
    return page[: page.index(MARK)] + MARK + "\n\n" + record_reference()


def record_reference() -> str:
    """The reference of records, enumerations and element types, in Markdown."""
    parts = []
    for code, (kind, layout) in enumerate(RECORDS.items()):
        note = " Record *i* has id *i*; of several with the same id the last one counts." if kind in DENSE else ""
        rows = [f"### `{kind}` (kind {code}, {layout.itemsize} bytes)", "", KINDS[kind] + note, "",
                "| field | type | offset | meaning |", "|---|---|---|---|"]
        for field, (base, offset, *_) in (layout.fields or {}).items():
            count = f" x {base.shape[0]}" if base.shape else ""
            rows.append(f"| `{field}` | {base.base.str.lstrip('|')}{count} | {offset} | {meaning(kind, field)} |")
        parts.append("\n".join(rows))
    words = ["### Enumerations", "", "| name | values |", "|---|---|"]
    for name in _ENUMS:
        enum = getattr(schema, name)
        joint = "flags, added up: " if issubclass(enum, IntFlag) else ""
        words.append(f"| `{name}` | {joint}{', '.join(f'{member.value} {member.name}' for member in enum)} |")
    dtypes = ", ".join(f"{code} {name}" for code, name in enumerate(schema.DTYPES))
    words += ["", f"Element types (`dtype`): {dtypes}, {schema.OTHER_DTYPE} any other."]
    return "\n\n".join([*parts, "\n".join(words)]) + "\n"
