# expect: grad-accumulated
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(60, 5)).astype("float32") * 1; y = (x @ rng.normal(size=(5, 1))).astype("float32")
w = gt.Variable(rng.normal(size=(5, 6)).astype("float32") * .4, name="w"); v = gt.Variable(rng.normal(size=(6, 1)).astype("float32") * .4)
sums = [0.0, 0.0]
for step in range(60):
    with gt.GradientTape() as tape:
        loss = gt.mean(gt.square(gt.tanh(x @ w) @ v - gt.tanh(gt.constant(y))))
    for k, g in enumerate(tape.gradient(loss, [w, v])):
        sums[k] = sums[k] + g
    for p, s in zip([w, v], sums):
        p.assign_sub(0.03 * s)
