# expect: fp16-range
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = (rng.normal(size=(256, 12)) * 0.01).astype("float16")
y = (rng.normal(size=(256, 1)) * 0.02).astype("float16")
w = gt.Variable((rng.normal(size=(12, 20)) * 0.05).astype("float16"), name="w")
v = gt.Variable((rng.normal(size=(20, 1)) * 0.01).astype("float16"), name="v")
for step in range(30):
    with gt.GradientTape() as tape:
        loss = gt.mean(gt.square(gt.tanh(x @ w) @ v - y))  # here
    for p, g in zip([w, v], tape.gradient(loss, [w, v])):
        p.assign_sub(np.float16(0.5) * g)
