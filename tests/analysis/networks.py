"""Texts of small training programs in many styles, faulty and healthy; "# here" marks the line to be named."""

from __future__ import annotations

STYLES = ("loop", "lines", "function", "class", "dense")
OPTIMIZERS = {
    "manual": ("", "for v, g in zip(variables, grads):\n        v.assign_sub({rate} * g)"),
    "sgd": ("opt = gt.optimizers.SGD({rate})", "opt.apply_gradients(zip(grads, variables))"),
    "momentum": ("opt = gt.optimizers.SGD({rate}, momentum=0.9)", "opt.apply_gradients(zip(grads, variables))"),
    "adam": ("opt = gt.optimizers.Adam({rate})", "opt.apply_gradients(zip(grads, variables))"),
}


def deep(style: str = "loop", activation: str = "sigmoid", depth: int = 8, width: int = 16, gain: float = 1.0,
         seed: int = 0, optimizer: str = "manual", rate: float = 0.05, steps: int = 30, dtype: str = "float32") -> str:
    """A net of `depth` layers with the same activation and a linear one on top; weights of size gain / sqrt(inputs)."""
    made, apply = OPTIMIZERS[optimizer]
    act = f"gt.nn.{activation}" if activation != "tanh" else "gt.tanh"
    head = f"""\
import numpy as np
import gradtape as gt

rng = np.random.default_rng({seed})
x = rng.normal(size=(48, 6)).astype("{dtype}")
y = (np.sin(2 * x[:, :1]) + x[:, 1:2] * x[:, 2:3]).astype("{dtype}")
sizes = [6] + [{width}] * {depth} + [1]
"""
    shapes = "zip(sizes[:-1], sizes[1:])"
    start = f"rng.normal(size=(m, n)) * {gain} / np.sqrt(m)"
    if style == "class":
        body = f"""\
class Layer:
    def __init__(self, m, n):
        self.W = gt.Variable(({start}).astype("{dtype}"))
        self.b = gt.Variable(np.zeros(n, "{dtype}"))

    def __call__(self, h):
        z = h @ self.W  # weights
        z = z + self.b
        return {act}(z)  # here

layers = [Layer(m, n) for m, n in {shapes}]
top = layers.pop()
variables = [v for layer in layers + [top] for v in (layer.W, layer.b)]
"""
        forward = "h = x\n        for layer in layers:\n            h = layer(h)\n        out = h @ top.W + top.b"
    else:
        body = f"""\
W = [gt.Variable(({start}).astype("{dtype}"), name=f"W{{i}}") for i, (m, n) in enumerate({shapes})]
b = [gt.Variable(np.zeros(n, "{dtype}"), name=f"b{{i}}") for i, n in enumerate(sizes[1:])]
variables = W + b
"""
        forward = "h = x\n        for Wi, bi in zip(W[:-1], b[:-1]):\n            "
        if style == "function":
            body += f"\ndef layer(h, Wi, bi):\n    return {act}(h @ Wi + bi)  # here # weights\n"
            forward += "h = layer(h, Wi, bi)"
        elif style == "dense":
            forward += f"h = {act}(gt.nn.dense(h, Wi, bi))  # here # weights"
        elif style == "loop":
            forward += f"h = {act}(h @ Wi + bi)  # here # weights"
        else:
            lines = [f"h{k + 1} = {act}({'x' if k == 0 else f'h{k}'} @ W[{k}] + b[{k}])  # here # weights"
                     for k in range(depth)]
            forward = "\n        ".join([*lines, f"h = h{depth}"])
        forward += "\n        out = h @ W[-1] + b[-1]"
    return f"""{head}{body}
{made.format(rate=rate)}
for step in range({steps}):
    with gt.GradientTape() as tape:
        {forward}
        loss = gt.mean(gt.square(out - y))
    grads = tape.gradient(loss, variables)
    {apply.format(rate=rate)}
"""


def recurrent(style: str = "loop", activation: str = "tanh", steps: int = 40, width: int = 12, radius: float = 0.5,
              seed: int = 0, rate: float = 0.05, iterations: int = 12, optimizer: str = "manual") -> str:
    """A plain recurrent net whose matrix is `radius` times an orthogonal one; only the last state is used."""
    made, apply = OPTIMIZERS[optimizer]
    act = {"tanh": "gt.tanh", "none": "gt.identity"}.get(activation, f"gt.nn.{activation}")
    cell = f"{act}(x[t] @ Wx + h @ Wh)"
    if style == "function":
        define, call = f"def cell(x, h):\n    return {act}(x @ Wx + h @ Wh)  # here\n", "h = cell(x[t], h)"
    elif style == "class":
        define = ("class Cell:\n    def __init__(self, Wx, Wh):\n        self.Wx, self.Wh = Wx, Wh\n\n"
                  f"    def __call__(self, x, h):\n        return {act}(x @ self.Wx + h @ self.Wh)  # here\n\n"
                  "cell = Cell(Wx, Wh)\n")
        call = "h = cell(x[t], h)"
    else:
        define, call = "", f"h = {cell}  # here"
    return f"""\
import numpy as np
import gradtape as gt

rng = np.random.default_rng({seed})
T, H = {steps}, {width}
x = rng.normal(scale=0.5, size=(T, 16, 2)).astype("float32")
y = x[0, :, :1]
q = np.linalg.qr(rng.normal(size=(H, H)))[0]
Wx = gt.Variable(rng.normal(scale=0.4, size=(2, H)).astype("float32"))
Wh = gt.Variable((q * {radius}).astype("float32"))
Wo = gt.Variable(rng.normal(scale=0.3, size=(H, 1)).astype("float32"))
variables = [Wx, Wh, Wo]
{define}
{made.format(rate=rate)}
for step in range({iterations}):
    with gt.GradientTape() as tape:
        h = np.zeros((16, H), "float32")
        for t in range(T):
            {call}
        loss = gt.mean(gt.square(h @ Wo - y))
    grads = tape.gradient(loss, variables)
    {apply.format(rate=rate)}
"""


def training(forward: str, variables: str = "[w]", setup: str = "", rate: str = "0.05", steps: int = 30,
             seed: int = 0, after: str = "") -> str:
    """A plain training loop around a forward part (lines of the with block) that ends in `loss`."""
    lines = "\n        ".join(forward.strip().splitlines())
    tail = "\n    ".join(after.strip().splitlines())
    return f"""\
import numpy as np
import gradtape as gt

rng = np.random.default_rng({seed})
{setup.strip()}
variables = {variables}

for step in range({steps}):
    with gt.GradientTape() as tape:
        {lines}
    grads = tape.gradient(loss, variables)
    for v, g in zip(variables, grads):
        if g is not None:
            v.assign_sub({rate} * g)
    {tail}
"""


def marked(text: str, mark: str = "here") -> list[int]:
    """The lines that carry a mark."""
    return [number for number, line in enumerate(text.splitlines(), 1) if f"# {mark}" in line]
