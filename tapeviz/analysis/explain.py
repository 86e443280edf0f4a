"""Why an element of a contribution has its value: the sum of products that made it, with the recorded numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from tapeviz.analysis.derivatives import local_derivative
from tapeviz.analysis.format import TRUE_MINUS, plain, sci

if TYPE_CHECKING:
    from tapeviz.analysis.steps import StepCard

Index = tuple[int, ...]
MOST_TERMS = 4096      # more are not expanded
SHOWN_TERMS = 8        # in the text; the rest is one number
TOLERANCE = 2e-3       # relative, of the recorded number: float16 has three digits
_MATMUL = frozenset({"matmul", "dot"})
_REDUCTIONS = frozenset({"sum", "mean"})
_RESHAPES = frozenset({"reshape", "squeeze", "expand_dims"})
_MOVES = frozenset({"swapaxes", "moveaxis", "getitem", "gather", "take_along_axis", "concatenate", "stack", "split",
                    "unstack", "pad", "flip", "roll", "sort"})
_PER_ROW = frozenset({"softmax_cross_entropy", "sparse_softmax_cross_entropy"})
# Same shape in and out, yet every element depends on several.
_MIXING = frozenset({"softmax", "log_softmax", "cumsum", "cumprod", "sort", "layer_norm", "product_of_others", "inv",
                     "solve", "cholesky", "matmul", "dense", "tensordot", "einsum", "flip", "roll", "transpose",
                     "swapaxes", "moveaxis", "fft", "ifft", "matrix_power", "expm"})


@dataclass(frozen=True, slots=True)
class Term:
    """One product, cotangent[incoming] * factor; `local` is the factor's index in Explanation.local, if it is there."""

    cotangent: float
    factor: float
    incoming: Index
    local: Index | None

    @property
    def value(self) -> float:
        return self.cotangent * self.factor


@dataclass(frozen=True, slots=True)
class Explanation:
    """One element of one contribution.

    value: as recorded; terms: products that add up to it, empty where the op cannot be expanded; total: their sum
    text: "-0.194·0.486 + 0.059·(-0.236)", or a sentence
    local: what the cotangent is multiplied with, as an array to be shown beside it (None: nothing but 1); for a matrix
    product the other operand, already transposed; local_first: it stands to the left of the cotangent
    elementwise: the two are multiplied element by element, not as matrices
    """

    slot: int
    index: Index
    value: float
    terms: tuple[Term, ...]
    total: float
    text: str
    local: np.ndarray | None = None
    local_latex: str = ""
    local_first: bool = False
    elementwise: bool = False


def explain_element(card: StepCard, slot: int, index: Index) -> Explanation | None:
    """Why element `index` of the contribution to argument `slot` has its value.

    None when the numbers were not captured.  Raises IndexError when the contribution has no such element.
    """
    entry = next((c for c in card.contributions if c.slot == slot), None)
    cotangent = card.cotangents[0].value if card.cotangents else None
    if entry is None or entry.target.value is None or cotangent is None:
        return None
    contribution = entry.target.value
    index = tuple(int(i) for i in index)
    value = float(contribution[index])
    for way in WAYS:
        found = way(card, slot, index, np.asarray(cotangent), contribution)
        if found is not None and _adds_up(found, value, contribution):
            return found
    return Explanation(slot, index, value, (), math.nan, _sentence(card, slot))


def _adds_up(found: Explanation, value: float, contribution: np.ndarray) -> bool:
    if not math.isfinite(value) or not math.isfinite(found.total):
        return not math.isfinite(value) and not math.isfinite(found.total)
    # terms that cancel leave rounding errors of the size of the terms
    size = max([abs(value), *(abs(term.value) * 1e-2 for term in found.terms)])
    return abs(found.total - value) <= TOLERANCE * size + 1e-300


def _finished(card: StepCard, slot: int, index: Index, value: float, terms: list[Term], *,
              local: np.ndarray | None = None, latex: str = "", first: bool = False,
              elementwise: bool = False) -> Explanation:
    total = math.fsum(t.value for t in terms) if all(math.isfinite(t.value) for t in terms) else sum(
        t.value for t in terms)
    return Explanation(slot, index, value, tuple(terms), total, terms_text(terms, factor_first=first), local,
                       latex, first, elementwise)


def _matrix_product(card: StepCard, slot: int, index: Index, g: np.ndarray, c: np.ndarray) -> Explanation | None:
    """contribution = G Bᵀ to the left operand, Aᵀ G to the right one; summed over what was broadcast."""
    if card.op_name not in _MATMUL or len(card.operands) != 2 or slot > 1:
        return None
    other = card.operands[1 - slot].value
    if other is None:
        return None
    vector = (len(card.operands[0].shape) == 1, len(card.operands[1].shape) == 1)
    full = g
    if vector[1]:
        full = full[..., None]
    if vector[0]:
        full = full[..., None, :]
    mine = c[None, :] if slot == 0 and vector[0] else c[:, None] if slot == 1 and vector[1] else c
    at = (0, *index) if slot == 0 and vector[0] else (*index, 0) if slot == 1 and vector[1] else index
    their = other[None, :] if slot == 1 and vector[0] else other[:, None] if slot == 0 and vector[1] else other
    if full.ndim < 2 or mine.ndim < 2 or their.ndim < 2:
        return None
    terms: list[Term] = []
    inner = full.shape[-1] if slot == 0 else full.shape[-2]
    leads = list(_broadcast_leads(full.shape[:-2], mine.shape[:-2], at[:-2]))
    if len(leads) * inner > MOST_TERMS:
        return None
    for lead in leads:
        theirs = their[_restricted(lead, their.shape[:-2])]
        for k in range(inner):
            g_at = (at[-2], k) if slot == 0 else (k, at[-1])
            # the other operand is shown transposed: rows and columns change places
            other_at = (at[-1], k) if slot == 0 else (k, at[-2])
            shown = (k, at[-1]) if slot == 0 else (at[-2], k)
            drop = lead + tuple(i for i, gone in zip(g_at, vector, strict=True) if not gone)
            terms.append(Term(float(full[(*lead, *g_at)]), float(theirs[other_at]), drop, shown))
    latex = f"{card.operands[1 - slot].latex}^{{\\top}}" if not vector[1 - slot] else card.operands[1 - slot].latex
    local = np.swapaxes(their[_restricted(leads[0], their.shape[:-2])], -1, -2)
    return _finished(card, slot, index, float(c[index]), terms, local=local, latex=latex, first=slot == 1)


def _elementwise(card: StepCard, slot: int, index: Index, g: np.ndarray, c: np.ndarray) -> Explanation | None:
    """contribution = G times the local derivative, summed over the axes along which the operand was broadcast."""
    values = [operand.value for operand in card.operands]
    result = card.outputs[0].value if card.outputs else None
    shape = card.outputs[0].shape if card.outputs else ()
    if shape != g.shape:
        return None
    local = local_derivative(card.op_name, slot, result if result is not None else np.full(shape, np.nan),
                             [v if v is not None else np.array(np.nan) for v in values], card.attrs)
    if local is None:
        return None
    places = list(_sources(g.shape, c.shape, index))
    if len(places) > MOST_TERMS:
        return None
    terms = [Term(float(g[at]), float(local[at]), at, at) for at in places]
    plain_one = bool((local == 1).all())
    return _finished(card, slot, index, float(c[index]), terms, local=None if plain_one else local,
                     latex=_derivative(card, slot), elementwise=True)


def _reduction(card: StepCard, slot: int, index: Index, g: np.ndarray, c: np.ndarray) -> Explanation | None:
    """A sum sends its gradient to everything it summed; a mean divides it among them."""
    if card.op_name not in _REDUCTIONS or not c.ndim:
        return None
    axes = _axes(card.attrs.get("axis"), c.ndim)
    at = tuple(i for axis, i in enumerate(index) if axis not in axes)
    if g.ndim == c.ndim:
        at = tuple(0 if axis in axes else i for axis, i in enumerate(index))
    if len(at) != g.ndim:
        return None
    count = math.prod(c.shape[axis] for axis in axes)
    share = 1 / count if "mean" in card.op_name and count else 1.0
    return _finished(card, slot, index, float(c[index]), [Term(float(g[at]), share, at, None)],
                     local=None if share == 1 else np.array(share), latex="" if share == 1 else r"\frac{1}{n}",
                     elementwise=True)


def _softmax(card: StepCard, slot: int, index: Index, g: np.ndarray, c: np.ndarray) -> Explanation | None:
    """Every element of a softmax depends on every element of its row: one product for each."""
    y = card.outputs[0].value if card.outputs else None
    if card.op_name != "softmax" or y is None or g.shape != c.shape or not index:
        return None
    axis = int(a) % c.ndim if isinstance(a := card.attrs.get("axis", -1), int) else c.ndim - 1
    row = [(*index[:axis], k, *index[axis + 1:]) for k in range(c.shape[axis])]
    if len(row) > MOST_TERMS:
        return None
    mine = float(y[index])
    return _finished(card, slot, index, float(c[index]), [
        Term(float(g[at]), mine * ((at == index) - float(y[at])), at, None) for at in row])


def _rearranged(card: StepCard, slot: int, index: Index, g: np.ndarray, c: np.ndarray) -> Explanation | None:
    """Ops that only move elements: the gradient of the element's new place comes back."""
    at: Index
    if card.op_name in _RESHAPES and g.size == c.size:
        flat = int(np.ravel_multi_index(index, c.shape)) if index else 0
        at = tuple(int(i) for i in np.unravel_index(flat, g.shape)) if g.ndim else ()
    elif card.op_name == "transpose" and g.size == c.size and g.ndim == c.ndim:
        axes = card.attrs.get("axes")
        order = [int(a) % g.ndim for a in axes] if isinstance(axes, list) else list(range(g.ndim))[::-1]
        if sorted(order) != list(range(g.ndim)):
            return None
        at = tuple(index[a] for a in order)
    elif card.op_name in _MOVES:
        same = np.argwhere(g == c[index])
        if len(same) != 1:
            return None
        at = tuple(int(i) for i in same[0])
    else:
        return None
    return _finished(card, slot, index, float(c[index]), [Term(float(g[at]), 1.0, at, None)], elementwise=True)


def _by_ratio(card: StepCard, slot: int, index: Index, g: np.ndarray, c: np.ndarray) -> Explanation | None:
    """Where one element of the cotangent alone made this one, the derivative is the quotient of the two."""
    one_each = g.shape == c.shape and card.op_name not in _MIXING
    one_per_row = g.ndim == 0 or (card.op_name in _PER_ROW and c.shape[:g.ndim] == g.shape)
    if not (one_each or one_per_row):
        return None
    at = index if one_each else index[:g.ndim]
    shown = g if one_each else g.reshape(g.shape + (1,) * (c.ndim - g.ndim))
    if float(g[at]) == 0 or not math.isfinite(float(g[at])):
        return None
    with np.errstate(all="ignore"):
        local = np.asarray(c, dtype=np.float64) / np.asarray(shown, dtype=np.float64)
    return _finished(card, slot, index, float(c[index]), [Term(float(g[at]), float(local[index]), at, index)],
                     local=local, latex=_derivative(card, slot), elementwise=True)


def _derivative(card: StepCard, slot: int) -> str:
    over = card.operands[slot].latex if slot < len(card.operands) else "x"
    return rf"\frac{{\partial {card.outputs[0].latex}}}{{\partial {over}}}" if card.outputs else ""


def _sentence(card: StepCard, slot: int) -> str:
    unknown = [operand.name for operand in card.operands if operand.value is None]
    if unknown:
        return f"The elements of {' and '.join(unknown)} were not captured, so the products cannot be shown."
    shapes = next((rule.shapes for rule in card.rules if rule.slot == slot), "")
    if len(card.cotangents) > 1:
        return f"{card.op_name} has {len(card.cotangents)} results; its rule puts their gradients together: {shapes}."
    return f"{card.op_name} mixes many elements here; its rule as a whole gives {shapes}." if shapes else (
        f"{card.op_name} has no element-by-element explanation.")


def _axes(axis: object, ndim: int) -> frozenset[int]:
    if axis is None:
        return frozenset(range(ndim))
    listed = axis if isinstance(axis, (list, tuple)) else [axis]
    return frozenset(int(a) % ndim for a in listed if isinstance(a, (int, float))) if ndim else frozenset()


def _sources(out: tuple[int, ...], operand: tuple[int, ...], index: Index) -> Iterator[Index]:
    """Elements of the result that an element of a broadcast operand went into."""
    padded = (1,) * (len(out) - len(operand)) + operand
    at = (0,) * (len(out) - len(operand)) + index
    return product(*(range(n) if m == 1 and n != 1 else (i,) for n, m, i in zip(out, padded, at, strict=True)))


def _broadcast_leads(full: tuple[int, ...], mine: tuple[int, ...], at: Index) -> Iterator[Index]:
    return _sources(full, mine, at)


def _restricted(lead: Index, shape: tuple[int, ...]) -> Index:
    """The part of a leading index that an operand has, with 0 where it was broadcast."""
    own = lead[len(lead) - len(shape):] if shape else ()
    return tuple(0 if n == 1 else i for i, n in zip(own, shape, strict=True))


def number_text(x: float) -> str:
    """A factor as the text shows it: three significant digits."""
    return plain(x, 3) if x == 0 or 1e-3 <= abs(x) < 1e5 or not math.isfinite(x) else sci(x, 2)


def terms_text(terms: Sequence[Term], *, factor_first: bool = False) -> str:
    """"-0.194·0.486 + 0.059·(-0.236) - 0.1", with true minus signs; factors of exactly 1 are left out."""
    text = ""
    for term in terms[:SHOWN_TERMS]:
        text += _joined(text, _term_text(term, factor_first))
    if len(terms) > SHOWN_TERMS:
        rest = number_text(sum(term.value for term in terms[SHOWN_TERMS:]))
        text += f" + ({len(terms) - SHOWN_TERMS} more terms: {rest})"
    return text.replace("-", TRUE_MINUS)


def _joined(before: str, piece: str) -> str:
    if not before:
        return piece
    return f" - {piece[1:]}" if piece.startswith("-") else f" + {piece}"


def _term_text(term: Term, factor_first: bool) -> str:
    if term.factor == 1:
        return number_text(term.cotangent)
    left, right = number_text(term.cotangent), number_text(term.factor)
    if factor_first:
        left, right = right, left
    return f"{left}·({right})" if right.startswith("-") else f"{left}·{right}"


WAYS = (_matrix_product, _elementwise, _reduction, _softmax, _rearranged, _by_ratio)     # the first that adds up
