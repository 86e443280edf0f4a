# expect: lr-too-large
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(60, 5)).astype("float32") * 1; y = (x @ rng.normal(size=(5, 1))).astype("float32")
w = gt.Variable(np.zeros((5, 1), "float32"), name="w"); b = gt.Variable(np.zeros(1, "float32"))
opt = gt.optimizers.SGD(1.5)  # here
for step in range(60):
    with gt.GradientTape() as tape:
        loss = gt.mean(gt.square(x @ w + b - y))
    opt.apply_gradients(zip(tape.gradient(loss, [w, b]), [w, b]))
