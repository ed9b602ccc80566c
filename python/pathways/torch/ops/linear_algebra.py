# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Factors of matrices, cross products, and norms that scale."""

from __future__ import annotations

from pathways._stablehlo import Value
from pathways.torch._registry import Context, lowers
from pathways.torch._terms import Term, terms, wide_terms
from pathways.torch.ops.reductions import reduce_term, spread
from pathways.torch.ops.shapes import roll_along

Number = bool | int | float


@lowers("aten.linalg_cross")
def linalg_cross(c: Context, x: Value, y: Value, *, dim: int = -1) -> Value:
    a, b = c.broadcast(x, y)
    dim = c.dim(dim, a.rank)

    def rolled(v: Value, shift: int) -> Term:
        return Term(c, roll_along(c, v, dim, shift))

    return (rolled(a, -1) * rolled(b, -2) - rolled(a, -2) * rolled(b, -1)).v


@lowers("aten.renorm")
def renorm(c: Context, x: Value, p: Number, dim: int, maxnorm: Number) -> Value:
    dims = [d for d in range(x.rank) if d != c.dim(dim, x.rank)]
    (t,) = wide_terms(c, x.element, x)
    norm = reduce_term("add", t.abs() ** float(p), dims) ** (1 / p)
    factor = (norm > maxnorm).select(maxnorm / (norm + 1e-7), 1)
    return c.convert((t * spread(factor, x, dims)).v, x.element)


@lowers("aten._weight_norm_interface")
def weight_norm(c: Context, v: Value, g: Value, dim: int = 0) -> list[Value]:
    dims = [d for d in range(v.rank) if d != dim]
    (t,) = wide_terms(c, v.element, v)
    norm = reduce_term("add", t * t, dims, keepdim=True).call("sqrt")
    (scale,) = terms(c, t.v.element, g)
    factor = Term(c, c.expand((scale / norm).v, v.shape))
    return [c.convert((t * factor).v, v.element), norm.v]


@lowers("aten._weight_norm_interface_backward")
def weight_norm_backward(
    c: Context, gradient: Value, v: Value, g: Value, norms: Value, dim: int
) -> list[Value]:
    dims = [d for d in range(v.rank) if d != dim]
    d, t = wide_terms(c, v.element, gradient, v)
    scale, norm = terms(c, t.v.element, g, norms)
    dot = reduce_term("add", d * t, dims, keepdim=True)

    def wide(x: Term) -> Term:
        return Term(c, c.expand(x.v, v.shape))

    of_v = wide(scale / norm) * (d - t * wide(dot / (norm * norm)))
    return [c.convert(of_v.v, v.element), c.convert((dot / norm).v, g.element)]


@lowers("aten.linalg_cholesky_ex")
def cholesky(
    c: Context, x: Value, *, upper: bool = False, check_errors: bool = False
) -> list[Value]:
    """A matrix that is not positive definite gives NaNs; the second result is 0."""
    (factor,) = c.f.generic("stablehlo.cholesky", [x], [x.type], "lower = true")
    if upper:
        factor = c.f.transpose(factor, [*range(x.rank - 2), x.rank - 1, x.rank - 2])
    return [factor, c.constant(0, "i32", x.shape[:-2])]


def solve(
    c: Context, a: Value, b: Value, left: bool, lower: bool, is_unit: bool
) -> Value:
    text = (
        f"left_side = {str(left).lower()}, lower = {str(lower).lower()}, "
        "transpose_a = #stablehlo<transpose NO_TRANSPOSE>, "
        f"unit_diagonal = {str(is_unit).lower()}"
    )
    return c.f.generic("stablehlo.triangular_solve", [a, b], [b.type], text)[0]


@lowers("aten.linalg_solve_triangular")
def linalg_solve_triangular(
    c: Context,
    a: Value,
    b: Value,
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
) -> Value:
    shape = c.result.shape
    batch = shape[:-2]
    a, b = c.expand(a, (*batch, *a.shape[-2:])), c.expand(b, (*batch, *b.shape[-2:]))
    return solve(c, a, b, left, not upper, unitriangular)
