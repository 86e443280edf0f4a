"""The table of operations: columns for the rows of one iteration or of the whole run."""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

import numpy as np

from tapeviz.analysis.format import shape_text
from tapeviz.analysis.index import is_over, iteration_count, main_pass, remembered_of_iteration
from tapeviz.analysis.magnitude import OK, Special, ratio_bins, special_codes
from tapeviz.analysis.opcolumns import OpRows, joined
from tapeviz.analysis.reference import reference_of
from tapeviz.recording.reader import Recording
from tapeviz.recording.schema import NONE, Phase, Status, What

PENDING, NEXT, CURRENT, DONE = "pending", "next", "current", "done"
_BATCH = 20_000        # rows of a growing run that may be made anew each time
_FEW = 256             # iterations whose records are looked up one by one


def op_rows(recording: Recording, iteration: int | None = None) -> OpRows:
    """The operations of an iteration (None: of the run).

    What backward rules computed is among them (it is recorded only for an outer tape), and so is the update of the
    variables, without a step.
    """
    if iteration is None:
        return _runs.setdefault(recording, _Run()).rows(recording)
    return _rows_of_iteration(recording, iteration)


@remembered_of_iteration
def _rows_of_iteration(recording: Recording, iteration: int) -> OpRows:
    return _rows(recording, range(iteration, iteration + 1))


class _Run:
    """The rows of a whole run while it grows: those of iterations that are over are made once."""

    def __init__(self) -> None:
        self._revision = -1
        self._over = 0                            # so many iterations are in `_settled`
        self._firsts = np.zeros(0, dtype=np.uint32)     # where those begin
        self._settled: OpRows | None = None
        self._shown: OpRows | None = None

    def rows(self, recording: Recording) -> OpRows:
        if self._shown is None or self._revision != recording.revision:
            self._revision = recording.revision
            count = iteration_count(recording)
            firsts = recording.iterations["first_op"][:self._over]
            if not np.array_equal(firsts, self._firsts):       # iterations turned out to be micro-batches of one
                self._over, self._settled = 0, None
            over = count
            while over > self._over and not is_over(recording, over - 1):
                over -= 1
            if over > self._over and recording.ops_of(over - 1).stop - self._first(recording) > _BATCH:
                self._settled = self._with(_rows(recording, range(self._over, over)))
                self._over = over
                self._firsts = recording.iterations["first_op"][:over].copy()
            self._shown = self._with(_rows(recording, range(self._over, count)))
        return self._shown

    def _first(self, recording: Recording) -> int:
        return recording.ops_of(self._over).start

    def _with(self, newer: OpRows) -> OpRows:
        return newer if self._settled is None else joined(self._settled, newer)


def _rows(recording: Recording, iterations: range) -> OpRows:
    """The rows of some iterations that follow each other."""
    spans = [recording.ops_of(i) for i in iterations]
    span = range(spans[0].start, spans[-1].stop) if spans else range(0)
    ops = recording.ops[span.start:span.stop]
    ids = np.arange(span.start, span.stop)
    firsts = np.array([s.start for s in spans], dtype=np.int64)
    which = np.maximum(np.searchsorted(firsts, ids, side="right") - 1, 0)
    output = np.where(ops["nout"] > 0, ops["output"], NONE).astype(np.int64)
    output[output >= len(recording.tensors)] = NONE
    back = _Backward(recording, ids, output, iterations)
    relative = np.array([reference_of(recording, i) for i in iterations] or [np.nan])
    reference = relative[which]
    value, value_code = _values(output, _of_each(recording, What.VALUE, iterations))
    name, names = _coded(ops["kind"], lambda k: recording.kind(k).name)
    out, outputs = _outputs(recording, output)
    shape, shapes = _shapes(recording, output)
    locs, where = np.unique(ops["loc"], return_inverse=True)
    places = [recording.loc(int(loc)) for loc in locs]
    files = tuple(dict.fromkeys(p.file for p in places if p)) or ("",)
    file = np.array([files.index(p.file) if p else 0 for p in places] or [0], dtype=np.int32)[where]
    line = np.array([p.line if p else 0 for p in places] or [0], dtype=np.int32)[where]
    bins = np.where(back.code == OK, ratio_bins(back.grad, reference), 0).astype(np.int8)
    number = ids - firsts[which] + 1 if len(ids) else ids
    return OpRows(
        ids, number, which + iterations.start, back.step, back.arrived, name, out, shape, file, line, value, value_code,
        back.grad, back.code, bins, reference, ops["dur"].astype(np.int64), names, outputs, shapes, files)


def _of_each(recording: Recording, what: What, iterations: range) -> np.ndarray:
    """Statistics of some iterations; for many it is cheaper to take those of the whole run."""
    if len(iterations) > _FEW:
        return recording.stats_of(what)
    found = [recording.stats_of(what, iteration=i) for i in iterations]
    return np.concatenate(found) if found else recording.stats[:0]


class _Backward:
    """Columns of what the main pass of each iteration says about its operations."""

    def __init__(self, recording: Recording, ids: np.ndarray, output: np.ndarray, iterations: range) -> None:
        self.ids = ids
        self.step, self.arrived = np.zeros(len(ids), dtype=np.int64), np.zeros(len(ids), dtype=np.int64)
        self.grad = np.full(len(ids), np.nan)
        self.code = np.full(len(ids), Special.NOT_CAPTURED.value, dtype=np.uint8)
        found = [main_pass(recording, i) for i in iterations]
        self.passes = np.array([p for p in found if p is not None], dtype=np.int64)
        if len(ids) and len(self.passes):
            self._row_of_tensor = np.full(len(recording.tensors), -1, dtype=np.int64)
            known = np.flatnonzero(output != NONE)
            self._row_of_tensor[output[known]] = known
            self._read(recording)

    def _read(self, recording: Recording) -> None:
        steps = self._mine(recording, recording.steps, recording.steps_of)
        rows = self._rows_of_ops(steps["op"].astype(np.int64))
        self.step[rows[rows >= 0]] = steps["step"][rows >= 0].astype(np.int64) + 1
        over = recording.passes["status"][self.passes] != Status.RUNNING
        ended = np.array([recording.iteration_of_pass(p) for p in self.passes[over].tolist()], dtype=np.int64)
        unreached = (self.step == 0) & (recording.ops["phase"][self.ids] == Phase.FORWARD)
        where = np.array([recording.iteration_of(op) for op in self.ids[unreached].tolist()], dtype=np.int64)
        self.code[np.flatnonzero(unreached)[np.isin(where, ended)]] = Special.NONE.value
        stats = self._stats(recording, What.COTANGENT)
        rows = self._row_of_tensor[stats["tensor"]]
        self.grad[rows[rows >= 0]] = stats["l2"][rows >= 0]
        self.code[rows[rows >= 0]] = special_codes(stats)[rows >= 0]
        flows = self._stats(recording, What.CONTRIBUTION)
        rows, senders = self._row_of_tensor[flows["tensor"]], self._rows_of_ops(flows["op"].astype(np.int64))
        good = (rows >= 0) & (senders >= 0)
        first = np.full(len(self.ids), np.iinfo(np.int64).max)
        np.minimum.at(first, rows[good], self.step[senders[good]])
        self.arrived = np.where(first < np.iinfo(np.int64).max, first, 0)

    def _mine(self, recording: Recording, every: np.ndarray, of_pass: Callable[[int], np.ndarray]) -> np.ndarray:
        """The records of the passes at hand; of many they are picked from all."""
        if len(self.passes) <= _FEW:
            return np.concatenate([of_pass(p) for p in self.passes.tolist()])
        chosen = np.zeros(len(recording.passes), dtype=bool)
        chosen[self.passes] = True
        if chosen.all():      # the usual case; picking records means copying them
            return every
        known = every["pass"] < len(chosen)
        return np.asarray(every[known & chosen[np.minimum(every["pass"], len(chosen) - 1)]])

    def _stats(self, recording: Recording, what: What) -> np.ndarray:
        every = recording.stats_of(what) if len(self.passes) > _FEW else recording.stats[:0]
        stats = self._mine(recording, every, lambda pass_: recording.stats_of(what, pass_=pass_))
        return stats[stats["tensor"] < len(self._row_of_tensor)]

    def _rows_of_ops(self, ops: np.ndarray) -> np.ndarray:
        at = np.searchsorted(self.ids, ops)
        inside = np.minimum(at, len(self.ids) - 1)
        return np.where((at < len(self.ids)) & (self.ids[inside] == ops), at, -1)


def row_state(rows: OpRows, row: int, step: int | None) -> str:
    """"done", "current", "next" or "pending" when the pass stands at `step` (from 0); "" for what it does not undo.

    Without a step the pass is over: everything it undoes is done.
    """
    mine, arrived = int(rows.step[row]), int(rows.arrived[row])
    if not mine:
        return ""
    if step is None or mine < step + 1:
        return DONE
    if mine == step + 1:
        return CURRENT
    return NEXT if 0 < arrived <= step + 1 else PENDING


def _values(output: np.ndarray, stats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Norm and state of every output."""
    norm = np.full(len(output), np.nan)
    code = np.full(len(output), Special.NOT_CAPTURED.value, dtype=np.uint8)
    known = output != NONE
    if len(stats) and known.any():
        first, last = int(output[known].min()), int(output[known].max())
        stats = stats[(stats["tensor"] >= first) & (stats["tensor"] <= last)]
        row = np.full(last - first + 1, -1, dtype=np.int64)
        row[stats["tensor"] - first] = np.arange(len(stats))
        at = np.where(known, row[np.clip(output - first, 0, len(row) - 1)], -1)
        norm[at >= 0] = stats["l2"][at[at >= 0]]
        code[at >= 0] = special_codes(stats)[at[at >= 0]]
    return norm, code


def _coded(codes: np.ndarray, text_of: Callable[[int], str]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Dictionary-coded texts from the recording's codes; equal texts share a code."""
    unique, inverse = np.unique(codes, return_inverse=True)
    texts = [text_of(int(code)) for code in unique]
    distinct = tuple(dict.fromkeys(texts)) or ("",)
    table = np.array([distinct.index(text) for text in texts] or [0], dtype=np.int32)
    return table[inverse], distinct


def _outputs(recording: Recording, output: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """Names the user gave to the outputs; most have none."""
    names = np.full(len(output), NONE, dtype=np.int64)
    known = output != NONE
    names[known] = recording.tensors["name"][output[known]]
    return _coded(names, lambda n: recording.name(n) if n != NONE else "")


def _shapes(recording: Recording, output: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    shapes = np.full(len(output), NONE, dtype=np.int64)
    known = output != NONE
    shapes[known] = recording.tensors["shape"][output[known]]
    return _coded(shapes, lambda s: shape_text(recording.shape(s)) if s != NONE else "")


_runs: WeakKeyDictionary[Recording, _Run] = WeakKeyDictionary()
