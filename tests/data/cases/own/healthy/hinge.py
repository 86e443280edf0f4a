import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(60, 2)).astype("float32"); s = np.where(x[:, :1] > 0, 1, -1).astype("float32"); x[:, :1] += s
w = gt.Variable(np.zeros((2, 1), "float32"))
for step in range(60):
    with gt.GradientTape() as tape:
        loss = gt.mean(gt.nn.relu(1.0 - s * (x @ w)))
    w.assign_sub(0.5 * tape.gradient(loss, w))
