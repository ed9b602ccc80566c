# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of matrices."""

from __future__ import annotations

from pathways._stablehlo import Value
from pathways.torch._registry import Context, lowers
from pathways.torch._terms import Term, terms

Number = bool | int | float


def contract(
    c: Context, a: Value, b: Value, dims: tuple[list[int], list[int]], batch: int = 0
) -> Value:
    """Sums products over pairs of dimensions. PyTorch takes any elements if there are
    no products."""
    element = c.result.element
    both = list(range(batch))
    a, b = c.convert(a, element), c.convert(b, element)
    return c.f.dot_general(a, b, dims, (both, both))


def product(c: Context, a: Value, b: Value) -> Value:
    """Multiplies matrices, whose batch dimensions are equal."""
    n = a.rank - 2
    return contract(c, a, b, ([n + 1], [n]), n)


@lowers("aten.mm", "aten.bmm")
def mm(c: Context, a: Value, b: Value) -> Value:
    return product(c, a, b)


@lowers("aten.mv")
def mv(c: Context, a: Value, x: Value) -> Value:
    return contract(c, a, x, ([1], [0]))


@lowers("aten.dot", "aten.vdot")
def dot(c: Context, x: Value, y: Value) -> Value:
    return contract(c, x, y, ([0], [0]))


@lowers("aten.ger", "aten.outer")
def outer(c: Context, x: Value, y: Value) -> Value:
    return contract(c, x, y, ([], []))


def plus(c: Context, x: Value, product: Value, beta: Number, alpha: Number) -> Value:
    """Returns beta * x + alpha * product. With beta = 0, `x` does not count at all."""
    wide = c.wide(product.element)
    if beta == 1 and alpha == 1:
        wide = product.element
    (p,) = terms(c, wide, product)
    if alpha != 1:
        p = p * alpha
    if beta:
        (t,) = terms(c, wide, c.expand(x, product.shape))
        p = (t if beta == 1 else t * beta) + p
    return c.convert(p.v, product.element)


@lowers("aten.addmm", "aten.baddbmm")
def addmm(
    c: Context, x: Value, a: Value, b: Value, *, beta: Number = 1, alpha: Number = 1
) -> Value:
    return plus(c, x, product(c, a, b), beta, alpha)


@lowers("aten.addbmm")
def addbmm(
    c: Context, x: Value, a: Value, b: Value, *, beta: Number = 1, alpha: Number = 1
) -> Value:
    return plus(c, x, contract(c, a, b, ([0, 2], [0, 1])), beta, alpha)


@lowers("aten.addmv")
def addmv(
    c: Context, x: Value, a: Value, y: Value, *, beta: Number = 1, alpha: Number = 1
) -> Value:
    return plus(c, x, contract(c, a, y, ([1], [0])), beta, alpha)


@lowers("aten.addr")
def addr(
    c: Context, x: Value, a: Value, b: Value, *, beta: Number = 1, alpha: Number = 1
) -> Value:
    return plus(c, x, contract(c, a, b, ([], [])), beta, alpha)


@lowers("aten._trilinear")
def trilinear(
    c: Context,
    a: Value,
    b: Value,
    d: Value,
    expand1: list[int],
    expand2: list[int],
    expand3: list[int],
    sumdim: list[int],
    unroll_dim: int = 1,
) -> Value:
    """Products of three tensors, which get dimensions of 1 first, summed at last."""
    values = []
    for x, dims in ((a, expand1), (b, expand2), (d, expand3)):
        shape = list(x.shape)
        for dim in sorted(dims):
            shape.insert(dim, 1)
        values.append(c.f.reshape(x, shape))
    s, t, u = terms(c, c.wide(a.element), *values)
    total = Term(c, (s * t * u).v)
    zero = c.constant(0, total.v.element)
    v = c.f.reduce_by("add", total.v, zero, sumdim) if sumdim else total.v
    return c.convert(v, a.element)
