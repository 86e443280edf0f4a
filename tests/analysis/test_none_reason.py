"""Why a gradient is None: the reason, the line of the cut, and the words."""

from __future__ import annotations

import pytest

from tapeviz.analysis.none_reason import NoneReason, why_none
from tests.analysis.networks import marked, training
from tests.analysis.recorded import findings_of, problems_of, recording_of

DATA = """
x = rng.normal(size=(40, 3)).astype("float32")
y = (x @ np.array([[1.0], [2.0], [-1.0]])).astype("float32")
w = gt.Variable(rng.normal(size=(3, 1)).astype("float32"), name="w")
u = gt.Variable(rng.normal(size=(3, 4)).astype("float32"), name="u")
v = gt.Variable(rng.normal(size=(4, 1)).astype("float32"), name="v")
"""
LOOP = """
import numpy as np
import gradtape as gt

w = gt.Variable(np.ones((3, 1), "float32"), name="w")
x = np.random.default_rng(0).normal(size=(9, 3)).astype("float32")
for step in range(5):
"""


def whole(lines: str) -> str:
    return LOOP + "".join(f"    {line}\n" for line in lines.strip().splitlines())


CUT = {   # name: reason, operation, program
    "numpy": ("graph-break", "numpy()", training(
        "h = x @ w\nloss = gt.mean(gt.square(gt.constant(h.numpy()) - y))  # here", setup=DATA)),
    "numpy in a function": ("graph-break", "numpy()", training(
        "h = x @ w\nloss = error(h)",
        setup=DATA + "def error(p):\n    return gt.mean(gt.square(p.numpy() - y))  # here\n")),
    "changed by NumPy": ("graph-break", "numpy()", training(
        "h = gt.tanh(x @ u)\nz = np.abs(h.numpy()) * 2  # here\nloss = gt.mean(gt.square(z @ v - y))", "[u, v]", DATA)),
    "float": ("graph-break", "float", training(
        "h = gt.mean(gt.square(x @ w - y))\nloss = gt.constant(float(h)) * 2.0  # here", setup=DATA)),
    "the variable itself": ("graph-break", "numpy()", training(
        "p = np.dot(x, w.numpy()) + 0.5  # here\nloss = gt.mean(gt.square(p - y + gt.square(w2)))", "[w, w2]",
        DATA + "w2 = gt.Variable(np.ones(1, 'float32'), name='w2')")),
    "statistics by NumPy": ("graph-break", "numpy()", training(
        "r = gt.square(x @ w - y)\nworst = np.percentile(r.numpy(), 90.0)  # here\nloss = gt.constant(worst) * 3.0",
        setup=DATA)),
    "in a method": ("graph-break", "tolist()", training(
        "loss = gt.mean(gt.square(net(features.of(x) * 2 + 1) - y))", "[features.u, v]", DATA + """
class Features:
    def __init__(self):
        self.u = u

    def of(self, data):
        h = gt.tanh(data @ self.u)
        return np.array(h.tolist(), "float32")  # here

class Net:
    def __call__(self, h):
        return h @ v

features, net = Features(), Net()
""")),
    "by a helper for everything": ("graph-break", "np.array", training(
        "a = plain(x)\nh = plain(gt.tanh(a @ u))\nloss = gt.mean(gt.square(h @ v - y))", "[u, v]", DATA + """
def plain(t):
    return np.asarray(t)  # here
""")),
    "one by one": ("graph-break", "float", training(
        "parts = []\nfor row in gt.reshape(w, (3,)) * 2.0:\n    parts.append(float(row) ** 2)  # here\n"
        "total = sum(parts)\nloss = gt.sum(v) * total", "[w, v]", DATA)),
    "by an attribute": ("graph-break", "item()", training(
        "state.scale = gt.sum(gt.square(w)).item()  # here\nloss = gt.sum(gt.square(v)) * state.scale", "[w, v]",
        DATA + "class State:\n    scale = 1.0\n\nstate = State()")),
    "before the tape, and by NumPy": ("graph-break", "numpy()", whole(
        "h = np.maximum(w.numpy(), 0) + 1  # here\nwith gt.GradientTape() as tape:\n"
        "    loss = gt.mean(gt.square(x @ gt.constant(h)))\ng = tape.gradient(loss, w)")),
    "only looked at": ("unused-variable", "gradient", training(
        "sizes.append(float(gt.sum(gt.square(v))))\nlength = np.linalg.norm(v.numpy())\nprint(f'{length:.3f}')\n"
        "if length > 1e9:\n    break\nloss = gt.mean(gt.square(x @ w - y))", "[v, w]", DATA + "sizes = []")),
    "before the tape": ("graph-break", "matmul", whole(
        "h = x @ w  # here\nwith gt.GradientTape() as tape:\n    loss = gt.mean(h * h)\ng = tape.gradient(loss, w)")),
    "after the tape": ("graph-break", "matmul", whole(
        "with gt.GradientTape() as tape:\n    pass\nh = x @ w  # here\nloss = gt.mean(h)\ng = tape.gradient(loss, w)")),
    "while not recording": ("graph-break", "matmul", whole(
        "with gt.GradientTape() as tape:\n    with tape.stop_recording():\n        h = x @ w  # here\n"
        "    loss = gt.mean(h * h)\ng = tape.gradient(loss, w)")),
    "round": ("nondiff-op", "round", training(
        "p = x @ w\np = gt.round(p)  # here\nloss = gt.mean(gt.square(p - y))", setup=DATA)),
    "comparison": ("nondiff-op", "greater", training(
        "p = x @ w\nhit = gt.cast(p > 0, 'float32')  # here\nloss = gt.mean(gt.square(hit - y))", setup=DATA)),
    "cast to integers": ("nondiff-op", "cast", training(
        "q = gt.cast(x @ w, 'int32')  # here\nloss = gt.mean(gt.square(gt.cast(q, 'float32') - y))", setup=DATA)),
    "stopped": ("stop-gradient", "stop_gradient", training(
        "h = gt.tanh(x @ u)\nk = gt.stop_gradient(h)  # here\nloss = gt.mean(gt.square(k @ v - y))", "[u, v]", DATA)),
    "assigned": ("stop-gradient", "assign", training(
        "state.assign(x @ w)  # here\nloss = gt.mean(gt.square(state - y))",
        setup=DATA + "state = gt.Variable(np.zeros((40, 1), 'float32'), name='state', trainable=False)")),
    "not watched": ("unwatched-source", "gradient", training(
        "loss = gt.mean(gt.square(probe @ w - y))", "[probe]", DATA + "probe = gt.constant(x)")),
    "unused": ("unused-variable", "gradient", training(
        "loss = gt.mean(gt.square(x @ w - y))", "[v, w]", DATA)),
    "integers": ("integer-source", "gradient", training(
        "loss = gt.mean(gt.square(x @ w * gt.cast(k, 'float32') - y))", "[k]",
        DATA + "k = gt.Variable(np.array(3), name='k')  # here")),
}


def reason_of(text: str) -> NoneReason:
    with recording_of(text) as recording:
        found = why_none(recording, 0, 0)
    assert found is not None
    return found


@pytest.mark.parametrize("name", CUT)
def test_reason(name: str) -> None:
    reason, op, text = CUT[name]
    found = reason_of(text)
    assert (found.reason, found.op) == (reason, op)
    assert found.fix
    if marked(text):
        assert found.line in marked(text)
        assert f"line {found.line}" in found.sentence or reason == "integer-source"


@pytest.mark.parametrize("name", CUT)
def test_finding(name: str) -> None:
    reason, _, text = CUT[name]
    first = findings_of(text)[0]
    assert (first.id, first.iteration) == (reason, 0)
    assert first.affected[0] in first.message
    if marked(text):
        assert first.line in marked(text)


def test_a_name_that_stood_for_a_variable() -> None:
    text = whole("with gt.GradientTape() as tape:\n    loss = gt.mean(gt.square(x @ w))\ng = tape.gradient(loss, w)\n"
                 "if g is None:\n    break\nw = w - 0.1 * g  # here")
    first = findings_of(text)[0]
    assert (first.id, first.iteration, first.line) == ("unwatched-source", 1, marked(text)[0])
    assert "no longer a Variable since" in first.message


def test_flat_operations_give_exact_zeros() -> None:
    text = training("p = gt.sign(x @ w)  # here\nloss = gt.mean(gt.square(p - y))", setup=DATA)
    first = findings_of(text)[0]
    assert (first.id, first.op, first.line) == ("nondiff-op", "sign", marked(text)[0])


@pytest.mark.parametrize(("forward", "variables", "more"), [
    pytest.param("p = x @ w\nq = p + gt.stop_gradient(gt.round(p) - p)\nloss = gt.mean(gt.square(q - y))", "[w]", "",
                 id="straight through"),
    pytest.param("p = x @ w\nhits = gt.mean(gt.cast(gt.round(p) == y, 'float32'))\nloss = gt.mean(gt.square(p - y))",
                 "[w]", "", id="a metric beside the loss"),
    pytest.param("loss = gt.mean(gt.square(x @ w - y))", "[w, frozen]",
                 "frozen = gt.Variable(np.zeros(1, 'float32'), trainable=False)", id="not trainable"),
])
def test_meant_so(forward: str, variables: str, more: str) -> None:
    assert not problems_of(training(forward, variables, DATA + more, steps=60, rate="0.1"))


def test_a_source_with_a_gradient_has_no_reason() -> None:
    with recording_of(training("loss = gt.mean(gt.square(x @ w - y))", setup=DATA)) as recording:
        assert why_none(recording, 0, 0) is None
        assert why_none(recording, 0, 99) is None
