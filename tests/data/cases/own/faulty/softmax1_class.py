# expect: constant-normaliser
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(60, 5)).astype("float32") * 1; y = (x @ rng.normal(size=(5, 1))).astype("float32")
w = gt.Variable(rng.normal(size=(5, 1)).astype("float32")); t = (y > 0).astype("float32")
for step in range(30):
    with gt.GradientTape() as tape:
        loss = gt.mean(gt.nn.softmax_cross_entropy(t, x @ w))  # here
    w.assign_sub(0.1 * tape.gradient(loss, w))
