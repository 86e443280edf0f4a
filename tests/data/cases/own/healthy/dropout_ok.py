import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(64, 8)).astype("float32"); y = np.sin(x[:, :1]) + x[:, 1:2]
W = [gt.Variable((rng.normal(size=(m, n)) * (2/m)**.5).astype("float32")) for m, n in [(8,64),(64,64),(64,1)]]
opt = gt.optimizers.Adam(0.005)
for step in range(100):
    with gt.GradientTape() as tape:
        h = x
        for w in W[:-1]:
            h = gt.nn.dropout(gt.nn.relu(h @ w), 0.2, rng)
        loss = gt.mean(gt.square(h @ W[-1] - y))
    opt.apply_gradients(zip(tape.gradient(loss, W), W))
    if step % 20 == 0:
        with gt.GradientTape() as vt:
            val = gt.mean(gt.square(gt.nn.relu(gt.nn.relu(x @ W[0]) @ W[1]) @ W[2] - y))
        print(float(val))
