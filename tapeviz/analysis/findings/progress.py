"""Whether the training gets anywhere: the losses of a run and the verdict that severities follow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tapeviz.analysis.findings.facts import ABSENT, Facts, Floats, Ints

IMPROVED = 0.9         # mean of the last eighth below this share of the mean of the first eighth
GREATLY_IMPROVED = 0.5
CONVERGED = 1e-3       # last loss below this share of the first
FEW = 4                # with fewer losses there is nothing to say


@dataclass(frozen=True, slots=True)
class Progress:
    """The main gradient call of a training, over the iterations.

    passes, iterations, losses: one entry per call, losses may be NaN or infinite
    end: number of calls before the first that is not finite (forward or backward)
    word: "improving", "flat", "worse", "non-finite" or "unknown"
    """

    passes: Ints
    iterations: Ints
    losses: Floats
    end: int
    word: str

    @property
    def finite(self) -> Floats:
        """The losses up to the first that is not finite."""
        return self.losses[: self.end]

    @property
    def converged(self) -> bool:
        """Whether the loss has fallen to next to nothing of what it was."""
        losses = self.finite
        return bool(self.word == "improving" and len(losses) >= FEW
                    and abs(losses[-1]) < CONVERGED * abs(losses[0]))

    @property
    def fell(self) -> float:
        """Mean of the last eighth of the losses as a share of that of the first; 1 if unknown."""
        if len(self.finite) < FEW:
            return 1.0
        first, last = eighths(self.finite)
        return float(np.mean(last) / np.mean(first)) if np.mean(first) > 0 else 1.0

    def severity(self) -> str:
        """How bad a slow or partial training is: depends on whether it works nevertheless."""
        if self.word == "improving":
            return "info" if self.fell < GREATLY_IMPROVED else "warning"
        return "error" if self.word in ("flat", "worse", "non-finite") else "warning"


def eighths(losses: Floats) -> tuple[Floats, Floats]:
    """The first and the last eighth of a series, at least one entry each."""
    n = max(len(losses) // 8, 1)
    return losses[:n], losses[-n:]


def progress_of(facts: Facts) -> Progress:
    """The losses of the gradient call that was made most often."""
    passes = facts.gradient_passes
    if len(passes):
        locs = facts.passes["loc"][passes]
        kinds, first, counts = np.unique(locs, return_index=True, return_counts=True)
        best = max(range(len(kinds)), key=lambda k: (counts[k], first[k]))
        passes = passes[locs == kinds[best]]
    rows = facts.value_row[facts.passes["target"][passes].astype(np.int64)]
    passes, rows = passes[rows != ABSENT], rows[rows != ABSENT]     # not recorded at this level, or not yet
    losses = facts.column("mean", rows)
    if len(facts.stats):
        bad = (rows >= 0) & (facts.bad[rows] > 0)
        infinite = bad & (facts.stats["posinf"][rows] > 0)
        losses = np.where(infinite, np.inf, np.where(bad, np.nan, losses))
    harm = facts.harm
    end = len(losses)
    if harm is not None:
        end = int(np.searchsorted(passes, harm[1], side="right"))
        if end and not np.isfinite(losses[end - 1]):
            end -= 1
    iterations = facts.pass_iterations[passes]
    return Progress(passes, iterations, losses, end, _word(losses, end, harm is not None))


def _word(losses: Floats, end: int, harmed: bool) -> str:
    if harmed or not np.isfinite(losses).all():
        return "non-finite"
    if len(losses) < FEW:
        return "unknown"
    first, last = (float(np.mean(part)) for part in eighths(losses))
    if first - last > (1 - IMPROVED) * abs(first):
        return "improving"
    return "worse" if last - first > (1 / IMPROVED - 1) * abs(first) else "flat"
