import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
w = gt.Variable(rng.normal(size=(5, 1)).astype("float32"))
x = gt.constant(rng.normal(size=(3, 5)).astype("float32"))
for step in range(5):
    with gt.GradientTape() as tape:
        tape.watch(x)
        s = gt.sum(gt.tanh(x @ w))
    g = tape.gradient(s, x)
    x = x + 0.1 * g
