# expect: update-too-small or var-not-updated
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(60, 5)).astype("float32") * 1; y = (x @ rng.normal(size=(5, 1))).astype("float32")
w = gt.Variable(rng.normal(size=(5, 1)).astype("float32"), name="w"); v = gt.Variable(np.ones((1, 1), "float32"))
opt = gt.optimizers.SGD(3e-9)  # here
for step in range(40):
    with gt.GradientTape() as tape:
        loss = gt.mean(gt.square(x @ w @ v - y))
    opt.apply_gradients(zip(tape.gradient(loss, [w, v]), [w, v]))
