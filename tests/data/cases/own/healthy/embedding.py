import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
ids = rng.integers(0, 50, (200, 3)); y = (ids.sum(1, keepdims=True) / 75 - 1).astype("float32")
E = gt.Variable((rng.normal(size=(50, 6)) * .1).astype("float32")); W = gt.Variable((rng.normal(size=(6, 1)) * .3).astype("float32"))
opt = gt.optimizers.Adam(0.05)
for step in range(80):
    i = rng.integers(0, 200, 16)
    with gt.GradientTape() as tape:
        loss = gt.mean(gt.square(gt.sum(gt.gather(E, ids[i]), axis=1) @ W - y[i]))
    opt.apply_gradients(zip(tape.gradient(loss, [E, W]), [E, W]))
