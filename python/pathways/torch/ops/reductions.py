# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums, extremes, moments, cumulative operations and softmax."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from pathways._stablehlo import Value
from pathways.torch._registry import Context, is_float, lowers
from pathways.torch._terms import Term, terms

Number = bool | int | float
Dims = int | Sequence[int] | None


def lowest(element: str) -> Number:
    """Returns the value that every other one replaces as a maximum."""
    if is_float(element):
        return -math.inf
    if element == "i1":
        return False
    return 0 if element.startswith("u") else -(1 << (int(element[1:]) - 1))


def highest(element: str) -> Number:
    if is_float(element):
        return math.inf
    if element == "i1":
        return True
    bits = int(element.strip("ui"))
    return (1 << bits) - 1 if element.startswith("u") else (1 << (bits - 1)) - 1


_INITS: dict[str, Callable[[str], Number]] = {
    "add": lambda element: 0,
    "multiply": lambda element: 1,
    "maximum": lowest,
    "minimum": highest,
    "and": lambda element: True,
    "or": lambda element: False,
}


def reduce_term(name: str, t: Term, dims: Sequence[int], keepdim: bool = False) -> Term:
    """Reduces by add, multiply, maximum, minimum, and, or."""
    c, x = t.c, t.v
    init = c.constant(_INITS[name](x.element), x.element)
    v = c.f.reduce_by(name, x, init, dims) if x.rank and dims else x
    if keepdim:
        v = c.f.reshape(v, [1 if d in dims else n for d, n in enumerate(x.shape)])
    return Term(c, v)


def spread(t: Term, like: Value, dims: Sequence[int]) -> Term:
    """Repeats a reduced value along the dimensions that were reduced."""
    kept = [d for d in range(like.rank) if d not in dims]
    v = t.v if t.v.rank == len(kept) else t.c.f.reshape(t.v, [like.shape[d] for d in kept])
    return Term(t.c, t.c.f.broadcast_in_dim(v, like.shape, kept))


def count(x: Value, dims: Sequence[int]) -> int:
    return math.prod(x.shape[d] for d in dims)


def finish(c: Context, t: Term, element: str | None = None) -> Value:
    return c.convert(t.v, element or c.result.element)


@lowers("aten.sum", "aten.nansum", "aten.prod")
def sum(
    c: Context, x: Value, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None
) -> Value:
    element = c.result.element
    (t,) = terms(c, c.wide(element), x)
    if c.name.startswith("aten.nansum") and is_float(element):
        t = t.is_nan().select(0, t)
    name = "multiply" if c.name.startswith("aten.prod") else "add"
    return finish(c, reduce_term(name, t, c.dims(dim, x.rank), keepdim))


@lowers("aten.mean")
def mean(
    c: Context, x: Value, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None
) -> Value:
    dims = c.dims(dim, x.rank)
    (t,) = terms(c, c.wide(c.result.element), x)
    return finish(c, reduce_term("add", t, dims, keepdim) / count(x, dims))


@lowers("aten.any", "aten.all")
def any_all(c: Context, x: Value, dim: Dims = None, keepdim: bool = False) -> Value:
    t = Term(c, c.convert(x, "i1"))
    name = "or" if c.name.startswith("aten.any") else "and"
    dims = c.dims(dim, x.rank)
    return finish(c, reduce_term(name, t, dims, keepdim))


@lowers("aten.count_nonzero")
def count_nonzero(c: Context, x: Value, dim: Dims = None) -> Value:
    t = Term(c, c.convert(c.convert(x, "i1"), "i64"))
    return reduce_term("add", t, c.dims(dim, x.rank)).v


@lowers("aten.amax", "aten.amin", "aten.max.default", "aten.min.default")
def extreme(c: Context, x: Value, dim: Dims = None, keepdim: bool = False) -> Value:
    name = "maximum" if "max" in c.name else "minimum"
    if x.element == "i1":
        name = "or" if "max" in c.name else "and"
    return reduce_term(name, Term(c, x), c.dims(dim, x.rank), keepdim).v


@lowers("aten.aminmax")
def aminmax(
    c: Context, x: Value, *, dim: Dims = None, keepdim: bool = False
) -> list[Value]:
    dims = c.dims(dim, x.rank)
    names = ("and", "or") if x.element == "i1" else ("minimum", "maximum")
    return [reduce_term(name, Term(c, x), dims, keepdim).v for name in names]


def before(a: Term, b: Term, is_max: bool) -> Term:
    """True where `a` is more extreme than `b`. A NaN is the most extreme of all."""
    result = a > b if is_max else a < b
    if is_float(a.v.element):
        result = result | (a.is_nan() & ~b.is_nan())
    return result


def same(a: Term, b: Term) -> Term:
    if is_float(a.v.element):
        return a.equals(b) | (a.is_nan() & b.is_nan())
    return a.equals(b)


def extreme_with_index(
    c: Context, x: Value, dims: Sequence[int], keepdim: bool, is_max: bool
) -> list[Value]:
    """Returns the extreme value along one dimension, or all of them, and the first index
    at which it is."""
    if x.rank > 1 and len(dims) == x.rank:
        flat = c.f.reshape(x, (x.type.size,))
        results = extreme_with_index(c, flat, [0], False, is_max)
        shape = [1] * x.rank if keepdim else []
        return [c.f.reshape(v, shape) for v in results]
    if not x.rank:
        return [x, c.constant(0, "i64")]
    (dim,) = dims
    index = c.f.iota(x.type.with_element("i64"), dim)
    first = lowest(x.element) if is_max else highest(x.element)

    def body(values: list[Value]) -> list[Value]:
        a, i, b, j = (Term(c, v) for v in values)
        # The order of a reduction is not fixed: the lower index wins in any.
        take_b = before(b, a, is_max) | (same(a, b) & (j < i))
        return [take_b.select(b, a).v, take_b.select(j, i).v]

    inits = [c.constant(first, x.element), c.constant(highest("i64"), "i64")]
    values = c.f.reduce([x, index], inits, [dim], body)
    if keepdim:
        shape = [1 if d == dim else n for d, n in enumerate(x.shape)]
        values = [c.f.reshape(v, shape) for v in values]
    return values


@lowers("aten.max.dim", "aten.min.dim")
def extreme_dim(c: Context, x: Value, dim: int, keepdim: bool = False) -> list[Value]:
    dims = [c.dim(dim, x.rank)]
    return extreme_with_index(c, x, dims, keepdim, "max" in c.name)


@lowers("aten.argmax", "aten.argmin")
def argmax(c: Context, x: Value, dim: int | None = None, keepdim: bool = False) -> Value:
    dims = list(range(x.rank)) if dim is None else [c.dim(dim, x.rank)]
    return extreme_with_index(c, x, dims, keepdim, "max" in c.name)[1]


# Moments and norms.


def moments(
    c: Context, x: Value, dim: Dims, correction: int, keepdim: bool
) -> tuple[Term, Term]:
    """Returns the variance and the mean."""
    dims = c.dims(dim, x.rank)
    (t,) = terms(c, c.wide(x.element), x)
    n = count(x, dims)
    average = reduce_term("add", t, dims) / n
    difference = t - spread(average, x, dims)
    squares = reduce_term("add", difference * difference, dims, keepdim)
    if keepdim:
        shape = [1 if d in dims else m for d, m in enumerate(x.shape)]
        average = Term(c, c.f.reshape(average.v, shape))
    return squares / max(n - correction, 0), average


def correction_of(unbiased: bool | None, correction: int | None) -> int:
    if correction is not None:
        return int(correction)
    return 1 if unbiased is None or unbiased else 0


def moments_of(
    c: Context, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Term, Term]:
    """Reads the arguments of var and its like: default (x, unbiased), dim (x, dim,
    unbiased, keepdim), correction (x, dim, correction=, keepdim=)."""
    x, *rest = args
    names = {
        "default": ["unbiased"],
        "dim": ["dim", "unbiased", "keepdim"],
        "correction": ["dim", "correction", "keepdim"],
    }[c.name.split(".")[2]]
    named = dict(zip(names, rest)) | kwargs
    correction = correction_of(named.get("unbiased"), named.get("correction"))
    return moments(c, x, named.get("dim"), correction, bool(named.get("keepdim", False)))


@lowers("aten.var", "aten.std")
def var(c: Context, *args: Any, **kwargs: Any) -> Value:
    variance, _ = moments_of(c, args, kwargs)
    return finish(c, variance.call("sqrt") if "std" in c.name else variance)


@lowers("aten.var_mean", "aten.std_mean")
def var_mean(c: Context, *args: Any, **kwargs: Any) -> list[Value]:
    variance, average = moments_of(c, args, kwargs)
    variance = variance.call("sqrt") if "std" in c.name else variance
    element = args[0].element
    return [c.convert(variance.v, element), c.convert(average.v, element)]


@lowers("aten.norm", "aten.linalg_vector_norm")
def norm(
    c: Context,
    x: Value,
    p: Number | None = 2,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Value:
    dims = c.dims(dim, x.rank)
    (t,) = terms(c, c.wide(c.result.element), x)
    p = 2 if p is None else p
    t = t.abs()
    if p in (math.inf, -math.inf):
        return finish(c, reduce_term("maximum" if p > 0 else "minimum", t, dims, keepdim))
    if p == 0:
        return finish(c, reduce_term("add", t.differs(0).to(t.v.element), dims, keepdim))
    if p == 1:
        return finish(c, reduce_term("add", t, dims, keepdim))
    total = reduce_term("add", t * t if p == 2 else t**p, dims, keepdim)
    return finish(c, total.call("sqrt") if p == 2 else total ** (1 / p))


@lowers("aten.logsumexp")
def logsumexp(c: Context, x: Value, dim: Dims, keepdim: bool = False) -> Value:
    dims = c.dims(dim, x.rank)
    (t,) = terms(c, c.wide(c.result.element), x)
    top = reduce_term("maximum", t, dims)
    top = top.abs().equals(math.inf).select(0, top)
    total = reduce_term("add", (t - spread(top, x, dims)).exp(), dims)
    result = Term(c, (total.log() + top).v)
    shape = [1 if d in dims else n for d, n in enumerate(x.shape)]
    return c.convert(
        c.f.reshape(result.v, shape) if keepdim else result.v, c.result.element
    )


# Softmax.


@lowers("aten._softmax", "aten._log_softmax")
def softmax(c: Context, x: Value, dim: int, half_to_float: bool) -> Value:
    dims = [c.dim(dim, x.rank)] if x.rank else []
    (t,) = terms(c, c.wide(x.element), x)
    if not x.rank:
        return finish(c, t - t if "log" in c.name else (t - t).exp())
    shifted = t - spread(reduce_term("maximum", t, dims), x, dims)
    power = shifted.exp()
    total = reduce_term("add", power, dims)
    if "_log_softmax" in c.name:
        return finish(c, shifted - spread(total.log(), x, dims))
    return finish(c, power / spread(total, x, dims))


@lowers("aten._softmax_backward_data", "aten._log_softmax_backward_data")
def softmax_backward(
    c: Context, gradient: Value, y: Value, dim: int, input_dtype: Any
) -> Value:
    dims = [c.dim(dim, y.rank)] if y.rank else []
    g, t = terms(c, c.wide(y.element), gradient, y)
    if "_log_softmax" in c.name:
        total = reduce_term("add", g, dims)
        return finish(c, g - t.exp() * spread(total, y, dims))
    total = reduce_term("add", g * t, dims)
    return finish(c, t * (g - spread(total, y, dims)))


# Cumulative operations.


def cumulate(
    c: Context,
    values: Sequence[Value],
    inits: Sequence[Number],
    dim: int,
    body: Callable[[list[Value]], Sequence[Value]],
) -> list[Value]:
    x = values[0]
    if not x.rank or not x.type.size:
        return list(values)
    sizes = [x.shape[d] if d == dim else 1 for d in range(x.rank)]
    padding = [(x.shape[d] - 1 if d == dim else 0, 0) for d in range(x.rank)]
    return c.f.reduce_windows(
        values,
        [c.constant(i, v.element) for i, v in zip(inits, values)],
        sizes,
        [1] * x.rank,
        padding,
        body,
    )


@lowers("aten.cumsum", "aten.cumprod")
def cumsum(c: Context, x: Value, dim: int, *, dtype: Any = None) -> Value:
    element = c.result.element
    (t,) = terms(c, c.wide(element), x)
    name = "add" if "cumsum" in c.name else "multiply"

    def body(values: list[Value]) -> list[Value]:
        return [c.f.binary(name, values[0], values[1])]

    (v,) = cumulate(c, [t.v], [_INITS[name](element)], c.dim(dim, x.rank), body)
    return c.convert(v, element)


@lowers("aten.logcumsumexp")
def logcumsumexp(c: Context, x: Value, dim: int) -> Value:
    (t,) = terms(c, c.wide(x.element), x)

    def body(values: list[Value]) -> list[Value]:
        a, b = (Term(c, v) for v in values)
        top = a.max(b)
        sum = top + (a.min(b) - top).exp().call("log_plus_one")
        return [top.abs().equals(math.inf).select(top, sum).v]

    (v,) = cumulate(c, [t.v], [-math.inf], c.dim(dim, x.rank), body)
    return c.convert(v, x.element)


@lowers("aten.cummax", "aten.cummin")
def cummax(c: Context, x: Value, dim: int) -> list[Value]:
    """Of equal values, the last index counts, as in PyTorch."""
    is_max = "cummax" in c.name
    if not x.rank:
        return [x, c.constant(0, "i64")]
    dim = c.dim(dim, x.rank)
    index = c.f.iota(x.type.with_element("i64"), dim)

    def body(values: list[Value]) -> list[Value]:
        a, i, b, j = (Term(c, v) for v in values)
        take_b = before(b, a, is_max) | (same(a, b) & (j > i))
        return [take_b.select(b, a).v, take_b.select(j, i).v]

    first = lowest(x.element) if is_max else highest(x.element)
    return cumulate(c, [x, index], [first, -1], dim, body)
