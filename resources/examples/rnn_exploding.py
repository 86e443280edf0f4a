"""A recurrent net whose gradient grows at every time step: it explodes."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(3)
steps, batch, hidden = 30, 16, 12
sequences = rng.normal(size=(steps, batch, 2)).astype("float32")
target = sequences.sum(axis=(0, 2))[:, None] / 10

Wx = gt.Variable(rng.normal(0, 0.5, (2, hidden)).astype("float32"), name="Wx")
Wh = gt.Variable(rng.normal(0, 2.5 / hidden**0.5, (hidden, hidden)).astype("float32"), name="Wh")
Wo = gt.Variable(rng.normal(0, 0.3, (hidden, 1)).astype("float32"), name="Wo")
parameters = [Wx, Wh, Wo]

for step in range(12):
    with gt.GradientTape() as tape:
        h = np.zeros((batch, hidden), "float32")
        for x in sequences:
            h = gt.nn.leaky_relu(x @ Wx + h @ Wh)    # Wh enlarges the signal, thirty times over
        loss = gt.mean(gt.square(h @ Wo - target))
    gradients = tape.gradient(loss, parameters)
    for p, g in zip(parameters, gradients):
        p.assign_sub(1e-4 * g)
    print(f"step {step}: loss {loss:.3g}")
