# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions and cumulative functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy

from .._stablehlo import FLOATS, Value
from ._context import Trace, trace_error
from ._elements import DType, element_of
from ._elementwise import as_bool, is_nan
from ._registry import axis_index, axis_indices, implements, np
from ._traced import Traced
from ._ufuncs import convert, convert_value

_NONE = np._NoValue

# Operations of StableHLO that combine two elements; those of bool come second.
_COMBINE = {
    "add": ("add", "or"),
    "multiply": ("multiply", "and"),
    "maximum": ("maximum", "or"),
    "minimum": ("minimum", "and"),
    "fmax": ("maximum", "or"),
    "fmin": ("minimum", "and"),
    "logical_and": ("and", "and"),
    "logical_or": ("or", "or"),
    "logical_xor": ("xor", "xor"),
    "bitwise_and": ("and", "and"),
    "bitwise_or": ("or", "or"),
    "bitwise_xor": ("xor", "xor"),
}
_WITHOUT_IDENTITY = ("maximum", "minimum", "fmax", "fmin")


def _identity(name: str, dtype: DType) -> Any:
    """The value that changes no other one when it is combined."""
    if name in ("multiply", "logical_and"):
        return 1
    if name in ("maximum", "fmax", "minimum", "fmin"):
        is_max = name in ("maximum", "fmax")
        if dtype.kind == "f":
            return -math.inf if is_max else math.inf
        if dtype.kind == "b":
            return not is_max
        return np.iinfo(dtype).min if is_max else np.iinfo(dtype).max
    if name == "bitwise_and":
        if dtype.kind == "b":
            return True
        return np.iinfo(dtype).max if dtype.kind == "u" else -1
    return 0


def _kept(shape: Sequence[int], axes: Sequence[int]) -> tuple[int, ...]:
    return tuple(1 if d in axes else n for d, n in enumerate(shape))


def _mask(trace: Trace, where: Any, shape: tuple[int, ...]) -> Value | None:
    """Returns the elements that count, or None for all of them."""
    if where is True or where is _NONE:
        return None
    mask = trace.lift(where)
    if mask.dtype.kind != "b":
        raise trace_error(f"where= must have elements of bool, got {mask.dtype}")
    return trace.function.broadcast(mask._value, shape)


def reduce_ufunc(
    trace: Trace,
    ufunc: numpy.ufunc,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    keepdims: Any = False,
    initial: Any = _NONE,
    where: Any = True,
) -> Traced:
    """ufunc.reduce(array, ...)."""
    x = trace.lift(array)
    name = ufunc.__name__
    if name not in _COMBINE or getattr(np, name, None) is not ufunc:
        raise trace_error(f"np.{name}.reduce is not available in traced functions")
    f = trace.function
    axes = axis_indices(axis, x.ndim)
    kept = _kept(x.shape, axes)
    # NumPy knows the type of its sums.
    example = ufunc.reduce(np.ones((1,), x.dtype), dtype=dtype)
    result = np.asarray(example).dtype
    trace.type_of(result, ())
    if name in _WITHOUT_IDENTITY and (initial is _NONE or initial is None):
        if any(x.shape[d] == 0 for d in axes):
            raise trace_error(
                f"zero-size array to reduction operation {name} which has no identity"
            )
        if where is not True:
            raise trace_error(
                f"reduction operation '{name}' does not have an identity, so to use a "
                "where mask one has to specify 'initial'"
            )
    if name.startswith("logical"):
        value = as_bool(f, x._value)
    else:
        value = convert_value(trace, x._value, result)
        # NumPy adds up f16 in f32 as far as it can.
        if value.element == "f16" and name in ("add", "multiply"):
            value = f.convert(value, "f32")
    identity = _identity(name, result)
    if name in ("fmax", "fmin") and value.element in FLOATS:
        value = _reduce_ignoring_nan(trace, value, name, identity, axes, where)
    else:
        mask = _mask(trace, where, x.shape)
        if mask is not None:
            value = f.select(mask, value, f.constant(identity, value.element, x.shape))
        combine = _COMBINE[name][1 if value.element == "i1" else 0]
        value = f.reduce_by(combine, value, f.constant(identity, value.element), axes)
    value = convert_value(trace, value, result)
    if keepdims is True or (keepdims is not _NONE and keepdims):
        value = f.reshape(value, kept)
    reduced = Traced(trace, value, result)
    if initial is not _NONE and initial is not None:
        reduced = convert(ufunc(reduced, result.type(initial)), result)
    return reduced


def _reduce_ignoring_nan(
    trace: Trace, x: Value, name: str, identity: Any, axes: Sequence[int], where: Any
) -> Value:
    f = trace.function
    unwanted = is_nan(f, x)
    mask = _mask(trace, where, x.shape)
    if mask is not None:
        unwanted = f.binary("or", unwanted, f.unary("not", mask))
    filled = f.select(unwanted, f.constant(identity, x.element, x.shape), x)
    found = f.reduce_by(_COMBINE[name][0], filled, f.constant(identity, x.element), axes)
    none = f.reduce_by("and", unwanted, f.constant(True, "i1"), axes)
    return f.select(none, f.constant(math.nan, x.element, found.shape), found)


def accumulate(
    trace: Trace, ufunc: numpy.ufunc, array: Any, axis: Any = 0, dtype: Any = None
) -> Traced:
    """ufunc.accumulate(array, ...)."""
    x = trace.lift(array)
    name = ufunc.__name__
    if name not in ("add", "multiply", "maximum", "minimum"):
        raise trace_error(f"np.{name}.accumulate is not available in traced functions")
    result = np.asarray(ufunc.accumulate(np.ones((1,), x.dtype), dtype=dtype)).dtype
    trace.type_of(result, ())
    if x.ndim == 0:
        raise trace_error(f"np.{name}.accumulate needs an array with dimensions")
    d = axis_index(axis, x.ndim)
    f, n = trace.function, x.shape[d]
    value = convert_value(trace, x._value, result)
    if value.type.size == 0:
        return Traced(trace, value, result)
    sizes, padding = [1] * x.ndim, [(0, 0)] * x.ndim
    sizes[d], padding[d] = n, (n - 1, 0)
    combine = _COMBINE[name][1 if value.element == "i1" else 0]
    start = f.constant(_identity(name, result), value.element)
    value = f.reduce_window(combine, value, start, sizes, [1] * x.ndim, padding)
    return Traced(trace, value, result)


def _reduction(ufunc: numpy.ufunc, *functions: Any) -> None:
    def handler(
        trace: Trace,
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        keepdims: Any = False,
        initial: Any = _NONE,
        where: Any = True,
    ) -> Traced:
        return reduce_ufunc(trace, ufunc, a, axis, dtype, keepdims, initial, where)

    implements(*functions)(handler)


_reduction(np.add, np.sum)
_reduction(np.multiply, np.prod)
_reduction(np.logical_and, np.all)
_reduction(np.logical_or, np.any)


@implements(np.amax, np.max)
def _max(
    trace: Trace,
    a: Any,
    axis: Any = None,
    keepdims: Any = False,
    initial: Any = _NONE,
    where: Any = True,
) -> Traced:
    return reduce_ufunc(trace, np.maximum, a, axis, None, keepdims, initial, where)


@implements(np.amin, np.min)
def _min(
    trace: Trace,
    a: Any,
    axis: Any = None,
    keepdims: Any = False,
    initial: Any = _NONE,
    where: Any = True,
) -> Traced:
    return reduce_ufunc(trace, np.minimum, a, axis, None, keepdims, initial, where)


@implements(np.nanmax)
def _nanmax(trace: Trace, a: Any, axis: Any = None, keepdims: Any = False) -> Traced:
    return reduce_ufunc(trace, np.fmax, a, axis, None, keepdims)


@implements(np.nanmin)
def _nanmin(trace: Trace, a: Any, axis: Any = None, keepdims: Any = False) -> Traced:
    return reduce_ufunc(trace, np.fmin, a, axis, None, keepdims)


@implements(np.nansum)
def _nansum(
    trace: Trace, a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False
) -> Traced:
    x = trace.lift(a)
    wanted = np.logical_not(np.isnan(x))
    return reduce_ufunc(trace, np.add, x, axis, dtype, keepdims, _NONE, wanted)


@implements(np.count_nonzero)
def _count_nonzero(
    trace: Trace, a: Any, axis: Any = None, *, keepdims: Any = False
) -> Traced:
    x = trace.lift(a)
    mask = trace.wrap(as_bool(trace.function, x._value))
    return reduce_ufunc(trace, np.add, mask, axis, np.intp, keepdims)


def _count(x: Traced, axis: Any, where: Any, keepdims: bool) -> Any:
    """Returns how many elements each element of a reduction combines."""
    if where is True or where is _NONE:
        return math.prod(x.shape[d] for d in axis_indices(axis, x.ndim))
    mask = np.broadcast_to(where, x.shape)
    return np.sum(mask, axis=axis, keepdims=keepdims)


def _wide(x: Traced, dtype: Any) -> tuple[DType, DType]:
    """Returns the types that means are computed in, and that they have."""
    if dtype is not None:
        result = np.dtype(dtype)
    elif x.dtype.kind in "iub":
        result = np.dtype(np.float64)
    else:
        result = x.dtype
    if element_of(result) == "f16":
        return np.dtype(np.float32), result
    return result, result


@implements(np.mean)
def _mean(
    trace: Trace,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    keepdims: Any = False,
    *,
    where: Any = True,
) -> Traced:
    x = trace.lift(a)
    keep = keepdims is not _NONE and bool(keepdims)
    wide, result = _wide(x, dtype)
    total = reduce_ufunc(trace, np.add, x, axis, wide, keep, _NONE, where)
    return convert(_divide(total, _count(x, axis, where, keep)), result)


def _divide(total: Traced, count: Any) -> Traced:
    if isinstance(count, Traced):
        count = convert(count, total.dtype)
    else:
        count = np.asarray(count).astype(total.dtype)
    quotient: Traced = np.divide(total, count)
    return convert(quotient, total.dtype)


@implements(np.var)
def _var(
    trace: Trace,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = True,
) -> Traced:
    x = trace.lift(a)
    keep = keepdims is not _NONE and bool(keepdims)
    wide, result = _wide(x, dtype)
    x = convert(x, wide)
    total = reduce_ufunc(trace, np.add, x, axis, wide, True, _NONE, where)
    mean = _divide(total, _count(x, axis, where, True))
    gap = np.subtract(x, mean)
    squares = reduce_ufunc(trace, np.add, np.square(gap), axis, wide, keep, _NONE, where)
    count = _count(x, axis, where, keep)
    limit: Any = np.maximum if isinstance(count, Traced) else max
    count = limit(count - ddof, 0)
    return convert(_divide(squares, count), result)


@implements(np.std)
def _std(trace: Trace, *args: Any, **kwargs: Any) -> Traced:
    root: Traced = np.sqrt(_var(trace, *args, **kwargs))
    return root


@implements(np.average)
def _average(
    trace: Trace,
    a: Any,
    axis: Any = None,
    weights: Any = None,
    returned: bool = False,
    *,
    keepdims: Any = False,
) -> Any:
    x = trace.lift(a)
    if weights is None:
        mean = _mean(trace, x, axis, keepdims=keepdims)
        return (mean, np.full_like(mean, x.size / max(mean.size, 1))) if returned else mean
    w = trace.lift(weights)
    if w.shape != x.shape:
        d = axis_index(axis, x.ndim)
        if w.ndim != 1 or w.shape[0] != x.shape[d]:
            raise trace_error(
                f"np.average: weights have shape {w.shape}, expected {x.shape} or "
                f"({x.shape[d]},)"
            )
        shape = tuple(x.shape[d] if i == d else 1 for i in range(x.ndim))
        w = np.broadcast_to(w.reshape(shape), x.shape)
    kind = np.result_type(x.dtype, w.dtype)
    if x.dtype.kind in "iub":
        kind = np.result_type(x.dtype, w.dtype, "f8")
    scale = np.sum(w, axis=axis, dtype=kind, keepdims=keepdims)
    total = np.sum(np.multiply(x, w, dtype=kind), axis=axis, keepdims=keepdims)
    mean = np.divide(total, scale)
    return (mean, scale) if returned else mean


@implements(np.ptp)
def _ptp(trace: Trace, a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    return np.subtract(
        _max(trace, a, axis, keepdims), _min(trace, a, axis, keepdims)
    )


@implements(np.cumsum)
def _cumsum(trace: Trace, a: Any, axis: Any = None, dtype: Any = None) -> Traced:
    return _cumulate(trace, np.add, a, axis, dtype)


@implements(np.cumprod)
def _cumprod(trace: Trace, a: Any, axis: Any = None, dtype: Any = None) -> Traced:
    return _cumulate(trace, np.multiply, a, axis, dtype)


def _cumulate(trace: Trace, ufunc: numpy.ufunc, a: Any, axis: Any, dtype: Any) -> Traced:
    x = trace.lift(a)
    if axis is None:
        x, axis = x.reshape(-1), 0
    return accumulate(trace, ufunc, x, axis, dtype)


@implements(np.argmax)
def _argmax(trace: Trace, a: Any, axis: Any = None, *, keepdims: Any = False) -> Traced:
    return _arg_extreme(trace, a, axis, keepdims, "argmax")


@implements(np.argmin)
def _argmin(trace: Trace, a: Any, axis: Any = None, *, keepdims: Any = False) -> Traced:
    return _arg_extreme(trace, a, axis, keepdims, "argmin")


def _arg_extreme(trace: Trace, a: Any, axis: Any, keepdims: Any, name: str) -> Traced:
    """The first position of the largest or smallest element; a NaN wins."""
    original = trace.lift(a)
    f, x = trace.function, original
    if axis is None:
        x, d = x.reshape(-1), 0
    else:
        d = axis_index(axis, x.ndim)
    if x.shape[d] == 0:
        raise trace_error(f"attempt to get {name} of an empty sequence")
    if x.dtype.kind == "b":
        x = convert(x, np.dtype(np.int8))
    direction = "GT" if name == "argmax" else "LT"
    worst = _identity("maximum" if name == "argmax" else "minimum", x.dtype)
    places = f.iota(x._value.type.with_element("i64"), d)

    def body(v: list[Value]) -> list[Value]:
        best, at, new, new_at = v
        wins = f.compare(direction, new, best)
        ties = f.compare("EQ", new, best)
        if best.element in FLOATS:
            best_nan, new_nan = is_nan(f, best), is_nan(f, new)
            only_new = f.binary("and", new_nan, f.unary("not", best_nan))
            wins = f.binary("or", wins, only_new)
            ties = f.binary("or", ties, f.binary("and", best_nan, new_nan))
        is_first = f.compare("LT", new_at, at)
        take = f.binary("or", wins, f.binary("and", ties, is_first))
        return [f.select(take, new, best), f.select(take, new_at, at)]

    starts = [f.constant(worst, x._value.element), f.constant(2**63 - 1, "i64")]
    _, found = f.reduce([x._value, places], starts, [d], body)
    if keepdims is not _NONE and keepdims:
        kept = (1,) * original.ndim if axis is None else _kept(x.shape, [d])
        found = f.reshape(found, kept)
    return Traced(trace, found, np.dtype(np.intp))


@implements(np.diff)
def _diff(trace: Trace, a: Any, n: int = 1, axis: int = -1) -> Traced:
    x = trace.lift(a)
    d = axis_index(axis, x.ndim)
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    for _ in range(n):
        after = x[(slice(None),) * d + (slice(1, None),)]
        before = x[(slice(None),) * d + (slice(None, -1),)]
        ufunc = np.not_equal if x.dtype.kind == "b" else np.subtract
        x = ufunc(after, before)
    return x
