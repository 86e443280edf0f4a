import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
n, depth = 10, 6
weights = gt.Variable(rng.normal(0, 0.3, size=(depth, n, n)), name="weights")
x = rng.normal(size=(40, n))
y = np.tanh(x @ rng.normal(0, 0.3, size=(n, n)))
for step in range(150):
    with gt.GradientTape() as tape:
        h = x
        for layer in range(depth):
            h = h + 0.3 * gt.tanh(h @ weights[layer])
        loss = gt.mean(gt.square(h - y))
    weights.assign_sub(0.3 * tape.gradient(loss, weights))
