"""The facade: a script with TensorFlow's names runs; unknown names get a suggestion."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradtape as gt
import gradtape.tensorflow
from gradtape.tensorflow.names import NAMES

tf: Any = gradtape.tensorflow

SCRIPT = """
import tensorflow as tf
import numpy as np
from tensorflow.keras.optimizers import Adam

tf.random.set_seed(1)
x = np.linspace(-1, 1, 32).reshape(-1, 1).astype("float32")
y = np.sin(3 * x)
W1, b1 = tf.Variable(tf.random.normal([1, 16])), tf.Variable(tf.zeros([16]))
W2, b2 = tf.Variable(tf.random.normal([16, 1], stddev=0.3)), tf.Variable(tf.zeros([1]))
net = [W1, b1, W2, b2]
optimizer = Adam(learning_rate=0.02)

@tf.function
def train():
    with tf.GradientTape() as tape:
        h = tf.nn.tanh(tf.matmul(x, W1) + b1)
        loss = tf.reduce_mean(tf.square(tf.matmul(h, W2) + b2 - y))
    optimizer.apply_gradients(zip(tape.gradient(loss, net), net))
    return loss

losses = [float(train()) for _ in range(200)]
assert losses[-1] < 0.05 * losses[0], losses[::50]
assert isinstance(W1, tf.Variable) and isinstance(loss := train(), tf.Tensor)
print("learned", loss.dtype)
"""


def test_a_tutorial_runs_unchanged(tmp_path: Path) -> None:
    script = tmp_path / "tutorial.py"
    script.write_text(SCRIPT)
    code = f"import gradtape.tensorflow as t, runpy; assert t.install(force=True); runpy.run_path({str(script)!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False,
                          env={"PYTHONPATH": str(Path(gt.__file__).parents[1])})
    assert done.stdout == "learned float32\n", done.stderr


def test_default_dtypes_are_tensorflows() -> None:
    assert tf.constant(1.0).dtype == tf.float32
    assert tf.constant([1, 2]).dtype == tf.int32
    assert tf.constant(np.ones(2)).dtype == tf.float64
    assert tf.Variable(2.0).dtype == tf.float32
    assert tf.square(3.0).dtype == tf.float32
    assert tf.zeros([2]).dtype == tf.ones((2,)).dtype == tf.float32
    assert tf.range(3).dtype == tf.int32
    assert tf.range(0.0, 1.0, 0.25).dtype == tf.float32
    assert tf.reduce_mean([1.0, 2.0]).dtype == tf.float32
    assert type(tf.Variable(1.0)) is gt.Variable


def test_unknown_names_get_a_suggestion() -> None:
    with pytest.raises(AttributeError, match=r"gradtape has no tf.reduce_sums. Did you mean tf.reduce_sum"):
        _ = tf.reduce_sums
    with pytest.raises(AttributeError, match=r"gradtape has no tf.nn.leaky_rel. Did you mean tf.nn.leaky_relu"):
        _ = tf.nn.leaky_rel
    with pytest.raises(AttributeError, match=r"gradtape has no tf.keras.optimizers.Adams. Did you mean"):
        _ = tf.keras.optimizers.Adams
    with pytest.raises(AttributeError, match=r"^gradtape has no tf.qqqqqq$"):
        _ = tf.qqqqqq


def test_every_name_can_be_reached() -> None:
    assert len(NAMES) >= 120
    for name, value in NAMES.items():
        assert getattr(tf, name) is value


def value(x: Any) -> Any:
    return np.asarray(x)


VALUES: dict[str, tuple[Any, Any]] = {
    "reduce_sum axis": (lambda: tf.reduce_sum([[1.0, 2.0], [3.0, 4.0]], axis=1), [3.0, 7.0]),
    "reduce_max": (lambda: tf.reduce_max([1.0, 5.0]), 5.0),
    "matmul transposed": (lambda: tf.matmul([[1.0, 2.0]], [[3.0, 4.0]], transpose_b=True), [[11.0]]),
    "matvec": (lambda: tf.linalg.matvec([[1.0, 2.0], [0.0, 1.0]], [3.0, 4.0]), [11.0, 4.0]),
    "concat": (lambda: tf.concat([[1.0], [2.0, 3.0]], 0), [1.0, 2.0, 3.0]),
    "stack": (lambda: tf.stack([tf.constant(1.0), 2.0]), [1.0, 2.0]),
    "split sizes": (lambda: tf.split(tf.range(5), [2, 3])[1], [2, 3, 4]),
    "where": (lambda: tf.where([True, False], 1.0, [2.0, 3.0]), [1.0, 3.0]),
    "where indices": (lambda: tf.where([[True, False], [False, True]]), [[0, 0], [1, 1]]),
    "gather": (lambda: tf.gather([[1.0, 2.0], [3.0, 4.0]], [1, 1]), [[3.0, 4.0], [3.0, 4.0]]),
    "gather batch_dims": (lambda: tf.gather([[1.0, 2.0], [3.0, 4.0]], [1, 0], batch_dims=1), [2.0, 3.0]),
    "one_hot": (lambda: tf.one_hot([1, 5], 3), [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]),
    "cast": (lambda: tf.cast([True, False], tf.float32), [1.0, 0.0]),
    "clip": (lambda: tf.clip_by_value([-2.0, 0.5], -1.0, 1.0), [-1.0, 0.5]),
    "clip_by_norm": (lambda: tf.clip_by_norm([3.0, 4.0], 1.0), [0.6, 0.8]),
    "norm": (lambda: tf.norm([3.0, -4.0]), 5.0), "norm 1": (lambda: tf.norm([3.0, -4.0], ord=1), 7.0),
    "l2_normalize": (lambda: tf.math.l2_normalize([3.0, 4.0]), [0.6, 0.8]),
    "moments": (lambda: tf.stack(tf.nn.moments(tf.constant([1.0, 3.0]), [0])), [2.0, 1.0]),
    "add_n": (lambda: tf.add_n([1.0, 2.0, 3.0]), 6.0),
    "argmax": (lambda: tf.argmax([[1.0, 9.0], [8.0, 0.0]], 1), [1, 0]),
    "argmax axis 0": (lambda: tf.argmax([[1.0, 9.0], [8.0, 0.0]]), [1, 0]), "pow": (lambda: tf.pow(2.0, 3.0), 8.0),
    "linspace": (lambda: tf.linspace(0.0, 1.0, 3), [0.0, 0.5, 1.0]), "fill": (lambda: tf.fill([2], 3.0), [3.0, 3.0]),
    "pad": (lambda: tf.pad(tf.constant([1.0]), [[1, 0]]), [0.0, 1.0]), "shape": (lambda: tf.shape([[1, 2]]), [1, 2]),
    "tile": (lambda: tf.tile([1.0], [2]), [1.0, 1.0]),
    "reshape": (lambda: tf.reshape([1.0, 2.0], [-1, 1]), [[1.0], [2.0]]),
    "float16 mean": (lambda: tf.reduce_mean(tf.ones([70000], tf.float16)), 0.0),
    "unstack": (lambda: tf.unstack([[1.0], [2.0]])[1], [2.0]), "eye": (lambda: tf.eye(2), np.eye(2)),
    "l2_loss": (lambda: tf.nn.l2_loss([1.0, 3.0]), 5.0),
    "global_norm": (lambda: tf.linalg.global_norm([tf.constant(3.0)]), 3.0),
    "sparse cross-entropy": (
        lambda: tf.nn.sparse_softmax_cross_entropy_with_logits([1], [[0.0, 0.0]]), [np.log(2.0)]),
    "cross-entropy": (lambda: tf.nn.softmax_cross_entropy_with_logits([[1.0, 0.0]], [[0.0, 0.0]]), [np.log(2.0)]),
    "binary cross-entropy": (
        lambda: tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0], logits=[0.0]), [np.log(2.0)]),
    "map_structure": (lambda: tf.nest.map_structure(lambda a: a + 1, {"a": 1})["a"], 2),
    "expand_dims": (lambda: tf.expand_dims([1.0], 0), [[1.0]]),
    "transpose": (lambda: tf.transpose([[1.0, 2.0]]), [[1.0], [2.0]]),
}


@pytest.mark.parametrize("name", VALUES)
def test_functions_give_what_tensorflow_gives(name: str) -> None:
    fn, expected = VALUES[name]
    np.testing.assert_allclose(value(fn()), expected, rtol=1e-6)


def test_gradients_at_edges() -> None:
    x, zeros = tf.Variable([0.0, 0.0]), tf.constant([0.0, 0.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.math.l2_normalize(x))
    np.testing.assert_allclose(value(tape.gradient(y, x)), [1e6, 1e6])
    with tf.GradientTape() as tape:
        tape.watch(zeros)
        y = tf.reduce_sum(tf.clip_by_norm(zeros, 1.0))
    np.testing.assert_array_equal(value(tape.gradient(y, zeros)), [1.0, 1.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(zeros)
    result = tape.gradient(y, x, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    np.testing.assert_array_equal(value(result), [0.0, 0.0])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))


def test_install_leaves_a_real_tensorflow_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorflow", tf)
    assert not tf.install()
