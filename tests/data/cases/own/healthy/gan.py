import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
G = [gt.Variable((rng.normal(size=s) * .5).astype("float32")) for s in [(2, 8), (8, 1)]]
D = [gt.Variable((rng.normal(size=s) * .5).astype("float32")) for s in [(1, 8), (8, 1)]]
og, od = gt.optimizers.Adam(0.01), gt.optimizers.Adam(0.01)
gen = lambda z: gt.tanh(z @ G[0]) @ G[1]
dis = lambda v: gt.nn.leaky_relu(v @ D[0]) @ D[1]
for step in range(60):
    z = rng.normal(size=(32, 2)).astype("float32"); real = (rng.normal(size=(32, 1)) * .3 + 1).astype("float32")
    with gt.GradientTape() as tg, gt.GradientTape() as td:
        fake = gen(z)
        f, r = dis(fake), dis(real)
        gl = gt.mean(gt.nn.sigmoid_cross_entropy(np.ones((32, 1), "float32"), f))
        dl = gt.mean(gt.nn.sigmoid_cross_entropy(np.ones((32, 1), "float32"), r)) + gt.mean(gt.nn.sigmoid_cross_entropy(np.zeros((32, 1), "float32"), f))
    gg, gd = tg.gradient(gl, G), td.gradient(dl, D)
    og.apply_gradients(zip(gg, G)); od.apply_gradients(zip(gd, D))
