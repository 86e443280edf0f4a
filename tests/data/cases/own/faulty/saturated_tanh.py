# expect: saturated-activation
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(60, 5)).astype("float32") * 30; y = (x @ rng.normal(size=(5, 1))).astype("float32")
w = gt.Variable(rng.normal(size=(5, 16)).astype("float32") * 3, name="w")
v = gt.Variable(rng.normal(size=(16, 1)).astype("float32") * .01, name="v")
u = gt.Variable(rng.normal(size=(16, 16)).astype("float32") * 6, name="u")
y = np.sin(y)
for step in range(60):
    with gt.GradientTape() as tape:
        h = gt.tanh(x @ w)
        h = gt.tanh(h @ u)
        loss = gt.mean(gt.square(h @ v - y))
    for p, g in zip([w, u, v], tape.gradient(loss, [w, u, v])):
        p.assign_sub(0.0001 * g)
