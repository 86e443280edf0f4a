"""How far each assignment moved a variable: norm of the update over norm of the value before, per iteration."""

from __future__ import annotations

import numpy as np

from tapeviz.analysis.index import remembered
from tapeviz.analysis.magnitude import OK, Special, special_codes
from tapeviz.analysis.series import Series, health
from tapeviz.recording.reader import Recording
from tapeviz.recording.schema import NONE, Role, What


@remembered
def update_ratios(recording: Recording) -> list[Series]:
    """One line per variable that was assigned to, in the order of the health map.

    About 1e-3 is usual.  A variable that was all zero has no ratio; an update of exactly zero is the special value
    ZERO.  Of several assignments in one iteration the last one counts.
    """
    assigns = recording.assigns[recording.assigns["tensor"] != NONE]
    stats = recording.stats[recording.stats["what"] == What.UPDATE]
    if not len(assigns) or not len(stats):
        return []
    update, code = _by_tensor(recording, stats)
    values = recording.stats[recording.stats["what"] == What.VALUE]
    weight, _ = _by_tensor(recording, values)
    before = _before(recording, assigns)
    norm = np.where(before >= 0, weight[before], np.nan)
    tensor = assigns["tensor"].astype(np.int64)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = update[tensor] / norm
    state = np.where((code[tensor] == OK) & ~np.isfinite(ratio), Special.NOT_CAPTURED.value, code[tensor])
    iteration = np.maximum(
        np.searchsorted(recording.iterations["first_op"], np.maximum(assigns["at_op"].astype(np.int64) - 1, 0),
                        side="right") - 1, 0)
    shown = health(recording)
    count = len(recording.iterations)
    series = []
    for variable, name in zip(shown.variables, shown.names, strict=True):
        own = np.flatnonzero(assigns["variable"] == variable) if variable >= 0 else np.empty(0, np.intp)
        if len(own):
            series.append(_line(name, variable, iteration[own], ratio[own], state[own], count))
    return series


def _by_tensor(recording: Recording, stats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Norm and special code by tensor id; not captured where no record says anything."""
    norms = np.full(len(recording.tensors) + 1, np.nan)
    codes = np.full(len(recording.tensors) + 1, Special.NOT_CAPTURED.value, np.uint8)
    known = stats[stats["tensor"] < len(recording.tensors)]
    norms[known["tensor"]] = known["l2"]
    codes[known["tensor"]] = special_codes(known)
    return norms, codes


def _before(recording: Recording, assigns: np.ndarray) -> np.ndarray:
    """The tensor that held the value before each assignment, -1 where there is none."""
    tensors = recording.tensors
    held = np.flatnonzero((tensors["variable"] != NONE) & (tensors["role"] == Role.VARIABLE))
    key = tensors["variable"][held].astype(np.int64) << 32 | tensors["version"][held]
    order = np.argsort(key, kind="stable")
    key, held = key[order], held[order]
    wanted = assigns["variable"].astype(np.int64) << 32 | (assigns["version"].astype(np.int64) - 1)
    at = np.minimum(np.searchsorted(key, wanted, side="right") - 1, len(key) - 1)
    found = (at >= 0) & (assigns["version"] > 0)
    found[found] = key[at[found]] == wanted[found]
    return np.where(found, held[np.maximum(at, 0)] if len(held) else -1, -1)


def _line(name: str, variable: int, iteration: np.ndarray, ratio: np.ndarray, state: np.ndarray, count: int) -> Series:
    y = np.full(count, np.nan)
    states = np.full(count, Special.NOT_CAPTURED.value, np.uint8)
    inside = iteration < count
    states[iteration[inside]] = state[inside]
    y[iteration[inside]] = np.where(state[inside] == OK, ratio[inside], np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        log10 = np.where(y > 0, np.log10(y), np.nan)
    return Series(name, np.arange(count), y, states, log10, variable)
