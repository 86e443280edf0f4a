import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
T, H = 40, 10
x = rng.normal(scale=0.5, size=(T, 32, 2)).astype("float32"); y = x[0, :, :1]
W = gt.Variable((rng.normal(size=(2 + H, 4 * H)) * 0.3).astype("float32"))
b = gt.Variable(np.concatenate([np.zeros(H), np.ones(H) * 3, np.zeros(2 * H)]).astype("float32"))
V = gt.Variable((rng.normal(size=(H, 1)) * 0.3).astype("float32"))
opt = gt.optimizers.Adam(0.03)
for step in range(25):
    with gt.GradientTape() as tape:
        h = gt.constant(np.zeros((32, H), "float32")); c = gt.constant(np.zeros((32, H), "float32"))
        for t in range(T):
            z = gt.concatenate([x[t], h], axis=1) @ W + b
            i, f, g, o = gt.split(z, 4, axis=1)
            c = gt.sigmoid(f) * c + gt.sigmoid(i) * gt.tanh(g)
            h = gt.sigmoid(o) * gt.tanh(c)
        loss = gt.mean(gt.square(h @ V - y))
    opt.apply_gradients(zip(tape.gradient(loss, [W, b, V]), [W, b, V]))
