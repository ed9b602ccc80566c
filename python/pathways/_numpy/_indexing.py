# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Indexing of traced values, by what is known and by traced integers.

A program cannot fail for an index that is out of range: such an index that is traced
reads the nearest element.
"""

from __future__ import annotations

import operator
from typing import Any

from .._stablehlo import Value
from ._context import Trace, trace_error
from ._registry import axis_index, implements, np
from ._traced import Traced
from ._ufuncs import broadcast_shapes


def get_item(trace: Trace, x: Traced, index: Any) -> Traced:
    """x[index]."""
    trace.check(x)
    items = _expand(trace, x, index if isinstance(index, tuple) else (index,))
    is_advanced = any(isinstance(i, (np.ndarray, Traced)) for i in items)
    if not is_advanced:
        return _basic(trace, x, items)
    return _advanced(trace, x, items)


def _expand(trace: Trace, x: Traced, index: tuple[Any, ...]) -> list[Any]:
    """Returns an index with an item for each dimension, besides None: integers, slices,
    arrays of integers. Masks become arrays."""
    items: list[Any] = []
    for item in index:
        if item is None or item is Ellipsis or isinstance(item, slice):
            items.append(item)
        elif isinstance(item, Traced):
            items.append(_checked_traced(item))
        elif isinstance(item, (bool, np.bool_)):
            raise trace_error("an index of bool is not available: use np.where")
        elif isinstance(item, (list, np.ndarray)):
            array = trace.as_array(item)
            if array.size == 0 and isinstance(item, list):
                array = array.astype(np.intp)
            items.extend(_masks(x, array, items))
        else:
            try:
                items.append(operator.index(item))
            except TypeError:
                raise trace_error(
                    f"an index of {type(item).__name__} is not available, only integers, "
                    "slices, '...', None and arrays of integers or bool"
                ) from None
    count = sum(i is not None and i is not Ellipsis for i in items)
    if sum(i is Ellipsis for i in items) > 1:
        raise trace_error("an index can only have a single ellipsis ('...')")
    if count > x.ndim:
        raise trace_error(
            f"too many indices for array: array is {x.ndim}-dimensional, but {count} were "
            "indexed"
        )
    at = next((n for n, i in enumerate(items) if i is Ellipsis), len(items))
    rest: list[Any] = [slice(None)] * (x.ndim - count)
    return items[:at] + rest + items[at + 1 :]


def _checked_traced(item: Traced) -> Traced:
    if item.dtype.kind == "b":
        raise trace_error(
            "the shape of x[mask] depends on the values of the mask, and programs have "
            "fixed shapes",
            "write np.where(mask, x, other)",
        )
    if item.dtype.kind not in "iu":
        raise trace_error(f"arrays used as indices must be of integers, got {item.dtype}")
    return item


def _masks(x: Traced, array: Any, before: list[Any]) -> list[Any]:
    if array.dtype.kind == "b":
        d = sum(i is not None and i is not Ellipsis for i in before)
        if Ellipsis in [i for i in before if i is Ellipsis]:
            d = -array.ndim
            sizes = x.shape[x.ndim - array.ndim :]
        else:
            sizes = x.shape[d : d + array.ndim]
        if sizes != array.shape:
            raise trace_error(
                f"a mask of shape {array.shape} does not fit dimensions of {sizes}"
            )
        return list(np.nonzero(array))
    if array.dtype.kind not in "iu":
        raise trace_error(f"arrays used as indices must be of integers, got {array.dtype}")
    return [array]


def _basic(trace: Trace, x: Traced, items: list[Any]) -> Traced:
    """An index of integers, slices and None."""
    starts, limits, strides, turned, shape = [], [], [], [], []
    d = 0
    for item in items:
        if item is None:
            shape.append(1)
            continue
        n = x.shape[d]
        if isinstance(item, slice):
            start, count, step = _range(item, n)
            if step < 0:
                turned.append(d)
                start, step = start + (count - 1) * step, -step
            if count == 0:
                start = 0
            shape.append(count)
        else:
            if not -n <= item < n:
                raise trace_error(
                    f"index {item} is out of bounds for axis {d} with size {n}"
                )
            start, count, step = item % n, 1, 1
        starts.append(start)
        limits.append(start + (count - 1) * step + 1 if count else start)
        strides.append(step)
        d += 1
    f = trace.function
    value = f.slice(x._value, starts, limits, strides)
    if turned:
        value = f.reverse(value, turned)
    return trace.wrap(f.reshape(value, shape), x.dtype)


def _range(item: slice, n: int) -> tuple[int, int, int]:
    for part in (item.start, item.stop, item.step):
        if isinstance(part, Traced):
            raise trace_error(
                "the bounds of a slice decide its shape, and must be known, not traced",
                "for a slice of fixed length use np.take(x, start + np.arange(length))",
            )
    try:
        start, stop, step = item.indices(n)
    except (TypeError, ValueError) as error:
        raise trace_error(str(error)) from None
    return start, len(range(start, stop, step)), step


def _advanced(trace: Trace, x: Traced, items: list[Any]) -> Traced:
    """An index with arrays of integers. Integers beside them are arrays as well."""
    # Slices and None first. They leave the dimension of each array.
    base = _basic(trace, x, [slice(None) if _is_array(i) else i for i in items])
    arrays = [(d, item) for d, item in enumerate(items) if _is_array(item)]
    dims = [d for d, _ in arrays]
    shape = broadcast_shapes([np.shape(a) for _, a in arrays], "an index of arrays")
    f = trace.function
    parts = []
    for d, array in arrays:
        value = f.broadcast(_positions(trace, array, base.shape[d], d), shape)
        parts.append(f.reshape(value, (*shape, 1)))
    indices = f.concatenate(parts, len(shape))
    # The new dimensions are where the arrays are if they stand together, else in front.
    together = dims == list(range(dims[0], dims[0] + len(dims)))
    front = dims[0] if together else 0
    rest = [n for d, n in enumerate(base.shape) if d not in dims]
    result = (*rest[:front], *shape, *rest[front:])
    if base.size == 0:
        return _nothing(trace, x, result)
    offsets = [d for d in range(len(result)) if not front <= d < front + len(shape)]
    value = f.gather(
        base._value,
        indices,
        base._value.type.with_shape(result),
        offset_dims=offsets,
        collapsed=dims,
        start_index_map=dims,
        index_vector_dim=len(shape),
        sizes=[1 if d in dims else n for d, n in enumerate(base.shape)],
    )
    return trace.wrap(value, x.dtype)


def _nothing(trace: Trace, x: Traced, shape: tuple[int, ...]) -> Traced:
    """What is read of an array without elements: nothing."""
    if 0 not in shape:
        raise trace_error(f"an array of shape {x.shape} has no element to index")
    return trace.wrap(trace.constant(np.zeros(shape, x.dtype)), x.dtype)


def _is_array(item: Any) -> bool:
    return isinstance(item, (int, np.ndarray, Traced))


def _positions(trace: Trace, index: Any, n: int, d: int) -> Value:
    """Returns indices of i64 that count from the front."""
    f = trace.function
    if not isinstance(index, Traced):
        array = np.asarray(index).astype(np.int64)
        wrong = (array < -n) | (array >= n)
        if wrong.any():
            first = array[wrong].reshape(-1)[0]
            raise trace_error(f"index {first} is out of bounds for axis {d} with size {n}")
        return trace.constant(np.where(array < 0, array + n, array))
    value = f.convert(index._value, "i64")
    if index.dtype.kind == "u":
        return value
    zero = f.constant(0, "i64", value.shape)
    behind = f.binary("add", value, f.constant(n, "i64", value.shape))
    return f.select(f.compare("LT", value, zero), behind, value)


@implements(np.take)
def _take(
    trace: Trace, a: Any, indices: Any, axis: int | None = None, mode: str = "raise"
) -> Traced:
    x = trace.lift(a)
    if axis is None:
        x, axis = x.reshape(x.size), 0
    d = axis_index(axis, x.ndim)
    n = x.shape[d]
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"mode must be 'clip', 'raise' or 'wrap', got {mode!r}")
    index: Any = indices if isinstance(indices, Traced) else trace.as_array(indices)
    if index.dtype.kind not in "iu":
        raise TypeError(f"indices of np.take must be integers, got {index.dtype}")
    if mode != "raise" and n == 0 and index.size:
        raise IndexError("cannot do a non-empty take from an empty axes.")
    if mode == "wrap":
        index = np.remainder(index.astype(np.int64), n)
    elif mode == "clip":
        index = np.clip(index.astype(np.int64), 0, n - 1)
    return get_item(trace, x, (*[slice(None)] * d, index))


@implements(np.take_along_axis)
def _take_along_axis(trace: Trace, arr: Any, indices: Any, axis: int | None) -> Traced:
    x, index = trace.lift(arr), trace.lift(indices)
    if index.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if axis is None:
        x, axis = x.reshape(x.size), 0
    if x.ndim != index.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    d = axis_index(axis, x.ndim)
    shapes = [
        tuple(1 if e == d else n for e, n in enumerate(s)) for s in (x.shape, index.shape)
    ]
    outer = broadcast_shapes(shapes, "np.take_along_axis")
    f = trace.function
    size, count = x.shape[d], index.shape[d]
    source = f.broadcast(x._value, [size if e == d else n for e, n in enumerate(outer)])
    known = index if isinstance(indices, Traced) else trace.as_array(indices)
    place = _positions(trace, known, size, d)
    place = f.broadcast(place, [count if e == d else n for e, n in enumerate(outer)])
    if source.type.size == 0:
        return _nothing(trace, x, place.shape)
    others = [e for e in range(x.ndim) if e != d]
    value = f.gather(
        source,
        f.reshape(place, (*place.shape, 1)),
        source.type.with_shape(place.shape),
        offset_dims=[],
        collapsed=[d],
        start_index_map=[d],
        index_vector_dim=x.ndim,
        sizes=[1] * x.ndim,
        batch=(others, others),
    )
    return trace.wrap(value, x.dtype)
