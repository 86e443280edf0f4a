"""Functions for neural networks: activations, losses, layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import InvalidArgumentError
from gradtape.ops.activations import elu, gelu, leaky_relu, log_sigmoid, relu6, selu, silu, softplus, softsign
from gradtape.ops.fast import multiply
from gradtape.ops.fast_unary import relu, sigmoid, softmax_cross_entropy, tanh
from gradtape.ops.fused import (
    dense,
    huber,
    layer_norm,
    mean_squared_error,
    sigmoid_cross_entropy,
    sparse_softmax_cross_entropy,
)
from gradtape.ops.reductions import log_softmax, softmax
from gradtape.random import generator
from gradtape.tensor import Tensor
from gradtape.variable import convert

__gradtape__ = True

mse = mean_squared_error
swish = silu


def dropout(x: Any, rate: float, rng: np.random.Generator | None = None) -> Tensor:
    """Set a share of the elements to zero at random and scale the others by 1 / (1 - rate)."""
    if not 0 <= rate < 1:
        raise InvalidArgumentError(f"dropout: rate {rate} must be at least 0 and less than 1")
    x = convert(x)
    kept = (rng or generator()).random(x.shape) >= rate
    return multiply(x, np.asarray(kept / (1.0 - rate), dtype=x.dtype))


__all__ = [
    "dense", "dropout", "elu", "gelu", "huber", "layer_norm", "leaky_relu", "log_sigmoid", "log_softmax",
    "mean_squared_error", "mse", "relu", "relu6", "selu", "sigmoid", "sigmoid_cross_entropy", "silu", "softmax",
    "softmax_cross_entropy", "softplus", "softsign", "sparse_softmax_cross_entropy", "swish", "tanh",
]
