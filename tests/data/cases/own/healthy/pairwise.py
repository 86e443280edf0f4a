import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
p = gt.Variable(rng.normal(size=(20,)).astype("float32"))
t = np.abs(np.linspace(0, 1, 20)[:, None] - np.linspace(0, 1, 20)[None]).astype("float32")
for step in range(80):
    with gt.GradientTape() as tape:
        d = gt.expand_dims(p, 1) - gt.expand_dims(p, 0)
        loss = gt.mean(gt.square(gt.abs(d) - t))
    p.assign_sub(1.0 * tape.gradient(loss, p))
