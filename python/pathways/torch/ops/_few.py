# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Selections along dimensions with few elements, by comparisons and reductions.

A sort, a gather or a scatter is a loop for the compiler, which is neither vectorized nor
cut over devices. What is written here is elementwise along all other dimensions.
"""

from __future__ import annotations

import math

from pathways._stablehlo import FLOATS, Function, Value
from pathways.torch.ops._parts import add, along, full

# The most selections that are written one after the other.
MOST = 16


def slice_at(f: Function, x: Value, dim: int, place: int) -> Value:
    """One element along a dimension, which goes."""
    starts, limits = [0] * x.rank, list(x.shape)
    starts[dim], limits[dim] = place, place + 1
    shape = [n for d, n in enumerate(x.shape) if d != dim]
    return f.reshape(f.slice(x, starts, limits), shape)


def gather_few(f: Function, x: Value, dim: int, index: Value) -> Value:
    """x.gather(dim, index): a selection for each element of `x` along the dimension. `x`
    has the sizes of the index along the others."""
    others = [d for d in range(x.rank) if d != dim]
    result = f.constant(0, x.element, index.shape)
    for place in range(x.shape[dim]):
        part = along(f, slice_at(f, x, dim, place), result, others)
        is_here = f.compare("EQ", index, full(f, index, place))
        result = f.select(is_here, part, result)
    return result


def scatter_few(
    f: Function, x: Value, dim: int, index: Value, source: Value, is_sum: bool
) -> Value:
    """x.scatter(dim, index, source), or scatter_add: a selection for each element of the
    index along the dimension. `x` has the sizes of the index along the others."""
    others = [d for d in range(x.rank) if d != dim]
    places = f.iota(x.type.with_element(index.element), dim)
    for i in range(index.shape[dim]):
        at = along(f, slice_at(f, index, dim, i), places, others)
        part = along(f, slice_at(f, source, dim, i), x, others)
        new = add(f, x, part) if is_sum else part
        x = f.select(f.compare("EQ", places, at), new, x)
    return x


def greatest_few(f: Function, x: Value, dim: int, count: int) -> list[Value]:
    """The greatest floats along a dimension, the greatest one first, and their indices.
    Of equal ones the first counts, and a NaN is greater than all numbers."""
    assert x.element in FLOATS
    others = [d for d in range(x.rank) if d != dim]
    places = f.iota(x.type.with_element("i64"), dim)
    lowest = full(f, x, -math.inf)
    is_taken = f.constant(False, "i1", x.shape)
    values, indices = [], []
    shape = list(x.shape)
    shape[dim] = 1
    for _ in range(count):
        rest = f.select(is_taken, lowest, x)
        best = f.reduce_by("maximum", rest, f.constant(-math.inf, x.element), [dim])
        is_best = f.compare("EQ", rest, along(f, best, rest, others))
        is_best = f.binary("or", is_best, f.compare("NE", rest, rest))
        is_best = f.binary("and", is_best, f.unary("not", is_taken))
        place = f.select(is_best, places, full(f, places, x.shape[dim]))
        index = f.reduce_by("minimum", place, f.constant(x.shape[dim], "i64"), [dim])
        is_taken = f.binary(
            "or", is_taken, f.compare("EQ", places, along(f, index, places, others))
        )
        values.append(f.reshape(best, shape))
        indices.append(f.reshape(index, shape))
    return [f.concatenate(values, dim), f.concatenate(indices, dim)]
