import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(60, 6)).astype("float32"); y = x[:, :1] * 2
base = gt.Variable((rng.normal(size=(6, 12)) / 2.4).astype("float32")); head = gt.Variable(np.zeros((12, 1), "float32"))
for step in range(60):
    with gt.GradientTape() as tape:
        loss = gt.mean(gt.square(gt.tanh(x @ base) @ head - y))
    g = tape.gradient(loss, [head])
    head.assign_sub(0.1 * g[0])
