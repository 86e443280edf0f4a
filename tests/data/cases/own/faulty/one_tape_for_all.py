# expect: tape-growth
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(30, 3))
y = x @ np.array([[1.0], [-2.0], [0.5]])
w = gt.Variable(np.zeros((3, 1)), name="w")
recorder = gt.GradientTape(persistent=True)  # here
for step in range(25):
    with recorder:
        loss = gt.mean(gt.square(x @ w - y))
    w.assign_sub(0.1 * recorder.gradient(loss, w))
