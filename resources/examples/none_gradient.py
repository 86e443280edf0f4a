"""A gradient that is None: `.numpy()` takes the value off the tape."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(7)
x = rng.normal(size=(20, 3))
y = x.sum(axis=1, keepdims=True)

encoder = gt.Variable(rng.normal(size=(3, 4)), name="encoder")
decoder = gt.Variable(rng.normal(size=(4, 1)), name="decoder")

for step in range(10):
    with gt.GradientTape() as tape:
        code = gt.tanh(x @ encoder)
        code = code.numpy() / np.abs(code.numpy()).max()    # left the tape: a plain array now
        loss = gt.mean(gt.square(code @ decoder - y))
    for variable, gradient in zip((encoder, decoder), tape.gradient(loss, [encoder, decoder])):
        if gradient is None:
            print(f"step {step}: {variable.name} has no gradient")
        else:
            variable.assign_sub(0.1 * gradient)
