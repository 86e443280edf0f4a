import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(30, 6, 8)).astype("float32"); y = x[:, 2, :1]
q, k, v = [gt.Variable((rng.normal(size=(8, 8)) / 3).astype("float32")) for _ in range(3)]
o = gt.Variable((rng.normal(size=(8, 1)) / 3).astype("float32"))
opt = gt.optimizers.Adam(0.02)
for step in range(60):
    with gt.GradientTape() as tape:
        s = gt.matmul(x @ q, gt.swapaxes(x @ k, 1, 2)) / 8 ** .5
        a = gt.softmax(s) @ (x @ v)
        loss = gt.mean(gt.square(a[:, 2] @ o - y))
    opt.apply_gradients(zip(tape.gradient(loss, [q, k, v, o]), [q, k, v, o]))
