# expect: vanishing-depth
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(50, 8)).astype("float32"); y = np.sin(x[:, :1])
W = [gt.Variable((rng.normal(size=(8, 8)) / 3).astype("float32")) for _ in range(10)]; v = gt.Variable(rng.normal(size=(8, 1)).astype("float32"))
step = 0
for epoch in range(8):
    for k in range(0, 50, 16):
        with gt.GradientTape() as tape:
            h = x[k:k+16]
            for w in W:
                h = gt.sigmoid(h @ w)  # here
            loss = gt.mean(gt.square(h @ v - y[k:k+16]))
        for p, g in zip(W + [v], tape.gradient(loss, W + [v])):
            p.assign_sub(0.05 * g)
    val = gt.mean(gt.square(x @ W[0]))
    print(float(val))
