import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
w = gt.Variable(np.array([3.0, -2.0]))
for step in range(10):
    with gt.GradientTape() as outer:
        with gt.GradientTape() as inner:
            loss = gt.sum(w ** 4) + gt.sum(w * w)
        g = inner.gradient(loss, w)
    H = outer.jacobian(g, w)
    w.assign_sub(np.linalg.solve(H.numpy(), g.numpy()))
