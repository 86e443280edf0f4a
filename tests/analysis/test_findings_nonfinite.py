"""NaN and infinity: which operation made the first that mattered."""

from __future__ import annotations

import pytest

from tests.analysis.networks import marked, training
from tests.analysis.recorded import findings_of, problems_of

DATA = """
x = rng.normal(size=(40, 3)).astype("float32")
y = (x @ np.array([[1.0], [2.0], [-1.0]])).astype("float32")
w = gt.Variable(rng.normal(size=(3, 1)).astype("float32"), name="w")
m = np.ones((40, 1), "float32"); m[5] = 0
"""
FAULTY = {
    "log of zero": ("nan-forward-domain", "p = gt.nn.relu(x @ w)\nloss = -gt.mean(gt.log(p))  # here"),
    "root of a negative number": ("nan-forward-domain", "p = x @ w\nloss = gt.mean(gt.sqrt(p))  # here"),
    "division by zero": ("nan-forward-domain", "p = x @ w\nloss = gt.mean(p / m)  # here"),
    "arccos beyond one": ("nan-forward-domain", "p = x @ w\nloss = gt.mean(gt.arccos(p))  # here"),
    "exp of a large number": ("nan-overflow", "p = x @ w * 200.0\nloss = gt.mean(gt.exp(p))  # here"),
    "naive softplus": ("nan-overflow", "p = x @ w * 100.0\nloss = gt.mean(gt.log(1.0 + gt.exp(p)))  # here"),
    "distance of equal points": ("nan-backward-singular",
                                 "d = gt.sqrt(gt.sum(gt.square(x @ w * m), axis=1))  # here\nloss = gt.mean(d)"),
    "norm of zeros": ("nan-backward-singular", "d = gt.norm((x @ w) * m, axis=1)  # here\nloss = gt.mean(d)"),
    "root as a power": ("nan-backward-singular", "h = gt.nn.relu(x @ w)\nloss = gt.mean(h ** 0.5)  # here"),
    "where around a log": ("nan-masked-branch", "p = gt.nn.relu(x @ w)\n"
                           "e = gt.where(p > 0, p * gt.log(p), 0.0)  # here\nloss = gt.mean(e)"),
    "where after a quotient": ("nan-masked-branch", "p = gt.nn.relu(x @ w)\ns = gt.sin(p) / p\n"
                               "e = gt.where(p > 0, s, 1.0)  # here\nloss = gt.mean(e)"),
}


@pytest.mark.parametrize("name", FAULTY)
def test_root_cause(name: str) -> None:
    id, forward = FAULTY[name]
    text = training(forward, setup=DATA)
    first = findings_of(text)[0]
    assert (first.id, first.severity, first.iteration) == (id, "error", 0)
    assert first.line in marked(text)
    assert [one.id for one in first.consequences] == ["nan-spread"]
    assert first.consequences[0].affected == ("w",)


def test_later_iterations_are_counted() -> None:
    text = training("p = gt.nn.relu(c - step)\nloss = gt.sum(gt.square(w)) + gt.mean(gt.log(p + m))  # here",
                    setup=DATA + "c = np.full((40, 1), 7.0, 'float32')", rate="0.01")
    first = findings_of(text)[0]
    assert (first.id, first.iteration) == ("nan-forward-domain", 7)
    assert first.evidence["entries"] == [(5, 0)]


@pytest.mark.parametrize("forward", [
    pytest.param("q = gt.where(gt.nn.relu(x @ w) > 0, gt.nn.relu(x @ w), 1.0)\n"
                 "loss = gt.mean(q * gt.log(q)) + gt.mean(gt.square(x @ w - y))", id="safe argument first"),
    pytest.param("shown = gt.log(gt.nn.relu(x @ w))\nloss = gt.mean(gt.square(x @ w - y))", id="beside the loss"),
    pytest.param("a = gt.softmax(x @ u + mask)\nloss = gt.mean(gt.square(a @ v + x @ w - y))", id="mask of -inf"),
    pytest.param("d = gt.sqrt(gt.sum(gt.square(x @ w * m), axis=1) + 1e-6)\n"
                 "loss = gt.mean(d) + gt.mean(gt.square(x @ w - y))", id="epsilon"),
])
def test_harmless(forward: str) -> None:
    setup = DATA + """
u = gt.Variable(rng.normal(size=(3, 4)).astype("float32"))
v = gt.Variable(rng.normal(size=(4, 1)).astype("float32"))
mask = np.zeros((1, 4), "float32"); mask[0, 2] = -np.inf
"""
    assert not problems_of(training(forward, setup=setup, variables="[w, u, v]" if "mask" in forward else "[w]"))


@pytest.mark.parametrize(("setup", "name", "entry"), [
    ("x[7, 1] = np.nan", "x", (7, 1)),
    ("y[3] = np.inf", "y", (3, 0)),
    ("w = gt.Variable(np.array([[1.0], [np.nan], [2.0]], 'float32'), name='w')  # here", "w", (1, 0)),
])
def test_bad_data(setup: str, name: str, entry: tuple[int, int]) -> None:
    first = findings_of(training("loss = gt.mean(gt.square(x @ w - y))", setup=DATA + setup))[0]
    assert (first.id, first.iteration, first.affected) == ("nan-input", 0, (name,))
    entries = first.evidence["entries"]
    assert isinstance(entries, list)
    assert entries[0] == entry


def test_a_program_without_gradients() -> None:
    text = "import numpy as np\nimport gradtape as gt\n\nx = gt.constant(np.array([1.0, 0.0]))\ny = gt.log(x)\n"
    first = findings_of(text)[0]
    assert (first.id, first.line, first.op) == ("nan-forward-domain", 5, "log")


SHRINKING = """
import numpy as np
import gradtape as gt

w = gt.Variable(np.array([0.45, 3.0]), name="w")
for step in range(20):
    with gt.GradientTape() as tape:
        loss = gt.sum(gt.sqrt(w))
"""


@pytest.mark.parametrize(("rest", "fails"), [
    ("    if np.isnan(float(loss)):\n        break\n", False),
    ("    if gt.any(gt.isnan(loss)):\n        raise ValueError('lost')\n", True),
    ("    assert np.isfinite(loss.numpy())\n", True),
    ("    if loss.item() != loss.item():\n        raise SystemExit(3)\n", True),
])
def test_a_program_that_stops_before_the_gradient(rest: str, fails: bool) -> None:
    text = SHRINKING + rest + "    w.assign_sub(0.1 + 0 * tape.gradient(loss, w))\n"
    first = findings_of(text, fails)[0]
    assert (first.id, first.line, first.op, first.iteration) == ("nan-forward-domain", 8, "sqrt", 5)


def test_a_program_that_fails_after_the_training() -> None:
    text = SHRINKING.replace("range(20)", "range(3)") + """\
    w.assign_sub(0.1 + 0 * tape.gradient(loss, w))
score = gt.log(gt.min(w) - 1)
if np.isnan(score.numpy()):
    raise ValueError("no score")
"""
    first = findings_of(text, fails=True)[0]
    assert (first.id, first.op, first.iteration) == ("nan-forward-domain", "log", 2)
    assert not problems_of(text.split("if np.isnan")[0])      # nobody cared
