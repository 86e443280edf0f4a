# expect: loss-unbounded
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(60, 5)).astype("float32") * 1; y = (x @ rng.normal(size=(5, 1))).astype("float32")
w = gt.Variable(rng.normal(size=(5, 8)).astype("float32"), name="w"); v = gt.Variable(rng.normal(size=(8, 1)).astype("float32"))
for step in range(60):
    with gt.GradientTape() as tape:
        loss = -gt.mean(gt.square(x @ w @ v))  # here
    for p, g in zip([w, v], tape.gradient(loss, [w, v])):
        p.assign_sub(0.003 * g)
