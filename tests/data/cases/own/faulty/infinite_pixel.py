# expect: nan-input
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
images = rng.uniform(size=(24, 6))  # here
images[5, 2] = np.inf  # here
labels = rng.integers(0, 2, size=(24, 1)).astype(float)
W = gt.Variable(rng.uniform(0.1, 0.5, size=(6, 1)), name="W")
for step in range(4):
    with gt.GradientTape() as tape:
        p = gt.sigmoid(images @ W)
        loss = gt.mean(gt.square(p - labels))
    W.assign_sub(0.5 * tape.gradient(loss, W))
