# expect: lr-too-large
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(60, 5)).astype("float32") * 1; y = (x @ rng.normal(size=(5, 1))).astype("float32")
w = gt.Variable(rng.normal(size=(5, 32)).astype("float32") * .5); v = gt.Variable(rng.normal(size=(32, 1)).astype("float32") * .3)
learning_rate = 3.0  # here
for step in range(60):
    with gt.GradientTape() as tape:
        loss = gt.mean(gt.square(gt.nn.leaky_relu(x @ w) @ v - y))
    for p, g in zip([w, v], tape.gradient(loss, [w, v])):
        p.assign_sub(learning_rate * g)
