import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(60, 5)).astype("float32") * 20; y = (x @ rng.normal(size=(5, 1))).astype("float32")
w = gt.Variable(np.zeros((5, 1), "float32"), name="w")
for step in range(100):
    with gt.GradientTape() as tape:
        loss = gt.mean(gt.square(x @ w - y))
    (g,), n = gt.optimizers.clip_by_global_norm([tape.gradient(loss, w)], 1.0)
    w.assign_sub(0.05 * g)
