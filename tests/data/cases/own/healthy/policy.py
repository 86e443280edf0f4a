import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
th = gt.Variable(np.zeros((1, 4), "float32"))
for step in range(100):
    pr = gt.softmax(th).numpy()[0]; a = rng.choice(4, p=pr / pr.sum()); r = 1.0 if a == 2 else 0.0
    with gt.GradientTape() as tape:
        loss = -gt.log_softmax(th)[0, int(a)] * (r - 0.25)
    th.assign_sub(0.5 * tape.gradient(loss, th))
