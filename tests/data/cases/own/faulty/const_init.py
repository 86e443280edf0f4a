# expect: symmetric-init
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(60, 5)).astype("float32") * 1; y = (x @ rng.normal(size=(5, 1))).astype("float32")
w = gt.Variable(np.full((5, 10), 0.1, "float32"), name="w")  # here
v = gt.Variable(np.full((10, 1), 0.1, "float32"), name="v")
for step in range(40):
    with gt.GradientTape() as tape:
        loss = gt.mean(gt.square(gt.tanh(x @ w) @ v - y))
    for p, g in zip([w, v], tape.gradient(loss, [w, v])):
        p.assign_sub(0.02 * g)
