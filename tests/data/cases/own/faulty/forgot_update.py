# expect: var-not-updated
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(60, 5)).astype("float32") * 1; y = (x @ rng.normal(size=(5, 1))).astype("float32")
w = gt.Variable(rng.normal(size=(5, 8)).astype("float32") * .3, name="w")  # here
v = gt.Variable(rng.normal(size=(8, 1)).astype("float32") * .3, name="v")
for step in range(40):
    with gt.GradientTape() as tape:
        loss = gt.mean(gt.square(gt.tanh(x @ w) @ v - y))
    gw, gv = tape.gradient(loss, [w, v])
    v.assign_sub(0.1 * gv)
