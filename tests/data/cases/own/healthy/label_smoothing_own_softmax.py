import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(60, 4)).astype("float32"); t = np.eye(3, dtype="float32")[rng.integers(0, 3, 60)]
w = gt.Variable(np.zeros((4, 3), "float32"))
for step in range(40):
    with gt.GradientTape() as tape:
        z = x @ w
        p = gt.exp(z - gt.logsumexp(z, axis=1, keepdims=True))
        loss = -gt.mean(gt.sum(t * gt.log(p + 1e-9), axis=1))
    w.assign_sub(1.0 * tape.gradient(loss, w))
