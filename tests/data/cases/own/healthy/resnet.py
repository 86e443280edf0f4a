import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(64, 12)).astype("float32"); y = np.sin(x[:, :1]).astype("float32")
W = [gt.Variable((rng.normal(size=(12, 12)) * 0.2).astype("float32")) for _ in range(16)]
v = gt.Variable((rng.normal(size=(12, 1)) * 0.1).astype("float32"))
opt = gt.optimizers.Adam(0.003)
for step in range(60):
    with gt.GradientTape() as tape:
        h = x
        for w in W:
            h = h + gt.tanh(h @ w)
        loss = gt.mean(gt.square(h @ v - y))
    opt.apply_gradients(zip(tape.gradient(loss, W + [v]), W + [v]))
