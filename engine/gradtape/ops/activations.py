"""Activation functions, kinks and choices: relu and its kin, abs, sign, maximum, where, clip.

At kinks the conventions are TensorFlow's: |x|'(0) = 0, relu'(0) = 0, elu'(0) = 1, leaky_relu'(0) = alpha, clip passes
at both bounds, a tie of maximum or minimum gives everything to the first argument.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtape.ops.registry import nondifferentiable, op

__gradtape__ = True

SQRT_HALF = math.sqrt(0.5)
INV_SQRT_2PI = 1.0 / math.sqrt(2.0 * math.pi)
SELU_ALPHA = 1.6732632423543772
SELU_SCALE = 1.0507009873554805

# One as a 0-d array of every floating dtype: cheaper to add to an array than a Python number.
ONE = {char: np.ones((), char) for char in "efdgFDG"}

_erf_elements = np.frompyfunc(math.erf, 1, 1)


def _erf(x: Any) -> Any:
    return np.asarray(_erf_elements(x), dtype=x.dtype)


def stable_sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)); where exp overflows the quotient is 0, as it should be, and nobody has to be warned."""
    with np.errstate(over="ignore"):
        e = np.exp(-x)
    if type(e) is np.ndarray:
        e += ONE[e.dtype.char]
        return np.reciprocal(e, e)
    return 1 / (1 + e)


def stable_softplus(x: Any) -> Any:
    """log(1 + exp(x)) without overflow."""
    return np.maximum(x, x.dtype.type(0)) + np.log1p(np.exp(-np.abs(x)))


def _relu(x: Any) -> Any:
    return np.maximum(x, x.dtype.type(0))


def _relu6(x: Any) -> Any:
    return np.minimum(np.maximum(x, x.dtype.type(0)), x.dtype.type(6))


def _step6(x: Any) -> Any:
    return ((x > 0) & (x < 6)).astype(x.dtype)


def _step(x: Any) -> Any:
    return (x > 0).astype(x.dtype)


def _leaky_relu(x: Any, alpha: float = 0.2) -> Any:
    return np.where(x > 0, x, x * x.dtype.type(alpha))


def _elu(x: Any, alpha: float = 1.0) -> Any:
    return np.where(x >= 0, x, x.dtype.type(alpha) * np.expm1(np.minimum(x, x.dtype.type(0))))


def _selu(x: Any) -> Any:
    return x.dtype.type(SELU_SCALE) * _elu(x, SELU_ALPHA)


def _gelu(x: Any) -> Any:
    return x * x.dtype.type(0.5) * (x.dtype.type(1) + _erf(x * x.dtype.type(SQRT_HALF)))


def _gelu_rule(m: Any, g: Any, y: Any, x: Any) -> Any:
    return g * (0.5 * (1.0 + m.erf(x * SQRT_HALF)) + x * m.exp(-0.5 * x * x) * INV_SQRT_2PI)


def _silu_rule(m: Any, g: Any, y: Any, x: Any) -> Any:
    s = m.sigmoid(x)
    return g * (s + x * s * (1.0 - s))


def _where(condition: Any, a: Any, b: Any) -> Any:
    return np.where(condition, a, b)


def _clip(x: Any, low: Any, high: Any) -> Any:
    return np.clip(x, low, high).astype(x.dtype, copy=False)


def _clip_rule(m: Any, g: Any, y: Any, x: Any, low: Any, high: Any) -> Any:
    inside = m.logical_and(True if low is None else m.greater_equal(x, low),
                           True if high is None else m.less_equal(x, high))
    return m.where(inside, g, 0.0)


# fmt: off
BINARY: dict[str, Any] = {"arguments": "a b", "broadcasts": True, "keeps": "a b"}

abs_     = op("abs",      np.abs, lambda m, g, y, x: g * m.sign(x), keeps="x", formula=r"|x|",
              vjps=(r"\bar y \operatorname{sign} x",))
sign     = op("sign",     np.sign, lambda m, g, y, x: m.zeros_like(g), keeps="", formula=r"\operatorname{sign} x",
              vjps=(r"0",))
step     = op("step",     _step, lambda m, g, y, x: m.zeros_like(g), keeps="", formula=r"[x > 0]", vjps=(r"0",))
step6    = op("step6",    _step6, lambda m, g, y, x: m.zeros_like(g), keeps="", formula=r"[0 < x < 6]", vjps=(r"0",))
relu     = op("relu",     _relu, lambda m, g, y, x: g * m.step(y), keeps="y", formula=r"\max(x, 0)",
              vjps=(r"\bar y \, [x > 0]",))
relu6    = op("relu6",    _relu6, lambda m, g, y, x: g * m.step6(y), keeps="y",
              formula=r"\min(\max(x, 0), 6)", vjps=(r"\bar y \, [0 < x < 6]",))
leaky_relu = op("leaky_relu", _leaky_relu, lambda m, g, y, x, alpha: m.where(m.greater(x, 0), g, alpha * g),
                keeps="x", formula=r"\max(x, \alpha x)", vjps=(r"\bar y \ (x > 0),\ \alpha \bar y \ (x \leq 0)",))
elu      = op("elu",      _elu, lambda m, g, y, x, alpha: m.where(m.greater_equal(x, 0), g, g * (y + alpha)),
              formula=r"x \ (x \geq 0),\ \alpha (e^x - 1) \ (x < 0)",
              vjps=(r"\bar y \ (x \geq 0),\ \bar y \, \alpha e^x \ (x < 0)",))
selu     = op("selu",     _selu, lambda m, g, y, x: m.where(m.greater_equal(x, 0), SELU_SCALE * g,
                                                            g * (y + SELU_SCALE * SELU_ALPHA)),
              formula=r"\lambda \operatorname{elu}_\alpha(x)",
              vjps=(r"\lambda \bar y \ (x \geq 0),\ \lambda \alpha \bar y \, e^x \ (x < 0)",))
sigmoid  = op("sigmoid",  stable_sigmoid, lambda m, g, y, x: g * y * (1.0 - y), keeps="y",
              formula=r"\frac{1}{1 + e^{-x}}", vjps=(r"\bar y \, y (1 - y)",))
softplus = op("softplus", stable_softplus, lambda m, g, y, x: g * m.sigmoid(x), keeps="x", formula=r"\ln(1 + e^x)",
              vjps=(r"\bar y \, \sigma(x)",))
log_sigmoid = op("log_sigmoid", lambda x: -stable_softplus(-x), lambda m, g, y, x: g * m.sigmoid(-x), keeps="x",
                 formula=r"\ln \sigma(x)", vjps=(r"\bar y \, \sigma(-x)",))
softsign = op("softsign", lambda x: x / (1 + np.abs(x)), lambda m, g, y, x: g / m.square(1.0 + m.abs(x)), keeps="x",
              formula=r"\frac{x}{1 + |x|}", vjps=(r"\frac{\bar y}{(1 + |x|)^2}",))
erf      = op("erf",      _erf, lambda m, g, y, x: g * m.exp(-x * x) * (2.0 / math.sqrt(math.pi)), keeps="x",
              formula=r"\operatorname{erf} x", vjps=(r"\bar y \frac{2}{\sqrt{\pi}} e^{-x^2}",))
gelu     = op("gelu",     _gelu, _gelu_rule, keeps="x", formula=r"x \, \Phi(x)",
              vjps=(r"\bar y (\Phi(x) + x \, \varphi(x))",))
silu     = op("silu",     lambda x: x * stable_sigmoid(x), _silu_rule, keeps="x", formula=r"x \, \sigma(x)",
              vjps=(r"\bar y (\sigma(x) + x \, \sigma(x) (1 - \sigma(x)))",))
maximum  = op("maximum",  np.maximum, lambda m, g, y, a, b: m.where(m.greater_equal(a, b), g, 0.0),
              lambda m, g, y, a, b: m.where(m.less(a, b), g, 0.0), formula=r"\max(a, b)",
              vjps=(r"\bar y \, [a \geq b]", r"\bar y \, [a < b]"), **BINARY)
minimum  = op("minimum",  np.minimum, lambda m, g, y, a, b: m.where(m.less_equal(a, b), g, 0.0),
              lambda m, g, y, a, b: m.where(m.greater(a, b), g, 0.0), formula=r"\min(a, b)",
              vjps=(r"\bar y \, [a \leq b]", r"\bar y \, [a > b]"), **BINARY)
where    = op("where",    _where, None, lambda m, g, y, c, a, b: m.where(c, g, 0.0),
              lambda m, g, y, c, a, b: m.where(c, 0.0, g), arguments="c a b", broadcasts=True,
              keeps="c", formula=r"a \ (c),\ b \ (\mathrm{not}\ c)",
              vjps=("", r"\bar y \, [c]", r"\bar y \, [\mathrm{not}\ c]"),
              examples=(((np.array([True, False, True]), (3,), (3,)), {}),
                        ((np.array([[True], [False]]), (2, 3), (3,)), {}),
                        ((np.array(False), (2,), ()), {})))
clip     = op("clip",     _clip, _clip_rule, keeps="x", formula=r"\min(\max(x, l), h)",
              vjps=(r"\bar y \, [l \leq x \leq h]",), examples=((((3, 4),), {"low": -1.0, "high": 0.7}),
                                                                (((5,),), {"low": None, "high": 0.5})))

floor         = nondifferentiable("floor", np.floor, formula=r"\lfloor x \rfloor")
ceil          = nondifferentiable("ceil", np.ceil, formula=r"\lceil x \rceil")
trunc         = nondifferentiable("trunc", np.trunc, formula=r"\operatorname{trunc} x")
round_        = nondifferentiable("round", np.rint, formula=r"\operatorname{round} x",
                                  doc="Nearest integer, halves to even.")
floor_divide  = nondifferentiable("floor_divide", np.floor_divide, formula=r"\lfloor a / b \rfloor", arguments="a b")
greater       = nondifferentiable("greater", np.greater, formula="a > b", arguments="a b")
greater_equal = nondifferentiable("greater_equal", np.greater_equal, formula=r"a \geq b", arguments="a b")
less          = nondifferentiable("less", np.less, formula="a < b", arguments="a b")
less_equal    = nondifferentiable("less_equal", np.less_equal, formula=r"a \leq b", arguments="a b")
equal         = nondifferentiable("equal", np.equal, formula="a = b", arguments="a b")
not_equal     = nondifferentiable("not_equal", np.not_equal, formula=r"a \neq b", arguments="a b")
logical_and   = nondifferentiable("logical_and", np.logical_and, formula=r"a \wedge b", arguments="a b")
logical_or    = nondifferentiable("logical_or", np.logical_or, formula=r"a \vee b", arguments="a b")
logical_xor   = nondifferentiable("logical_xor", np.logical_xor, formula=r"a \oplus b", arguments="a b")
logical_not   = nondifferentiable("logical_not", np.logical_not, formula=r"\neg x")
isnan         = nondifferentiable("isnan", np.isnan, formula=r"\operatorname{isnan} x")
isinf         = nondifferentiable("isinf", np.isinf, formula=r"\operatorname{isinf} x")
isfinite      = nondifferentiable("isfinite", np.isfinite, formula=r"\operatorname{isfinite} x")
zeros_like    = nondifferentiable("zeros_like", np.zeros_like, formula="0")
ones_like     = nondifferentiable("ones_like", np.ones_like, formula="1")
