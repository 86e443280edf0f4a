import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(60, 4)).astype("float32"); y = x @ np.ones((4, 1), "float32")
w = gt.Variable(np.ones((4, 1), "float32") * 1.0001)
for step in range(40):
    with gt.GradientTape() as tape:
        loss = gt.mean(gt.square(x @ w - y))
    w.assign_sub(0.1 * tape.gradient(loss, w))
