import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(500, 8)).astype("float32") * 3; y = 100 * x[:, :1]
w = gt.Variable(np.zeros((8, 1), "float32"))
for step in range(60):
    with gt.GradientTape() as tape:
        loss = gt.sum(gt.square(x @ w - y))
    w.assign_sub(1e-5 * tape.gradient(loss, w))
