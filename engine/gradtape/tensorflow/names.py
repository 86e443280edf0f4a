"""The table: TensorFlow's name -> what it is in gradtape."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.nests import flatten, pack
from gradtape.ops.registry import bare
from gradtape.random import generator
from gradtape.tensorflow import functions as tf
from gradtape.tensorflow.functions import adapted, reduction, tensor
from gradtape.tensorflow.missing import Namespace

__gradtape__ = True


class UnconnectedGradients(enum.Enum):
    """What gradient() returns where there is no path."""

    NONE = "none"
    ZERO = "zero"


class _Variables(type):
    """tf.Variable makes gradtape's variables, so that they take the fast road; isinstance agrees."""

    def __call__(cls, initial_value: Any = None, trainable: bool = True, validate_shape: bool = True,
                 name: str | None = None, dtype: Any = None, **_: Any) -> gt.Variable:
        if callable(initial_value) and not isinstance(initial_value, gt.Tensor):
            initial_value = initial_value()
        value = bare(initial_value) if isinstance(initial_value, gt.Tensor) else tensor(initial_value, dtype)
        return gt.Variable(value, trainable, name, dtype)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, gt.Variable)


class Variable(metaclass=_Variables):
    """gradtape's Variable with TensorFlow's default dtypes."""


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> gt.Tensor:
    """A tensor made from data."""
    return gt.constant(bare(tensor(value) if dtype is None else value), dtype, shape)


def convert_to_tensor(value: Any, dtype: Any = None, name: str | None = None) -> gt.Tensor:
    """A tensor of anything that holds numbers."""
    return tensor(value, dtype)     # type: ignore[no-any-return]  # a tensor


def random_normal(shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = "float32", seed: Any = None,
                  name: str | None = None) -> gt.Tensor:
    """Normally distributed numbers (NumPy's generator: not the numbers that TensorFlow draws)."""
    return gt.random.normal(tuple(shape), mean, stddev, dtype)


def random_uniform(shape: Any, minval: float = 0, maxval: float | None = None, dtype: Any = "float32",
                   seed: Any = None, name: str | None = None) -> gt.Tensor:
    """Uniformly distributed numbers."""
    return gt.random.uniform(tuple(shape), minval, 1 if maxval is None else maxval, dtype)


def truncated_normal(shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = "float32", seed: Any = None,
                     name: str | None = None) -> gt.Tensor:
    """Normally distributed numbers within two standard deviations."""
    return gt.random.truncated_normal(tuple(shape), mean, stddev, dtype)


def shuffle(value: Any, seed: Any = None, name: str | None = None) -> gt.Tensor:
    """The rows in random order."""
    return tensor(generator().permutation(bare(value)))     # type: ignore[no-any-return]


def dropout(x: Any, rate: float, noise_shape: Any = None, seed: Any = None, name: str | None = None) -> gt.Tensor:
    """Elements set to zero at random, the others scaled up."""
    return gt.nn.dropout(tensor(x), rate)


def map_structure(function: Any, *structures: Any) -> Any:
    """A function applied to the leaves of nests of one structure."""
    return pack(structures[0], [function(*leaves) for leaves in zip(*map(flatten, structures), strict=True)])


MATH: dict[str, Any] = {
    "abs": adapted(gt.abs), "add": adapted(gt.add), "add_n": tf.add_n, "argmax": tf.argmax, "argmin": tf.argmin,
    "asin": adapted(gt.arcsin), "acos": adapted(gt.arccos), "atan": adapted(gt.arctan), "atan2": adapted(gt.arctan2),
    "asinh": adapted(gt.arcsinh), "acosh": adapted(gt.arccosh), "atanh": adapted(gt.arctanh), "ceil": adapted(gt.ceil),
    "cos": adapted(gt.cos), "cosh": adapted(gt.cosh), "cumsum": adapted(gt.cumsum), "cumprod": adapted(gt.cumprod),
    "divide": adapted(gt.divide), "divide_no_nan": adapted(gt.divide_no_nan), "equal": adapted(gt.equal),
    "erf": adapted(gt.erf), "exp": adapted(gt.exp), "expm1": adapted(gt.expm1), "floor": adapted(gt.floor),
    "floordiv": adapted(gt.floor_divide), "floormod": adapted(gt.mod), "mod": adapted(gt.mod),
    "greater": adapted(gt.greater), "greater_equal": adapted(gt.greater_equal), "is_finite": adapted(gt.isfinite),
    "is_inf": adapted(gt.isinf), "is_nan": adapted(gt.isnan), "l2_normalize": tf.l2_normalize,
    "less": adapted(gt.less), "less_equal": adapted(gt.less_equal), "log": adapted(gt.log), "log1p": adapted(gt.log1p),
    "log_sigmoid": adapted(gt.log_sigmoid), "logical_and": adapted(gt.logical_and),
    "logical_not": adapted(gt.logical_not), "logical_or": adapted(gt.logical_or), "maximum": adapted(gt.maximum),
    "minimum": adapted(gt.minimum), "multiply": adapted(gt.multiply), "negative": adapted(gt.negative),
    "not_equal": adapted(gt.not_equal), "pow": adapted(gt.power), "reciprocal": adapted(gt.reciprocal),
    "reduce_all": reduction(gt.all), "reduce_any": reduction(gt.any), "reduce_logsumexp": reduction(gt.logsumexp),
    "reduce_max": reduction(gt.max), "reduce_mean": tf.reduce_mean, "reduce_min": reduction(gt.min),
    "reduce_prod": reduction(gt.prod), "reduce_std": reduction(gt.std), "reduce_sum": reduction(gt.sum),
    "reduce_euclidean_norm": reduction(gt.norm), "reduce_variance": reduction(gt.var), "round": adapted(gt.round),
    "rsqrt": adapted(gt.rsqrt), "sigmoid": adapted(gt.sigmoid), "sign": adapted(gt.sign), "sin": adapted(gt.sin),
    "sinh": adapted(gt.sinh), "softmax": adapted(gt.softmax), "softplus": adapted(gt.softplus),
    "sqrt": adapted(gt.sqrt), "square": adapted(gt.square), "squared_difference": adapted(gt.squared_difference),
    "subtract": adapted(gt.subtract), "tan": adapted(gt.tan), "tanh": adapted(gt.tanh), "xlogy": adapted(gt.xlogy),
}
NN: dict[str, Any] = {
    "bias_add": adapted(gt.add), "dropout": dropout, "elu": adapted(gt.elu), "embedding_lookup": tf.gather,
    "gelu": adapted(gt.gelu), "l2_loss": lambda t, name=None: gt.sum(gt.square(tensor(t))) / 2.0,
    "l2_normalize": tf.l2_normalize, "leaky_relu": tf.leaky_relu, "log_softmax": adapted(gt.log_softmax),
    "moments": tf.moments, "relu": adapted(gt.nn.relu), "relu6": adapted(gt.relu6), "selu": adapted(gt.selu),
    "sigmoid": adapted(gt.sigmoid), "sigmoid_cross_entropy_with_logits": tf.sigmoid_cross_entropy_with_logits,
    "silu": adapted(gt.silu), "swish": adapted(gt.silu), "softmax": adapted(gt.softmax),
    "softmax_cross_entropy_with_logits": tf.softmax_cross_entropy_with_logits, "softplus": adapted(gt.softplus),
    "softsign": adapted(gt.softsign),
    "sparse_softmax_cross_entropy_with_logits": tf.sparse_softmax_cross_entropy_with_logits,
    "tanh": adapted(gt.tanh),
}
LINALG: dict[str, Any] = {
    "matmul": tf.matmul, "matvec": tf.matvec, "inv": adapted(gt.linalg.inv), "det": adapted(gt.linalg.det),
    "solve": adapted(gt.linalg.solve), "cholesky": adapted(gt.linalg.cholesky), "norm": tf.norm, "eye": tf.eye,
    "trace": adapted(gt.trace), "diag": adapted(gt.diag), "diag_part": adapted(gt.diagonal), "einsum": gt.einsum,
    "global_norm": lambda tensors, name=None: gt.optimizers.global_norm(tensors), "tensordot": gt.tensordot,
}
RANDOM: dict[str, Any] = {
    "normal": random_normal, "uniform": random_uniform, "truncated_normal": truncated_normal,
    "set_seed": gt.random.set_seed, "shuffle": shuffle,
}
AT_TOP = [
    "abs", "add", "add_n", "argmax", "argmin", "asin", "acos", "atan", "atan2", "ceil", "cos", "cosh",
    "cumsum", "divide", "equal", "exp", "floor", "greater", "greater_equal", "less", "less_equal",
    "logical_and", "logical_not", "logical_or", "maximum", "minimum", "multiply", "negative", "not_equal",
    "pow", "reduce_all", "reduce_any", "reduce_logsumexp", "reduce_max", "reduce_mean", "reduce_min",
    "reduce_prod", "reduce_sum", "round", "sigmoid", "sign", "sin", "sinh", "sqrt", "square", "subtract",
    "tan", "tanh",
]
DTYPES = {name: np.dtype(name) for name in ("float16", "float32", "float64", "int8", "int16", "int32", "int64",
                                            "uint8", "bool", "complex64", "complex128")}
OPTIMIZERS = {"SGD": gt.optimizers.SGD, "Adam": gt.optimizers.Adam, "Optimizer": gt.optimizers.Optimizer}

NAMES: dict[str, Any] = {
    **{name: MATH[name] for name in AT_TOP}, **DTYPES,
    "GradientTape": gt.GradientTape, "Variable": Variable, "Tensor": gt.Tensor, "constant": constant,
    "convert_to_tensor": convert_to_tensor, "custom_gradient": gt.custom_gradient,
    "stop_gradient": adapted(gt.stop_gradient), "identity": adapted(gt.identity),
    "UnconnectedGradients": UnconnectedGradients, "function": tf.function,
    "is_tensor": lambda x: isinstance(x, gt.Tensor),
    "matmul": tf.matmul, "tensordot": gt.tensordot, "einsum": gt.einsum, "norm": tf.norm, "eye": tf.eye,
    "cast": tf.cast, "zeros": tf.zeros, "ones": tf.ones, "zeros_like": adapted(gt.zeros_like),
    "ones_like": adapted(gt.ones_like), "fill": tf.fill, "range": tf.range_, "linspace": tf.linspace,
    "stack": tf.stack, "concat": tf.concat, "split": tf.split, "where": tf.where, "gather": tf.gather,
    "one_hot": tf.one_hot, "reshape": tf.reshape, "transpose": tf.transpose, "shape": tf.shape,
    "unstack": lambda value, num=None, axis=0, name=None: list(gt.unstack(tensor(value), axis=axis)),
    "expand_dims": adapted(gt.expand_dims), "squeeze": adapted(gt.squeeze),
    "tile": adapted(gt.tile, multiples="reps"),
    "repeat": gt.repeat, "reverse": adapted(gt.flip), "roll": adapted(gt.roll),
    "broadcast_to": adapted(gt.broadcast_to),
    "pad": lambda t, paddings, mode="CONSTANT", constant_values=0, name=None: gt.pad(
        tensor(t), bare(paddings), constant_values),
    "sort": adapted(gt.sort), "argsort": adapted(gt.argsort), "clip_by_value": tf.clip_by_value,
    "clip_by_norm": tf.clip_by_norm,
    "clip_by_global_norm": lambda t_list, clip_norm, use_norm=None, name=None: gt.optimizers.clip_by_global_norm(
        t_list, clip_norm),
    "size": lambda input, name=None: np.size(bare(input)), "rank": lambda input, name=None: np.ndim(bare(input)),
    "print": print, "newaxis": None, "name_scope": gt.scope, "__version__": f"2.21.0 (gradtape {gt.__version__})",
    "math": Namespace("math", MATH), "nn": Namespace("nn", NN), "linalg": Namespace("linalg", LINALG),
    "random": Namespace("random", RANDOM),
    "autodiff": Namespace("autodiff", {"GradientTape": gt.GradientTape}),
    "errors": Namespace("errors", {"InvalidArgumentError": gt.errors.InvalidArgumentError}),
    "nest": Namespace("nest", {"flatten": flatten, "map_structure": map_structure, "pack_sequence_as": pack}),
    "keras": Namespace("keras", {"optimizers": Namespace("keras.optimizers", OPTIMIZERS),
                                 "activations": Namespace("keras.activations", NN)}),
}
