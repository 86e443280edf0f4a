"""Root cause first: which finding explains which, and the order in which they are read."""

from __future__ import annotations

from dataclasses import replace

from tapeviz.analysis.findings.finding import SEVERITIES, Finding

NUMERIC = frozenset({"nan-forward-domain", "nan-overflow", "nan-backward-singular", "nan-masked-branch", "nan-input"})
GROWTH = frozenset({"exploding-depth", "exploding-time", "lr-too-large", "unscaled-input", "grad-accumulated",
                    "sign-flipped", "loss-unbounded"})
MISSING = frozenset({"unwatched-source", "graph-break", "nondiff-op", "stop-gradient", "unused-variable",
                     "integer-source"})
STRUCTURE = frozenset({"tape-growth", "constant-normaliser", "loss-broadcast", "loss-activation-mismatch",
                       "symmetric-init", "label-range", "fp16-range"})
ZEROS = frozenset({"dead-relu", "saturated-activation"})
WHOLE_RUN = frozenset({"update-too-small", "var-not-updated"})    # no moment at which they begin
SIZES = frozenset({"vanishing-depth", "vanishing-time", "update-too-small", "var-not-updated", "oscillating"})

# Kinds of findings from root to consequence; within one severity they are read in this order.
TIERS = (NUMERIC, GROWTH, MISSING, STRUCTURE, ZEROS, SIZES)

# A finding on the left explains those on the right, if it is not later than they are.
EXPLAINS: dict[str, frozenset[str]] = {
    "nan-input": NUMERIC | GROWTH | ZEROS | SIZES | {"nan-spread"},
    "exploding-depth": NUMERIC | GROWTH | ZEROS | {"nan-spread", "saturated-activation"},
    "exploding-time": NUMERIC | GROWTH | ZEROS | {"nan-spread", "saturated-activation"},
    "unscaled-input": NUMERIC - {"nan-input"} | ZEROS | {"lr-too-large", "nan-spread", "sign-flipped", "oscillating"},
    "grad-accumulated": NUMERIC - {"nan-input"} | {"lr-too-large", "nan-spread", "oscillating", "loss-unbounded"},
    "sign-flipped": NUMERIC - {"nan-input"} | {"lr-too-large", "nan-spread", "loss-unbounded", "unscaled-input"},
    "loss-unbounded": NUMERIC - {"nan-input"} | {"nan-spread", "lr-too-large"},
    "lr-too-large": NUMERIC - {"nan-input", "nan-masked-branch", "nan-backward-singular"} | ZEROS
    | {"nan-spread", "oscillating", "exploding-depth", "exploding-time"},
    **dict.fromkeys(NUMERIC - {"nan-input"}, frozenset({"nan-spread", "saturated-activation", "dead-relu",
                                                        "vanishing-depth", "vanishing-time", "lr-too-large",
                                                        "exploding-depth", "exploding-time", "var-not-updated"})),
    "symmetric-init": frozenset({"dead-relu", "vanishing-depth", "var-not-updated", "update-too-small"}),
    "constant-normaliser": frozenset({"vanishing-depth", "vanishing-time", "saturated-activation", "dead-relu",
                                      "symmetric-init", "update-too-small", "var-not-updated"}),
    "loss-activation-mismatch": frozenset({"saturated-activation", "vanishing-depth"}),
    "dead-relu": frozenset({"vanishing-depth", "vanishing-time", "var-not-updated", "update-too-small",
                            "symmetric-init"}),
    "saturated-activation": frozenset({"vanishing-depth", "vanishing-time", "update-too-small", "var-not-updated"}),
    "vanishing-depth": frozenset({"update-too-small", "var-not-updated", "dead-relu"}),
    "vanishing-time": frozenset({"update-too-small", "var-not-updated", "dead-relu"}),
    "fp16-range": frozenset({"vanishing-depth", "var-not-updated", "update-too-small", "dead-relu"}),
    **dict.fromkeys(MISSING, frozenset({"var-not-updated", "update-too-small"})),
}


def rank(finding: Finding) -> tuple[int, int, int, str]:
    """Sort key: severity, then from root to consequence, then time."""
    tier = next((k for k, ids in enumerate(TIERS) if finding.id in ids), len(TIERS))
    return SEVERITIES.index(finding.severity), tier, finding.iteration, finding.id


def fold(findings: list[Finding]) -> list[Finding]:
    """Put every finding under the one that explains it; what remains are root causes, in reading order."""
    roots: list[Finding] = []
    below: dict[int, list[Finding]] = {}
    for finding in findings:
        causes = [c for c in findings if c is not finding and _explains(c, finding)]
        if causes:
            below.setdefault(id(min(causes, key=rank)), []).append(finding)
        else:
            roots.append(finding)
    return sorted((_with_consequences(root, below) for root in roots), key=rank)


def _explains(cause: Finding, effect: Finding) -> bool:
    if effect.id not in EXPLAINS.get(cause.id, frozenset()):
        return False
    if cause.id in EXPLAINS.get(effect.id, frozenset()):     # each may follow from the other: the earlier one leads
        return rank(cause)[1:] < rank(effect)[1:] if cause.iteration == effect.iteration else (
            cause.iteration < effect.iteration)
    return cause.iteration <= effect.iteration or effect.id in WHOLE_RUN


def _with_consequences(finding: Finding, below: dict[int, list[Finding]], depth: int = 0) -> Finding:
    children = below.get(id(finding), [])
    if not children or depth > 4:
        return finding
    folded = sorted((_with_consequences(child, below, depth + 1) for child in children), key=rank)
    return replace(finding, consequences=tuple(folded))
