# expect: constant-normaliser
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(60, 5)).astype("float32") * 1; y = (x @ rng.normal(size=(5, 1))).astype("float32")
w = gt.Variable(rng.normal(size=(5, 8)).astype("float32")); v = gt.Variable(rng.normal(size=(8, 1)).astype("float32"))
for step in range(30):
    i = [step % 60]
    with gt.GradientTape() as tape:
        z = x[i] @ w
        m = gt.mean(z, axis=0)
        s = gt.mean(gt.square(z - m), axis=0)  # here
        h = (z - m) / gt.sqrt(s + 1e-3)  # here
        loss = gt.mean(gt.square(h @ v - y[i]))
    for p, g in zip([w, v], tape.gradient(loss, [w, v])):
        p.assign_sub(0.1 * g)
