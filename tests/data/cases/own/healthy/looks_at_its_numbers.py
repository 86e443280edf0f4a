import math
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(40, 3))
y = x @ np.array([[1.0], [-2.0], [0.5]]) + 0.1 * rng.normal(size=(40, 1))
w, b = gt.Variable(np.zeros((3, 1)), name="w"), gt.Variable(np.zeros(1), name="b")
best, curve, snapshots = math.inf, [], []
for step in range(60):
    with gt.GradientTape() as tape:
        error = x @ w + b - y
        weight = np.minimum(1.0, 3.0 / (1e-6 + np.abs(error.numpy())))
        loss = gt.mean(weight * gt.square(error))
    grads = tape.gradient(loss, [w, b])
    curve.append(float(loss))
    size = float(gt.norm(grads[0]))
    rate = 0.1 if size < 100 else 0.1 * 100 / size
    w.assign_sub(rate * grads[0])
    b.assign_sub(rate * grads[1])
    if curve[-1] < best:
        best, snapshots = curve[-1], [w.numpy(), b.numpy().tolist()]
    with np.errstate(all="ignore"):
        hits = np.mean(np.log(np.asarray(x @ w)) > 0)
print(best, hits, snapshots)
