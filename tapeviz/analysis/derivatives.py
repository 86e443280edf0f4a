"""Local derivatives of elementwise operations, computed from the recorded operands, for explanations.

They are a second opinion on what the engine did: an explanation uses one only if its numbers add up to the recorded
contribution.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

Arrays = Sequence[np.ndarray]
Local = Callable[[np.ndarray, Arrays], np.ndarray]      # (result, operands) -> d result / d operand, elementwise


def _one(y: np.ndarray, x: Arrays) -> np.ndarray:
    return np.ones_like(y)


def _power_base(y: np.ndarray, x: Arrays) -> np.ndarray:
    return np.asarray(x[1] * np.power(x[0], x[1] - 1))


def _power_exponent(y: np.ndarray, x: Arrays) -> np.ndarray:
    return np.asarray(y * np.log(x[0]))


def _logistic(x: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-x)))


# name of the op: one function per argument
LOCAL: dict[str, tuple[Local, ...]] = {
    "add": (_one, _one),
    "subtract": (_one, lambda y, x: -np.ones_like(y)),
    "multiply": (lambda y, x: x[1], lambda y, x: x[0]),
    "divide": (lambda y, x: 1 / x[1], lambda y, x: -y / x[1]),
    "power": (_power_base, _power_exponent),
    "maximum": (lambda y, x: x[0] >= x[1], lambda y, x: x[0] < x[1]),      # a tie goes to the first
    "minimum": (lambda y, x: x[0] <= x[1], lambda y, x: x[0] > x[1]),
    "where": (lambda y, x: np.zeros_like(y), lambda y, x: x[0] != 0, lambda y, x: x[0] == 0),
    "squared_difference": (lambda y, x: 2 * (x[0] - x[1]), lambda y, x: 2 * (x[1] - x[0])),
    "hypot": (lambda y, x: x[0] / y, lambda y, x: x[1] / y),
    "arctan2": (lambda y, x: x[1] / (x[0]**2 + x[1]**2), lambda y, x: -x[0] / (x[0]**2 + x[1]**2)),
    "negative": (lambda y, x: -np.ones_like(y),),
    "square": (lambda y, x: 2 * x[0],),
    "sqrt": (lambda y, x: 0.5 / y,),
    "rsqrt": (lambda y, x: -0.5 * y / x[0],),
    "reciprocal": (lambda y, x: -y * y,),
    "exp": (lambda y, x: y,),
    "expm1": (lambda y, x: y + 1,),
    "exp2": (lambda y, x: y * np.log(2),),
    "cbrt": (lambda y, x: 1 / (3 * y * y),),
    "log": (lambda y, x: 1 / x[0],),
    "log1p": (lambda y, x: 1 / (1 + x[0]),),
    "log2": (lambda y, x: 1 / (x[0] * np.log(2)),),
    "log10": (lambda y, x: 1 / (x[0] * np.log(10)),),
    "abs": (lambda y, x: np.sign(x[0]),),
    "sin": (lambda y, x: np.cos(x[0]),),
    "cos": (lambda y, x: -np.sin(x[0]),),
    "tan": (lambda y, x: 1 + y * y,),
    "arcsin": (lambda y, x: 1 / np.sqrt(1 - x[0]**2),),
    "arccos": (lambda y, x: -1 / np.sqrt(1 - x[0]**2),),
    "arctan": (lambda y, x: 1 / (1 + x[0]**2),),
    "sinh": (lambda y, x: np.cosh(x[0]),),
    "cosh": (lambda y, x: np.sinh(x[0]),),
    "tanh": (lambda y, x: 1 - y * y,),
    "arcsinh": (lambda y, x: 1 / np.sqrt(x[0]**2 + 1),),
    "arccosh": (lambda y, x: 1 / np.sqrt(x[0]**2 - 1),),
    "arctanh": (lambda y, x: 1 / (1 - x[0]**2),),
    "softsign": (lambda y, x: 1 / (1 + np.abs(x[0]))**2,),
    "log_sigmoid": (lambda y, x: _logistic(-x[0]),),
    "erf": (lambda y, x: 2 / np.sqrt(np.pi) * np.exp(-x[0]**2),),
    "sigmoid": (lambda y, x: y * (1 - y),),
    "softplus": (lambda y, x: _logistic(x[0]),),
    "relu": (lambda y, x: x[0] > 0,),
    "silu": (lambda y, x: _logistic(x[0]) * (1 + x[0] * (1 - _logistic(x[0]))),),
    "identity": (_one,),
    "cast": (_one,),
}
# The same for ops of one argument with attributes.
WITH_ATTRIBUTES: dict[str, Callable[[np.ndarray, np.ndarray, Mapping[str, object]], np.ndarray]] = {
    "leaky_relu": lambda y, x, attrs: np.where(x > 0, 1.0, _number(attrs, "alpha")),
    "elu": lambda y, x, attrs: np.where(x >= 0, 1.0, y + _number(attrs, "alpha")),
    "clip": lambda y, x, attrs: (x >= _number(attrs, "low", -np.inf)) & (x <= _number(attrs, "high", np.inf)),
}
_ALIASES = {"sub": "subtract", "mul": "multiply", "div": "divide", "true_divide": "divide", "pow": "power",
            "neg": "negative", "absolute": "abs", "swish": "silu", "asin": "arcsin", "acos": "arccos", "atan": "arctan"}


def _number(attrs: Mapping[str, object], name: str, otherwise: float = np.nan) -> float:
    found = attrs.get(name)
    return float(found) if isinstance(found, (int, float)) else otherwise


def local_derivative(op: str, slot: int, result: np.ndarray, operands: Arrays,
                     attrs: Mapping[str, object]) -> np.ndarray | None:
    """d result / d operand for every element of the result; None for ops that are not elementwise (or not known)."""
    rules = LOCAL.get(_ALIASES.get(op, op), ())
    if slot >= len(rules) and op not in WITH_ATTRIBUTES:
        return None
    wide = [np.asarray(x, dtype=np.float64) for x in operands]
    try:
        with np.errstate(all="ignore"):
            y = np.asarray(result, dtype=np.float64)
            found = rules[slot](y, wide) if slot < len(rules) else WITH_ATTRIBUTES[op](y, wide[0], attrs)
        return np.broadcast_to(np.asarray(found, dtype=np.float64), result.shape)
    except (IndexError, ValueError):      # operands that were not recorded, or shapes that this op does not combine
        return None
