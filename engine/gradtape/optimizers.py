"""Optimizers with TensorFlow's defaults and arithmetic: SGD with momentum, Adam; clipping by global norm."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradtape.errors import InvalidArgumentError, warn
from gradtape.ops.activations import minimum
from gradtape.ops.elementwise import sqrt
from gradtape.ops.fast import multiply
from gradtape.ops.fast_unary import square, sum_
from gradtape.tensor import Tensor, make
from gradtape.variable import Variable

__gradtape__ = True


class Optimizer:
    """What optimizers share: the step count, slots per variable, and what happens to missing gradients."""

    def __init__(self, learning_rate: float) -> None:
        self.learning_rate = learning_rate
        self.iterations = 0
        self._slots: dict[tuple[int, str], Any] = {}

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, Variable]]) -> None:
        """Update each variable by its gradient; a None gradient is skipped with a warning."""
        pairs = list(grads_and_vars)
        for g, v in pairs:
            if not isinstance(v, Variable):
                raise InvalidArgumentError("apply_gradients takes pairs (gradient, variable), in this order, for "
                                           f"example zip(gradients, variables); got a {type(v).__name__}")
            if g is not None and np.shape(_array(g)) != v.shape:
                raise InvalidArgumentError(f"the gradient of {v.name} has shape {np.shape(_array(g))}, the variable "
                                           f"{v.shape}")
        present = [(g, v) for g, v in pairs if g is not None]
        missing = [v.name for g, v in pairs if g is None]
        if pairs and not present:
            raise InvalidArgumentError(f"No gradients provided for any variable: {', '.join(missing)}. Are the "
                                       "variables used inside the tape's block, up to the loss?")
        if missing:
            warn(f"Gradients do not exist for the variables {', '.join(missing)}; they stay as they are")
        self.iterations += 1
        for g, v in present:
            v.assign_sub(make(self._step(_array(g), v)))

    def _step(self, g: Any, v: Variable) -> Any:
        """What is to be subtracted from a variable."""
        raise NotImplementedError

    def _slot(self, v: Variable, name: str) -> Any:
        return self._slots.get((v._serial, name), 0.0)

    def _rate(self, v: Variable) -> Any:
        return v.dtype.type(float(self.learning_rate))


class SGD(Optimizer):
    """Gradient descent: w -= learning_rate * g, with momentum if wanted.

    With momentum: m = momentum * m - learning_rate * g, w += m; nesterov looks ahead: w += momentum * m - rate * g.
    """

    def __init__(self, learning_rate: float = 0.01, momentum: float = 0.0, nesterov: bool = False) -> None:
        super().__init__(learning_rate)
        if not 0 <= momentum <= 1:
            raise InvalidArgumentError(f"momentum {momentum} must be between 0 and 1")
        self.momentum = momentum
        self.nesterov = nesterov

    def _step(self, g: Any, v: Variable) -> Any:
        step = self._rate(v) * g
        if not self.momentum:
            return step
        momentum = v.dtype.type(self.momentum)
        velocity = self._slot(v, "momentum") * momentum - step
        self._slots[v._serial, "momentum"] = velocity
        return step - momentum * velocity if self.nesterov else -velocity


class Adam(Optimizer):
    """Adaptive moments (Kingma and Ba 2015), in TensorFlow's form: epsilon is added outside of the bias correction."""

    def __init__(self, learning_rate: float = 0.001, beta_1: float = 0.9, beta_2: float = 0.999,
                 epsilon: float = 1e-7) -> None:
        super().__init__(learning_rate)
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon

    def _step(self, g: Any, v: Variable) -> Any:
        kind = v.dtype.type
        m, s = self._slot(v, "m"), self._slot(v, "v")
        m = m + (g - m) * kind(1 - self.beta_1)
        s = s + (np.square(g) - s) * kind(1 - self.beta_2)
        self._slots[v._serial, "m"], self._slots[v._serial, "v"] = m, s
        t = self.iterations
        rate = self._rate(v) * kind((1 - self.beta_2 ** t) ** 0.5 / (1 - self.beta_1 ** t))
        return m * rate / (np.sqrt(s) + kind(self.epsilon))


def _array(g: Any) -> Any:
    return g._value if isinstance(g, Tensor) else np.asarray(g)


def global_norm(tensors: Sequence[Any]) -> Tensor:
    """Norm of all tensors taken together; None is left out."""
    squares = [sum_(square(t)) for t in tensors if t is not None]
    total: Any = 0.0
    for s in squares:
        total = s + total
    return sqrt(total)      # type: ignore[no-any-return]  # an op returns Any


def clip_by_global_norm(tensors: Sequence[Any], clip_norm: float) -> tuple[list[Tensor | None], Tensor]:
    """Scale tensors together so that their global norm is at most clip_norm; returns them and the unclipped norm."""
    norm = global_norm(tensors)
    # Written so that a zero norm gives factor one; an infinite or NaN norm gives NaN, which must not pass unseen.
    factor = clip_norm * minimum(1.0 / norm, 1.0 / clip_norm) if float(norm) else 1.0
    return [None if t is None else multiply(t, factor) for t in tensors], norm
