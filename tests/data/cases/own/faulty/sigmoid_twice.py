# expect: loss-activation-mismatch
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(60, 5)).astype("float32") * 1; y = (x @ rng.normal(size=(5, 1))).astype("float32")
t = (y > 0).astype("float32"); w = gt.Variable(np.zeros((5, 1), "float32"))
for step in range(60):
    with gt.GradientTape() as tape:
        p = gt.sigmoid(x @ w)  # here
        loss = gt.mean(gt.nn.sigmoid_cross_entropy(t, p))
    w.assign_sub(0.1 * tape.gradient(loss, w))
