import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(64, 4)).astype("float32"); y = (x @ np.ones((4, 1))).astype("float32")
w = gt.Variable(np.zeros((4, 1), "float32")); b = gt.Variable(np.zeros(1, "float32"))
for step in range(40):
    sums = [np.zeros((4, 1), "float32"), np.zeros(1, "float32")]
    for k in range(4):
        with gt.GradientTape() as tape:
            loss = gt.mean(gt.square(x[k*16:k*16+16] @ w + b - y[k*16:k*16+16]))
        for s, g in zip(sums, tape.gradient(loss, [w, b])):
            s += g.numpy() / 4
    w.assign_sub(0.1 * sums[0]); b.assign_sub(0.1 * sums[1])
