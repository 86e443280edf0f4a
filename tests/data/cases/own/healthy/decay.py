import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(60, 5)).astype("float32") * 1; y = (x @ rng.normal(size=(5, 1))).astype("float32")
w = gt.Variable(np.zeros((5, 1), "float32"), name="w")
for step in range(100):
    with gt.GradientTape() as tape:
        loss = gt.mean(gt.square(x @ w - y)) + 1.0
    w.assign_sub(0.3 * 0.7 ** step * tape.gradient(loss, w))
