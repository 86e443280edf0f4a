# expect: sign-flipped
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(60, 5)).astype("float32") * 1; y = (x @ rng.normal(size=(5, 1))).astype("float32")
w = gt.Variable(rng.normal(size=(5, 1)).astype("float32"), name="w")
for step in range(40):
    with gt.GradientTape() as tape:
        loss = gt.mean(gt.square(x @ w - y))
    w.assign_add(0.01 * tape.gradient(loss, w))  # here
