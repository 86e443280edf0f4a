# expect: loss-broadcast
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(60, 5)).astype("float32") * 1; y = (x @ rng.normal(size=(5, 1))).astype("float32")
t = y[:, 0]; w = gt.Variable(np.zeros((5, 1), "float32"))
def criterion(p, t):
    return gt.mean(gt.abs(t - p))  # here
for step in range(30):
    with gt.GradientTape() as tape:
        loss = criterion(x @ w, t)
    w.assign_sub(0.1 * tape.gradient(loss, w))
