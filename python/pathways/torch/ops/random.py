# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers, from the seed of the program. Their bits differ from PyTorch's."""

from __future__ import annotations

import math
from typing import Any

from pathways._stablehlo import Type, Value
from pathways.torch._registry import Context, is_float, lowers
from pathways.torch._seeds import random_bits
from pathways.torch._terms import Term
from pathways.torch.ops.indexing import sorted_with_index
from pathways.torch.ops.shapes import take

Number = bool | int | float


def bits(c: Context, shape: tuple[int, ...], element: str) -> Value:
    if 0 in shape:
        return c.constant(0, element, shape)
    return random_bits(c.f, c.seeds(), Type(shape, element))[1]


def uniform_term(c: Context, shape: tuple[int, ...], element: str) -> Term:
    """Numbers in [0, 1), all multiples of 2^-24 (f64: 2^-53) alike."""
    wide = "f64" if element == "f64" else "f32"
    source, width, kept = ("ui64", 64, 53) if wide == "f64" else ("ui32", 32, 24)
    raw = bits(c, shape, source)
    high = c.f.binary("shift_right_logical", raw, c.like(width - kept, raw))
    return Term(c, c.f.convert(high, wide)) * 2.0**-kept


def normal_term(c: Context, shape: tuple[int, ...], element: str) -> Term:
    # In the middle of the steps of 2^-24: neither end is infinite.
    step = 2.0**-53 if element == "f64" else 2.0**-24
    u = uniform_term(c, shape, element) + step / 2
    return (u * 2 - 1).chlo("erf_inv") * math.sqrt(2)


def below(c: Context, limit: int, shape: tuple[int, ...]) -> Term:
    """Integers in [0, limit), as i64."""
    raw = bits(c, shape, "ui64")
    rest = c.f.binary("remainder", raw, c.like(max(limit, 1), raw))
    return Term(c, c.f.convert(rest, "i64"))


def end(c: Context, t: Term) -> Value:
    return c.convert(t.v, c.result.element)


@lowers("aten.rand", "aten.rand_like")
def rand(c: Context, *_: Any, **__: Any) -> Value:
    return end(c, rounded_down(c, uniform_term(c, c.result.shape, c.result.element)))


def rounded_down(c: Context, t: Term) -> Term:
    """Cuts bits that an element of 16 bits lacks, so that it does not become 1."""
    if c.result.element in ("f16", "bf16"):
        scale = 2.0**11 if c.result.element == "f16" else 2.0**8
        return (t * scale).call("floor") / scale
    return t


@lowers("aten.randn", "aten.randn_like")
def randn(c: Context, *_: Any, **__: Any) -> Value:
    return end(c, normal_term(c, c.result.shape, c.result.element))


@lowers("aten.uniform")
def uniform(c: Context, x: Value, low: float = 0.0, high: float = 1.0) -> Value:
    t = rounded_down(c, uniform_term(c, x.shape, x.element))
    return end(c, t * (high - low) + low)


@lowers("aten.normal_functional")
def normal_functional(c: Context, x: Value, mean: float = 0.0, std: float = 1.0) -> Value:
    return end(c, normal_term(c, x.shape, x.element) * std + mean)


@lowers("aten.normal")
def normal(
    c: Context, mean: Value | Number, std: Value | Number = 1.0, *_: Any, **__: Any
) -> Value:
    result = c.result
    t = normal_term(c, result.shape, result.element)
    element = t.v.element
    scale, middle = (
        Term(c, c.expand(c.cast(x, element), result.shape)) for x in (std, mean)
    )
    return end(c, t * scale + middle)


@lowers("aten.bernoulli.default")
def bernoulli(c: Context, p: Value) -> Value:
    chance = Term(c, c.convert(p, c.wide(p.element)))
    return end(c, uniform_term(c, p.shape, p.element) < chance)


@lowers("aten.bernoulli.p")
def bernoulli_p(c: Context, x: Value, p: float = 0.5) -> Value:
    return end(c, uniform_term(c, x.shape, "f32") < p)


@lowers("aten.bernoulli.Tensor")
def bernoulli_tensor(c: Context, x: Value, p: Value) -> Value:
    chance = Term(c, c.expand(c.convert(p, c.wide(p.element)), x.shape))
    return end(c, uniform_term(c, x.shape, p.element) < chance)


@lowers("aten.native_dropout")
def native_dropout(c: Context, x: Value, p: float, train: bool | None) -> list[Value]:
    if train is False or p == 0:
        return [x, c.constant(True, "i1", x.shape)]
    kept = uniform_term(c, x.shape, "f32") < 1 - p
    scale = 1 / (1 - p) if p < 1 else 0.0
    t = Term(c, c.convert(x, c.wide(x.element)))
    return [c.convert(kept.select(t * scale, 0).v, x.element), kept.v]


@lowers("aten.native_dropout_backward")
def native_dropout_backward(
    c: Context, gradient: Value, mask: Value, scale: float
) -> Value:
    t = Term(c, c.convert(gradient, c.wide(gradient.element)))
    return end(c, Term(c, mask).select(t * scale, 0))


@lowers("aten.randint", "aten.randint_like")
def randint(c: Context, first: Any, second: Any, *rest: Any, **_: Any) -> Value:
    """randint(high, size), randint.low(low, high, size), and the same after a tensor."""
    if "like" in c.name:
        low, high = (second, rest[0]) if rest else (0, second)
    else:
        low, high = (first, second) if isinstance(second, int) else (0, first)
    return end(c, below(c, high - low, c.result.shape) + low)


@lowers("aten.random")
def random(c: Context, x: Value, low: int | None = None, high: int | None = None) -> Value:
    if c.name == "aten.random.to":
        low, high = 0, low
    if high is None:
        mantissa = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53, "i1": 1}
        high = 1 << mantissa.get(x.element, int(x.element.strip("uif") or 8) - 1)
        if x.element == "i64":
            high = (1 << 63) - 1
    low = low or 0
    return end(c, below(c, high - low, x.shape) + low)


@lowers("aten.randperm")
def randperm(c: Context, n: int, **_: Any) -> Value:
    keys = bits(c, (n,), "ui64")
    return c.convert(sorted_with_index(c, keys, 0, False)[1], c.result.element)


def positive_uniform(c: Context, x: Value) -> Term:
    """Numbers in (0, 1]."""
    return 1 - uniform_term(c, x.shape, x.element)


@lowers("aten.exponential")
def exponential(c: Context, x: Value, lambd: float = 1.0) -> Value:
    return end(c, positive_uniform(c, x).log() / -lambd)


@lowers("aten.geometric")
def geometric(c: Context, x: Value, p: float) -> Value:
    source = x if is_float(x.element) else c.convert(x, "f32")
    t = positive_uniform(c, source).log() / math.log1p(-p) if p < 1 else None
    if t is None:
        return c.like(1, x)
    return end(c, t.call("ceil").max(1))


@lowers("aten.cauchy")
def cauchy(c: Context, x: Value, median: float = 0.0, sigma: float = 1.0) -> Value:
    u = uniform_term(c, x.shape, x.element) + 2.0**-25
    return end(c, ((u - 0.5) * math.pi).call("tan") * sigma + median)


@lowers("aten.log_normal")
def log_normal(c: Context, x: Value, mean: float = 1.0, std: float = 2.0) -> Value:
    return end(c, (normal_term(c, x.shape, x.element) * std + mean).exp())


@lowers("aten.multinomial")
def multinomial(c: Context, p: Value, count: int, replacement: bool = False) -> Value:
    """The largest of logarithms with noise: it needs no sums, and no search."""
    wide = Term(c, c.convert(p, c.wide(p.element)))
    dim = p.rank - 1
    if not replacement:
        noise = positive_uniform(c, wide.v).log()
        # -log(u) / p is exponential with rate p: the first to come are drawn.
        time = wide.equals(0).select(-math.inf, noise / wide)
        return take(c, sorted_with_index(c, time.v, dim, True)[1], dim, 0, count)
    shape = (*p.shape[:-1], count, p.shape[-1])
    dims = [*range(p.rank - 1), p.rank]
    spread = Term(c, c.f.broadcast_in_dim(wide.v, shape, dims))
    noise = positive_uniform(c, spread.v).log()
    time = spread.equals(0).select(-math.inf, noise / spread)
    order = sorted_with_index(c, time.v, len(shape) - 1, True)[1]
    return c.f.reshape(take(c, order, len(shape) - 1, 0, 1), c.result.shape)
