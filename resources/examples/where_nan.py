"""A `where` that hides a NaN: the loss is finite, its gradient is not."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(5)
x = rng.normal(size=(32, 4)).astype("float32")
w = gt.Variable(rng.normal(size=(4, 3)).astype("float32"), name="w")

for step in range(8):
    with gt.GradientTape() as tape:
        p = gt.nn.relu(x @ w)                             # exactly 0 for half of the entries
        plogp = gt.where(p > 0, p * gt.log(p), 0.0)       # the value of 0 * log 0 is hidden ...
        loss = gt.mean(plogp)                             # ... but its gradient is not
    dw = tape.gradient(loss, w)
    w.assign_sub(0.1 * dw)
    print(f"step {step}: loss {loss:.4f}   largest |dw| {np.abs(dw.numpy()).max():.4f}")
