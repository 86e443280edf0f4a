"""Linear algebra under NumPy's names: gt.linalg.inv, gt.linalg.norm, ..."""

from __future__ import annotations

from gradtape.ops.fast import matmul
from gradtape.ops.linalg import cholesky, det, diagonal, inv, logabsdet, outer, solve, trace
from gradtape.ops.operators import diag, slogdet, tensordot
from gradtape.ops.reductions import norm

__gradtape__ = True

__all__ = ["cholesky", "det", "diag", "diagonal", "inv", "logabsdet", "matmul", "norm", "outer", "slogdet", "solve",
           "tensordot", "trace"]
