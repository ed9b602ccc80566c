# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that choose between elements, and questions about arrays."""

from __future__ import annotations

import math
from typing import Any

from .._stablehlo import FLOATS
from ._context import Trace, trace_error
from ._elementwise import as_bool
from ._registry import implements, np
from ._traced import Traced
from ._ufuncs import broadcast_shapes, common_type, convert, convert_value

_NONE = np._NoValue


@implements(np.where)
def _where(trace: Trace, condition: Any, x: Any = _NONE, y: Any = _NONE) -> Traced:
    if x is _NONE or y is _NONE:
        raise trace_error(
            "np.where with only a condition has a shape that depends on values, and "
            "programs have fixed shapes",
            "write np.where(condition, a, b)",
        )
    result = common_type([x, y], "np.where")
    trace.type_of(result, ())
    mask, a, b = trace.lift(condition), trace.lift(x), trace.lift(y)
    shape = broadcast_shapes([mask.shape, a.shape, b.shape], "np.where")
    f = trace.function
    chosen = f.select(
        f.broadcast(as_bool(f, mask._value), shape),
        f.broadcast(convert_value(trace, a._value, result), shape),
        f.broadcast(convert_value(trace, b._value, result), shape),
    )
    return trace.wrap(chosen, result)


@implements(np.select)
def _select(trace: Trace, condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not condlist:
        raise ValueError("select with an empty condition list is not possible")
    result = common_type([*choicelist, default], "np.select")
    chosen: Any = convert(trace.lift(default), result)
    for condition, choice in zip(reversed(condlist), reversed(choicelist)):
        if trace.lift(condition).dtype.kind != "b":
            raise TypeError("invalid entry in condlist: should be boolean ndarray")
        chosen = np.where(condition, convert(trace.lift(choice), result), chosen)
    shapes = [np.shape(v) for v in (*condlist, *choicelist, default)]
    return np.broadcast_to(chosen, broadcast_shapes(shapes, "np.select"))


@implements(np.clip)
def _clip(
    trace: Trace, a: Any, a_min: Any = None, a_max: Any = None, **kwargs: Any
) -> Any:
    a_min, a_max = kwargs.pop("min", a_min), kwargs.pop("max", a_max)
    dtype = kwargs.pop("dtype", None)
    if kwargs:
        raise TypeError(f"np.clip with {next(iter(kwargs))}= is not available")
    if a_min is None and a_max is None:
        raise ValueError("One of max or min must be given")
    bounds = [b for b in (a_min, a_max) if b is not None]
    result = np.dtype(dtype) if dtype is not None else common_type([a, *bounds], "np.clip")
    x = convert(trace.lift(a), result)
    if a_min is not None:
        x = np.maximum(x, convert(trace.lift(a_min), result))
    if a_max is not None:
        x = np.minimum(x, convert(trace.lift(a_max), result))
    return x


@implements(*(getattr(np, n) for n in ("around", "round", "round_") if hasattr(np, n)))
def _around(trace: Trace, a: Any, decimals: int = 0) -> Any:
    x = trace.lift(a)
    if x.dtype.kind == "b" and decimals != 0:
        x = convert(x, np.dtype(np.float64))
    if x.dtype.kind in "iu":
        if decimals >= 0:
            return x
        scale = 10.0 ** -decimals
        wide = np.rint(np.true_divide(x, scale, dtype=np.float64))
        return convert(np.multiply(wide, scale, dtype=np.float64), x.dtype)
    if decimals == 0:
        return np.rint(x)
    with np.errstate(all="ignore"):
        factor = x.dtype.type(10.0 ** abs(decimals))
    if decimals > 0:
        return np.divide(np.rint(np.multiply(x, factor)), factor)
    return np.multiply(np.rint(np.divide(x, factor)), factor)


@implements(np.fix)
def _fix(trace: Trace, x: Any) -> Any:
    return np.trunc(trace.lift(x))


@implements(np.nan_to_num)
def _nan_to_num(
    trace: Trace,
    x: Any,
    copy: bool = True,
    nan: Any = 0.0,
    posinf: Any = None,
    neginf: Any = None,
) -> Any:
    value = trace.lift(x)
    if not copy:
        raise trace_error("np.nan_to_num with copy=False writes into an array")
    if value.dtype.kind != "f":
        return value
    info = np.finfo(value.dtype)
    f = trace.function

    def fill(number: Any) -> Traced:
        lifted = trace.lift(number)
        return trace.wrap(
            f.broadcast(convert_value(trace, lifted._value, value.dtype), value.shape),
            value.dtype,
        )

    made = np.where(np.isnan(value), fill(nan), value)
    up = fill(info.max if posinf is None else posinf)
    down = fill(info.min if neginf is None else neginf)
    made = np.where(np.equal(value, value.dtype.type(math.inf)), up, made)
    return np.where(np.equal(value, value.dtype.type(-math.inf)), down, made)


@implements(np.isclose)
def _isclose(
    trace: Trace,
    a: Any,
    b: Any,
    rtol: Any = 1e-5,
    atol: Any = 1e-8,
    equal_nan: bool = False,
) -> Any:
    x, y = trace.lift(a), trace.lift(b)
    wide = np.result_type(y.dtype, np.float64 if y.dtype.kind != "f" else y.dtype)
    shape = broadcast_shapes([x.shape, y.shape], "np.isclose")
    y = np.broadcast_to(convert(y, wide), shape)
    limit = np.add(atol, np.multiply(rtol, np.abs(y)))
    near = np.less_equal(np.abs(np.subtract(x, y)), limit)
    finite = np.logical_and(np.isfinite(x), np.isfinite(y))
    close = np.where(finite, near, np.equal(x, y))
    if equal_nan:
        both = np.logical_and(np.isnan(x), np.isnan(y))
        close = np.logical_or(close, both)
    return close


@implements(np.allclose)
def _allclose(
    trace: Trace,
    a: Any,
    b: Any,
    rtol: Any = 1e-5,
    atol: Any = 1e-8,
    equal_nan: bool = False,
) -> Any:
    return np.all(_isclose(trace, a, b, rtol, atol, equal_nan))


@implements(np.array_equal)
def _array_equal(trace: Trace, a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    x, y = trace.lift(a1), trace.lift(a2)
    if x.shape != y.shape:
        return False
    same = np.equal(x, y)
    if equal_nan and x.dtype.kind == "f" and y.dtype.kind == "f":
        both = np.logical_and(np.isnan(x), np.isnan(y))
        same = np.logical_or(same, both)
    return np.all(same)


@implements(np.isposinf)
def _isposinf(trace: Trace, x: Any) -> Any:
    return _is_infinite(trace, x, math.inf)


@implements(np.isneginf)
def _isneginf(trace: Trace, x: Any) -> Any:
    return _is_infinite(trace, x, -math.inf)


def _is_infinite(trace: Trace, x: Any, number: float) -> Any:
    value = trace.lift(x)
    if value._value.element not in FLOATS:
        return np.isinf(value)
    return np.equal(value, value.dtype.type(number))


@implements(np.result_type)
def _result_type(trace: Trace, *arrays_and_dtypes: Any) -> Any:
    return common_type(arrays_and_dtypes, "np.result_type")


@implements(np.iscomplexobj)
def _iscomplexobj(trace: Trace, x: Any) -> bool:
    return False


@implements(np.isrealobj)
def _isrealobj(trace: Trace, x: Any) -> bool:
    return True


@implements(np.real)
def _real(trace: Trace, val: Any) -> Traced:
    return trace.lift(val)


@implements(np.imag)
def _imag(trace: Trace, val: Any) -> Any:
    return np.zeros_like(trace.lift(val))
