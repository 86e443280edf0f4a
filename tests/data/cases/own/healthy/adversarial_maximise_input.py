import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
w = gt.Variable(rng.normal(size=(4, 3)).astype("float32")); x = gt.Variable(rng.normal(size=(1, 4)).astype("float32"))
for step in range(20):
    with gt.GradientTape() as tape:
        loss = -gt.nn.sparse_softmax_cross_entropy(np.array([1]), x @ w)[0]
    x.assign_sub(0.05 * tape.gradient(loss, x))
