"""The chain rule on scalars: every step of backpropagation fits in your head."""

import gradtape as gt

x = gt.Variable(1.5, name="x")
w = gt.Variable(0.8, name="w")

with gt.GradientTape() as tape:
    a = w * x           # a = 1.2
    b = gt.sin(a)       # the chain: a -> b -> loss
    c = gt.square(x)    # x is used a second time: its two gradients add up
    loss = b * c

dw, dx = tape.gradient(loss, [w, x])
print(f"loss = {loss:.4f}   d loss/dw = {dw:.4f}   d loss/dx = {dx:.4f}")
