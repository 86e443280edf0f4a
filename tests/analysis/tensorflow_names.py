"""The TensorFlow names that the case programs use, spelled in gradtape; stands beside them as tensorflow.py."""

from types import SimpleNamespace

import numpy as np

import gradtape as gt
from gradtape.optimizers import clip_by_global_norm as clip_by_global_norm

__gradtape__ = True   # lines of this module are not the program's

GradientTape = gt.GradientTape
float16, float32, float64 = np.float16, np.float32, np.float64
exp, sqrt, square, tanh, sigmoid = gt.exp, gt.sqrt, gt.square, gt.tanh, gt.sigmoid
where, stack, norm, round, cast = gt.where, gt.stack, gt.norm, gt.round, gt.cast
stop_gradient, zeros_like, ones_like = gt.stop_gradient, gt.zeros_like, gt.ones_like


def Variable(value, trainable=True, name=None):
    value = np.float32(value) if isinstance(value, float) else value
    return gt.Variable(value, trainable=trainable, name=name)


def constant(value, dtype=None):
    if dtype is None and not isinstance(value, np.ndarray):
        dtype = np.float32
    return gt.constant(value, dtype=dtype)


def convert_to_tensor(value):
    return gt.constant(value)


def zeros(shape):
    return gt.constant(np.zeros(tuple(shape), np.float32))


def ones(shape):
    return gt.constant(np.ones(tuple(shape), np.float32))


def matmul(a, b, transpose_b=False):
    return gt.matmul(a, gt.transpose(b) if transpose_b else b)


def reduce_mean(x, axis=None, keepdims=False):
    return gt.mean(x, axis=axis, keepdims=keepdims)


def reduce_sum(x, axis=None, keepdims=False):
    return gt.sum(x, axis=axis, keepdims=keepdims)


def reduce_max(x, axis=None, keepdims=False):
    return gt.max(x, axis=axis, keepdims=keepdims)


def gather(x, indices, batch_dims=0):
    if batch_dims:
        return gt.squeeze(gt.take_along_axis(x, np.asarray(indices)[:, None], axis=1), axis=1)
    return gt.gather(x, indices, axis=0)


math = SimpleNamespace(log=gt.log)
keras = SimpleNamespace(optimizers=gt.optimizers)
nn = SimpleNamespace(
    relu=gt.relu, leaky_relu=gt.leaky_relu, elu=gt.elu, softplus=gt.softplus, softmax=gt.softmax,
    sigmoid_cross_entropy_with_logits=lambda labels, logits: gt.nn.sigmoid_cross_entropy(labels, logits),
    sparse_softmax_cross_entropy_with_logits=lambda labels, logits: gt.nn.sparse_softmax_cross_entropy(labels, logits))
