import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
x = rng.normal(size=(200, 8)).astype("float32"); c = (x @ rng.normal(size=(8, 5))).argmax(1)
ws = [gt.Variable((rng.normal(size=s) * (2 / s[0]) ** .5).astype("float32")) for s in [(8, 32), (32, 32), (32, 5)]]
bs = [gt.Variable(np.zeros(s, "float32")) for s in (32, 32, 5)]
opt = gt.optimizers.SGD(0.05, momentum=0.9)
for step in range(60):
    i = rng.integers(0, 200, 20)
    with gt.GradientTape() as tape:
        h = x[i]
        for w, b in zip(ws[:-1], bs[:-1]):
            h = gt.nn.relu(h @ w + b)
        loss = gt.mean(gt.nn.sparse_softmax_cross_entropy(c[i], h @ ws[-1] + bs[-1]))
    opt.apply_gradients(zip(tape.gradient(loss, ws + bs), ws + bs))
