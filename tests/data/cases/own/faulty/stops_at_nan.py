# expect: nan-forward-domain
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.uniform(0.5, 1.5, size=(20, 3))
w = gt.Variable(np.full((3, 1), 0.4), name="w")
history = []
for epoch in range(50):
    with gt.GradientTape() as tape:
        scale = gt.log(gt.sum(w))  # here
        loss = gt.mean(gt.square(x @ w)) + 3 * scale
    history.append(loss.item())
    if not np.isfinite(history[-1]):
        print("stopped in epoch", epoch)
        break
    w.assign_sub(0.05 * tape.gradient(loss, w))
