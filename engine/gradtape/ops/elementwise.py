"""Elementwise arithmetic, powers, logarithms and trigonometry.  g: gradient of the result y; m: functions to use."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.ops.registry import op

__gradtape__ = True

LN2 = float(np.log(2.0))
LN10 = float(np.log(10.0))


def _divide_no_nan(a: Any, b: Any) -> Any:
    zero = b == 0
    return np.where(zero, a.dtype.type(0), a / np.where(zero, b.dtype.type(1), b))


def _xlogy(x: Any, z: Any) -> Any:
    zero = x == 0
    return np.where(zero, x.dtype.type(0), x * np.log(np.where(zero, z.dtype.type(1), z)))


def _identity(x: Any) -> Any:
    return x


def _power_base(m: Any, g: Any, y: Any, a: Any, b: Any) -> Any:
    return g * b * m.power(a, b - 1)


def _power_exponent(m: Any, g: Any, y: Any, a: Any, b: Any) -> Any:
    # log is masked where the base is not positive: TensorFlow gives 0 there, and 0 * log 0 would be NaN.
    positive = m.greater(a, 0)
    return m.where(positive, g * y * m.log(m.where(positive, a, 1.0)), 0.0)


def _sqrt_rule(m: Any, g: Any, y: Any, x: Any) -> Any:
    # 0 / 0 counts as 0: a zero gradient from above stays zero at sqrt(0), as in TensorFlow.
    return m.where(m.equal(g, 0), g, 0.5 * g / m.where(m.equal(g, 0), m.ones_like(y), y))


# fmt: off
BINARY: dict[str, Any] = {"arguments": "a b", "broadcasts": True}

add      = op("add",      np.add,         lambda m, g, y, a, b: g, lambda m, g, y, a, b: g, keeps="",
              formula=r"a + b", vjps=(r"\bar y", r"\bar y"), **BINARY)
subtract = op("subtract", np.subtract,    lambda m, g, y, a, b: g, lambda m, g, y, a, b: -g, keeps="",
              formula=r"a - b", vjps=(r"\bar y", r"-\bar y"), **BINARY)
multiply = op("multiply", np.multiply,    lambda m, g, y, a, b: g * b, lambda m, g, y, a, b: g * a, keeps="a b",
              formula=r"a \, b", vjps=(r"\bar y \, b", r"\bar y \, a"), **BINARY)
divide   = op("divide",   np.true_divide, lambda m, g, y, a, b: g / b, lambda m, g, y, a, b: -g * y / b, keeps="b y",
              formula=r"\frac{a}{b}", vjps=(r"\frac{\bar y}{b}", r"-\frac{\bar y \, a}{b^2}"),
              domain=(0.5, 2.0), **BINARY)
power    = op("power",    np.power,       _power_base, _power_exponent, domain=(0.5, 2.0),
              formula=r"a^b", vjps=(r"\bar y \, b \, a^{b-1}", r"\bar y \, a^b \ln a"), **BINARY)
floormod = op("mod",      np.mod,         lambda m, g, y, a, b: g, lambda m, g, y, a, b: -g * m.floor_divide(a, b),
              keeps="a b", domain=(1.1, 1.9), formula=r"a \bmod b",
              vjps=(r"\bar y", r"-\bar y \lfloor a / b \rfloor"), **BINARY)
divide_no_nan = op("divide_no_nan", _divide_no_nan, lambda m, g, y, a, b: m.divide_no_nan(g, b),
                   lambda m, g, y, a, b: -g * m.divide_no_nan(y, b), keeps="b y", domain=(0.5, 2.0),
                   formula=r"\frac{a}{b}\ (0\ \mathrm{if}\ b = 0)",
                   vjps=(r"\frac{\bar y}{b}", r"-\frac{\bar y \, a}{b^2}"), **BINARY)
squared_difference = op("squared_difference", lambda a, b: np.square(a - b),
                        lambda m, g, y, a, b: 2.0 * g * (a - b), lambda m, g, y, a, b: 2.0 * g * (b - a), keeps="a b",
                        formula=r"(a - b)^2", vjps=(r"2 \bar y (a - b)", r"2 \bar y (b - a)"), **BINARY)
hypot    = op("hypot",    np.hypot, lambda m, g, y, a, b: g * a / y, lambda m, g, y, a, b: g * b / y,
              domain=(0.5, 2.0), formula=r"\sqrt{a^2 + b^2}",
              vjps=(r"\bar y \frac{a}{y}", r"\bar y \frac{b}{y}"), **BINARY)
arctan2  = op("arctan2",  np.arctan2, lambda m, g, y, a, b: g * b / (a * a + b * b),
              lambda m, g, y, a, b: -g * a / (a * a + b * b), keeps="a b", domain=(0.5, 2.0),
              formula=r"\operatorname{arctan2}(a, b)",
              vjps=(r"\bar y \frac{b}{a^2 + b^2}", r"-\bar y \frac{a}{a^2 + b^2}"), **BINARY)
logaddexp = op("logaddexp", np.logaddexp, lambda m, g, y, a, b: g * m.sigmoid(a - b),
               lambda m, g, y, a, b: g * m.sigmoid(b - a), keeps="a b", formula=r"\ln(e^a + e^b)",
               vjps=(r"\bar y \, e^{a - y}", r"\bar y \, e^{b - y}"), **BINARY)
xlogy    = op("xlogy",    _xlogy, lambda m, g, y, a, b: g * m.where(m.equal(a, 0), 0.0, m.log(b)),
              lambda m, g, y, a, b: g * m.divide_no_nan(a, b), keeps="a b", domain=(0.5, 2.0),
              formula=r"a \ln b", vjps=(r"\bar y \ln b", r"\bar y \frac{a}{b}"), **BINARY)

stop_gradient = op("stop_gradient", _identity, None, formula=r"x", differentiable=False, stops_gradient=True,
                   doc="The value without its history: no gradient flows back through it.")
negative = op("negative", np.negative, lambda m, g, y, x: -g, keeps="", formula=r"-x", vjps=(r"-\bar y",))
identity = op("identity", _identity, lambda m, g, y, x: g, keeps="", formula=r"x", vjps=(r"\bar y",))
square   = op("square",   np.square, lambda m, g, y, x: 2.0 * g * x, keeps="x", formula=r"x^2",
              vjps=(r"2 \bar y \, x",))
sqrt     = op("sqrt",     np.sqrt, _sqrt_rule, keeps="y", formula=r"\sqrt{x}",
              vjps=(r"\frac{\bar y}{2 \sqrt{x}}",), domain=(0.3, 3.0))
rsqrt    = op("rsqrt",    lambda x: 1.0 / np.sqrt(x), lambda m, g, y, x: -0.5 * g * y * y * y, keeps="y",
              formula=r"\frac{1}{\sqrt{x}}", vjps=(r"-\frac{\bar y}{2} x^{-3/2}",), domain=(0.3, 3.0))
cbrt     = op("cbrt",     np.cbrt, lambda m, g, y, x: g / (3.0 * y * y), keeps="y", formula=r"\sqrt[3]{x}",
              vjps=(r"\frac{\bar y}{3 \, y^2}",), domain=(0.3, 3.0))
reciprocal = op("reciprocal", lambda x: 1.0 / x, lambda m, g, y, x: -g * y * y, keeps="y", formula=r"\frac{1}{x}",
                vjps=(r"-\frac{\bar y}{x^2}",), domain=(0.5, 2.0))
exp      = op("exp",      np.exp, lambda m, g, y, x: g * y, keeps="y", formula=r"e^x", vjps=(r"\bar y \, e^x",))
exp2     = op("exp2",     np.exp2, lambda m, g, y, x: g * y * LN2, keeps="y", formula=r"2^x",
              vjps=(r"\bar y \, 2^x \ln 2",))
expm1    = op("expm1",    np.expm1, lambda m, g, y, x: g * (y + 1.0), keeps="y", formula=r"e^x - 1",
              vjps=(r"\bar y \, e^x",))
log      = op("log",      np.log, lambda m, g, y, x: g / x, keeps="x", formula=r"\ln x", vjps=(r"\frac{\bar y}{x}",),
              domain=(0.3, 3.0))
log2     = op("log2",     np.log2, lambda m, g, y, x: g / (x * LN2), keeps="x", formula=r"\log_2 x",
              vjps=(r"\frac{\bar y}{x \ln 2}",), domain=(0.3, 3.0))
log10    = op("log10",    np.log10, lambda m, g, y, x: g / (x * LN10), keeps="x", formula=r"\log_{10} x",
              vjps=(r"\frac{\bar y}{x \ln 10}",), domain=(0.3, 3.0))
log1p    = op("log1p",    np.log1p, lambda m, g, y, x: g / (1.0 + x), keeps="x", formula=r"\ln(1 + x)",
              vjps=(r"\frac{\bar y}{1 + x}",), domain=(-0.6, 3.0))
sin      = op("sin",      np.sin, lambda m, g, y, x: g * m.cos(x), keeps="x", formula=r"\sin x",
              vjps=(r"\bar y \cos x",))
cos      = op("cos",      np.cos, lambda m, g, y, x: -g * m.sin(x), keeps="x", formula=r"\cos x",
              vjps=(r"-\bar y \sin x",))
tan      = op("tan",      np.tan, lambda m, g, y, x: g * (1.0 + y * y), keeps="y", formula=r"\tan x",
              vjps=(r"\bar y (1 + \tan^2 x)",), domain=(-1.2, 1.2))
arcsin   = op("arcsin",   np.arcsin, lambda m, g, y, x: g / m.sqrt(1.0 - x * x), keeps="x", formula=r"\arcsin x",
              vjps=(r"\frac{\bar y}{\sqrt{1 - x^2}}",), domain=(-0.8, 0.8))
arccos   = op("arccos",   np.arccos, lambda m, g, y, x: -g / m.sqrt(1.0 - x * x), keeps="x", formula=r"\arccos x",
              vjps=(r"-\frac{\bar y}{\sqrt{1 - x^2}}",), domain=(-0.8, 0.8))
arctan   = op("arctan",   np.arctan, lambda m, g, y, x: g / (1.0 + x * x), keeps="x", formula=r"\arctan x",
              vjps=(r"\frac{\bar y}{1 + x^2}",))
sinh     = op("sinh",     np.sinh, lambda m, g, y, x: g * m.cosh(x), keeps="x", formula=r"\sinh x",
              vjps=(r"\bar y \cosh x",))
cosh     = op("cosh",     np.cosh, lambda m, g, y, x: g * m.sinh(x), keeps="x", formula=r"\cosh x",
              vjps=(r"\bar y \sinh x",))
tanh     = op("tanh",     np.tanh, lambda m, g, y, x: g - g * y * y, keeps="y", formula=r"\tanh x",
              vjps=(r"\bar y (1 - y^2)",))
arcsinh  = op("arcsinh",  np.arcsinh, lambda m, g, y, x: g / m.sqrt(x * x + 1.0), keeps="x",
              formula=r"\operatorname{arsinh} x", vjps=(r"\frac{\bar y}{\sqrt{x^2 + 1}}",))
arccosh  = op("arccosh",  np.arccosh, lambda m, g, y, x: g / m.sqrt(x * x - 1.0), keeps="x", domain=(1.3, 3.0),
              formula=r"\operatorname{arcosh} x", vjps=(r"\frac{\bar y}{\sqrt{x^2 - 1}}",))
arctanh  = op("arctanh",  np.arctanh, lambda m, g, y, x: g / (1.0 - x * x), keeps="x", domain=(-0.8, 0.8),
              formula=r"\operatorname{artanh} x", vjps=(r"\frac{\bar y}{1 - x^2}",))
degrees  = op("degrees",  np.degrees, lambda m, g, y, x: g * (180.0 / np.pi), keeps="",
              formula=r"\frac{180}{\pi} x", vjps=(r"\frac{180}{\pi} \bar y",))
radians  = op("radians",  np.radians, lambda m, g, y, x: g * (np.pi / 180.0), keeps="",
              formula=r"\frac{\pi}{180} x", vjps=(r"\frac{\pi}{180} \bar y",))
