# expect: nan-overflow
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
gain = gt.Variable(np.float32(1.0), name="gain")
x = rng.uniform(0.9, 1.0, size=(16, 1)).astype("float32")
sharpness = np.float32(4.0)


def train_step():
    with gt.GradientTape() as tape:
        odds = gt.exp(gain * x * sharpness)  # here
        loss = gt.mean(odds / (1 + odds))
    if np.isnan(loss.numpy()):
        return False
    gain.assign_sub(np.float32(1e-3) * tape.gradient(loss, gain))
    return True


while train_step():
    sharpness *= np.float32(1.5)
