import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = (rng.normal(size=(80, 3)) @ rng.normal(size=(3, 20))).astype("float32")
W = [gt.Variable((rng.normal(size=s) / s[0] ** .5).astype("float32")) for s in [(20, 16), (16, 8), (8, 3), (3, 8), (8, 16), (16, 20)]]
opt = gt.optimizers.Adam(0.01)
for step in range(80):
    with gt.GradientTape() as tape:
        h = x
        for w in W[:-1]:
            h = gt.nn.elu(h @ w)
        loss = gt.mean(gt.square(h @ W[-1] - x))
    opt.apply_gradients(zip(tape.gradient(loss, W), W))
