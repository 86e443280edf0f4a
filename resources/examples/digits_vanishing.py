"""Handwritten digits through six sigmoid layers: the gradients vanish and nothing is learned."""

from pathlib import Path

import numpy as np

import gradtape as gt

digits = np.load(Path(__file__).parents[1] / "data" / "digits.npz")
images = (digits["images"].reshape(-1, 64) / 16).astype("float32")
labels = np.eye(10, dtype="float32")[digits["labels"]]

rng = np.random.default_rng(0)
sizes = [64, 32, 32, 32, 32, 32, 32, 10]
W = [gt.Variable(rng.normal(0, m**-0.5, (m, n)).astype("float32"), name=f"W{i}")
     for i, (m, n) in enumerate(zip(sizes[:-1], sizes[1:]), start=1)]
b = [gt.Variable(np.zeros(n, "float32"), name=f"b{i}") for i, n in enumerate(sizes[1:], start=1)]


def network(h):
    for Wi, bi in zip(W[:-1], b[:-1]):
        h = gt.nn.sigmoid(h @ Wi + bi)
    return h @ W[-1] + b[-1]


optimizer = gt.optimizers.SGD(0.1)
for step in range(1000):
    batch = rng.integers(0, len(images), 64)
    with gt.GradientTape() as tape:
        logits = network(images[batch])
        loss = gt.mean(gt.nn.softmax_cross_entropy(labels[batch], logits))
    gradients = tape.gradient(loss, W + b)
    optimizer.apply_gradients(zip(gradients, W + b))
    if step % 100 == 0:
        print(f"step {step}: loss {loss:.3f}")

right = network(images).numpy().argmax(1) == digits["labels"]
print(f"{right.mean():.0%} of the digits are read correctly")
