import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(30, 3))
y = x @ np.array([[1.0], [-2.0], [0.5]]) + 0.1 * rng.normal(size=(30, 1))
w = gt.Variable(np.zeros((3, 1)), name="w")
tape = gt.GradientTape(persistent=True)
for step in range(40):
    with tape:
        tape.reset()
        loss = gt.mean(gt.square(x @ w - y))
    w.assign_sub(0.1 * tape.gradient(loss, w))
