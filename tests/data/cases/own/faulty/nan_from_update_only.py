# expect: nan-overflow or nan-input or nan-forward-domain
import numpy as np
import gradtape as gt

w = gt.Variable(np.float32(1.0))
for step in range(6):
    with gt.GradientTape() as tape:
        loss = gt.square(w)
    g = tape.gradient(loss, w)
    w.assign_sub(np.float32(np.inf) * g if step == 3 else 0.1 * g)
