import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(60, 5)).astype("float32") * 1; y = (x @ rng.normal(size=(5, 1))).astype("float32")
w = gt.Variable(rng.normal(size=(5, 10)).astype("float32") * .4, name="w")
v = gt.Variable(np.zeros((10, 3), "float32"), name="v")
t = np.eye(3, dtype="float32")[(x[:, 0] > 0).astype(int) + (x[:, 1] > 0)]
for step in range(80):
    with gt.GradientTape() as tape:
        loss = gt.mean(gt.nn.softmax_cross_entropy(t, gt.tanh(x @ w) @ v))
    for p, g in zip([w, v], tape.gradient(loss, [w, v])):
        p.assign_sub(0.5 * g)
