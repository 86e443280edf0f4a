# expect: loss-unbounded
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
real, fake = rng.normal(1.5, 1, size=(40, 3)), rng.normal(size=(40, 3))
critic = gt.Variable(rng.normal(size=(3, 1)), name="critic")
for step in range(400):
    with gt.GradientTape() as tape:
        loss = gt.mean(fake @ critic) - gt.mean(real @ critic)  # here
    critic.assign_sub(1.0 * tape.gradient(loss, critic))
