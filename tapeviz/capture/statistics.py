"""Statistics of many arrays at once: float-safe, honest about NaN, infinities, zeros and subnormal numbers.

Small arrays are laid end to end and reduced together (one NumPy call for all of them instead of ten calls each);
large ones are reduced in blocks that fit into the cache.  Sums are taken in float64, so that float32 gradients of
1e-30 do not read 0; whatever float64 cannot hold either is scaled by its largest magnitude first.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tapeviz.recording.schema import NONE, RECORDS, StatFlag

Array = np.ndarray[Any, np.dtype[Any]]
Records = np.ndarray[tuple[int], np.dtype[np.void]]

STAT = RECORDS["stat"]
BLOCK = 1 << 16            # elements reduced together: float64 copies of them stay in the second-level cache
SAMPLE_FROM = 1 << 20      # larger arrays: l2 and non-finite counts exact, the rest from a stride sample
_FIGURES = ("l2", "min", "max", "mean", "max_abs")
_SAFE_SQUARES_SINGLE = (1e-25, 1e35)
_WORTH_STACKING = 4        # arrays of one size, from which on a matrix is quicker than segments
_SAFE_SQUARES = (1e-290, 1e290)   # a sum of float64 squares in between has lost nothing that matters


# Numbers under these are subnormal, by dtype (a look-up: np.finfo costs as much as the rest of a small array).
_TINY = {np.dtype(kind): float(np.finfo(kind).tiny)
         for kind in (np.float16, np.float32, np.float64, np.complex64, np.complex128)}
_PLAIN = (np.dtype(np.float32), np.dtype(np.float64))   # reduced as they are

def statistics(arrays: Sequence[Array]) -> Records:
    """One record of kind "stat" per array: counts and figures filled in, the ids left NONE.

    Complex arrays are judged by magnitude, integers and booleans as numbers; other dtypes get n and NaN figures.
    """
    out = blank(len(arrays))
    out["n"] = [min(array.size, NONE) for array in arrays]
    groups: dict[tuple[np.dtype[Any], int], list[int]] = {}
    plain = list(arrays)
    for index, array in enumerate(arrays):
        dtype = array.dtype
        if dtype not in _PLAIN:
            plain[index] = array = _as_floats(array)
        groups.setdefault((dtype, array.size), []).append(index)
    loose: dict[np.dtype[Any], list[int]] = {}
    for (dtype, size), rows in groups.items():
        tiny = _TINY.get(dtype, 0.0)
        if size > BLOCK:
            for index in rows:
                _large(out[index:index + 1], plain[index].reshape(-1), tiny)
        elif size and len(rows) >= _WORTH_STACKING:
            for part in _cut(rows, max(1, BLOCK // size)):
                _stacked(out, part, [plain[k] for k in part], size, tiny)
        elif size:
            loose.setdefault(dtype, []).extend(rows)
    for dtype, rows in loose.items():
        for block in _blocks([(k, plain[k]) for k in rows]):
            _together(out, [k for k, _ in block], [values for _, values in block], _TINY.get(dtype, 0.0))
    return out


def _cut(rows: list[int], count: int) -> Iterator[list[int]]:
    for start in range(0, len(rows), count):
        yield rows[start:start + count]


def blank(count: int) -> Records:
    """Stat records that say nothing: ids NONE, figures NaN, counts 0."""
    out = np.zeros(count, STAT)
    for field in ("tensor", "op", "pass"):
        out[field] = NONE
    for field in (*_FIGURES, "low", "saturated", "cosine"):
        out[field] = np.nan
    return out


def _as_floats(array: Array) -> Array:
    """float32 or float64 numbers that stand for the elements; empty for a dtype without numbers."""
    kind = array.dtype.kind
    if kind == "f":
        return array.astype(np.float32 if array.dtype.itemsize == 2 else np.float64)
    if kind == "c":
        return np.abs(array).astype(np.float64, copy=False)
    if kind in "biu":
        return array.astype(np.float64)
    return np.empty(0)


def _blocks(members: list[tuple[int, Array]]) -> Iterator[list[tuple[int, Array]]]:
    """Cut the list into runs of at most BLOCK elements."""
    part: list[tuple[int, Array]] = []
    size = 0
    for member in members:
        if part and size + member[1].size > BLOCK:
            yield part
            part, size = [], 0
        part.append(member)
        size += member[1].size
    if part:
        yield part


class _Scratch(threading.local):
    """Memory of a thread for one block: fresh memory would cost more in page faults than the arithmetic."""

    def __init__(self) -> None:
        self.float32 = np.empty(BLOCK, np.float32)
        self.float64 = np.empty(BLOCK, np.float64)
        self.wide = np.empty(BLOCK, np.float64)
        self.narrow = np.empty(BLOCK, np.float32)
        self.mask = np.empty(BLOCK, np.bool_)

    def magnitude(self, dtype: np.dtype[Any]) -> Array:
        """Room for absolute values."""
        return self.narrow if dtype == np.float32 else self.wide


_SCRATCH = _Scratch()


def _stacked(out: Records, rows: list[int], arrays: list[Array], size: int, tiny: float) -> None:
    """Reduce several arrays of one dtype and size, as the rows of a matrix; float32 in float32 where that is safe."""
    single = arrays[0].dtype == np.float32
    flat = (_SCRATCH.float32 if single else _SCRATCH.float64)[:len(rows) * size]
    np.concatenate(arrays, axis=None, out=flat)
    matrix = flat.reshape(len(rows), size)
    low, high = _SAFE_SQUARES_SINGLE if single else _SAFE_SQUARES
    with np.errstate(all="ignore"):
        least, most = np.minimum.reduce(matrix, axis=1), np.maximum.reduce(matrix, axis=1)
        total, squares = np.add.reduce(matrix, axis=1), _row_squares(matrix)
        peak = np.maximum(np.abs(least), np.abs(most))
        exact = np.isfinite(total) & (((squares > low) & (squares < high)) | (peak == 0))
        at = np.array(rows)
        out["l2"][at] = np.sqrt(squares)
        out["mean"][at] = total / size
    out["min"][at], out["max"][at], out["max_abs"][at] = least, most, peak
    zeros, under = _near_zero(flat, np.arange(0, flat.size, size), tiny)
    out["zero"][at], out["subnormal"][at] = zeros, under
    if not exact.all():   # rows of tiny, huge or non-finite numbers: in float64, with care
        odd = np.flatnonzero(~exact).tolist()
        values = matrix[odd]   # a copy: the scratch is used again
        _together(out, [rows[k] for k in odd], list(values), tiny)


if hasattr(np, "vecdot"):   # NumPy 2
    def _row_squares(matrix: Array) -> Array:
        return np.vecdot(matrix, matrix)   # type: ignore[no-any-return]  # an array of arrays' dtype
else:
    def _row_squares(matrix: Array) -> Array:
        return np.einsum("ij,ij->i", matrix, matrix)   # type: ignore[no-any-return]  # as above


def _together(out: Records, rows: list[int], arrays: list[Array], tiny: float) -> None:
    """Reduce several small arrays of one dtype and write their rows."""
    sizes = np.array([a.size for a in arrays])
    starts = np.cumsum(sizes) - sizes
    total_size = int(sizes.sum())
    single = arrays[0].dtype == np.float32
    flat = (_SCRATCH.float32 if single else _SCRATCH.float64)[:total_size]
    np.concatenate(arrays, axis=None, out=flat)   # flattens each of them, whatever its shape
    with np.errstate(all="ignore"):
        least, most = np.minimum.reduceat(flat, starts), np.maximum.reduceat(flat, starts)
        zeros, under = _near_zero(flat, starts, tiny)
        wide = _SCRATCH.wide[:total_size]
        if single:
            np.copyto(wide, flat)
            total = np.add.reduceat(wide, starts)
            np.multiply(wide, wide, out=wide)
        else:
            total = np.add.reduceat(flat, starts)
            np.multiply(flat, flat, out=wide)
        squares = np.add.reduceat(wide, starts)
        mean, l2 = total / sizes, np.sqrt(squares)
        peak = np.maximum(np.abs(least), np.abs(most))
        exact = np.isfinite(total) & (((squares > _SAFE_SQUARES[0]) & (squares < _SAFE_SQUARES[1])) | (peak == 0))
    at = np.array(rows)
    for field, column in (("l2", l2), ("min", least), ("max", most), ("mean", mean), ("max_abs", peak),
                          ("zero", zeros), ("subnormal", under)):
        out[field][at] = column
    if not exact.all():
        for k in np.flatnonzero(~exact):
            _carefully(out, rows[k], arrays[k], tiny)


def _near_zero(flat: Array, starts: Array, tiny: float) -> tuple[Array, Array]:
    """How many elements of each segment are exactly zero, and how many are subnormal."""
    mask = _SCRATCH.mask[:flat.size]
    if tiny:
        magnitude = np.abs(flat, out=_SCRATCH.magnitude(flat.dtype)[:flat.size])
        np.less(magnitude, tiny, out=mask)
    else:
        np.equal(flat, 0, out=mask)
    none = np.zeros(len(starts), np.int64)
    if not mask.any():
        return none, none
    near = np.add.reduceat(mask, starts, dtype=np.int64)
    if not tiny:
        return near, none
    zeros = np.add.reduceat(np.equal(flat, 0, out=mask), starts, dtype=np.int64)
    return zeros, near - zeros


def _carefully(out: Records, row: int, values: Array, tiny: float) -> None:
    """One array with non-finite elements, or whose squares leave the range of float64."""
    values = values.reshape(-1)
    finite = values[np.isfinite(values)].astype(np.float64)
    magnitude = np.abs(finite)
    zeros = np.count_nonzero(magnitude == 0)
    out["nan"][row] = np.count_nonzero(np.isnan(values))
    out["posinf"][row] = np.count_nonzero(values == np.inf)
    out["neginf"][row] = np.count_nonzero(values == -np.inf)
    out["zero"][row] = zeros
    out["subnormal"][row] = np.count_nonzero(magnitude < tiny) - zeros if tiny else 0
    if not finite.size:
        for field in _FIGURES:
            out[field][row] = np.nan
        return
    peak = float(magnitude.max())
    scaled = finite / peak if peak else finite
    out["min"][row], out["max"][row] = finite.min(), finite.max()
    out["mean"][row], out["max_abs"][row] = peak * scaled.mean(), peak
    with np.errstate(over="ignore"):   # the norm of a few float64 numbers near the limit is above the limit
        out["l2"][row] = peak * np.sqrt(np.dot(scaled, scaled))


def _large(row: Records, values: Array, tiny: float) -> None:
    """One large array, block by block; a very large one is sampled unless something in it is not finite."""
    if values.size > SAMPLE_FROM:
        squares = _squares(values)
        if _SAFE_SQUARES[0] < squares < _SAFE_SQUARES[1]:
            sample = values[::values.size // BLOCK + 1]
            _together(row, [0], [np.ascontiguousarray(sample)], tiny)
            share = values.size / sample.size
            for field in ("zero", "subnormal"):
                row[field] = np.round(row[field] * share)
            row["l2"], row["flags"] = np.sqrt(squares), StatFlag.SAMPLED
            return
    pieces = [values[i:i + BLOCK] for i in range(0, values.size, BLOCK)]
    parts = blank(len(pieces))
    for k, piece in enumerate(pieces):
        _together(parts, [k], [piece], tiny)
    _merge(row, parts, np.array([p.size for p in pieces]))


def _squares(values: Array) -> float:
    """Sum of squares: BLAS within a block where that is safe, float64 over the blocks."""
    total = 0.0
    with np.errstate(all="ignore"):
        for i in range(0, values.size, BLOCK):
            piece = values[i:i + BLOCK]
            part = float(np.dot(piece, piece))
            if values.dtype == np.float32 and not 1e-25 < part < 1e35:   # near the edge of float32
                wide = piece.astype(np.float64)
                part = float(np.dot(wide, wide))
            total += part
    return total


def _merge(row: Records, parts: Records,
           sizes: Array) -> None:
    """Statistics of the whole from the statistics of its pieces."""
    for field in ("nan", "posinf", "neginf", "zero", "subnormal"):
        row[field] = parts[field].sum()
    finite = sizes - parts["nan"].astype(np.int64) - parts["posinf"] - parts["neginf"]
    parts, finite = parts[finite > 0], finite[finite > 0]
    if not len(parts):
        return
    row["min"], row["max"] = parts["min"].min(), parts["max"].max()
    row["max_abs"] = peak = parts["max_abs"].max()
    scale = peak or 1.0
    row["l2"] = scale * np.sqrt(np.sum((parts["l2"] / scale) ** 2))
    row["mean"] = scale * np.sum(parts["mean"] / scale * (finite / finite.sum()))
