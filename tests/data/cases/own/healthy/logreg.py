import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(100, 4)).astype("float32"); y = (x[:, :1] > 0).astype("float32")
w = gt.Variable(np.zeros((4, 1), "float32")); b = gt.Variable(np.zeros(1, "float32"))
for step in range(80):
    with gt.GradientTape() as tape:
        loss = gt.mean(gt.nn.sigmoid_cross_entropy(y, x @ w + b))
    gw, gb = tape.gradient(loss, [w, b])
    w.assign_sub(0.5 * gw); b.assign_sub(0.5 * gb)
