# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lowerings of operations that index.

Indices are in range, as PyTorch requires: what lies outside is not an error here, but
reads the nearest element and writes none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from pathways._stablehlo import Function, Type, Value
from pathways.torch.ops._few import MOST, gather_few, scatter_few
from pathways.torch.ops._parts import add, along, dim_of, divide, full, numbers, op, scale


# The most rows of an embedding whose gradient is a product: it is cut over devices along
# the indices, which the loop of a scatter is not.
_FEW_ROWS = 512

Body = Callable[[list[Value]], Sequence[Value]]


def _others(rank: int, dim: int) -> list[int]:
    return [d for d in range(rank) if d != dim]


def _first(f: Function, x: Value, sizes: Sequence[int]) -> Value:
    return f.slice(x, [0] * x.rank, sizes)


def take(f: Function, x: Value, dim: int, index: Value) -> Value:
    """Slices of `x` along one dimension. The dimensions of the index take its place."""
    rank = index.rank
    shape = [*x.shape[:dim], *index.shape, *x.shape[dim + 1 :]]
    if 0 in shape:
        return f.constant(0, x.element, shape)
    sizes = list(x.shape)
    sizes[dim] = 1
    offsets = [d for d in range(len(shape)) if not dim <= d < dim + rank]
    return f.gather(
        x, index, x.type.with_shape(shape), offsets, [dim], [dim], rank, sizes
    )


def put(
    f: Function, x: Value, dim: int, index: Value, updates: Value, body: Body
) -> Value:
    """Writes slices along one dimension, at an index of one dimension."""
    if not updates.type.size:
        return x
    windows = _others(x.rank, dim)
    return f.scatter(x, index, updates, windows, [dim], [dim], index.rank, body)


def _adds(f: Function) -> Body:
    return lambda pair: [add(f, pair[0], pair[1])]


def _replaces(pair: list[Value]) -> Sequence[Value]:
    return [pair[1]]


@op("embedding.default")
def embedding(
    f: Function,
    weight: Value,
    indices: Value,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Value:
    return take(f, weight, 0, indices)


@op("embedding_dense_backward.default")
def embedding_dense_backward(
    f: Function,
    dy: Value,
    indices: Value,
    num_weights: int,
    padding_idx: int,
    scale_grad_by_freq: bool,
) -> Value:
    count = math.prod(indices.shape)
    index = f.reshape(indices, (count,))
    rows = f.reshape(dy, (count, dy.shape[-1]))
    if padding_idx >= 0:
        is_padding = f.compare("EQ", index, full(f, index, padding_idx))
        rows = f.select(along(f, is_padding, rows, [0]), full(f, rows, 0), rows)
    if scale_grad_by_freq:
        counts = f.constant(0, dy.element, (num_weights,))
        ones = f.constant(1, dy.element, (count,))
        counts = put(f, counts, 0, index, ones, _adds(f))
        rows = divide(f, rows, along(f, take(f, counts, 0, index), rows, [0]))
    if num_weights <= _FEW_ROWS:
        classes = f.iota(Type((count, num_weights), index.element), 1)
        is_row = f.compare("EQ", classes, along(f, index, classes, [0]))
        return f.dot_general(f.convert(is_row, rows.element), rows, ([0], [0]))
    empty = f.constant(0, dy.element, (num_weights, dy.shape[-1]))
    return put(f, empty, 0, index, rows, _adds(f))


@op("gather.default")
def gather(
    f: Function, x: Value, dim: int, index: Value, *, sparse_grad: bool = False
) -> Value:
    if x.rank == 0:
        return f.broadcast_in_dim(x, index.shape, [])
    if index.rank == 0:
        return f.reshape(gather(f, x, dim, f.reshape(index, (1,))), ())
    if not index.type.size:
        return f.constant(0, x.element, index.shape)
    dim = dim_of(dim, x.rank)
    others = _others(x.rank, dim)
    sizes = list(index.shape)
    sizes[dim] = x.shape[dim]
    x = _first(f, x, sizes)
    if 0 < x.shape[dim] <= MOST:
        return gather_few(f, x, dim, index)
    return f.gather(
        x,
        f.reshape(index, (*index.shape, 1)),
        x.type.with_shape(index.shape),
        [],
        [dim],
        [dim],
        index.rank,
        [1] * x.rank,
        (others, others),
    )


def _scattered(
    f: Function, x: Value, dim: int, index: Value, source: Value, is_sum: bool
) -> Value:
    if x.rank == 0 or index.rank == 0:
        shape, ones = x.shape, (1,)
        x, index, source = (
            f.reshape(v, ones) if v.rank == 0 else v for v in (x, index, source)
        )
        return f.reshape(_scattered(f, x, 0, index, source, is_sum), shape)
    dim = dim_of(dim, x.rank)
    others = _others(x.rank, dim)
    source = _first(f, source, index.shape)
    sizes = list(index.shape)
    sizes[dim] = x.shape[dim]
    if index.shape[dim] <= MOST:
        written = scatter_few(f, _first(f, x, sizes), dim, index, source, is_sum)
    else:
        written = f.scatter(
            _first(f, x, sizes),
            f.reshape(index, (*index.shape, 1)),
            source,
            [],
            [dim],
            [dim],
            index.rank,
            _adds(f) if is_sum else _replaces,
            (others, others),
        )
    if written.shape == x.shape:
        return written
    zeros = [f.constant(0, "i64")] * x.rank
    return f.dynamic_update_slice(x, written, zeros)


@op("scatter.src")
def scatter_src(f: Function, x: Value, dim: int, index: Value, src: Value) -> Value:
    return _scattered(f, x, dim, index, src, is_sum=False)


@op("scatter.value")
def scatter_value(f: Function, x: Value, dim: int, index: Value, value: Any) -> Value:
    source = f.constant(value, x.element, index.shape)
    return _scattered(f, x, dim, index, source, is_sum=False)


@op("scatter_add.default")
def scatter_add(f: Function, x: Value, dim: int, index: Value, src: Value) -> Value:
    return _scattered(f, x, dim, index, src, is_sum=True)


@op("select_scatter.default")
def select_scatter(f: Function, x: Value, src: Value, dim: int, index: int) -> Value:
    dim = dim_of(dim, x.rank)
    index = index + x.shape[dim] if index < 0 else index
    shape = list(x.shape)
    shape[dim] = 1
    return _inserted(f, x, f.reshape(src, shape), dim, index, index + 1, 1)


@op("slice_scatter.default")
def slice_scatter(
    f: Function,
    x: Value,
    src: Value,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Value:
    dim = dim_of(dim, x.rank)
    first, limit, _ = slice(start, end).indices(x.shape[dim])
    return _inserted(f, x, src, dim, first, limit, step)


def _inserted(
    f: Function, x: Value, source: Value, dim: int, start: int, end: int, step: int
) -> Value:
    """Replaces the elements from `start` to `end`, each `step`, along one dimension."""
    count = max(0, -(-(end - start) // step))
    extent = x.shape[dim]
    if count == 0 or x.type.size == 0:
        return x
    if count == extent:
        return source
    if step == 1:
        before, after = [0] * x.rank, list(x.shape)
        starts, limits = list(before), list(after)
        limits[dim], starts[dim] = start, start + count
        parts = []
        if start > 0:
            parts.append(f.slice(x, before, limits))
        parts.append(source)
        if start + count < extent:
            parts.append(f.slice(x, starts, after))
        return f.concatenate(parts, dim)
    is_there = [float(i in range(start, end, step)) for i in range(extent)]
    mask = f.convert(numbers(f, is_there, (extent,), "f32"), "i1")
    low, high, interior = [0] * x.rank, [0] * x.rank, [0] * x.rank
    low[dim], interior[dim] = start, step - 1
    high[dim] = extent - start - (count - 1) * step - 1
    spread = f.pad(source, f.constant(0, x.element), low, high, interior)
    return f.select(along(f, mask, x, [dim]), spread, x)


@op("constant_pad_nd.default")
def constant_pad_nd(f: Function, x: Value, pad: Sequence[int], value: Any = 0) -> Value:
    """`pad` has two amounts for each dimension, from the last one backwards."""
    low, high = [0] * x.rank, [0] * x.rank
    for i in range(len(pad) // 2):
        low[x.rank - 1 - i], high[x.rank - 1 - i] = pad[2 * i], pad[2 * i + 1]
    return f.pad(x, f.constant(value, x.element), low, high)


def _bordered(f: Function, x: Value, pad: Sequence[int], is_mirror: bool) -> Value:
    """Pads the last dimensions by their elements: mirrored, or the last ones again."""
    for i in range(len(pad) // 2):
        dim = x.rank - 1 - i
        places = _sources(x.shape[dim], pad[2 * i], pad[2 * i + 1], is_mirror)
        index = numbers(f, places, (len(places),), "i64")
        x = take(f, x, dim, index)
    return x


def _sources(extent: int, low: int, high: int, is_mirror: bool) -> list[int]:
    places = []
    for i in range(-low, extent + high):
        if is_mirror:
            i = -i if i < 0 else 2 * (extent - 1) - i if i >= extent else i
        places.append(min(max(i, 0), extent - 1))
    return places


def _unbordered(
    f: Function, dy: Value, x: Value, pad: Sequence[int], is_mirror: bool
) -> Value:
    """The gradient of `_bordered`: a product with the matrix of its places."""
    for i in range(len(pad) // 2):
        dim = x.rank - 1 - i
        extent = x.shape[dim]
        places = _sources(extent, pad[2 * i], pad[2 * i + 1], is_mirror)
        rows = [float(place == j) for place in places for j in range(extent)]
        matrix = numbers(f, rows, (len(places), extent), dy.element)
        dy = f.dot_general(dy, matrix, ([dim], [0]))
        order = list(range(dy.rank - 1))
        dy = f.transpose(dy, [*order[:dim], dy.rank - 1, *order[dim:]])
    return dy


@op("reflection_pad1d.default", "reflection_pad2d.default")
def reflection_pad(f: Function, x: Value, padding: Sequence[int]) -> Value:
    return _bordered(f, x, padding, is_mirror=True)


@op("replication_pad1d.default", "replication_pad2d.default")
def replication_pad(f: Function, x: Value, padding: Sequence[int]) -> Value:
    return _bordered(f, x, padding, is_mirror=False)


@op("reflection_pad1d_backward.default", "reflection_pad2d_backward.default")
def reflection_pad_backward(
    f: Function, dy: Value, x: Value, padding: Sequence[int]
) -> Value:
    return _unbordered(f, dy, x, padding, is_mirror=True)


@op("replication_pad1d_backward.default", "replication_pad2d_backward.default")
def replication_pad_backward(
    f: Function, dy: Value, x: Value, padding: Sequence[int]
) -> Value:
    return _unbordered(f, dy, x, padding, is_mirror=False)
