# expect: nan-overflow
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(24, 4)).astype("float32") * np.float32(200)
y = (x[:, :1] > 0).astype("float32")
w = gt.Variable(rng.normal(size=(4, 1)).astype("float32"), name="w")
for step in range(4):
    with gt.GradientTape() as tape:
        e = gt.exp(-(x @ w))  # here
        p = 1 / (1 + e * e)
        loss = gt.mean(gt.square(p - y))
    w.assign_sub(0.1 * tape.gradient(loss, w))
