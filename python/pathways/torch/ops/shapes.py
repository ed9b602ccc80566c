# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that move elements: views, slices, concatenation, triangles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pathways._stablehlo import Type, Value
from pathways.torch._registry import HUGE, Context, lowers
from pathways.torch._terms import Term


@lowers(
    "aten.view.default",
    "aten._unsafe_view",
    "aten._reshape_alias",
    "aten.reshape",
    "aten.view_copy",
    "aten._reshape_copy",
)
def view(c: Context, x: Value, shape: Any, *_: Any) -> Value:
    return c.f.reshape(x, c.result.shape)


@lowers("aten.unsqueeze", "aten.squeeze", "aten.flatten", "aten.ravel", "aten.unflatten")
def resized(c: Context, x: Value, *_: Any, **__: Any) -> Value:
    return c.f.reshape(x, c.result.shape)


@lowers("aten.view.dtype")
def view_dtype(c: Context, x: Value, dtype: Any) -> Value:
    result = c.result
    if x.shape == result.shape:
        return c.f.bitcast(x, result)
    if x.type.size == 0:
        return c.f.reshape(c.f.constant(0, result.element, (0,)), result.shape)
    # StableHLO has the parts of a wider element in a dimension of their own.
    if x.shape[-1] < result.shape[-1]:
        parts = result.shape[-1] // x.shape[-1]
        split = c.f.bitcast(x, Type((*x.shape, parts), result.element))
        return c.f.reshape(split, result.shape)
    parts = x.shape[-1] // result.shape[-1]
    split = c.f.reshape(x, (*result.shape, parts))
    return c.f.bitcast(split, result)


@lowers("aten.t")
def t(c: Context, x: Value) -> Value:
    return c.f.transpose(x, list(range(x.rank))[::-1])


@lowers("aten.transpose", "aten.swapaxes", "aten.swapdims")
def transpose(c: Context, x: Value, dim0: int, dim1: int) -> Value:
    order = list(range(x.rank))
    if x.rank:
        a, b = dim0 % x.rank, dim1 % x.rank
        order[a], order[b] = order[b], order[a]
    return c.f.transpose(x, order)


@lowers("aten.permute")
def permute(c: Context, x: Value, dims: Sequence[int]) -> Value:
    return c.f.transpose(x, [d % max(x.rank, 1) for d in dims])


@lowers("aten.expand")
def expand(c: Context, x: Value, size: Sequence[int], *, implicit: bool = False) -> Value:
    return c.expand(x, c.result.shape)


@lowers("aten.select.int")
def select(c: Context, x: Value, dim: int, index: int) -> Value:
    dim = c.dim(dim, x.rank)
    index = index + x.shape[dim] if index < 0 else index
    return c.f.reshape(take(c, x, dim, index, index + 1), c.result.shape)


def take(c: Context, x: Value, dim: int, start: int, stop: int, step: int = 1) -> Value:
    starts, limits, strides = [0] * x.rank, list(x.shape), [1] * x.rank
    starts[dim], limits[dim], strides[dim] = start, stop, step
    return c.f.slice(x, starts, limits, strides)


def bounds(start: int | None, end: int | None, n: int) -> tuple[int, int]:
    """Returns the limits of a slice as PyTorch clamps them."""
    start = 0 if start is None else start + n if start < 0 else start
    end = n if end is None or end == HUGE else end + n if end < 0 else end
    start = min(max(start, 0), n)
    return start, min(max(end, start), n)


@lowers("aten.slice.Tensor")
def slice(
    c: Context,
    x: Value,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Value:
    dim = c.dim(dim, x.rank)
    first, last = bounds(start, end, x.shape[dim])
    return take(c, x, dim, first, last, step)


@lowers("aten.select_backward")
def select_backward(
    c: Context, gradient: Value, sizes: Sequence[int], dim: int, index: int
) -> Value:
    dim = c.dim(dim, len(sizes))
    index = index + sizes[dim] if index < 0 else index
    shape = [1 if d == dim else n for d, n in enumerate(sizes)]
    return padded(c, c.f.reshape(gradient, shape), dim, index, sizes[dim] - index - 1, 1)


def padded(c: Context, x: Value, dim: int, low: int, high: int, step: int) -> Value:
    """Puts zeros around a slice, and into its steps."""
    lows, highs, between = ([0] * x.rank for _ in range(3))
    lows[dim], highs[dim], between[dim] = low, high, step - 1
    return c.f.pad(x, c.constant(0, x.element), lows, highs, between)


@lowers("aten.slice_backward")
def slice_backward(
    c: Context,
    gradient: Value,
    sizes: Sequence[int],
    dim: int,
    start: int,
    end: int,
    step: int,
) -> Value:
    dim = c.dim(dim, len(sizes))
    first, _ = bounds(start, end, sizes[dim])
    n = gradient.shape[dim]
    if not n:
        return c.constant(0, gradient.element, c.result.shape)
    reach = (n - 1) * step + 1
    return padded(c, gradient, dim, first, sizes[dim] - first - reach, step)


@lowers(
    "aten.split",
    "aten.split_with_sizes",
    "aten.unsafe_split",
    "aten.unsafe_split_with_sizes",
)
def split(c: Context, x: Value, size: int | Sequence[int], dim: int = 0) -> list[Value]:
    dim = c.dim(dim, x.rank)
    n = x.shape[dim]
    if isinstance(size, int):
        sizes = [min(size, n - i) for i in range(0, n, size)] if size else [0]
        sizes = sizes or [0]
    else:
        sizes = list(size)
    results, start = [], 0
    for length in sizes:
        results.append(take(c, x, dim, start, start + length))
        start += length
    return results


@lowers("aten.unbind")
def unbind(c: Context, x: Value, dim: int = 0) -> list[Value]:
    dim = c.dim(dim, x.rank)
    shape = [n for d, n in enumerate(x.shape) if d != dim]
    return [c.f.reshape(take(c, x, dim, i, i + 1), shape) for i in range(x.shape[dim])]


@lowers("aten.cat")
def cat(c: Context, values: Sequence[Value], dim: int = 0) -> Value:
    result = c.result
    # A vector without elements fits everything, from times before there were shapes.
    parts = [c.convert(v, result.element) for v in values]
    if len(result.shape) != 1:
        parts = [v for v in parts if v.shape != (0,)] or parts[:1]
    return c.f.concatenate(parts, c.dim(dim, len(result.shape)))


@lowers("aten.stack")
def stack(c: Context, values: Sequence[Value], dim: int = 0) -> Value:
    rank = len(c.result.shape)
    dim = dim % rank
    shape = [1 if d == dim else n for d, n in enumerate(c.result.shape)]
    parts = [c.f.reshape(c.convert(v, c.result.element), shape) for v in values]
    return c.f.concatenate(parts, dim)


@lowers("aten.block_diag")
def block_diag(c: Context, values: Sequence[Value]) -> Value:
    rows, columns = c.result.shape
    total = c.constant(0, c.result.element, (rows, columns))
    row = column = 0
    for value in values:
        block = c.convert(value, c.result.element)
        block = c.f.reshape(block, ((1, 1, *block.shape)[block.rank :])[-2:])
        n, m = block.shape
        if block.type.size:
            zero = c.constant(0, block.element)
            high = (rows - row - n, columns - column - m)
            spread = c.f.pad(block, zero, (row, column), high)
            name = "or" if block.element == "i1" else "add"
            total = c.f.binary(name, total, spread)
        row, column = row + n, column + m
    return total


@lowers("aten.pixel_shuffle")
def pixel_shuffle(c: Context, x: Value, factor: int) -> Value:
    *outer, channels, height, width = x.shape
    parts = [*outer, channels // factor**2, factor, factor, height, width]
    n = len(outer)
    order = [*range(n), n, n + 3, n + 1, n + 4, n + 2]
    return c.f.reshape(c.f.transpose(c.f.reshape(x, parts), order), c.result.shape)


@lowers("aten.pixel_unshuffle")
def pixel_unshuffle(c: Context, x: Value, factor: int) -> Value:
    *outer, channels, height, width = x.shape
    parts = [*outer, channels, height // factor, factor, width // factor, factor]
    n = len(outer)
    order = [*range(n), n, n + 2, n + 4, n + 1, n + 3]
    return c.f.reshape(c.f.transpose(c.f.reshape(x, parts), order), c.result.shape)


@lowers("aten.channel_shuffle")
def channel_shuffle(c: Context, x: Value, groups: int) -> Value:
    n, channels, *rest = x.shape
    split = c.f.reshape(x, (n, groups, channels // groups, *rest))
    order = [0, 2, 1, *range(3, split.rank)]
    return c.f.reshape(c.f.transpose(split, order), x.shape)


@lowers("aten.repeat")
def repeat(c: Context, x: Value, repeats: Sequence[int]) -> Value:
    shape = [1] * (len(repeats) - x.rank) + list(x.shape)
    spread = [n for pair in zip(repeats, shape) for n in pair]
    first = len(repeats) - x.rank
    dims = [2 * (first + d) + 1 for d in range(x.rank)]
    return c.f.reshape(c.f.broadcast_in_dim(x, spread, dims), c.result.shape)


@lowers("aten.flip")
def flip(c: Context, x: Value, dims: Sequence[int]) -> Value:
    order = c.dims(dims, x.rank) if dims else []
    return c.f.reverse(x, order) if order else x


@lowers("aten.roll")
def roll(c: Context, x: Value, shifts: Any, dims: Any = ()) -> Value:
    shifts = [shifts] if isinstance(shifts, int) else list(shifts)
    dims = [dims] if isinstance(dims, int) else list(dims)
    if not dims:
        flat = roll_along(c, c.f.reshape(x, (x.type.size,)), 0, shifts[0])
        return c.f.reshape(flat, x.shape)
    for shift, dim in zip(shifts, dims):
        x = roll_along(c, x, c.dim(dim, x.rank), shift)
    return x


def roll_along(c: Context, x: Value, dim: int, shift: int) -> Value:
    if not x.rank or not x.shape[dim] or not shift % x.shape[dim]:
        return x
    n = x.shape[dim]
    cut = n - shift % n
    return c.f.concatenate([take(c, x, dim, cut, n), take(c, x, dim, 0, cut)], dim)


@lowers("aten.rot90")
def rot90(c: Context, x: Value, k: int = 1, dims: Sequence[int] = (0, 1)) -> Value:
    a, b = (c.dim(d, x.rank) for d in dims)
    order = list(range(x.rank))
    order[a], order[b] = b, a
    k %= 4
    if k == 1:
        return c.f.transpose(c.f.reverse(x, [b]), order)
    if k == 2:
        return c.f.reverse(x, sorted([a, b]))
    return c.f.reverse(c.f.transpose(x, order), [b]) if k == 3 else x


# Triangles and diagonals.


def rows_minus_columns(c: Context, shape: Sequence[int]) -> Term:
    """Returns column - row of each place of the last two dimensions."""
    type = Type(tuple(shape), "i64")
    row, column = c.f.iota(type, len(shape) - 2), c.f.iota(type, len(shape) - 1)
    return Term(c, column) - Term(c, row)


@lowers("aten.tril", "aten.triu")
def triangle(c: Context, x: Value, diagonal: int = 0) -> Value:
    if x.rank < 2:  # PyTorch takes a vector if it has no elements.
        return x
    place = rows_minus_columns(c, x.shape)
    keep = place <= diagonal if "tril" in c.name else place >= diagonal
    return keep.select(Term(c, x), 0).v


def diagonal_size(shape: Sequence[int], offset: int, dim1: int, dim2: int) -> int:
    rows, columns = shape[dim1], shape[dim2]
    if offset >= 0:
        return max(0, min(rows, columns - offset))
    return max(0, min(rows + offset, columns))


@lowers("aten.diagonal")
def diagonal(c: Context, x: Value, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Value:
    """The sum of each row, of which only the diagonal is left."""
    dim1, dim2 = c.dim(dim1, x.rank), c.dim(dim2, x.rank)
    n = diagonal_size(x.shape, offset, dim1, dim2)
    others = [d for d in range(x.rank) if d not in (dim1, dim2)]
    x = c.f.transpose(x, [*others, dim1, dim2])
    shape = x.shape[:-2]
    if not x.type.size or not n:
        return c.constant(0, x.element, (*shape, n))
    # In a flat matrix, the diagonal has equal distances.
    rows, columns = x.shape[-2:]
    first = offset if offset >= 0 else -offset * columns
    flat = c.f.reshape(x, (*shape, rows * columns))
    last = first + (n - 1) * (columns + 1) + 1
    return take(c, flat, flat.rank - 1, first, last, columns + 1)


def put_on_diagonal(c: Context, base: Value, values: Value, offset: int) -> Value:
    """`base` with `values` on the diagonal of its last two dimensions."""
    rows = base.shape[-2]
    n = values.shape[-1]
    if not n or not base.type.size:
        return base
    # Row i has the value of the diagonal in column i + offset.
    first = 0 if offset >= 0 else -offset
    low, high = [0] * values.rank, [0] * values.rank
    low[-1], high[-1] = first, rows - first - n
    column = c.f.pad(values, c.constant(0, values.element), low, high)
    spread = c.f.broadcast_in_dim(column, base.shape, range(column.rank))
    place = rows_minus_columns(c, base.shape)
    return place.equals(offset).select(Term(c, spread), Term(c, base)).v


@lowers("aten.diagonal_scatter")
def diagonal_scatter(
    c: Context, x: Value, values: Value, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Value:
    dim1, dim2 = c.dim(dim1, x.rank), c.dim(dim2, x.rank)
    order = [d for d in range(x.rank) if d not in (dim1, dim2)] + [dim1, dim2]
    values = c.convert(values, x.element)
    moved = put_on_diagonal(c, c.f.transpose(x, order), values, offset)
    return c.f.transpose(moved, [order.index(d) for d in range(x.rank)])


@lowers("aten.diagonal_backward")
def diagonal_backward(
    c: Context, gradient: Value, sizes: Sequence[int], offset: int, dim1: int, dim2: int
) -> Value:
    zeros = c.constant(0, gradient.element, c.result.shape)
    return diagonal_scatter(c, zeros, gradient, offset, dim1, dim2)


@lowers("aten.diag_embed")
def diag_embed(
    c: Context, x: Value, offset: int = 0, dim1: int = -2, dim2: int = -1
) -> Value:
    zeros = c.constant(0, x.element, c.result.shape)
    return diagonal_scatter(c, zeros, x, offset, dim1, dim2)


@lowers("aten.diag")
def diag(c: Context, x: Value, offset: int = 0) -> Value:
    return diagonal(c, x, offset) if x.rank == 2 else diag_embed(c, x, offset)


@lowers("aten.trace")
def trace(c: Context, x: Value) -> Value:
    values = c.convert(diagonal(c, x), c.result.element)
    return c.f.reduce_by("add", values, c.constant(0, values.element), [0])


# Windows along one dimension, and views by strides.


def windows(c: Context, n: int, size: int, step: int) -> Value:
    """The indices of windows: one row for each of them."""
    count = (n - size) // step + 1
    type = Type((count, size), "i64")
    return (Term(c, c.f.iota(type, 0)) * step + Term(c, c.f.iota(type, 1))).v


@lowers("aten.unfold")
def unfold(c: Context, x: Value, dim: int, size: int, step: int) -> Value:
    if not x.rank:
        return c.f.reshape(x, c.result.shape)
    dim = c.dim(dim, x.rank)
    indices = windows(c, x.shape[dim], size, step)
    rows = take_rows(c, x, dim, indices)
    # Dimensions: those before, windows, places in the window, those after.
    order = [d for d in range(rows.rank) if d != dim + 1] + [dim + 1]
    return c.f.transpose(rows, order)


def take_rows(c: Context, x: Value, dim: int, indices: Value) -> Value:
    """Replaces a dimension by those of `indices`, which are in range."""
    shape = (*x.shape[:dim], *indices.shape, *x.shape[dim + 1 :])
    if 0 in shape:
        return c.constant(0, x.element, shape)
    offsets = [d for d in range(len(shape)) if not dim <= d < dim + indices.rank]
    sizes = [1 if d == dim else n for d, n in enumerate(x.shape)]
    return c.f.gather(
        x, indices, x.type.with_shape(shape), offsets, [dim], [dim], indices.rank, sizes
    )


def add_rows(c: Context, x: Value, dim: int, indices: Value, rows: Value) -> Value:
    """Adds rows, which have the dimensions of `indices` in the place of `dim`."""
    if not rows.type.size:
        return x
    windows = [d for d in range(rows.rank) if not dim <= d < dim + indices.rank]

    def body(values: list[Value]) -> list[Value]:
        return [c.f.binary("add", values[0], values[1])]

    return c.f.scatter(x, indices, rows, windows, [dim], [dim], indices.rank, body)


@lowers("aten.unfold_backward")
def unfold_backward(
    c: Context, gradient: Value, sizes: Sequence[int], dim: int, size: int, step: int
) -> Value:
    if not sizes:
        return c.f.reshape(gradient, ())
    zeros = c.constant(0, gradient.element, c.result.shape)
    dim = c.dim(dim, len(sizes))
    last = gradient.rank - 1
    order = [*range(dim + 1), last, *range(dim + 1, last)]
    rows = c.f.transpose(gradient, order)
    return add_rows(c, zeros, dim, windows(c, sizes[dim], size, step), rows)


def physical(c: Context, x: Value, strides: Sequence[int]) -> tuple[Value, list[int]]:
    """Returns a tensor as it lies in memory, as a vector, and the order of dimensions."""
    order = sorted(range(x.rank), key=lambda d: (-strides[d], d))
    expected = 1
    for d in reversed(order):
        if x.shape[d] != 1 and strides[d] != expected and x.type.size:
            c.error(f"as_strided of a tensor that has gaps in memory (strides {strides})")
        expected *= x.shape[d]
    return c.f.reshape(c.f.transpose(x, order), (x.type.size,)), order


def strided_places(
    c: Context, size: Sequence[int], stride: Sequence[int], offset: int
) -> Value:
    type = Type(tuple(size), "i64")
    total = Term(c, c.constant(offset, "i64", size))
    for d, step in enumerate(stride):
        if size[d] > 1:
            total = total + Term(c, c.f.iota(type, d)) * step
    return total.v


def as_slice(
    shape: Sequence[int],
    strides: Sequence[int],
    size: Sequence[int],
    stride: Sequence[int],
    offset: int,
) -> tuple[list[int], list[int], list[int], list[int]] | None:
    """Returns a view as a slice (starts, limits, steps) and the dimension of the tensor
    for each of the view (-1: one of size 1), or None if it is none."""
    starts = [0] * len(shape)
    rest = offset
    for d in sorted(range(len(shape)), key=lambda d: (-strides[d], d)):
        if shape[d] > 1:
            starts[d], rest = divmod(rest, strides[d])
            if starts[d] >= shape[d]:
                return None
    if rest:
        return None
    limits, steps = [s + 1 for s in starts], [1] * len(shape)
    places: list[int] = []
    for n, step in zip(size, stride):
        if n == 1:
            places.append(-1)
            continue
        fits = [
            d
            for d in range(len(shape))
            if shape[d] > 1
            and d not in places
            and step % strides[d] == 0
            and step
            and starts[d] + (n - 1) * (step // strides[d]) < shape[d]
        ]
        if not fits or not n:
            return None
        d = max(fits, key=lambda d: strides[d])
        places.append(d)
        steps[d] = step // strides[d]
        limits[d] = starts[d] + (n - 1) * steps[d] + 1
    return starts, limits, steps, places


@lowers("pathways.strided_view")
def strided_view(
    c: Context,
    x: Value,
    strides: Sequence[int],
    size: Sequence[int],
    stride: Sequence[int],
    offset: int,
) -> Value:
    if 0 in size:
        return c.constant(0, x.element, size)
    found = as_slice(x.shape, strides, size, stride, offset)
    if found is not None:
        starts, limits, steps, places = found
        part = c.f.slice(x, starts, limits, steps)
        used = [d for d in places if d >= 0]
        rest = [d for d in range(x.rank) if d not in used]
        return c.f.reshape(c.f.transpose(part, [*rest, *used]), size)
    flat, _ = physical(c, x, strides)
    return take_rows(c, flat, 0, strided_places(c, size, stride, offset))


@lowers("pathways.strided_scatter")
def strided_scatter(
    c: Context,
    x: Value,
    value: Value,
    strides: Sequence[int],
    size: Sequence[int],
    stride: Sequence[int],
    offset: int,
) -> Value:
    if 0 in size:
        return x
    flat, order = physical(c, x, strides)
    places = strided_places(c, size, stride, offset)
    put = c.f.scatter(
        flat, places, value, [], [0], [0], places.rank, lambda values: [values[1]]
    )
    moved = c.f.reshape(put, [x.shape[d] for d in order])
    return c.f.transpose(moved, [order.index(d) for d in range(x.rank)])
