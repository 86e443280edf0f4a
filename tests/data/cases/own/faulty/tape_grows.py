# expect: tape-growth
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(60, 5)).astype("float32") * 1; y = (x @ rng.normal(size=(5, 1))).astype("float32")
w = gt.Variable(np.zeros((5, 1), "float32"), name="w")
g_tape = gt.GradientTape(persistent=True)  # here
total = 0.0
for step in range(25):
    with g_tape:
        total = total + gt.mean(gt.square(x @ w - y))
    w.assign_sub(0.001 * g_tape.gradient(total, w))
