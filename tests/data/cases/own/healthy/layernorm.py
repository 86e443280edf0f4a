import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(50, 8)).astype("float32"); y = (x[:, :1] * x[:, 1:2]).astype("float32")
W = [gt.Variable((rng.normal(size=(m, n)) / m ** .5).astype("float32")) for m, n in [(8, 16), (16, 16), (16, 1)]]
g = [gt.Variable(np.ones(16, "float32")) for _ in range(2)]; b = [gt.Variable(np.zeros(16, "float32")) for _ in range(2)]
opt = gt.optimizers.Adam(0.01)
vs = W + g + b
for step in range(60):
    with gt.GradientTape() as tape:
        h = x
        for w, gg, bb in zip(W[:2], g, b):
            h = gt.nn.layer_norm(gt.nn.gelu(h @ w), gg, bb)
        loss = gt.mean(gt.square(h @ W[2] - y))
    opt.apply_gradients(zip(tape.gradient(loss, vs), vs))
