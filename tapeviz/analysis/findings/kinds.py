"""What the rules know of operations by name: where they are defined, where they are flat, what they do to a signal."""

from __future__ import annotations

# Functions with a border: which argument must obey which condition for the result to be a number.
POSITIVE_ARGUMENT = frozenset({"log", "log2", "log10", "rsqrt"})       # at 0 infinite, below NaN
NONNEGATIVE_ARGUMENT = frozenset({"sqrt"})
WITHIN_ONE = frozenset({"arcsin", "arccos", "arctanh"})
DENOMINATOR = {"divide": 1, "reciprocal": 0, "floor_divide": 1, "mod": 1}
OTHER_DOMAIN = frozenset({"log1p", "arccosh", "power", "xlogy", "arctan2", "logabsdet", "inv", "solve", "det",
                          "cholesky"})
DOMAIN = POSITIVE_ARGUMENT | NONNEGATIVE_ARGUMENT | WITHIN_ONE | DENOMINATOR.keys() | OTHER_DOMAIN

# Functions whose slope is infinite or undefined somewhere, though their value there is finite.
SINGULAR = {
    "sqrt": "the slope of sqrt at 0 is infinite",
    "rsqrt": "the slope of 1/sqrt at 0 is infinite",
    "cbrt": "the slope of the cube root at 0 is infinite",
    "norm": "the slope of a norm at the zero vector is 0/0",
    "std": "the slope of a standard deviation is 0/0 where all numbers are equal",
    "hypot": "the slope of hypot at (0, 0) is 0/0",
    "power": "the slope of x**p with p < 1 at 0 is infinite",
    "arcsin": "the slope of arcsin at -1 and 1 is infinite",
    "arccos": "the slope of arccos at -1 and 1 is infinite",
    "arctanh": "the slope of arctanh at -1 and 1 is infinite",
    "arccosh": "the slope of arccosh at 1 is infinite",
    "arctan2": "the slope of arctan2 at (0, 0) is 0/0",
    "log": "the slope of log at 0 is infinite",
    "log1p": "the slope of log1p at -1 is infinite",
    "xlogy": "the slope of log at 0 is infinite",
    "divide": "the slope of a quotient is infinite where the denominator is 0",
    "reciprocal": "the slope of 1/x at 0 is infinite",
    "prod": "the slope of a product was computed by dividing by a factor that is 0",
    "cholesky": "the matrix is not safely positive definite",
    "inv": "the matrix is close to singular",
    "solve": "the matrix is close to singular",
}
EXPONENTIAL = frozenset({"exp", "exp2", "expm1", "cosh", "sinh"})

# Operations that choose: what is not chosen may be anything without being seen in the value.
SELECT = frozenset({"where", "maximum", "minimum", "clip", "relu", "relu6", "max", "min", "divide_no_nan"})

# Linear maps by a weight: the borders between layers.  The plain product counts only where there is none of these.
LINEAR = frozenset({"matmul", "dense", "tensordot", "einsum", "dot", "inner", "conv1d", "conv2d", "conv3d",
                    "conv2d_transpose", "depthwise_conv2d", "solve"})
PRODUCT = frozenset({"multiply"})
ACTIVATION = frozenset({"sigmoid", "tanh", "relu", "relu6", "leaky_relu", "elu", "selu", "gelu", "silu", "softplus",
                        "softsign", "erf", "softmax", "sin", "cos", "log_sigmoid"})
RECTIFIER = frozenset({"relu", "relu6"})
SATURATING = frozenset({"sigmoid", "tanh", "softmax", "softsign"})

# Same numbers in another form.
TRANSPARENT = frozenset({"reshape", "transpose", "identity", "cast", "expand_dims", "squeeze", "swapaxes", "moveaxis",
                         "getitem", "broadcast_to", "stop_gradient", "flip"})
ARRANGING = TRANSPARENT | {"concatenate", "split", "stack", "unstack", "pad", "tile", "gather"}
ELEMENTWISE_ERROR = frozenset({"square", "abs", "power", "multiply", "huber", "sqrt", "cosh", "log", "negative",
                               "softplus", "logaddexp"})
DIFFERENCE = frozenset({"subtract", "squared_difference"})
CROSS_ENTROPY = {"softmax_cross_entropy": 1, "sparse_softmax_cross_entropy": 1, "sigmoid_cross_entropy": 1}
FLAT = frozenset({"sign", "step", "step6"})     # differentiable by definition, with slope 0 everywhere

SLOPE = {   # the largest slope of a squashing function, for the words of an explanation
    "sigmoid": "sigmoid passes on at most a quarter per layer",
    "tanh": "tanh passes on less than it gets wherever it is not near 0",
    "softsign": "softsign passes on less than it gets wherever it is not near 0",
    "softmax": "softmax passes on at most a quarter",
}
