"""Linear algebra: products, traces, inverses, decompositions. Matrices are the last two axes, the rest are batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.ops.registry import op

__gradtape__ = True


def _matmul(a: Any, b: Any) -> Any:
    return np.matmul(a, b)


def _matmul_nt(a: Any, b: Any) -> Any:
    return a.dot(b.T)


def _matmul_tn(a: Any, b: Any) -> Any:
    return a.T.dot(b)


def _matmul_left(m: Any, g: Any, y: Any, a: Any, b: Any) -> Any:
    if len(a.shape) == len(b.shape) == 2:
        return m.matmul_nt(g, b)
    if len(b.shape) == 1:
        grad = m.expand_dims(g, -1) * b                      # ... i, then k
    else:
        rows = m.expand_dims(g, -2) if len(a.shape) == 1 else g
        grad = m.matmul(rows, m.swapaxes(b, -1, -2))
        if len(a.shape) == 1:
            grad = m.sum_to(grad, (1, a.shape[0]))
            return m.reshape(grad, a.shape)
    return grad if grad.shape == a.shape else m.sum_to(grad, a.shape)


def _matmul_right(m: Any, g: Any, y: Any, a: Any, b: Any) -> Any:
    if len(a.shape) == len(b.shape) == 2:
        return m.matmul_tn(a, g)
    if len(a.shape) == 1:
        if len(b.shape) == 1:
            return g * a
        grad = m.expand_dims(a, -1) * m.expand_dims(g, -2)
    else:
        columns = m.expand_dims(g, -1) if len(b.shape) == 1 else g
        grad = m.matmul(m.swapaxes(a, -1, -2), columns)
        if len(b.shape) == 1:
            grad = m.sum_to(grad, (b.shape[0], 1))
            return m.reshape(grad, b.shape)
    return grad if grad.shape == b.shape else m.sum_to(grad, b.shape)


def _tensordot(a: Any, b: Any, axes: Any) -> Any:
    return np.tensordot(a, b, axes=axes)


def _tensordot_rule(which: int) -> Any:
    def rule(m: Any, g: Any, y: Any, a: Any, b: Any, axes: Any) -> Any:
        own, other = (a, b) if which == 0 else (b, a)
        own_axes = [k % len(own.shape) for k in axes[which]]
        other_axes = [k % len(other.shape) for k in axes[1 - which]]
        own_free = [k for k in range(len(own.shape)) if k not in own_axes]
        other_free = [k for k in range(len(other.shape)) if k not in other_axes]
        first = len(own_free) if which == 0 else 0           # where the other's free axes are in g
        shared = tuple(range(first, first + len(other_free)))
        grad = m.tensordot(g, other, axes=(shared, tuple(other_free)))
        order = own_free + [own_axes[other_axes.index(k)] for k in sorted(other_axes)]
        return m.transpose(grad, axes=tuple(int(k) for k in np.argsort(order)))

    return rule


def _einsum(*xs: Any, equation: str) -> Any:
    return np.einsum(equation, *xs)


def _einsum_rule(m: Any, g: Any, y: Any, *xs: Any, which: int, equation: str) -> Any:
    """Swap result and argument; letters that only this argument has were summed away: spread over them."""
    left, out = equation.split("->")
    letters = left.split(",")
    own = letters[which]
    others = [x for k, x in enumerate(xs) if k != which]
    known = set(out).union(*(l for k, l in enumerate(letters) if k != which))
    reachable = "".join(l for l in own if l in known)
    inputs = ",".join([out, *(l for k, l in enumerate(letters) if k != which)])
    grad = m.joined("einsum", [g, *others], equation=f"{inputs}->{reachable}")
    if reachable != own:
        grad = m.reshape(grad, tuple(grad.shape[reachable.index(l)] if l in known else 1 for l in own))
        return m.broadcast_to(grad, xs[which].shape)
    return grad if grad.shape == xs[which].shape else m.sum_to(grad, xs[which].shape)


def _trace(x: Any) -> Any:
    return np.trace(x, axis1=-2, axis2=-1)


def _trace_rule(m: Any, g: Any, y: Any, x: Any) -> Any:
    eye = np.eye(*x.shape[-2:], dtype=x.dtype)
    return m.expand_dims(m.expand_dims(g, -1), -1) * eye


def _diagonal(x: Any) -> Any:
    return np.diagonal(x, axis1=-2, axis2=-1)


def _diagonal_matrix(x: Any, shape: Any) -> Any:
    """Matrices of the given shape (the last two axes) with x on their diagonals."""
    y = np.zeros(x.shape[:-1] + tuple(shape), x.dtype)
    k = np.arange(x.shape[-1])
    y[..., k, k] = x
    return y


def _inv_rule(m: Any, g: Any, y: Any, x: Any) -> Any:
    t = m.swapaxes(y, -1, -2)
    return -m.matmul(m.matmul(t, g), t)


def _solve(a: Any, b: Any) -> Any:
    return np.linalg.solve(a, b)


def _solve_right(m: Any, g: Any, y: Any, a: Any, b: Any) -> Any:
    return m.solve(m.swapaxes(a, -1, -2), g)


def _solve_left(m: Any, g: Any, y: Any, a: Any, b: Any) -> Any:
    back = m.solve(m.swapaxes(a, -1, -2), g)
    if len(b.shape) == 1:
        return -m.expand_dims(back, -1) * m.expand_dims(y, -2)
    return -m.matmul(back, m.swapaxes(y, -1, -2))


def _det_rule(m: Any, g: Any, y: Any, x: Any) -> Any:
    return m.expand_dims(m.expand_dims(g * y, -1), -1) * m.swapaxes(m.inv(x), -1, -2)


def _logabsdet(x: Any) -> Any:
    return np.linalg.slogdet(x)[1]


def _logabsdet_rule(m: Any, g: Any, y: Any, x: Any) -> Any:
    return m.expand_dims(m.expand_dims(g, -1), -1) * m.swapaxes(m.inv(x), -1, -2)


def _cholesky_rule(m: Any, g: Any, y: Any, x: Any) -> Any:
    inverse = m.inv(y)
    lower = m.tril(m.matmul(m.swapaxes(y, -1, -2), g), k=0)
    half = lower - 0.5 * lower * np.eye(x.shape[-1], dtype=x.dtype)
    s = m.matmul(m.matmul(m.swapaxes(inverse, -1, -2), half), inverse)
    return 0.5 * (s + m.swapaxes(s, -1, -2))


def _outer(a: Any, b: Any) -> Any:
    return np.outer(a, b)


MATRIX = np.array([[2.0, 0.3, -0.4], [0.1, 1.5, 0.2], [-0.3, 0.5, 1.8]])
BATCH = np.stack([MATRIX, MATRIX.T + np.eye(3)])
SQUARE: Any = (((MATRIX,), {}), ((BATCH,), {}))

# fmt: off
matmul    = op("matmul", _matmul, _matmul_left, _matmul_right, arguments="a b", keeps="a b",
               formula=r"a \, b", vjps=(r"\bar y \, b^{\mathsf T}", r"a^{\mathsf T} \, \bar y"),
               examples=((((2, 3), (3, 4)), {}), (((3,), (3,)), {}), (((2, 3), (3,)), {}), (((3,), (3, 2)), {}),
                         (((2, 2, 3), (3, 2)), {}), (((2, 3), (2, 3, 2)), {}), (((2, 1, 2, 3), (3, 3, 2)), {}),
                         (((2, 2, 3), (3,)), {}), (((3,), (2, 3, 2)), {})))
matmul_nt = op("matmul_nt", _matmul_nt, lambda m, g, y, a, b: m.matmul(g, b), lambda m, g, y, a, b: m.matmul_tn(g, a),
               arguments="a b", keeps="a b", formula=r"a \, b^{\mathsf T}",
               vjps=(r"\bar y \, b", r"\bar y^{\mathsf T} a"), examples=((((2, 3), (4, 3)), {}),))
matmul_tn = op("matmul_tn", _matmul_tn, lambda m, g, y, a, b: m.matmul_nt(b, g), lambda m, g, y, a, b: m.matmul(a, g),
               arguments="a b", keeps="a b", formula=r"a^{\mathsf T} b",
               vjps=(r"b \, \bar y^{\mathsf T}", r"a \, \bar y"), examples=((((3, 2), (3, 4)), {}),))
tensordot = op("tensordot", _tensordot, _tensordot_rule(0), _tensordot_rule(1), arguments="a b", keeps="a b",
               formula=r"\sum_k a_{\dots k} \, b_{k \dots}",
               vjps=(r"\sum \bar y \, b", r"\sum a \, \bar y"),
               examples=((((2, 3), (3, 2)), {"axes": ((1,), (0,))}),
                         (((2, 3, 4), (4, 2, 2)), {"axes": ((0, 2), (1, 0))}), (((2,), (3,)), {"axes": ((), ())})))
einsum_   = op("einsum", _einsum, _einsum_rule, variadic=True, arguments="xs", formula=r"\sum \prod_k x_k",
               vjps=(r"\sum \bar y \prod_{j \neq k} x_j",),
               examples=((((2, 3), (3, 2)), {"equation": "ij,jk->ik"}), (((2, 3),), {"equation": "ij->i"}),
                         (((2, 3), (2, 3), (3,)), {"equation": "ij,ij,j->"}),
                         (((2, 2, 3), (2, 3, 2)), {"equation": "bij,bjk->bik"})))
outer     = op("outer", _outer, lambda m, g, y, a, b: m.reshape(m.matmul(g, m.reshape(b, (-1,))), a.shape),
               lambda m, g, y, a, b: m.reshape(m.matmul(m.reshape(a, (-1,)), g), b.shape), arguments="a b",
               keeps="a b", formula=r"a \, b^{\mathsf T}", vjps=(r"\bar y \, b", r"\bar y^{\mathsf T} a"),
               examples=((((3,), (2,)), {}),))
trace     = op("trace", _trace, _trace_rule, keeps="", formula=r"\operatorname{tr} x", vjps=(r"\bar y \, I",),
               examples=((((3, 3),), {}), (((2, 2, 3),), {})))
diagonal  = op("diagonal", _diagonal, lambda m, g, y, x: m.diagonal_matrix(g, tuple(x.shape[-2:])), keeps="",
               formula=r"\operatorname{diag} x", vjps=(r"\operatorname{diag} \bar y",),
               examples=((((3, 3),), {}), (((2, 2, 3),), {})))
diagonal_matrix = op("diagonal_matrix", _diagonal_matrix,
                     lambda m, g, y, x, shape: m.getitem(m.diagonal(g), (..., slice(0, x.shape[-1]))), keeps="",
                     formula=r"\operatorname{diag} x", vjps=(r"\operatorname{diag} \bar y",),
                     examples=((((3,),), {"shape": (3, 3)}), (((2, 2),), {"shape": (2, 3)})))
inv       = op("inv", np.linalg.inv, _inv_rule, keeps="y", formula=r"x^{-1}",
               vjps=(r"-y^{\mathsf T} \bar y \, y^{\mathsf T}",), examples=SQUARE)
solve     = op("solve", _solve, _solve_left, _solve_right, arguments="a b", keeps="a y", formula=r"a^{-1} b",
               vjps=(r"-a^{-\mathsf T} \bar y \, y^{\mathsf T}", r"a^{-\mathsf T} \bar y"),
               examples=(((MATRIX, (3,)), {}), ((MATRIX, (3, 2)), {}), ((BATCH, (2, 3, 2)), {})))
det       = op("det", np.linalg.det, _det_rule, formula=r"\det x", vjps=(r"\bar y \det(x) \, x^{-\mathsf T}",),
               examples=SQUARE)
logabsdet = op("logabsdet", _logabsdet, _logabsdet_rule, keeps="x", formula=r"\ln |\det x|",
               vjps=(r"\bar y \, x^{-\mathsf T}",), examples=SQUARE)
cholesky  = op("cholesky", np.linalg.cholesky, _cholesky_rule, keeps="y", formula=r"\operatorname{chol} x",
               vjps=(r"\operatorname{sym}(y^{-\mathsf T} \, \Phi(y^{\mathsf T} \bar y) \, y^{-1})",))
