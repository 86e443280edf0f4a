# expect: vanishing-depth or vanishing-time or update-too-small
import numpy as np
import gradtape as gt

a = [gt.Variable(0.1 + 0.0 * k, name=f"a{k}") for k in range(9)]
for step in range(20):
    with gt.GradientTape() as tape:
        h = gt.constant(1.0)
        for k in range(9):
            h = gt.tanh(a[k] * h)  # here
        loss = gt.square(h - 1.0)
    for v, g in zip(a, tape.gradient(loss, a)):
        v.assign_sub(0.1 * g)
