"""gradtape: a gradient tape on NumPy, with the behaviour of TensorFlow's GradientTape.

    import gradtape as gt

    w = gt.Variable(2.0)
    with gt.GradientTape() as tape:
        loss = gt.square(w * 3.0 - 1.0)
    dw = tape.gradient(loss, w)
"""

from __future__ import annotations

from gradtape import errors, linalg, nn, observers, optimizers, protocols, random, testing
from gradtape.custom import custom_gradient
from gradtape.errors import GradtapeError, GradtapeWarning
from gradtape.observers import GradientCall, Node, Observer, observe, scope
from gradtape.ops.activations import (
    abs_ as abs, ceil, clip, elu, equal, erf, floor, floor_divide, gelu, greater, greater_equal, isfinite, isinf,
    isnan, leaky_relu, less, less_equal, log_sigmoid, logical_and, logical_not, logical_or, logical_xor, maximum,
    minimum, not_equal, ones_like, relu6, round_ as round, selu, sign, silu, softplus, softsign, trunc, where,
    zeros_like,
)
from gradtape.ops.elementwise import (
    arccos, arccosh, arcsin, arcsinh, arctan, arctan2, arctanh, cbrt, cosh, degrees, divide_no_nan, exp2, expm1,
    floormod as mod, hypot, identity, log1p, log2, log10, logaddexp, negative, radians, reciprocal, rsqrt, sinh, sqrt,
    squared_difference, stop_gradient, tan, xlogy,
)
from gradtape.ops.fast import add, divide, matmul, multiply, power, subtract
from gradtape.ops.fast_unary import cos, exp, log, mean, relu, sigmoid, sin, square, sum_ as sum, tanh
from gradtape.ops.indexing import gather, getitem, one_hot, scatter, scatter_add, take_along_axis
from gradtape.ops.linalg import diagonal, outer, trace
from gradtape.ops.operators import diag, dot, einsum, inner, repeat, take, tensordot
from gradtape.ops.reductions import (
    all_ as all, any_ as any, argmax, argmin, argsort, count_nonzero, cumprod, cumsum, log_softmax, logsumexp,
    max_ as max, min_ as min, norm, prod, softmax, sort, std, var,
)
from gradtape.ops.registry import OPS, Op
from gradtape.ops.shapes import (
    broadcast_to, cast, concatenate, expand_dims, flip, moveaxis, pad, reshape, roll, split, squeeze, stack, swapaxes,
    tile, transpose, tril, triu, unstack,
)
from gradtape.tape import GradientTape
from gradtape.tensor import Tensor
from gradtape.variable import Variable, constant, convert

__gradtape__ = True
__version__ = "0.1.0"

asarray = convert
astype = cast
pow = power
