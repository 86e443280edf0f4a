"""What every rule is given: the facts of a recording, its progress, and the plans of its gradient calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

import numpy as np

from tapeviz.analysis.findings.facts import ABSENT, Facts, Floats, Ints, Mask
from tapeviz.analysis.findings.finding import Finding
from tapeviz.analysis.findings.plan import Group, Planner
from tapeviz.analysis.findings.progress import Progress, progress_of
from tapeviz.analysis.format import plural
from tapeviz.recording.reader import Recording
from tapeviz.recording.schema import NONE, State, What


class Context:
    """Everything a rule needs, computed when it is first asked for."""

    def __init__(self, recording: Recording, planner: Planner) -> None:
        self.recording = recording
        self.facts = Facts(recording)
        self._planner = planner
        self._done: dict[Callable[[Context], list[Finding]], list[Finding]] = {}

    def once(self, examine: Callable[[Context], list[Finding]]) -> list[Finding]:
        """The result of an examination, which is made when it is first asked for."""
        if examine not in self._done:
            self._done[examine] = examine(self)
        return self._done[examine]

    @cached_property
    def progress(self) -> Progress:
        """The losses of the main gradient call and what they say."""
        return progress_of(self.facts)

    @cached_property
    def groups(self) -> list[Group]:
        """The main gradient calls up to the first that is not finite, grouped by structure."""
        progress = self.progress
        return self._planner.groups(self.facts, progress.passes[: progress.end + 1])

    @cached_property
    def updates(self) -> Updates:
        """Every assignment to a variable that has a gradient, with its sizes."""
        return Updates(self.facts)

    @cached_property
    def gradients(self) -> Gradients:
        """What gradient() returned for variables."""
        return Gradients(self.facts)

    def finding(self, id: str, severity: str, title: str, message: str, fix: str, *, op: int = ABSENT,
                place: tuple[str, int] | None = None, iteration: int = 0, affected: Iterable[str] = (),
                evidence: dict[str, object] | None = None) -> Finding:
        """A finding at an operation (its line, unless another place is given)."""
        file, line = place if place is not None else self.facts.place(op)
        name = self.facts.name_of(op) if op != ABSENT else ""
        return Finding(id, severity, title, message, fix, file, line, name, iteration, tuple(affected),
                       evidence or {}, op_id=op)

    def at(self, op: int) -> str:
        """"at line 16", as messages say it; empty if the line is not known."""
        _, line = self.facts.place(op)
        return f"at line {line}" if line else ""

    def names(self, variables: Iterable[int]) -> tuple[str, ...]:
        """Names of variables, each once, in this order."""
        return tuple(dict.fromkeys(self.recording.variable(v).name for v in variables if v >= 0))


class Updates:
    """One row per assignment, in columns: variable, iteration, size of the step, size of what it was added to."""

    def __init__(self, facts: Facts) -> None:
        assigns = facts.recording.assigns
        self.variable = assigns["variable"].astype(np.int64)
        self.loc = assigns["loc"]
        self.by = assigns["by"].astype(np.int64)
        self.tensor = assigns["tensor"].astype(np.int64)
        self.iteration = facts.iteration_of_assigns
        rows = np.full(len(facts.tensors), ABSENT, np.int64)
        at = np.flatnonzero(facts.stats["what"] == What.UPDATE)
        rows[facts.stats["tensor"][at]] = at
        known = self.tensor < len(rows)
        self.row = np.where(known, rows[np.where(known, self.tensor, 0)], ABSENT) if len(rows) else self.tensor * 0 - 1
        self.size: Floats = facts.column("l2", self.row)
        self.cosine: Floats = facts.column("cosine", self.row)
        self.before: Floats = self._before(facts)

    def _before(self, facts: Facts) -> Floats:
        """The norm of the variable before each assignment: that of its version before."""
        sizes = np.full(len(self.tensor), np.nan)
        versions = facts.tensors
        made = np.flatnonzero(versions["variable"] != NONE)
        made = made[versions["role"][made] == 2]
        keys = versions["variable"][made].astype(np.int64) << 32 | versions["version"][made]
        order = np.argsort(keys, kind="stable")
        keys, made = keys[order], made[order]
        wanted = self.variable << 32 | np.maximum(facts.recording.assigns["version"].astype(np.int64) - 1, 0)
        if len(keys):
            at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            sizes = np.where(keys[at] == wanted, facts.value_of("l2", made[at]), np.nan)
        return sizes

    @property
    def relative(self) -> Floats:
        """Size of the step as a share of the variable's, NaN for a variable that was next to nothing."""
        return np.asarray(np.where(self.before > 1e-3, self.size / np.maximum(self.before, 1e-300), np.nan))


class Gradients:
    """One row per returned gradient of a variable: pass, iteration, variable, tensor (version read), its size."""

    def __init__(self, facts: Facts) -> None:
        results = facts.results
        results = results[(results["variable"] != NONE) & np.isin(results["pass"], facts.gradient_passes)]
        self.pass_ = results["pass"].astype(np.int64)
        self.variable = results["variable"].astype(np.int64)
        self.state = results["state"]
        self.tensor = results["tensor"].astype(np.int64)
        self.iteration: Ints = facts.pass_iterations[self.pass_] if len(self.pass_) else self.pass_
        s = facts.stats
        at = np.flatnonzero(s["what"] == What.GRADIENT)
        keys = s["pass"][at].astype(np.uint64) << np.uint64(32) | s["tensor"][at].astype(np.uint64)
        order = np.argsort(keys, kind="stable")
        keys, at = keys[order], at[order]
        wanted = self.pass_.astype(np.uint64) << np.uint64(32) | self.tensor.astype(np.uint64)
        if len(keys):
            place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            self.row = np.where(keys[place] == wanted, at[place], ABSENT)
        else:
            self.row = np.full(len(wanted), ABSENT, np.int64)
        self.size: Floats = facts.column("l2", self.row)
        self.bad = (self.row != ABSENT) & (facts.bad[self.row] > 0) if len(s) else np.zeros(len(self.row), bool)

    @property
    def given(self) -> Mask:
        """Which of them are numbers at all (not None)."""
        return np.asarray(self.state == State.OK)


def counted(n: int, word: str) -> str:
    """"1 layer", "12 layers"."""
    return plural(n, word)
