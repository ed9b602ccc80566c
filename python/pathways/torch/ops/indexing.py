# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads and writes by tensors of indices, and sorting."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pathways._stablehlo import Value
from pathways.torch.ops._few import MOST, greatest_few
from pathways.torch._registry import Context, broadcast_shape, is_float, lowers
from pathways.torch._terms import Term
from pathways.torch.ops.pointwise import floor_quotient
from pathways.torch.ops.reductions import before, cumulate, highest, lowest
from pathways.torch.ops.shapes import add_rows, take, take_rows

Number = bool | int | float
Indices = Sequence[Value | None]


def wrapped(c: Context, index: Value, n: int) -> Value:
    """Indices of i64 that count from the front."""
    t = Term(c, c.convert(index, "i64"))
    return (t < 0).select(t + n, t).v


class Places:
    """The elements of a tensor that indices name: a vector of indices for the dimensions
    `dims`, in the shape `shape`, which stands at dimension `first` of the result."""

    def __init__(self, c: Context, x: Value, indices: Indices) -> None:
        self.dims = [d for d, index in enumerate(indices) if index is not None]
        given = [index for index in indices if index is not None]
        self.shape = broadcast_shape(c, [index.shape for index in given])
        is_block = self.dims == list(range(self.dims[0], self.dims[-1] + 1))
        self.first = self.dims[0] if is_block else 0
        parts = []
        for d, index in zip(self.dims, given):
            whole = c.expand(wrapped(c, index, x.shape[d]), self.shape)
            parts.append(c.f.reshape(whole, (*self.shape, 1)))
        self.starts = c.f.concatenate(parts, len(self.shape))
        others = [n for d, n in enumerate(x.shape) if d not in self.dims]
        self.result = (*others[: self.first], *self.shape, *others[self.first :])
        block = range(self.first, self.first + len(self.shape))
        self.windows = [d for d in range(len(self.result)) if d not in block]


def has_mask(indices: Indices) -> bool:
    return any(index is not None and index.element in ("i1", "ui8") for index in indices)


@lowers("aten.index.Tensor", "aten._unsafe_index")
def index(c: Context, x: Value, indices: Indices) -> Value:
    if has_mask(indices):
        c.error("the size of what a mask selects depends on values; use torch.where")
    result = c.result
    places = Places(c, x, indices)
    if not result.size:
        return c.constant(0, x.element, result.shape)
    sizes = [1 if d in places.dims else n for d, n in enumerate(x.shape)]
    return c.f.gather(
        x,
        places.starts,
        result,
        places.windows,
        places.dims,
        places.dims,
        len(places.shape),
        sizes,
    )


def mask_of(c: Context, x: Value, indices: Indices) -> Value | None:
    """Returns the mask over all of `x`, if the indices are masks only."""
    total: Value | None = None
    dim = 0
    for index in indices:
        if index is None:
            dim += 1
            continue
        if index.element not in ("i1", "ui8"):
            return None
        mask = c.f.broadcast_in_dim(
            c.convert(index, "i1"), x.shape, range(dim, dim + index.rank)
        )
        dim += index.rank
        if total is not None:
            return None
        total = mask
    return total


@lowers("aten.index_put", "aten._unsafe_index_put", "aten._index_put_impl")
def index_put(
    c: Context,
    x: Value,
    indices: Indices,
    values: Value,
    accumulate: bool = False,
    unsafe: bool = False,
) -> Value:
    if has_mask(indices):
        mask = mask_of(c, x, indices)
        if mask is None or values.type.size != 1:
            c.error(
                "a write through a mask takes one value, as the number of elements depends "
                "on values; use torch.where"
            )
        value = c.expand(c.f.reshape(c.convert(values, x.element), ()), x.shape)
        if accumulate:
            value = c.f.binary("add", x, value)
        return c.f.select(mask, value, x)
    places = Places(c, x, indices)
    values = c.expand(c.convert(values, x.element), places.result)
    if not values.type.size:
        return x

    def body(pair: list[Value]) -> list[Value]:
        if not accumulate:
            return [pair[1]]
        return [c.f.binary("or" if x.element == "i1" else "add", pair[0], pair[1])]

    return c.f.scatter(
        x,
        places.starts,
        values,
        places.windows,
        places.dims,
        places.dims,
        len(places.shape),
        body,
    )


@lowers("aten.index_select")
def index_select(c: Context, x: Value, dim: int, index: Value) -> Value:
    if not x.rank:
        return x
    dim = c.dim(dim, x.rank)
    flat = c.f.reshape(index, (index.type.size,))
    return take_rows(c, x, dim, wrapped(c, flat, x.shape[dim]))


@lowers("aten.index_add")
def index_add(
    c: Context, x: Value, dim: int, index: Value, source: Value, *, alpha: Number = 1
) -> Value:
    if alpha != 1:
        source = (Term(c, source) * alpha).v
    if not x.rank:
        return (Term(c, x) + Term(c, c.f.reshape(source, ()))).v
    dim = c.dim(dim, x.rank)
    flat = c.f.reshape(index, (index.type.size,))
    shape = [flat.shape[0] if d == dim else n for d, n in enumerate(x.shape)]
    source = c.f.reshape(source, shape)
    return add_rows(c, x, dim, wrapped(c, flat, x.shape[dim]), source)


def put_rows(c: Context, x: Value, dim: int, index: Value, source: Value) -> Value:
    if not source.type.size:
        return x
    flat = wrapped(c, c.f.reshape(index, (index.type.size,)), x.shape[dim])
    windows = [d for d in range(x.rank) if d != dim]
    return c.f.scatter(
        x, flat, source, windows, [dim], [dim], 1, lambda pair: [pair[1]]
    )


@lowers("aten.index_copy")
def index_copy(c: Context, x: Value, dim: int, index: Value, source: Value) -> Value:
    if not x.rank:
        return c.f.reshape(source, ())
    return put_rows(c, x, c.dim(dim, x.rank), index, source)


@lowers("aten.index_fill")
def index_fill(
    c: Context, x: Value, dim: int, index: Value, value: Value | Number
) -> Value:
    fill = c.cast(value, x.element)
    if not x.rank:
        return c.f.reshape(fill, ()) if index.type.size else x
    dim = c.dim(dim, x.rank)
    shape = [index.type.size if d == dim else n for d, n in enumerate(x.shape)]
    return put_rows(c, x, dim, index, c.expand(fill, shape))


@lowers("aten.take")
def take_flat(c: Context, x: Value, index: Value) -> Value:
    flat = c.f.reshape(x, (x.type.size,))
    return take_rows(c, flat, 0, wrapped(c, index, x.type.size))


@lowers("aten.put")
def put(
    c: Context, x: Value, index: Value, source: Value, accumulate: bool = False
) -> Value:
    flat = c.f.reshape(x, (x.type.size,))
    places = wrapped(c, c.f.reshape(index, (index.type.size,)), x.type.size)
    values = c.f.reshape(source, (source.type.size,))
    if accumulate:
        put = add_rows(c, flat, 0, places, values)
    else:
        put = put_rows(c, flat, 0, places, values)
    return c.f.reshape(put, x.shape)


@lowers("aten.masked_scatter")
def masked_scatter(c: Context, x: Value, mask: Value, source: Value) -> Value:
    """The n-th element of the mask takes the n-th element of the source."""
    spread_mask, base = c.broadcast(mask, x)
    if not base.type.size:
        return base
    flat = c.convert(c.f.reshape(spread_mask, (base.type.size,)), "i64")

    def body(values: list[Value]) -> list[Value]:
        return [c.f.binary("add", values[0], values[1])]

    (count,) = cumulate(c, [flat], [0], 0, body)
    place = (Term(c, count) - 1).max(0).v
    values = take_rows(c, c.f.reshape(source, (source.type.size,)), 0, place)
    return c.f.select(spread_mask, c.f.reshape(values, base.shape), base)


_REDUCTIONS = {
    "sum": "add",
    "mean": "add",
    "prod": "multiply",
    "amax": "maximum",
    "amin": "minimum",
}


@lowers("aten.scatter_reduce.two", "aten.index_reduce")
def scatter_reduce(
    c: Context,
    x: Value,
    dim: int,
    index: Value,
    source: Value,
    reduce: str,
    *,
    include_self: bool = True,
) -> Value:
    if not index.type.size or not source.type.size:
        return x
    if not x.rank:
        flat = [c.f.reshape(v, (1,)) for v in (x, index, source)]
        total = scatter_reduce(
            c, flat[0], 0, flat[1], flat[2], reduce, include_self=include_self
        )
        return c.f.reshape(total, ())
    dim = c.dim(dim, x.rank)
    if c.name.startswith("aten.index_reduce"):
        index = c.f.broadcast_in_dim(index, source.shape, [dim])
    source = c.f.slice(source, [0] * source.rank, index.shape)
    parts = []
    for d in range(x.rank):
        part = index if d == dim else c.f.iota(index.type, d)
        parts.append(c.f.reshape(part, (*index.shape, 1)))
    places = c.f.concatenate(parts, index.rank)
    dims = list(range(x.rank))

    def put(base: Value, values: Value, name: str) -> Value:
        return c.f.scatter(
            base,
            places,
            values,
            [],
            dims,
            dims,
            index.rank,
            lambda pair: [c.f.binary(name, pair[0], pair[1])],
        )

    name = _REDUCTIONS.get(reduce, reduce)
    start = x
    nowhere, there = c.constant(False, "i1", x.shape), c.constant(True, "i1", index.shape)
    touched = put(nowhere, there, "or")
    if not include_self:
        neutral: Number | None = {"add": 0, "multiply": 1}.get(name)
        if neutral is None:
            neutral = (lowest if name == "maximum" else highest)(x.element)
        start = c.f.select(touched, c.like(neutral, x), x)
    total = put(start, source, name)
    if reduce == "mean":
        one = c.constant(1, x.element, index.shape)
        first = c.constant(1 if include_self else 0, x.element, x.shape)
        count = Term(c, put(first, one, "add")).max(1)
        t = Term(c, total)
        total = (t / count if is_float(x.element) else floor_quotient(t, count)).v
    return c.f.select(touched, total, x)


# Sorting.


def sorted_with_index(c: Context, x: Value, dim: int, is_descending: bool) -> list[Value]:
    """Sorts along a dimension, stably. A NaN is the greatest."""
    if not x.rank:
        return [x, c.constant(0, "i64")]
    dim = c.dim(dim, x.rank)
    index = c.f.iota(x.type.with_element("i64"), dim)

    def is_first(pairs: list[Value]) -> Value:
        a, b = Term(c, pairs[0]), Term(c, pairs[1])
        if is_descending:
            return before(a, b, True).v
        if is_float(x.element):
            return ((a < b) | (b.is_nan() & ~a.is_nan())).v
        return (a < b).v

    return c.f.sort([x, index], dim, is_first)


@lowers("aten.sort.default")
def sort(c: Context, x: Value, dim: int = -1, descending: bool = False) -> list[Value]:
    return sorted_with_index(c, x, dim, descending)


@lowers("aten.sort.stable")
def sort_stable(
    c: Context,
    x: Value,
    *,
    stable: bool | None = None,
    dim: int = -1,
    descending: bool = False,
) -> list[Value]:
    return sorted_with_index(c, x, dim, descending)


@lowers("aten.argsort")
def argsort(c: Context, x: Value, dim: int = -1, descending: bool = False) -> Value:
    return sorted_with_index(c, x, dim, descending)[1]


@lowers("aten.topk")
def topk(
    c: Context, x: Value, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> list[Value]:
    if not x.rank:
        return [x, c.constant(0, "i64")]
    dim = c.dim(dim, x.rank)
    if largest and is_float(x.element) and 0 < k <= MOST and x.shape[dim] <= MOST**2:
        return greatest_few(c.f, x, dim, k)
    return [take(c, v, dim, 0, k) for v in sorted_with_index(c, x, dim, largest)]


def at_place(
    c: Context, x: Value, k: int, dim: int, keepdim: bool
) -> list[Value]:
    """The k-th smallest value along a dimension, from 0, and its index."""
    if not x.rank:
        return [x, c.constant(0, "i64")]
    dim = c.dim(dim, x.rank)
    parts = [take(c, v, dim, k, k + 1) for v in sorted_with_index(c, x, dim, False)]
    shape = [n for d, n in enumerate(x.shape) if d != dim]
    return parts if keepdim else [c.f.reshape(v, shape) for v in parts]


@lowers("aten.kthvalue")
def kthvalue(
    c: Context, x: Value, k: int, dim: int = -1, keepdim: bool = False
) -> list[Value]:
    return at_place(c, x, k - 1, dim, keepdim)


@lowers("aten.median.dim")
def median_dim(c: Context, x: Value, dim: int, keepdim: bool = False) -> list[Value]:
    """The lower median. With a NaN among the values, it is that."""
    if not x.rank:
        return [x, c.constant(0, "i64")]
    dim = c.dim(dim, x.rank)
    values = at_place(c, x, (x.shape[dim] - 1) // 2, dim, keepdim)
    if not is_float(x.element):
        return values
    last = at_place(c, x, x.shape[dim] - 1, dim, keepdim)
    is_nan = Term(c, last[0]).is_nan()
    return [is_nan.select(Term(c, a), Term(c, b)).v for a, b in zip(last, values)]


@lowers("aten.median.default")
def median(c: Context, x: Value) -> Value:
    if not x.type.size:  # a NaN, converted
        none = True if x.element == "i1" else lowest(x.element)
        return c.constant(math.nan if is_float(x.element) else none, x.element)
    return median_dim(c, c.f.reshape(x, (x.type.size,)), 0)[0]


@lowers("aten.isin")
def isin(
    c: Context,
    x: Value | Number,
    values: Value | Number,
    *,
    assume_unique: bool = False,
    invert: bool = False,
) -> Value:
    element = c.promote(x, values)
    a, b = c.cast(x, element), c.cast(values, element)
    flat = c.f.reshape(b, (b.type.size,))
    shape = (*a.shape, b.type.size)
    s = Term(c, c.f.broadcast_in_dim(a, shape, range(a.rank)))
    t = Term(c, c.f.broadcast_in_dim(flat, shape, [a.rank]))
    found = c.f.reduce_by("or", s.equals(t).v, c.constant(False, "i1"), [a.rank])
    return c.f.unary("not", found) if invert else found


@lowers("aten.searchsorted", "aten.bucketize")
def searchsorted(
    c: Context,
    first: Value | Number,
    second: Value | Number,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Value | None = None,
) -> Value:
    """Counts the limits that are below each value."""
    if sorter is not None:
        c.error("sorter is not supported; sort the limits first")
    element = c.promote(first, second)
    pair = c.cast(first, element), c.cast(second, element)
    limits, values = pair if "searchsorted" in c.name else pair[::-1]
    shape = (*values.shape, limits.shape[-1])
    outer = [*range(limits.rank - 1), len(shape) - 1]
    a = Term(c, c.f.broadcast_in_dim(limits, shape, outer))
    b = Term(c, c.f.broadcast_in_dim(values, shape, range(values.rank)))
    below = (a <= b if right or side == "right" else a < b).to("i64")
    zero = c.constant(0, "i64")
    total = c.f.reduce_by("add", below.v, zero, [len(shape) - 1])
    return c.convert(total, c.result.element)
