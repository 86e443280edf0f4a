"""Linear regression: the smallest thing that learns, and a healthy one."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(1)
x = rng.normal(size=(100, 2))
y = x @ np.array([[2.0], [-3.0]]) + 0.5 + 0.1 * rng.normal(size=(100, 1))

w = gt.Variable(np.zeros((2, 1)), name="w")
b = gt.Variable(np.zeros(1), name="b")

for step in range(60):
    with gt.GradientTape() as tape:
        prediction = x @ w + b
        loss = gt.mean(gt.square(prediction - y))
    dw, db = tape.gradient(loss, [w, b])
    w.assign_sub(0.1 * dw)
    b.assign_sub(0.1 * db)
    if step % 10 == 0:
        print(f"step {step}: loss {loss:.4f}")

print("w =", w.numpy().ravel().round(2), " b =", b.numpy().round(2))
