"""The workloads w1, w4 and w12, each as a hand-written NumPy floor, on gradtape and, where installed, on PyTorch.

w1: a chain of 1,000 scalar operations, value and gradient.  w4: one training step of a 20-layer tanh network, 32 wide,
batch 32.  w12: 100 iterations of an XOR network including the Python loop.  The floor records nothing: it is the least
that eager NumPy can take.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

import gradtape as gt

Work = Callable[[], list[Any]]   # does one unit and returns its results, for the check that all agree


def _network(sizes: list[int], seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    parameters = []
    for fan_in, fan_out in pairwise(sizes):
        parameters.append((rng.standard_normal((fan_in, fan_out)) / np.sqrt(fan_in)).astype("float32"))
        parameters.append((0.01 * rng.standard_normal(fan_out)).astype("float32"))
    return parameters


_CHAIN = 333
_X, _W, _B = 0.7, 1.01, 0.05


def w1_floor() -> list[Any]:
    sin, cos = np.sin, np.cos
    x, w, b = np.float64(_X), np.float64(_W), np.float64(_B)
    y, inputs, sines = x, [], []
    for _ in range(_CHAIN):
        inputs.append(y)
        y = sin(y)
        sines.append(y)
        y = y * w
        y = y + b
    g, dw, db = w, y, np.float64(0.0)
    for k in range(_CHAIN - 1, -1, -1):
        db = db + g
        dw = dw + g * sines[k]
        g = g * w
        g = g * cos(inputs[k])
    return [g, dw, db]


def w1_gradtape() -> list[Any]:
    x, w, b = gt.constant(_X), gt.constant(_W), gt.constant(_B)
    with gt.GradientTape() as tape:
        tape.watch([x, w, b])
        y = x
        for _ in range(_CHAIN):
            y = gt.sin(y)
            y = y * w
            y = y + b
        y = y * w
    return [g.numpy() for g in tape.gradient(y, [x, w, b])]


def w1_torch(torch: Any) -> Work:
    def work() -> list[Any]:
        x, w, b = (torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (_X, _W, _B))
        y = x
        for _ in range(_CHAIN):
            y = torch.sin(y)
            y = y * w
            y = y + b
        y = y * w
        return [g.numpy() for g in torch.autograd.grad(y, [x, w, b])]

    return work


_DEEP = [16] + [32] * 20 + [1]
_BATCH = np.random.default_rng(4).standard_normal((32, 16)).astype("float32")
_TARGET = np.random.default_rng(5).standard_normal((32, 1)).astype("float32")


def w4_floor() -> Work:
    p = _network(_DEEP, 6)
    rate = np.float32(0.01)

    def work() -> list[Any]:
        h, inputs, layers = _BATCH, [], len(p) // 2
        for k in range(layers):
            inputs.append(h)
            h = h @ p[2 * k]
            h += p[2 * k + 1]
            if k < layers - 1:
                np.tanh(h, out=h)
        error = h - _TARGET
        g = error * np.float32(2.0 / error.size)
        grads: list[Any] = [None] * len(p)
        for k in range(layers - 1, -1, -1):
            grads[2 * k], grads[2 * k + 1] = inputs[k].T @ g, g.sum(0)
            if k:
                g = g @ p[2 * k].T
                g *= 1 - inputs[k] * inputs[k]
        for value, grad in zip(p, grads, strict=True):
            grad *= rate
            value -= grad
        return p

    return work


def w4_gradtape() -> Work:
    p = [gt.Variable(value) for value in _network(_DEEP, 6)]

    def work() -> list[Any]:
        with gt.GradientTape() as tape:
            h: Any = _BATCH
            for k in range(0, len(p) - 2, 2):
                h = gt.tanh(h @ p[k] + p[k + 1])
            loss = gt.mean(gt.square(h @ p[-2] + p[-1] - _TARGET))
        for variable, grad in zip(p, tape.gradient(loss, p), strict=True):
            variable.assign_sub(0.01 * grad)
        return p

    return work


def w4_torch(torch: Any) -> Work:
    p = [torch.tensor(value, requires_grad=True) for value in _network(_DEEP, 6)]
    batch, target = torch.tensor(_BATCH), torch.tensor(_TARGET)

    def work() -> list[Any]:
        h = batch
        for k in range(0, len(p) - 2, 2):
            h = torch.tanh(h @ p[k] + p[k + 1])
        loss = ((h @ p[-2] + p[-1] - target) ** 2).mean()
        grads = torch.autograd.grad(loss, p)
        with torch.no_grad():
            for value, grad in zip(p, grads, strict=True):
                value -= 0.01 * grad
        return [value.detach() for value in p]

    return work


_XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
_XOR_TARGET = np.array([[0.0], [1.0], [1.0], [0.0]])
_ITERATIONS = 100


def _xor_parameters() -> list[np.ndarray]:
    rng = np.random.default_rng(12)
    return [rng.standard_normal((2, 8)), np.zeros(8), rng.standard_normal((8, 1)), np.zeros(1)]


def w12_floor() -> Work:
    p = _xor_parameters()

    def work() -> list[Any]:
        W1, b1, W2, b2 = p
        for _ in range(_ITERATIONS):
            h = np.tanh(_XOR @ W1 + b1)
            out = 1 / (1 + np.exp(-(h @ W2 + b2)))
            g = (out - _XOR_TARGET) * 0.5 * out * (1 - out)
            gh = (g @ W2.T) * (1 - h * h)
            W2 -= 0.5 * (h.T @ g)
            b2 -= 0.5 * g.sum(0)
            W1 -= 0.5 * (_XOR.T @ gh)
            b1 -= 0.5 * gh.sum(0)
        return p

    return work


def w12_gradtape() -> Work:
    p = [gt.Variable(value) for value in _xor_parameters()]

    def work() -> list[Any]:
        for _ in range(_ITERATIONS):
            with gt.GradientTape() as tape:
                out = gt.nn.sigmoid(gt.tanh(_XOR @ p[0] + p[1]) @ p[2] + p[3])
                loss = gt.mean(gt.square(out - _XOR_TARGET))
            for variable, grad in zip(p, tape.gradient(loss, p), strict=True):
                variable.assign_sub(0.5 * grad)
        return p

    return work


def w12_torch(torch: Any) -> Work:
    p = [torch.tensor(value, requires_grad=True) for value in _xor_parameters()]
    x, target = torch.tensor(_XOR), torch.tensor(_XOR_TARGET)

    def work() -> list[Any]:
        for _ in range(_ITERATIONS):
            out = torch.sigmoid(torch.tanh(x @ p[0] + p[1]) @ p[2] + p[3])
            loss = ((out - target) ** 2).mean()
            grads = torch.autograd.grad(loss, p)
            with torch.no_grad():
                for value, grad in zip(p, grads, strict=True):
                    value -= 0.5 * grad
        return [value.detach() for value in p]

    return work
