# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of ufuncs on traced values, with the types that NumPy gives them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy

from .._stablehlo import Value
from ._context import Trace, trace_error
from ._elements import DType, element_of
from ._registry import np
from ._elementwise import ELEMENTWISE
from ._traced import Traced

# NumPy 2 looks only at the types of operands. Before, the values of operands without
# dimensions count as well.
_LOOKS_AT_VALUES = np.lib.NumpyVersion(np.__version__) < "2.0.0"

# Known loops, until there are too many: each number of Python has its own.
_types: dict[Any, tuple[DType, ...]] = {}
_MOST_TYPES = 10_000


def _probes(dtype: DType) -> list[Any]:
    """Returns values that stand for all values of a type: among them are some of each
    smallest type that has them."""
    if dtype.kind == "b":
        return [np.True_]
    if dtype.kind == "f":
        return [np.float64(v).astype(dtype) for v in (0.0, 65504.0, np.finfo(dtype).max)]
    info = np.iinfo(dtype)
    edges = {info.min, -1, 0, info.max}
    for bits in (8, 16, 32, 64):
        half = 2 ** (bits - 1)
        edges |= {-half - 1, -half, half - 1, half, 2 * half - 1, 2 * half}
    return [dtype.type(v) for v in sorted(edges) if info.min <= v <= info.max]


def _key(operand: Any) -> Any:
    if isinstance(operand, Traced):
        if operand._example is not None:
            return (operand.dtype, operand._example.tobytes())
        return (operand.dtype, operand.ndim == 0)
    if isinstance(operand, np.ndarray) and operand.ndim > 0:
        return (operand.dtype, False)
    if isinstance(operand, (np.ndarray, np.generic)):
        return (operand.dtype, operand.tobytes())
    return (type(operand), repr(operand))


def common_type(
    operands: Sequence[Any], what: str, ufunc: numpy.ufunc | None = None
) -> DType:
    """Returns np.result_type of the operands. That the value of a traced operand decides
    is an error, unless the results of `ufunc` are the same for all such types."""
    fixed: list[Any] = []
    traced: list[tuple[int, Traced]] = []
    has_dims = any(not isinstance(o, Traced) and np.ndim(o) > 0 for o in operands) or any(
        isinstance(o, Traced) and o.ndim > 0 for o in operands
    )
    for i, operand in enumerate(operands):
        if isinstance(operand, Traced):
            if operand._example is not None:
                fixed.append(operand._example)
                continue
            if operand.ndim == 0 and has_dims and _LOOKS_AT_VALUES:
                traced.append((i, operand))
            fixed.append(np.zeros((0,) * min(operand.ndim, 1), operand.dtype))
        elif np.ndim(operand) > 0:
            fixed.append(np.zeros((0,), np.asarray(operand).dtype))
        else:
            fixed.append(operand)
    found: dict[DType, Any] = {}
    for values in itertools.product(*[_probes(t.dtype) for _, t in traced]):
        for (i, _), value in zip(traced, values):
            fixed[i] = value
        found.setdefault(np.result_type(*fixed), values)
    if ufunc is not None and len(found) > 1 and all(t.kind in "iu" for t in found):
        if len({_outputs(ufunc, t) for t in found}) == 1:
            return numpy.result_type(*found)
    if len(found) > 1:
        kinds = sorted(found, key=lambda t: (t.itemsize, t.kind != "f"))
        one, other = kinds[0], kinds[-1]
        i, operand = next((p for p in traced if p[1].dtype != one), traced[0])
        raise trace_error(
            f"the type of the result of {what} depends on the value of operand {i}, a "
            f"{operand.dtype} without dimensions: NumPy {np.__version__} gives {one} or "
            f"{other}",
            f"cast the operand: .astype(np.{one})",
        )
    return next(iter(found))


def _outputs(ufunc: Any, dtype: DType) -> tuple[DType, ...]:
    types = ufunc.resolve_dtypes((dtype,) * ufunc.nin + (None,) * ufunc.nout)
    return tuple(types[ufunc.nin :])


def loop_types(
    ufunc: numpy.ufunc, operands: Sequence[Any], dtype: DType | None = None
) -> tuple[DType, ...]:
    """Returns the types of the inputs and outputs that NumPy computes with."""
    key = (ufunc, dtype, *[_key(o) for o in operands])
    known = _types.get(key)
    if known is None:
        if len(_types) >= _MOST_TYPES:
            _types.clear()
        known = _types[key] = _find_loop_types(ufunc, operands, dtype)
    return known


def _find_loop_types(
    ufunc: Any, operands: Sequence[Any], dtype: DType | None
) -> tuple[DType, ...]:
    inputs: list[Any] = []
    for operand in operands:
        if isinstance(operand, (Traced, np.ndarray, np.generic)):
            inputs.append(operand.dtype)
        elif not _LOOKS_AT_VALUES and type(operand) in (int, float, complex):
            inputs.append(type(operand))
        else:
            inputs.append(np.asarray(operand).dtype)
    dims = [o.ndim if isinstance(o, Traced) else np.ndim(o) for o in operands]
    is_mixed = _LOOKS_AT_VALUES and 0 in dims and any(dims) and ufunc is not np.ldexp
    if is_mixed:
        inputs = [common_type(operands, f"np.{ufunc.__name__}", ufunc)] * ufunc.nin
    wanted: dict[str, Any] = {}
    if dtype is not None:
        wanted["signature"] = (None,) * ufunc.nin + (dtype,) * ufunc.nout
    try:
        types: tuple[DType, ...] = ufunc.resolve_dtypes(
            (*inputs, *(None,) * ufunc.nout), **wanted
        )
    except TypeError as error:
        raise trace_error(str(error)) from None
    if is_mixed and dtype is None:
        types = _as_computed(ufunc, operands, types)
    for type_ in types:
        if element_of(type_) is None:
            raise trace_error(
                f"{ufunc.__name__} computes with {type_} here, which is not available in "
                "programs"
            )
    return types


def _as_computed(
    ufunc: numpy.ufunc, operands: Sequence[Any], types: tuple[DType, ...]
) -> tuple[DType, ...]:
    """Some ufuncs take the first loop that all operands fit in, in place of that of their
    common type. NumPy says which results there are."""
    examples = [_example(operand) for operand in operands]
    with np.errstate(all="ignore"):
        made = ufunc(*examples)
    results = [r.dtype for r in (made if isinstance(made, tuple) else (made,))]
    if results == list(types[ufunc.nin :]):
        return types
    for loop in ufunc.types:
        inputs, _, outputs = loop.partition("->")
        if results == [np.dtype(c) for c in outputs] and all(
            np.can_cast(o, np.dtype(c)) for o, c in zip(examples, inputs)
        ):
            return tuple(np.dtype(c) for c in inputs + outputs)
    return types


def _example(operand: Any) -> Any:
    """Returns a value for which NumPy gives the same types."""
    if not isinstance(operand, Traced):
        operand = np.asarray(operand)[()]
    elif operand._example is not None:
        return operand._example
    if isinstance(operand, Traced) or operand.ndim > 0:
        return np.zeros((0,) * min(operand.ndim, 1), operand.dtype)
    return operand


def slice_of(operands: Any, what: str) -> Any:
    """Returns the slice of the traced operands, which must be one."""
    found = None
    for operand in operands:
        if isinstance(operand, Traced) and operand._slice is not None:
            if found is not None and operand._slice != found:
                raise trace_error(
                    f"the operands of {what} are on slices '{found.name}' and "
                    f"'{operand._slice.name}'",
                    "move one of them: value.to(slice)",
                )
            found = operand._slice
    return found


def broadcast_shapes(shapes: Sequence[tuple[int, ...]], what: str) -> tuple[int, ...]:
    if all(shape == shapes[0] for shape in shapes):
        return shapes[0]
    try:
        return numpy.broadcast_shapes(*shapes)
    except ValueError:
        raise trace_error(
            f"the operands of {what} have shapes "
            f"{' and '.join(str(s) for s in shapes)}, which cannot be broadcast together"
        ) from None


def convert_value(trace: Trace, value: Value, dtype: DType) -> Value:
    element = element_of(dtype)
    if element is None:
        trace.type_of(dtype, ())
    assert element is not None
    return trace.function.convert(value, element)


def convert(x: Traced, dtype: DType) -> Traced:
    """Returns x.astype(dtype)."""
    trace = x._trace
    trace.check(x, is_cast=True)
    with trace.at_user(x._slice):
        return Traced(trace, convert_value(trace, x._value, dtype), dtype)


def power(x: Traced, exponent: Any) -> Any:
    """x ** exponent: NumPy computes some exponents by other functions."""
    if isinstance(exponent, (int, float)) and not isinstance(exponent, bool):
        if exponent == 2 and x.dtype.kind in "iuf":
            return np.square(x)
        if x.dtype.kind == "f":
            simple: dict[float, np.ufunc] = {
                1.0: np.positive, -1.0: np.reciprocal, 0.5: np.sqrt
            }
            if exponent in simple:
                return simple[exponent](x)
    return np.power(x, exponent)


def apply_ufunc(
    trace: Trace,
    ufunc: numpy.ufunc,
    method: str,
    inputs: Sequence[Any],
    kwargs: dict[str, Any],
) -> Any:
    """What Traced.__array_ufunc__ returns."""
    name = ufunc.__name__
    out = kwargs.pop("out", None)
    if out is not None and any(o is not None for o in out):
        raise trace_error(
            f"np.{name} writes its result into an array (out= or an in-place operator), "
            "and values of a program never change",
            "use its result",
        )
    for operand in inputs:
        if isinstance(operand, Traced):
            trace.check(operand)
    with trace.at_user(slice_of(inputs, f"np.{name}")):
        if method == "__call__":
            return _call(trace, ufunc, inputs, kwargs)
        if method in ("reduce", "accumulate"):
            from ._reductions import accumulate, reduce_ufunc

            made: Any = reduce_ufunc if method == "reduce" else accumulate
            return made(trace, ufunc, *inputs, **kwargs)
        if method == "outer":
            a, b = trace.lift(inputs[0]), trace.lift(inputs[1])
            return ufunc(a.reshape(a.shape + (1,) * b.ndim), b, **kwargs)
        if method == "at":
            raise trace_error(
                f"np.{name}.at writes into an array, and values of a program never change"
            )
        raise trace_error(f"np.{name}.{method} is not available in traced functions")


def _call(
    trace: Trace, ufunc: numpy.ufunc, inputs: Sequence[Any], kwargs: dict[str, Any]
) -> Any:
    name = ufunc.__name__
    dtype = kwargs.pop("dtype", None)
    where = kwargs.pop("where", True)
    kwargs.pop("order", None), kwargs.pop("subok", None), kwargs.pop("casting", None)
    if where is not True:
        raise trace_error(
            f"np.{name} with where= leaves elements without a value",
            "write np.where(mask, result, other)",
        )
    if kwargs:
        raise trace_error(f"np.{name} with {next(iter(kwargs))}= is not available")
    if ufunc is np.matmul:
        from ._products import matmul

        return matmul(trace, inputs[0], inputs[1])
    emit = ELEMENTWISE.get(name) if getattr(np, name, None) is ufunc else None
    if emit is None:
        raise trace_error(
            f"the ufunc '{name}' is not available in traced functions",
            "compute its result by other functions of NumPy",
        )
    operands = [
        o if isinstance(o, (Traced, bool, int, float)) else trace.as_array(o)
        for o in inputs
    ]
    types = loop_types(ufunc, operands, None if dtype is None else np.dtype(dtype))
    if name == "power" and types[0].kind in "iu":
        _check_exponent(operands[1])
    shape = broadcast_shapes(
        [o.shape if isinstance(o, Traced) else np.shape(o) for o in operands], f"np.{name}"
    )
    f = trace.function
    values = []
    for operand, type_ in zip(operands, types):
        if isinstance(operand, Traced):
            value = operand._value
        else:
            value = trace.converted(operand, type_)
        values.append(f.broadcast(convert_value(trace, value, type_), shape))
    results = emit(f, values, types)
    outputs = results if isinstance(results, tuple) else (results,)
    wrapped = tuple(
        Traced(trace, convert_value(trace, value, type_), type_)
        for value, type_ in zip(outputs, types[ufunc.nin :])
    )
    return wrapped if ufunc.nout > 1 else wrapped[0]


def _check_exponent(exponent: Any) -> None:
    if not isinstance(exponent, Traced) and bool(np.any(np.asarray(exponent) < 0)):
        raise trace_error(
            "integers to negative integer powers are not allowed",
            "make the base a float: x.astype(float)",
        )
