# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sorting."""

from __future__ import annotations

import math
from typing import Any

from .._stablehlo import FLOATS, Value
from ._context import Trace
from ._elementwise import is_nan
from ._registry import axis_index, axis_indices, implements, np
from ._shapes import index_along
from ._traced import Traced
from ._ufuncs import convert


def _comes_first(trace: Trace, x: Value, y: Value) -> Value:
    """The order of NumPy: NaNs are last."""
    f = trace.function
    if x.element == "i1":
        return f.binary("and", f.unary("not", x), y)
    less = f.compare("LT", x, y)
    if x.element in FLOATS:
        only_y = f.binary("and", is_nan(f, y), f.unary("not", is_nan(f, x)))
        less = f.binary("or", less, only_y)
    return less


def _along(trace: Trace, a: Any, axis: Any) -> tuple[Traced, int]:
    x = trace.lift(a)
    if axis is None:
        return x.reshape(x.size), 0
    if x.ndim == 0:
        raise ValueError(f"axis {axis} is out of bounds for array of dimension 0")
    return x, axis_index(axis, x.ndim)


@implements(np.sort)
def _sort(
    trace: Trace, a: Any, axis: Any = -1, kind: Any = None, order: Any = None
) -> Traced:
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")
    x, d = _along(trace, a, axis)
    if x.shape[d] < 2:
        return x
    (value,) = trace.function.sort(
        [x._value], d, lambda pair: _comes_first(trace, pair[0], pair[1])
    )
    return trace.wrap(value, x.dtype)


@implements(np.argsort)
def _argsort(
    trace: Trace, a: Any, axis: Any = -1, kind: Any = None, order: Any = None
) -> Traced:
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")
    x, d = _along(trace, a, axis)
    f = trace.function
    places = f.iota(x._value.type.with_element("i64"), d)
    _, value = f.sort(
        [x._value, places], d, lambda pairs: _comes_first(trace, pairs[0], pairs[1])
    )
    return trace.wrap(value, np.dtype(np.intp))


@implements(np.median)
def _median(
    trace: Trace,
    a: Any,
    axis: Any = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Any:
    x = trace.lift(a)
    axes = axis_indices(axis, x.ndim)
    kept = [1 if d in axes else n for d, n in enumerate(x.shape)]
    rest = [d for d in range(x.ndim) if d not in axes]
    outer = [x.shape[d] for d in rest]
    moved = np.transpose(x, [*rest, *axes])
    n = math.prod(x.shape[d] for d in axes)
    flat = moved.reshape([*outer, n])
    ordered = _sort(trace, flat)
    d = len(outer)
    # The mean of no elements is a NaN.
    middle = index_along(ordered, d, slice((n - 1) // 2, n // 2 + 1)) if n else ordered
    found = np.mean(middle, axis=-1)
    if x.dtype.kind == "f" and n:
        last = index_along(ordered, d, n - 1)
        found = np.where(np.isnan(last), last, found)
    return found.reshape(kept) if keepdims else found


@implements(np.searchsorted)
def _searchsorted(
    trace: Trace, a: Any, v: Any, side: str = "left", sorter: Any = None
) -> Any:
    if side not in ("left", "right") or sorter is not None:
        raise ValueError("np.searchsorted is available with side 'left' or 'right' only")
    x, value = trace.lift(a), trace.lift(v)
    if x.ndim != 1:
        raise ValueError("object too deep for desired array")
    wanted = value.reshape((*value.shape, 1))
    before = np.less(x, wanted) if side == "left" else np.less_equal(x, wanted)
    if value.dtype.kind == "f":
        # A NaN comes after all numbers.
        is_last = np.logical_not(np.isnan(x)) if side == "left" else True
        before = np.where(np.isnan(wanted), is_last, before)
    return np.sum(before, axis=-1, dtype=np.intp)
