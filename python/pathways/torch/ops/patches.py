# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Patches of images as columns, and back."""

from __future__ import annotations

from collections.abc import Sequence

from pathways._stablehlo import Type, Value
from pathways.torch._registry import Context, lowers
from pathways.torch._terms import Term
from pathways.torch.ops.shapes import add_rows, take_rows


def places(c: Context, extent: int, size: int, dilation: int, stride: int) -> Value:
    """The places of each patch along one dimension: [places in the patch, patches]."""
    count = (extent - (size - 1) * dilation - 1) // stride + 1
    type = Type((size, count), "i64")
    return (Term(c, c.f.iota(type, 0)) * dilation + Term(c, c.f.iota(type, 1)) * stride).v


@lowers("aten.im2col")
def im2col(
    c: Context,
    x: Value,
    kernel: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> Value:
    around = [0] * (x.rank - 2) + list(padding)
    x = c.f.pad(x, c.constant(0, x.element), around, around)
    first = x.rank - 2
    rows = places(c, x.shape[first], kernel[0], dilation[0], stride[0])
    columns = places(c, x.shape[first + 1], kernel[1], dilation[1], stride[1])
    x = take_rows(c, take_rows(c, x, first + 1, columns), first, rows)
    # Now the dimensions are: place and patch of rows, then those of columns.
    order = [*range(first), first, first + 2, first + 1, first + 3]
    return c.f.reshape(c.f.transpose(x, order), c.result.shape)


@lowers("aten.col2im")
def col2im(
    c: Context,
    x: Value,
    output: Sequence[int],
    kernel: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> Value:
    """Adds up patches that overlap."""
    height, width = (n + 2 * p for n, p in zip(output, padding))
    rows = places(c, height, kernel[0], dilation[0], stride[0])
    columns = places(c, width, kernel[1], dilation[1], stride[1])
    outer = c.result.shape[:-2]
    first = len(outer)
    split = (*outer, kernel[0], kernel[1], rows.shape[1], columns.shape[1])
    order = [*range(first), first, first + 2, first + 1, first + 3]
    x = c.f.transpose(c.f.reshape(x, split), order)
    wide = c.constant(0, x.element, (*outer, *rows.shape, width))
    image = add_rows(c, wide, first + 2, columns, x)
    total = add_rows(
        c, c.constant(0, x.element, (*outer, height, width)), first, rows, image
    )
    starts = [0] * first + list(padding)
    limits = [*outer, *(p + n for n, p in zip(output, padding))]
    return c.f.slice(total, starts, limits)
