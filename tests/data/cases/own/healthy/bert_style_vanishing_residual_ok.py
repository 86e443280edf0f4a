import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(16, 5, 12)).astype("float32"); y = x[:, 0, :1]
L = [[gt.Variable((rng.normal(size=(12, 12)) * .25).astype("float32")) for _ in range(4)] for _ in range(5)]
g = [gt.Variable(np.ones(12, "float32")) for _ in range(5)]; b = [gt.Variable(np.zeros(12, "float32")) for _ in range(5)]
o = gt.Variable((rng.normal(size=(12, 1)) * .3).astype("float32")); vs = [v for l in L for v in l] + g + b + [o]
opt = gt.optimizers.Adam(0.003)
for step in range(50):
    with gt.GradientTape() as tape:
        h = x
        for (q, k, v, m), gg, bb in zip(L, g, b):
            a = gt.softmax(gt.matmul(h @ q, gt.swapaxes(h @ k, 1, 2)) / 12 ** .5) @ (h @ v)
            h = gt.nn.layer_norm(h + a, gg, bb)
            h = h + gt.nn.gelu(h @ m)
        loss = gt.mean(gt.square(h[:, 0] @ o - y))
    opt.apply_gradients(zip(tape.gradient(loss, vs), vs))
