# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Activations, losses of each element, and their gradients."""

from __future__ import annotations

import math

from pathways._stablehlo import Value
from pathways.torch._registry import Context, lowers
from pathways.torch._terms import Term, terms, wide_terms

Number = bool | int | float


def operands(c: Context, *values: Value | Number) -> list[Term]:
    """Operands as a kernel of PyTorch computes with them."""
    return wide_terms(c, c.result.element, *values)


def end(c: Context, t: Term) -> Value:
    return c.convert(t.v, c.result.element)


@lowers("aten.relu")
def relu(c: Context, x: Value) -> Value:
    return Term(c, x).max(0).v


@lowers("aten.relu6")
def relu6(c: Context, x: Value) -> Value:
    return Term(c, x).max(0).min(6).v


@lowers("aten.threshold")
def threshold(c: Context, x: Value, limit: Number, value: Number) -> Value:
    return (Term(c, x) <= limit).select(value, Term(c, x)).v


@lowers("aten.threshold_backward")
def threshold_backward(c: Context, gradient: Value, x: Value, limit: Number) -> Value:
    g, t = terms(c, c.result.element, gradient, x)
    return (t <= limit).select(0, g).v


@lowers("aten.sigmoid_backward")
def sigmoid_backward(c: Context, gradient: Value, y: Value) -> Value:
    g, t = operands(c, gradient, y)
    return end(c, g * (1 - t) * t)


@lowers("aten.tanh_backward")
def tanh_backward(c: Context, gradient: Value, y: Value) -> Value:
    g, t = operands(c, gradient, y)
    return end(c, g * (1 - t * t))


_GELU = math.sqrt(2 / math.pi)
_CUBE = 0.044715


@lowers("aten.gelu")
def gelu(c: Context, x: Value, *, approximate: str = "none") -> Value:
    (t,) = operands(c, x)
    if approximate == "tanh":
        return end(c, 0.5 * t * (1 + (_GELU * (t + _CUBE * t * t * t)).tanh()))
    return end(c, t * 0.5 * (1 + (t * math.sqrt(0.5)).chlo("erf")))


@lowers("aten.gelu_backward")
def gelu_backward(
    c: Context, gradient: Value, x: Value, *, approximate: str = "none"
) -> Value:
    g, t = operands(c, gradient, x)
    if approximate == "tanh":
        inner = (_GELU * (t + _CUBE * t * t * t)).tanh()
        slope = 0.5 * t * (1 - inner * inner) * (_GELU * (1 + 3 * _CUBE * t * t))
        return end(c, g * (0.5 * (1 + inner) + slope))
    below = 0.5 * (1 + (t * math.sqrt(0.5)).chlo("erf"))
    density = (t * t * -0.5).exp() * (1 / math.sqrt(2 * math.pi))
    return end(c, g * (below + t * density))


@lowers("aten.silu")
def silu(c: Context, x: Value) -> Value:
    (t,) = operands(c, x)
    return end(c, t / (1 + (-t).exp()))


@lowers("aten.silu_backward")
def silu_backward(c: Context, gradient: Value, x: Value) -> Value:
    g, t = operands(c, gradient, x)
    s = t.sigmoid()
    return end(c, g * s * (1 + t * (1 - s)))


def softplus_term(t: Term) -> Term:
    """log(1 + exp(t)), exact for all t."""
    return t.max(0) + (-t.abs()).exp().call("log_plus_one")


@lowers("aten.mish")
def mish(c: Context, x: Value) -> Value:
    (t,) = operands(c, x)
    return end(c, t * softplus_term(t).tanh())


@lowers("aten.mish_backward")
def mish_backward(c: Context, gradient: Value, x: Value) -> Value:
    g, t = operands(c, gradient, x)
    s = softplus_term(t).tanh()
    return end(c, g * (s + t * t.sigmoid() * (1 - s * s)))


@lowers("aten.softplus")
def softplus(c: Context, x: Value, beta: Number = 1, threshold: Number = 20) -> Value:
    (t,) = operands(c, x)
    scaled = t * beta
    return end(c, (scaled > threshold).select(t, softplus_term(scaled) / beta))


@lowers("aten.softplus_backward")
def softplus_backward(
    c: Context, gradient: Value, x: Value, beta: Number, threshold: Number
) -> Value:
    g, t = operands(c, gradient, x)
    scaled = t * beta
    return end(c, (scaled > threshold).select(g, g * scaled.sigmoid()))


@lowers("aten.log_sigmoid_forward")
def log_sigmoid_forward(c: Context, x: Value) -> list[Value]:
    """The second result, a buffer on some devices, is not used by log_sigmoid_backward."""
    (t,) = terms(c, c.wide(x.element), x)
    y = t.min(0) - (-t.abs()).exp().call("log_plus_one")
    buffer = c.results[1] if len(c.results) > 1 else None
    unused = c.like(0, x) if buffer is None else c.constant(0, buffer.element, buffer.shape)
    return [c.convert(y.v, x.element), unused]


@lowers("aten.log_sigmoid_backward")
def log_sigmoid_backward(c: Context, gradient: Value, x: Value, buffer: Value) -> Value:
    g, t = operands(c, gradient, x)
    return end(c, g * (-t).sigmoid())


@lowers("aten.elu")
def elu(
    c: Context, x: Value, alpha: Number = 1, scale: Number = 1, input_scale: Number = 1
) -> Value:
    (t,) = operands(c, x)
    low = (t * input_scale).call("exponential_minus_one") * (alpha * scale)
    return end(c, (t <= 0).select(low, t * scale))


@lowers("aten.elu_backward")
def elu_backward(
    c: Context,
    gradient: Value,
    alpha: Number,
    scale: Number,
    input_scale: Number,
    is_result: bool,
    x: Value,
) -> Value:
    g, t = operands(c, gradient, x)
    if is_result:
        low = g * input_scale * (t + alpha * scale)
    else:
        low = g * (input_scale * alpha * scale) * (t * input_scale).exp()
    return end(c, (t <= 0).select(low, g * scale))


@lowers("aten.celu")
def celu(c: Context, x: Value, alpha: Number = 1) -> Value:
    (t,) = operands(c, x)
    return end(c, (t <= 0).select((t / alpha).call("exponential_minus_one") * alpha, t))


@lowers("aten.leaky_relu")
def leaky_relu(c: Context, x: Value, slope: Number = 0.01) -> Value:
    (t,) = operands(c, x)
    return end(c, (t > 0).select(t, t * slope))


@lowers("aten.leaky_relu_backward")
def leaky_relu_backward(
    c: Context, gradient: Value, x: Value, slope: Number, is_result: bool
) -> Value:
    g, t = operands(c, gradient, x)
    return end(c, (t > 0).select(g, g * slope))


def along_channels(c: Context, weight: Value, x: Value) -> Value:
    """The weight of prelu: one number, or one for each channel, dimension 1."""
    if weight.type.size == 1:
        return c.f.broadcast_in_dim(c.f.reshape(weight, ()), x.shape, [])
    if weight.rank == x.rank:
        return c.expand(weight, x.shape)
    return c.f.broadcast_in_dim(weight, x.shape, [1])


@lowers("aten.prelu", "aten._prelu_kernel")
def prelu(c: Context, x: Value, weight: Value) -> Value:
    t, w = operands(c, x, along_channels(c, weight, x))
    return end(c, (t > 0).select(t, t * w))


@lowers("aten.prelu_backward", "aten._prelu_kernel_backward")
def prelu_backward(c: Context, gradient: Value, x: Value, weight: Value) -> list[Value]:
    spread = along_channels(c, weight, x)
    g, t, w = terms(c, c.wide(x.element), gradient, x, spread)
    of_x = c.convert((t > 0).select(g, g * w).v, x.element)
    of_weight = (t > 0).select(0, g * t).v
    if c.name.startswith("aten.prelu"):
        keep = [] if weight.type.size == 1 else [1]
        dims = [d for d in range(x.rank) if d not in keep]
        if dims:
            zero = c.constant(0, of_weight.element)
            of_weight = c.f.reduce_by("add", of_weight, zero, dims)
        of_weight = c.f.reshape(of_weight, weight.shape)
    return [of_x, c.convert(of_weight, weight.element)]


@lowers("aten.hardtanh")
def hardtanh(c: Context, x: Value, low: Number = -1, high: Number = 1) -> Value:
    return Term(c, x).max(low).min(high).v


@lowers("aten.hardtanh_backward")
def hardtanh_backward(
    c: Context, gradient: Value, x: Value, low: Number, high: Number
) -> Value:
    g, t = terms(c, c.result.element, gradient, x)
    return ((t <= low) | (t >= high)).select(0, g).v


@lowers("aten.hardsigmoid")
def hardsigmoid(c: Context, x: Value) -> Value:
    (t,) = operands(c, x)
    return end(c, (t + 3).max(0).min(6) / 6)


@lowers("aten.hardsigmoid_backward")
def hardsigmoid_backward(c: Context, gradient: Value, x: Value) -> Value:
    g, t = operands(c, gradient, x)
    return end(c, ((t > -3) & (t < 3)).select(g / 6, 0))


@lowers("aten.hardswish")
def hardswish(c: Context, x: Value) -> Value:
    (t,) = operands(c, x)
    return end(c, t * (t + 3).max(0).min(6) / 6)


@lowers("aten.hardswish_backward")
def hardswish_backward(c: Context, gradient: Value, x: Value) -> Value:
    g, t = operands(c, gradient, x)
    middle = (t < -3).select(0, (t <= 3).select(g * (t / 3 + 0.5), g))
    return end(c, middle)


@lowers("aten.hardshrink")
def hardshrink(c: Context, x: Value, limit: Number = 0.5) -> Value:
    t = Term(c, x)
    return ((t >= -limit) & (t <= limit)).select(0, t).v


@lowers("aten.hardshrink_backward", "aten.softshrink_backward")
def shrink_backward(c: Context, gradient: Value, x: Value, limit: Number) -> Value:
    g, t = terms(c, c.result.element, gradient, x)
    return ((t >= -limit) & (t <= limit)).select(0, g).v


@lowers("aten.softshrink")
def softshrink(c: Context, x: Value, limit: Number = 0.5) -> Value:
    (t,) = operands(c, x)
    return end(c, (t > limit).select(t - limit, (t < -limit).select(t + limit, t * 0)))


# Losses. The reduction is 0 for none, 1 for the mean and 2 for the sum.


def reduced(c: Context, t: Term, reduction: int) -> Value:
    if not reduction:
        return end(c, t)
    v = c.f.reduce_by("add", t.v, c.constant(0, t.v.element), range(t.v.rank))
    total = Term(c, v)
    return end(c, total / t.v.type.size if reduction == 1 else total)




def spread_gradient(c: Context, g: Term, x: Term, reduction: int) -> Term:
    """The gradient for each element of what was reduced."""
    return g / x.v.type.size if reduction == 1 and x.v.type.size else g


@lowers("aten.mse_loss")
def mse_loss(c: Context, x: Value, y: Value, reduction: int = 1) -> Value:
    a, b = operands(c, x, y)
    return reduced(c, (a - b) * (a - b), reduction)


@lowers("aten.mse_loss_backward")
def mse_loss_backward(
    c: Context, gradient: Value, x: Value, y: Value, reduction: int
) -> Value:
    g, a, b = operands(c, gradient, x, y)
    return end(c, spread_gradient(c, 2 * g, a, reduction) * (a - b))


@lowers("aten.l1_loss")
def l1_loss(c: Context, x: Value, y: Value, reduction: int = 1) -> Value:
    a, b = operands(c, x, y)
    return reduced(c, (a - b).abs(), reduction)


@lowers("aten.smooth_l1_loss")
def smooth_l1_loss(
    c: Context, x: Value, y: Value, reduction: int = 1, beta: float = 1.0
) -> Value:
    a, b = operands(c, x, y)
    z = (a - b).abs()
    if beta:
        z = (z < beta).select(0.5 * z * z / beta, z - 0.5 * beta)
    return reduced(c, z, reduction)


@lowers("aten.smooth_l1_loss_backward")
def smooth_l1_loss_backward(
    c: Context, gradient: Value, x: Value, y: Value, reduction: int, beta: float
) -> Value:
    g, a, b = operands(c, gradient, x, y)
    g, z = spread_gradient(c, g, a, reduction), a - b
    outer = (z <= -beta).select(-g, (z >= beta).select(g, g * z / (beta or 1.0)))
    return end(c, outer)


@lowers("aten.huber_loss")
def huber_loss(
    c: Context, x: Value, y: Value, reduction: int = 1, delta: float = 1.0
) -> Value:
    a, b = operands(c, x, y)
    z = (a - b).abs()
    z = (z <= delta).select(0.5 * z * z, delta * (z - 0.5 * delta))
    return reduced(c, z, reduction)


@lowers("aten.huber_loss_backward")
def huber_loss_backward(
    c: Context, gradient: Value, x: Value, y: Value, reduction: int, delta: float
) -> Value:
    g, a, b = operands(c, gradient, x, y)
    g, z = spread_gradient(c, g, a, reduction), a - b
    return end(c, g * z.max(-delta).min(delta))


@lowers("aten.binary_cross_entropy")
def binary_cross_entropy(
    c: Context, x: Value, y: Value, weight: Value | None = None, reduction: int = 1
) -> Value:
    a, b = operands(c, x, y)
    # PyTorch limits logarithms to -100.
    log, other = a.log().max(-100), (-a).call("log_plus_one").max(-100)
    z = (b - 1) * other - b * log
    if weight is not None:
        z = z * operands(c, c.expand(weight, a.v.shape))[0]
    return reduced(c, z, reduction)


@lowers("aten.binary_cross_entropy_backward")
def binary_cross_entropy_backward(
    c: Context,
    gradient: Value,
    x: Value,
    y: Value,
    weight: Value | None = None,
    reduction: int = 1,
) -> Value:
    g, a, b = operands(c, gradient, x, y)
    z = g * (a - b) / ((1 - a) * a).max(1e-12)
    if weight is not None:
        z = z * operands(c, c.expand(weight, a.v.shape))[0]
    return end(c, spread_gradient(c, z, a, reduction))


@lowers("aten.binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(
    c: Context,
    x: Value,
    y: Value,
    weight: Value | None = None,
    pos_weight: Value | None = None,
    reduction: int = 1,
) -> Value:
    a, b = operands(c, x, y)
    # log(1 + exp(-a)) is the loss of a positive one.
    if pos_weight is not None:
        (p,) = operands(c, c.expand(pos_weight, a.v.shape))
        z = (1 - b) * a + ((p - 1) * b + 1) * softplus_term(-a)
    else:
        z = (1 - b) * a + softplus_term(-a)
    if weight is not None:
        z = z * operands(c, c.expand(weight, a.v.shape))[0]
    return reduced(c, z, reduction)


@lowers("aten.soft_margin_loss")
def soft_margin_loss(c: Context, x: Value, y: Value, reduction: int = 1) -> Value:
    a, b = operands(c, x, y)
    return reduced(c, (-b * a).exp().call("log_plus_one"), reduction)


@lowers("aten.soft_margin_loss_backward")
def soft_margin_loss_backward(
    c: Context, gradient: Value, x: Value, y: Value, reduction: int
) -> Value:
    g, a, b = operands(c, gradient, x, y)
    return end(c, spread_gradient(c, -g * b, a, reduction) * (-b * a).sigmoid())


@lowers("aten.glu")
def glu(c: Context, x: Value, dim: int = -1) -> Value:
    a, b = halves(c, x, dim)
    s, t = operands(c, a, b)
    return end(c, s * t.sigmoid())


@lowers("aten.glu_backward")
def glu_backward(c: Context, gradient: Value, x: Value, dim: int) -> Value:
    a, b = halves(c, x, dim)
    g, s, t = operands(c, gradient, a, b)
    gate = t.sigmoid()
    parts = [end(c, g * gate), end(c, g * s * gate * (1 - gate))]
    return c.f.concatenate(parts, c.dim(dim, x.rank))


def halves(c: Context, x: Value, dim: int) -> list[Value]:
    dim = c.dim(dim, x.rank)
    half = x.shape[dim] // 2
    starts, limits = [0] * x.rank, list(x.shape)
    limits[dim] = half
    first = c.f.slice(x, starts, limits)
    starts[dim], limits[dim] = half, 2 * half
    return [first, c.f.slice(x, starts, limits)]
