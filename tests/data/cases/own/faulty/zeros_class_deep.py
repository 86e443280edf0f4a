# expect: symmetric-init or dead-relu
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(60, 5)).astype("float32") * 1; y = (x @ rng.normal(size=(5, 1))).astype("float32")
class Dense:
    def __init__(self, m, n):
        self.w = gt.Variable(np.zeros((m, n), "float32"))  # here
        self.b = gt.Variable(np.zeros(n, "float32"))
    def __call__(self, h):
        return h @ self.w + self.b
net = [Dense(5, 8), Dense(8, 8), Dense(8, 1)]
vs = [v for d in net for v in (d.w, d.b)]
opt = gt.optimizers.Adam(0.01)
for step in range(40):
    with gt.GradientTape() as tape:
        h = x
        for d in net[:-1]:
            h = gt.nn.relu(d(h))
        loss = gt.mean(gt.square(net[-1](h) - y - 3.0))
    opt.apply_gradients(zip(tape.gradient(loss, vs), vs))
