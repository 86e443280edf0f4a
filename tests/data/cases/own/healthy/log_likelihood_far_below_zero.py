import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
data = rng.normal(0.3, 0.001, size=(2000, 1))
mean, log_scale = gt.Variable(0.0, name="mean"), gt.Variable(0.0, name="log_scale")
optimizer = gt.optimizers.Adam(0.05)
for step in range(500):
    with gt.GradientTape() as tape:
        z = (data - mean) * gt.exp(-log_scale)
        loss = gt.sum(0.5 * gt.square(z) + log_scale)
    optimizer.apply_gradients(zip(tape.gradient(loss, [mean, log_scale]), [mean, log_scale]))
