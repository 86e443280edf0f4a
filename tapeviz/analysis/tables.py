"""What a view shows, as plain tables: the data behind every picture, for CSV and JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tapeviz.analysis.findings import Finding
from tapeviz.analysis.focus import Focus
from tapeviz.analysis.graph import Node, build_graph
from tapeviz.analysis.magnitude import OK, WORDS, Magnitude, Special, magnitude
from tapeviz.analysis.oplist import op_rows
from tapeviz.analysis.series import health, loss_series
from tapeviz.analysis.steps import step_card
from tapeviz.recording.reader import Recording
from tapeviz.recording.schema import What

Cell = str | int | float | None
_NUMBERS = (OK, Special.ZERO.value, Special.UNDERFLOW.value)
MOST_VALUES = 4096     # elements of one tensor in a table


@dataclass(frozen=True)
class Table:
    """Named columns and their rows.

    A number that there is none of (NaN, infinite, None, not captured) is None, and a column `state` says what it is:
    the norm of what was finite among the elements would pass for that of all.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def records(self) -> list[dict[str, Cell]]:
        """The rows as dictionaries."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def tables(recording: Recording, view: str, focus: Focus, findings: Sequence[Finding]) -> list[Table]:
    """The tables of a view, the most telling first. Raises KeyError for a view without data."""
    return VIEWS[view](recording, focus, findings)


def number(value: float) -> float | None:
    """A finite float, else None: JSON has no NaN, and a CSV reader should not have to guess."""
    return float(value) if math.isfinite(value) else None


def state_word(code: int) -> str:
    """"ok", or the word of a special value."""
    return WORDS[Special(code)] if code else "ok"


def _measured(value: float, code: int) -> tuple[Cell, Cell]:
    """A norm and the word of its state: a number where it is one."""
    return number(value) if code in _NUMBERS else None, state_word(code)


def _magnitude(size: Magnitude) -> tuple[Cell, Cell]:
    return _measured(size.norm, OK if size.special is None else size.special.value)


def _graph(recording: Recording, focus: Focus, findings: Sequence[Finding]) -> list[Table]:
    graph = build_graph(recording, focus.iteration)
    inputs: dict[int, list[int]] = {}
    for edge in graph.edges:
        inputs.setdefault(edge.target, []).append(edge.source)
    return [
        Table("nodes",
              ("node", "kind", "label", "shape", "op", "tensor", "step", "value_norm", "value_state",
               "gradient_norm", "gradient_state", "arrivals", "inputs"),
              tuple((index, *_node(recording, node), " ".join(map(str, inputs.get(index, []))))
                    for index, node in enumerate(graph.nodes))),
        Table("edges",
              ("source", "target", "tensor", "slot", "contribution_norm", "contribution_state", "sign", "step"),
              tuple((e.source, e.target, e.tensor, e.slot, *_magnitude(e.contribution), e.sign, e.step)
                    for e in graph.edges)),
    ]


def _node(recording: Recording, node: Node) -> tuple[Cell, ...]:
    # not node.value_norm, which is of this iteration only: a variable got its value in the one before
    value = magnitude(None if node.tensor is None else recording.stat(node.tensor, What.VALUE))
    return (node.kind.value, node.label, node.shape, node.op, node.tensor, node.step, *_magnitude(value),
            *_magnitude(node.gradient), node.arrivals)


def _health(recording: Recording, focus: Focus, findings: Sequence[Finding]) -> list[Table]:
    shown = health(recording)
    rows = tuple(
        (int(iteration), name, shape, *_measured(float(shown.l2[r, c]), int(shown.state[r, c])),
         number(shown.median[c]))
        for r, (name, shape) in enumerate(zip(shown.names, shown.shapes, strict=True))
        for c, iteration in enumerate(shown.iterations)
    )
    return [Table("health", ("iteration", "variable", "shape", "gradient_norm", "state", "median_norm"), rows)]


def _plots(recording: Recording, focus: Focus, findings: Sequence[Finding]) -> list[Table]:
    shown, loss = health(recording), loss_series(recording)
    lines = [("gradient", name, shown.iterations, shown.l2[i], shown.state[i]) for i, name in enumerate(shown.names)]
    lines.append(("loss", loss.name, loss.x, loss.y, loss.state))
    rows = tuple(
        (kind, name, int(iteration), *_measured(float(value), int(state)))
        for kind, name, *columns in lines
        for iteration, value, state in zip(*columns, strict=True)
    )
    return [Table("plots", ("kind", "name", "iteration", "value", "state"), rows)]


def _ops(recording: Recording, focus: Focus, findings: Sequence[Finding]) -> list[Table]:
    rows = op_rows(recording, None)
    columns = ("op", "iteration", "number", "step", "name", "output", "shape", "file", "line", "value_norm",
               "value_state", "gradient_norm", "gradient_state", "microseconds")
    return [Table("ops", columns, tuple(
        (int(rows.op[i]), int(rows.iteration[i]), int(rows.number[i]), int(rows.step[i]) or None,
         rows.names[rows.name[i]], rows.outputs[rows.output[i]], rows.shapes[rows.shape[i]], rows.files[rows.file[i]],
         int(rows.line[i]) or None, *_measured(float(rows.value[i]), int(rows.value_code[i])),
         *_measured(float(rows.grad[i]), int(rows.code[i])), float(rows.duration[i]) / 1e3)
        for i in range(len(rows))
    ))]


def _step(recording: Recording, focus: Focus, findings: Sequence[Finding]) -> list[Table]:
    columns = ("step", "op", "name", "line", "role", "tensor", "shape", "norm", "state", "sign", "share", "values")
    if focus.pass_ is None or focus.step is None:
        return [Table("step", columns, ())]
    card = step_card(recording, focus.pass_, focus.step)
    head = (card.step + 1, card.op, card.op_name, card.line)
    rows: list[tuple[Cell, ...]] = []
    for role, quantities in (("output", card.outputs), ("operand", card.operands), ("cotangent", card.cotangents)):
        rows += [(*head, role, q.name, "x".join(map(str, q.shape)), *_magnitude(q.size), None, None, _values(q.value))
                 for q in quantities]
    rows += [(*head, "contribution", c.target.name, "x".join(map(str, c.target.shape)), *_magnitude(c.target.size),
              c.sign, number(c.share), _values(c.target.value)) for c in card.contributions]
    rows += [(*head, f"accumulated {a.arrived} of {a.total}", a.name, "x".join(map(str, a.running.shape)),
              *_magnitude(a.running.size), None, None, _values(a.running.value)) for a in card.accumulations]
    return [Table("step", columns, tuple(rows))]


def _values(array: np.ndarray | None) -> str | None:
    """Elements in C order, space-separated; long tensors are left to the recording itself."""
    if array is None or array.size > MOST_VALUES:
        return None
    return " ".join(map(str, array.ravel().tolist()))


def _report(recording: Recording, focus: Focus, findings: Sequence[Finding]) -> list[Table]:
    rows: list[tuple[Cell, ...]] = []

    def add(finding: Finding, cause: str | None) -> None:
        rows.append((finding.id, finding.severity, finding.title, finding.message, finding.fix, finding.file,
                     finding.line, finding.op, finding.iteration, " ".join(finding.affected), cause))
        for consequence in finding.consequences:
            add(consequence, finding.id)

    for finding in findings:
        add(finding, None)
    return [Table("findings", ("id", "severity", "title", "message", "fix", "file", "line", "op", "iteration",
                               "affected", "because_of"), tuple(rows))]


VIEWS: dict[str, Callable[[Recording, Focus, Sequence[Finding]], list[Table]]] = {
    "graph": _graph,
    "health": _health,
    "plots": _plots,
    "step": _step,
    "ops": _ops,
    "report": _report,
}
