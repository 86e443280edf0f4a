import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(50, 8)).astype("float32") * 3; y = (x[:, :1] - x[:, 1:2]).astype("float32")
W = [gt.Variable((rng.normal(size=(m, n)) / m ** .5).astype("float32")) for m, n in [(8, 16), (16, 16), (16, 1)]]
for step in range(60):
    with gt.GradientTape() as tape:
        h = x
        for w in W[:2]:
            z = h @ w
            m = gt.mean(z, axis=0, keepdims=True)
            h = gt.nn.relu((z - m) / gt.sqrt(gt.mean(gt.square(z - m), axis=0, keepdims=True) + 1e-5))
        loss = gt.mean(gt.square(h @ W[2] - y))
    for v, g in zip(W, tape.gradient(loss, W)):
        v.assign_sub(0.02 * g)
