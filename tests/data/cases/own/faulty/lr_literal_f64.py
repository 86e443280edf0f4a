# expect: lr-too-large
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(60, 5)).astype("float64") * 1; y = (x @ rng.normal(size=(5, 1))).astype("float64")
w = gt.Variable(np.zeros((5, 1)), name="w")
for step in range(40):
    with gt.GradientTape() as tape:
        loss = gt.mean(gt.square(x @ w - y))
    g = tape.gradient(loss, w)
    w.assign_sub(2.0 * g)  # here
