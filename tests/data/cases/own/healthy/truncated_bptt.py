import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
A = gt.Variable((np.linalg.qr(rng.normal(size=(8, 8)))[0] * .95).astype("float32")); B = gt.Variable((rng.normal(size=(1, 8)) * .5).astype("float32")); C = gt.Variable((rng.normal(size=(8, 1)) * .3).astype("float32"))
h = gt.constant(np.zeros((1, 8), "float32")); s = np.sin(np.arange(400) / 5).astype("float32")
opt = gt.optimizers.Adam(0.01)
for step in range(40):
    with gt.GradientTape() as tape:
        h = gt.stop_gradient(h); loss = 0.0
        for t in range(step * 8, step * 8 + 8):
            h = gt.tanh(h @ A + s[t].reshape(1, 1) @ B)
            loss = loss + gt.mean(gt.square(h @ C - s[t + 1]))
    opt.apply_gradients(zip(tape.gradient(loss, [A, B, C]), [A, B, C]))
