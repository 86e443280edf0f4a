# expect: vanishing-depth
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
n, depth = 10, 8
weights = gt.Variable(rng.normal(0, 0.1, size=(depth, n, n)), name="weights")
x, y = rng.normal(size=(40, n)), rng.normal(size=(40, n))
for step in range(25):
    with gt.GradientTape() as tape:
        h = x
        for W in gt.unstack(weights):
            h = gt.tanh(h @ W)  # here
        loss = gt.mean(gt.square(h - y))
    weights.assign_sub(0.1 * tape.gradient(loss, weights))
