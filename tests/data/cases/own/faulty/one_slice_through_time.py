# expect: vanishing-time
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
n, steps = 8, 30
both = gt.Variable(np.stack([rng.normal(0, 0.5, size=(n, n)), 0.3 * np.linalg.qr(rng.normal(size=(n, n)))[0]]),
                   name="both")
x, y = rng.normal(size=(steps, 12, n)), rng.normal(size=(12, n))
for step in range(15):
    with gt.GradientTape() as tape:
        h = np.zeros((12, n))
        for t in range(steps):
            h = gt.tanh(x[t] @ both[0] + h @ both[1])  # here
        loss = gt.mean(gt.square(h - y))
    both.assign_sub(0.05 * tape.gradient(loss, both))
