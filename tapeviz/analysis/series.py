"""Series over iterations: the health map, the gradient lines and the loss, extended as the recording grows.

Several passes in one iteration: the last one that delivered a gradient to a variable is the one shown.  (Micro-batches
are not summed: the norm of a sum cannot be had from the norms.)
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from tapeviz.analysis.format import shape_text
from tapeviz.analysis.index import is_over, iteration_count, main_pass, pass_index
from tapeviz.analysis.magnitude import OK, Special, ratio_bins, special_codes
from tapeviz.recording.reader import Recording
from tapeviz.recording.schema import NONE, State, What

_PLAIN = 1 << 32       # added to the name id of a source that is no variable, to make its row key
_WAIT_PASSES = 64      # statistics come in batches: one is given up when so much later ones are there
_WAIT_LOSSES = 256     # the same for the loss, in iterations


@dataclass(frozen=True, slots=True)
class HealthMap:
    """Gradient norm of every variable (or watched tensor) in every iteration.

    variables: ids in the order of the rows, the layer closest to the loss on top; -1 for a source that is no variable
    names: unique; shapes: texts; iterations: ids of the columns
    l2: rows x iterations, NaN where there is no number; state: OK or the code of a Special
    bins: relative to the median of the same iteration; median: that reference per iteration
    """

    variables: tuple[int, ...]
    names: tuple[str, ...]
    shapes: tuple[str, ...]
    iterations: np.ndarray
    l2: np.ndarray
    state: np.ndarray
    bins: np.ndarray
    median: np.ndarray


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a plot over iterations.

    y: NaN where there is no ordinary number; state: OK or the code of a Special, so that gaps can be marked as what
    they are; log10: of y, NaN where y is not positive
    """

    name: str
    x: np.ndarray
    y: np.ndarray
    state: np.ndarray
    log10: np.ndarray
    variable: int | None = None


def health(recording: Recording) -> HealthMap:
    """The health map as far as it has been recorded."""
    return _health.setdefault(recording, _Health()).map(recording)


def gradient_lines(recording: Recording) -> list[Series]:
    """Gradient norm over the iterations, one line per row of the health map and in its order."""
    shown = health(recording)
    with np.errstate(divide="ignore", invalid="ignore"):
        log10 = np.where(shown.l2 > 0, np.log10(shown.l2), np.nan)
    return [
        Series(name, shown.iterations, np.where(shown.state[i] == OK, shown.l2[i], np.nan), shown.state[i],
               np.where(shown.state[i] == OK, log10[i], np.nan), None if variable < 0 else variable)
        for i, (name, variable) in enumerate(zip(shown.names, shown.variables, strict=True))]


def loss_series(recording: Recording) -> Series:
    """The target of each iteration's main pass (summed, if it is no scalar: that is what is differentiated)."""
    return _losses.setdefault(recording, _Loss()).series(recording)


class _Health:
    """The matrices of the health map, in the order of the rows; columns and rows are added as they come."""

    def __init__(self) -> None:
        self._revision = -1
        self._results_seen = self._stats_seen = 0
        self._newest = -1                                      # the newest pass of which statistics have come
        self._firsts = np.zeros(0, dtype=np.uint32)            # first pass of every iteration, as filled in
        self._waiting = np.zeros((0, 4), dtype=np.int64)      # key, iteration, pass, tensor: no statistics yet
        self._keys: list[int] = []
        self._names: list[str] = []
        self._shapes: list[str] = []
        self._depth: dict[int, float] = {}
        self._l2 = np.full((0, 0), np.nan)
        self._state = np.zeros((0, 0), dtype=np.uint8)
        self._bins = np.zeros((0, 0), dtype=np.int8)
        self._median = np.zeros(0)
        self._shown: HealthMap | None = None

    def map(self, recording: Recording) -> HealthMap:
        if self._shown is None or self._revision != recording.revision:
            self._extend(recording)
            self._revision = recording.revision
            self._shown = self._view(recording)
        return self._shown

    def _extend(self, recording: Recording) -> None:
        firsts = recording.iterations["first_pass"]
        if not np.array_equal(firsts[:len(self._firsts)], self._firsts):
            vars(self).update(vars(_Health()))    # iterations were taken back: they turned out to be micro-batches
        self._firsts = firsts.copy()
        results = recording.results[self._results_seen:]
        stats = recording.stats[self._stats_seen:]
        self._results_seen, self._stats_seen = len(recording.results), len(recording.stats)
        stats = stats[stats["what"] == What.GRADIENT]
        variable = results["variable"].astype(np.int64)
        key = np.where(variable == NONE, _PLAIN + results["name"].astype(np.int64), variable)
        iteration = _iterations_of(recording, results["pass"])
        self._add_rows(recording, key, results)
        columns = iteration_count(recording)
        self._reserve(len(self._keys), columns)
        first = columns
        none = results["state"] == State.NONE
        if none.any():
            rows, cols = self._rows_of(key[none]), iteration[none]
            empty = self._state[rows, cols] == Special.NOT_CAPTURED.value
            self._state[rows[empty], cols[empty]] = Special.NONE.value
            first = min(first, int(cols.min()))
        came = np.stack([key, iteration, results["pass"].astype(np.int64), results["tensor"].astype(np.int64)], 1)
        self._waiting = np.concatenate([self._waiting, came[~none]])
        first = min(first, self._fill(stats))
        if len(stats):
            self._newest = max(self._newest, int(stats["pass"].max()))
        self._waiting = self._waiting[self._waiting[:, 2] >= self._newest - _WAIT_PASSES]
        self._refresh(first, columns)

    def _fill(self, stats: np.ndarray) -> int:
        """Put statistics where a result waits for them; returns the first column that changed."""
        waiting = self._waiting
        if not len(waiting) or not len(stats):
            return self._l2.shape[1]
        wanted = (waiting[:, 2] << 32) | waiting[:, 3]
        offered = (stats["pass"].astype(np.int64) << 32) | stats["tensor"]
        order = np.argsort(offered, kind="stable")
        at = np.searchsorted(offered[order], wanted, side="right") - 1
        found = (at >= 0) & (offered[order[np.maximum(at, 0)]] == wanted)
        hits, rows = stats[order[at[found]]], self._rows_of(waiting[found, 0])
        columns = waiting[found, 1]
        self._waiting = waiting[~found]
        if not len(columns):
            return self._l2.shape[1]
        self._l2[rows, columns] = hits["l2"]
        self._state[rows, columns] = special_codes(hits)
        return int(columns.min())

    def _rows_of(self, keys: np.ndarray) -> np.ndarray:
        row = {key: i for i, key in enumerate(self._keys)}
        return np.fromiter((row[key] for key in keys.tolist()), dtype=np.intp, count=len(keys))

    def _add_rows(self, recording: Recording, keys: np.ndarray, results: np.ndarray) -> None:
        """New rows, and the place of every row in the network as the pass tells it."""
        known = set(self._keys)
        fresh, where = np.unique(keys, return_index=True)
        news = sorted((int(i), int(key)) for key, i in zip(fresh, where, strict=True) if int(key) not in known)
        for i, key in news:
            variable = recording.variable(key) if key < _PLAIN else None
            name = variable.name if variable else recording.name(key - _PLAIN)
            shape = variable.shape if variable else recording.shape(
                int(recording.tensors["shape"][int(results["tensor"][i])]))
            self._keys.append(key)
            self._names.append(_unique(name or f"source {int(results['source'][i])}", self._names))
            self._shapes.append(shape_text(shape))
        if news:
            self._reserve(len(self._keys), self._l2.shape[1])
            self._order_rows(recording, {int(results["pass"][i]) for i, _ in news}, keys, results)

    def _order_rows(self, recording: Recording, passes: set[int], keys: np.ndarray, results: np.ndarray) -> None:
        for pass_ in sorted(passes):
            index = pass_index(recording, pass_)
            length = max(1, len(index.rows))
            mine = results["pass"] == pass_
            for key, tensor in zip(keys[mine].tolist(), results["tensor"][mine].tolist(), strict=True):
                steps = [index.step_of[op] for op, _ in index.received.get(tensor, []) if op in index.step_of]
                if steps:
                    self._depth[key] = min(steps) / length
        # without steps (little was recorded): what was created last is taken to be closest to the loss
        order = sorted(range(len(self._keys)), key=lambda i: (
            (0, self._depth[self._keys[i]]) if self._keys[i] in self._depth else (1, -i)))
        self._keys = [self._keys[i] for i in order]
        self._names = [self._names[i] for i in order]
        self._shapes = [self._shapes[i] for i in order]
        for name in ("_l2", "_state", "_bins"):
            stored = getattr(self, name)
            stored[:len(order)] = stored[order]

    def _reserve(self, rows: int, columns: int) -> None:
        """Room for so many rows and columns, growing by doubling."""
        old_rows, old_columns = self._l2.shape
        if rows <= old_rows and columns <= old_columns:
            return
        shape = (rows if rows <= old_rows else max(rows, 2 * old_rows, 8),
                 old_columns if columns <= old_columns else max(columns, 2 * old_columns, 64))
        shape = (max(shape[0], old_rows), max(shape[1], old_columns))
        for name, blank in (("_l2", np.nan), ("_state", Special.NOT_CAPTURED.value), ("_bins", 0)):
            old = getattr(self, name)
            new = np.full(shape, blank, dtype=old.dtype)
            new[:old_rows, :old_columns] = old
            setattr(self, name, new)
        self._median = np.concatenate([self._median, np.full(shape[1] - len(self._median), np.nan)])

    def _refresh(self, first: int, columns: int) -> None:
        """Median and bins of the columns from `first` on."""
        rows = len(self._keys)
        if first >= columns or not rows:
            return
        l2, state = self._l2[:rows, first:columns], self._state[:rows, first:columns]
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where((state == OK) & (l2 > 0), np.log(l2), np.nan)
        some = ~np.isnan(logs).all(axis=0)
        self._median[first:columns] = np.nan
        self._median[first:columns][some] = np.exp(np.nanmedian(logs[:, some], axis=0))
        self._bins[:rows, first:columns] = np.where(state == OK, ratio_bins(l2, self._median[first:columns]), 0)

    def _view(self, recording: Recording) -> HealthMap:
        rows, columns = len(self._keys), iteration_count(recording)
        return HealthMap(
            tuple(key if key < _PLAIN else -1 for key in self._keys), tuple(self._names), tuple(self._shapes),
            np.arange(columns), _frozen(self._l2[:rows, :columns]), _frozen(self._state[:rows, :columns]),
            _frozen(self._bins[:rows, :columns]), _frozen(self._median[:columns]))


class _Loss:
    """The loss of every iteration; only the newest ones can still change."""

    def __init__(self) -> None:
        self._revision = -1
        self._values: list[float] = []
        self._codes: list[int] = []
        self._settled = 0
        self._shown: Series | None = None

    def series(self, recording: Recording) -> Series:
        if self._shown is None or self._revision != recording.revision:
            self._extend(recording)
            self._revision = recording.revision
        assert self._shown is not None
        return self._shown

    def _extend(self, recording: Recording) -> None:
        count = iteration_count(recording)
        if count <= self._settled:                # iterations were taken back
            self._settled = 0
        del self._values[self._settled:], self._codes[self._settled:]
        for iteration in range(self._settled, count):
            value, code = _loss(recording, iteration)
            self._values.append(value)
            self._codes.append(code)
        self._settled = max(self._settled, count - _WAIT_LOSSES)
        while (self._settled < count and is_over(recording, self._settled)
               and self._codes[self._settled] != Special.NOT_CAPTURED.value):
            self._settled += 1
        y = np.array(self._values)
        with np.errstate(divide="ignore", invalid="ignore"):
            log10 = np.where(y > 0, np.log10(y), np.nan)
        self._shown = Series("loss", np.arange(count), y, np.array(self._codes, dtype=np.uint8), log10)


def _loss(recording: Recording, iteration: int) -> tuple[float, int]:
    pass_ = main_pass(recording, iteration)
    stat = None if pass_ is None else recording.stat(int(recording.passes["target"][pass_]), What.VALUE)
    if stat is None:
        return float("nan"), Special.NOT_CAPTURED.value
    for field, special in (("nan", Special.NAN), ("posinf", Special.POSINF), ("neginf", Special.NEGINF)):
        if stat[field]:
            return float("nan"), special.value
    return float(stat["mean"]) * int(stat["n"]), OK


def _iterations_of(recording: Recording, passes: np.ndarray) -> np.ndarray:
    first = recording.iterations["first_pass"]
    return np.maximum(np.searchsorted(first, passes, side="right") - 1, 0).astype(np.int64)


def _unique(name: str, taken: list[str]) -> str:
    """`name`, numbered if there is one already: two variables may be called alike."""
    if name not in taken:
        return name
    number = 2
    while f"{name} ({number})" in taken:
        number += 1
    return f"{name} ({number})"


def _frozen(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view


_health: WeakKeyDictionary[Recording, _Health] = WeakKeyDictionary()
_losses: WeakKeyDictionary[Recording, _Loss] = WeakKeyDictionary()
