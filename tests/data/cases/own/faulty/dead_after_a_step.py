# expect: dead-relu
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.uniform(size=(60, 5)).astype("float32")
y = x.sum(axis=1, keepdims=True) - 6
w = gt.Variable(np.abs(rng.normal(size=(5, 16))).astype("float32"), name="w")
b = gt.Variable(np.zeros(16, "float32"), name="b")
v = gt.Variable(np.abs(rng.normal(size=(16, 1))).astype("float32"), name="v")
c = gt.Variable(np.zeros(1, "float32"), name="c")
variables = [w, b, v, c]
for step in range(60):
    with gt.GradientTape() as tape:
        h = gt.nn.relu(x @ w + b)  # here
        loss = gt.mean(gt.abs(h @ v + c - y))
    for p, g in zip(variables, tape.gradient(loss, variables)):
        p.assign_sub(2.0 * g)
