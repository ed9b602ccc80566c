# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of matrices and tensors."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

from .._stablehlo import Value
from ._context import Trace, trace_error
from ._elements import DType
from ._registry import axis_index, axis_indices, implements, np
from ._shapes import _diagonal, transposed
from ._traced import Traced
from ._ufuncs import broadcast_shapes, common_type, convert, convert_value, loop_types


def _dot_general(
    trace: Trace,
    x: Value,
    y: Value,
    contract: tuple[Sequence[int], Sequence[int]],
    batch: tuple[Sequence[int], Sequence[int]],
    dtype: DType,
) -> Traced:
    """The product of two values, converted to the type of the result. For bool it is
    true where any product is."""
    f = trace.function
    element = "i32" if dtype.kind == "b" else trace.type_of(dtype, ()).element
    x, y = convert_value(trace, x, dtype), convert_value(trace, y, dtype)
    product = f.dot_general(f.convert(x, element), f.convert(y, element), contract, batch)
    return trace.wrap(convert_value(trace, product, dtype), dtype)


def matmul(trace: Trace, a: Any, b: Any) -> Traced:
    x, y = trace.lift(a), trace.lift(b)
    *_, result = loop_types(np.matmul, [x, y])
    if x.ndim == 0 or y.ndim == 0:
        raise trace_error(
            "matmul: an operand has no dimensions, and needs at least one", "use *"
        )
    inner = y.shape[0] if y.ndim == 1 else y.shape[-2]
    if x.shape[-1] != inner:
        raise trace_error(
            f"matmul: shapes {x.shape} and {y.shape} do not fit: {x.shape[-1]} columns, "
            f"and {inner} rows"
        )
    f = trace.function
    outer = broadcast_shapes([x.shape[:-2], y.shape[:-2]], "matmul")
    left, right = x._value, y._value
    if not outer or y.ndim <= 2 and x.ndim > 2:
        # A single product without batches multiplies all rows by one matrix.
        at = 0 if y.ndim == 1 else y.ndim - 2
        if not outer or all(n == m for n, m in zip(x.shape[:-2], outer)):
            return _dot_general(trace, left, right, ([x.ndim - 1], [at]), ((), ()), result)
    if x.ndim > 1:
        left = f.broadcast(left, (*outer, *x.shape[-2:]))
    if y.ndim > 1:
        right = f.broadcast(right, (*outer, *y.shape[-2:]))
    if x.ndim == 1:
        left = f.broadcast(left, (*outer, *x.shape))
    if y.ndim == 1:
        right = f.broadcast(right, (*outer, *y.shape))
    rank = len(outer)
    dims = list(range(rank))
    contract = ([left.rank - 1], [rank])
    return _dot_general(trace, left, right, contract, (dims, dims), result)


@implements(np.dot)
def _dot(trace: Trace, a: Any, b: Any) -> Any:
    x, y = trace.lift(a), trace.lift(b)
    if x.ndim == 0 or y.ndim == 0:
        return np.multiply(a, b)
    at = 0 if y.ndim == 1 else y.ndim - 2
    if x.shape[-1] != y.shape[at]:
        raise ValueError(
            f"shapes {x.shape} and {y.shape} not aligned: {x.shape[-1]} (dim {x.ndim - 1}) "
            f"!= {y.shape[at]} (dim {at})"
        )
    result = np.result_type(x.dtype, y.dtype)
    contract = ([x.ndim - 1], [at])
    return _dot_general(trace, x._value, y._value, contract, ((), ()), result)


@implements(np.vdot)
def _vdot(trace: Trace, a: Any, b: Any) -> Any:
    return _dot(trace, trace.lift(a).reshape(-1), trace.lift(b).reshape(-1))


@implements(np.inner)
def _inner(trace: Trace, a: Any, b: Any) -> Any:
    x, y = trace.lift(a), trace.lift(b)
    if x.ndim == 0 or y.ndim == 0:
        return np.multiply(a, b)
    return _tensordot(trace, x, y, ([-1], [-1]))


@implements(np.outer)
def _outer(trace: Trace, a: Any, b: Any) -> Any:
    x, y = trace.lift(a), trace.lift(b)
    return np.multiply(x.reshape(x.size, 1), y.reshape(1, y.size))


@implements(np.kron)
def _kron(trace: Trace, a: Any, b: Any) -> Any:
    x, y = trace.lift(a), trace.lift(b)
    rank = max(x.ndim, y.ndim)
    first = (1,) * (rank - x.ndim) + x.shape
    second = (1,) * (rank - y.ndim) + y.shape
    left = x.reshape([n for m in first for n in (m, 1)])
    right = y.reshape([n for m in second for n in (1, m)])
    return np.multiply(left, right).reshape([m * n for m, n in zip(first, second)])


@implements(np.tensordot)
def _tensordot(trace: Trace, a: Any, b: Any, axes: Any = 2) -> Any:
    x, y = trace.lift(a), trace.lift(b)
    if np.ndim(axes) == 0 and not isinstance(axes, (list, tuple)):
        count = operator.index(axes)
        left, right = list(range(x.ndim - count, x.ndim)), list(range(count))
        if count > min(x.ndim, y.ndim):
            raise ValueError("tuple index out of range: more axes than dimensions")
    else:
        lists = [list(s) if isinstance(s, (list, tuple)) else [s] for s in axes]
        left = [axis_index(d, x.ndim) for d in lists[0]]
        right = [axis_index(d, y.ndim) for d in lists[1]]
    sizes = [x.shape[i] for i in left], [y.shape[j] for j in right]
    if sizes[0] != sizes[1]:
        raise ValueError(
            f"shape-mismatch for sum: axes {left} of {x.shape} and {right} of {y.shape}"
        )
    result = np.result_type(x.dtype, y.dtype)
    return _dot_general(trace, x._value, y._value, (left, right), ((), ()), result)


# einsum.


def _parse(spec: str, operands: Sequence[Traced]) -> tuple[list[str], str]:
    """Returns the labels of each operand and of the result, without ellipses: their
    dimensions have labels that are digits, aligned at the end."""
    spec = spec.replace(" ", "")
    inputs, arrow, output = spec.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(operands):
        raise ValueError(
            f"einsum '{spec}' has {len(terms)} terms, got {len(operands)} operands"
        )
    most = 0
    filled = []
    for term, x in zip(terms, operands):
        named = term.replace("...", "", 1)
        if not all(c.isalpha() for c in named):
            raise ValueError(f"invalid subscript in term '{term}' of einsum '{spec}'")
        extra = x.ndim - len(named) if "..." in term else 0
        if extra < 0 or len(named) + extra != x.ndim:
            raise ValueError(
                f"einsum term '{term}' does not fit an operand with {x.ndim} dimensions"
            )
        most = max(most, extra)
        filled.append((term, extra))
    if most > 10:
        raise ValueError("einsum with more than 10 dimensions in an ellipsis")
    digits = "0123456789"[:most]
    labels = [term.replace("...", digits[most - extra :]) for term, extra in filled]
    if arrow:
        result = output.replace("...", digits)
    else:
        every = "".join(labels)
        once = sorted(c for c in set(every) if c.isalpha() and every.count(c) == 1)
        result = digits + "".join(once)
    for c in result:
        if result.count(c) > 1:
            raise ValueError(f"einsum '{spec}' has '{c}' twice in its result")
        if not any(c in term for term in labels):
            raise ValueError(f"einsum '{spec}' has '{c}' only in its result")
    return labels, result


def _sum_out(x: Traced, labels: str, keep: str) -> tuple[Traced, str]:
    """Takes diagonals of labels that occur twice, and adds up those not in `keep`."""
    for c in labels:
        while labels.count(c) > 1:
            first, second = labels.index(c), labels.rindex(c)
            x = _diagonal(x._trace, x, 0, first, second)
            labels = labels[:first] + labels[first + 1 : second] + labels[second + 1 :] + c
    axes = tuple(d for d, c in enumerate(labels) if c not in keep)
    if axes:
        ufunc = np.logical_or if x.dtype.kind == "b" else np.add
        x = ufunc.reduce(x, axis=axes, dtype=x.dtype)
        labels = "".join(c for c in labels if c in keep)
    return x, labels


def _multiply_pair(
    trace: Trace, x: Traced, xs: str, y: Traced, ys: str, keep: str, dtype: DType
) -> tuple[Traced, str]:
    """The product of two operands over labels that neither the rest nor the result has."""
    x, xs = _sum_out(x, xs, ys + keep)
    y, ys = _sum_out(y, ys, xs + keep)
    # A dimension of 1 is broadcast against another size.
    for c in [c for c in xs if c in ys]:
        n, m = x.shape[xs.index(c)], y.shape[ys.index(c)]
        if n == 1 and m != 1:
            x, xs = np.squeeze(x, xs.index(c)), xs.replace(c, "")
        elif m == 1 and n != 1:
            y, ys = np.squeeze(y, ys.index(c)), ys.replace(c, "")
        elif n != m:
            raise ValueError(f"einsum: label '{c}' has sizes {n} and {m}")
    x, xs = _sum_out(x, xs, ys + keep)
    y, ys = _sum_out(y, ys, xs + keep)
    both = [c for c in xs if c in ys]
    batch = [c for c in both if c in keep]
    summed = [c for c in both if c not in keep]
    product = _dot_general(
        trace,
        x._value,
        y._value,
        ([xs.index(c) for c in summed], [ys.index(c) for c in summed]),
        ([xs.index(c) for c in batch], [ys.index(c) for c in batch]),
        dtype,
    )
    rest = [c for c in xs + ys if c not in both]
    return product, "".join(batch + rest)


@implements(np.einsum)
def _einsum(trace: Trace, *operands: Any, optimize: Any = False, **kwargs: Any) -> Any:
    dtype = kwargs.pop("dtype", None)
    for name in ("order", "casting"):
        kwargs.pop(name, None)
    if kwargs:
        raise TypeError(f"np.einsum with {next(iter(kwargs))}= is not available")
    spec, *values = operands
    if not isinstance(spec, str):
        raise trace_error(
            "np.einsum with lists of subscripts is not available",
            "write them as text: np.einsum('ij,jk->ik', a, b)",
        )
    lifted = [trace.lift(v) for v in values]
    types = [x.dtype for x in lifted] if dtype is None else [dtype]
    result = np.result_type(*types)
    trace.type_of(result, ())
    labels, output = _parse(spec, lifted)
    todo = [(convert(x, result), term) for x, term in zip(lifted, labels)]
    x, xs = todo[0]
    for i, (y, ys) in enumerate(todo[1:], 1):
        later = "".join(term for _, term in todo[i + 1 :])
        x, xs = _multiply_pair(trace, x, xs, y, ys, later + output, result)
    x, xs = _sum_out(x, xs, output)
    missing = [c for c in output if c not in xs]
    if missing:
        raise ValueError(f"einsum: label '{missing[0]}' has no size")
    return transposed(x, [xs.index(c) for c in output])


# Norms.


@implements(np.linalg.norm)
def _norm(
    trace: Trace, x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False
) -> Any:
    value = trace.lift(x)
    if value.dtype.kind != "f":
        value = convert(value, np.dtype(np.float64))
    if axis is None and ord is None:
        # NumPy adds up the squares of all elements, in one order.
        root = np.sqrt(np.sum(np.square(value.reshape(value.size))))
        return root.reshape((1,) * value.ndim) if keepdims else root
    axes = axis_indices(axis, value.ndim)
    if axis is not None and np.ndim(axis) == 1:
        axes = [axis_index(a, value.ndim) for a in axis]
    if len(axes) == 1:
        return _vector_norm(value, ord, axes[0], keepdims)
    if len(axes) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    return _matrix_norm(value, ord, axes[0], axes[1], keepdims)


def _vector_norm(x: Any, ord: Any, d: int, keepdims: bool) -> Any:
    size = np.abs(x)
    if ord == math.inf:
        return np.max(size, axis=d, keepdims=keepdims)
    if ord == -math.inf:
        return np.min(size, axis=d, keepdims=keepdims)
    if ord == 0:
        count = np.sum(np.not_equal(x, 0), axis=d, keepdims=keepdims)
        return convert(count, x.dtype)
    if ord == 1:
        return np.sum(size, axis=d, keepdims=keepdims)
    if ord is None or ord == 2:
        return np.sqrt(np.sum(np.square(x), axis=d, keepdims=keepdims))
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    power = x.dtype.type(ord)
    total = np.sum(np.power(size, power), axis=d, keepdims=keepdims)
    return convert(np.power(total, x.dtype.type(1 / ord)), x.dtype)


def _matrix_norm(x: Any, ord: Any, row: int, column: int, keepdims: bool) -> Any:
    if row == column:
        raise ValueError("Duplicate axes given.")
    if ord in (None, "fro", "f"):
        return np.sqrt(np.sum(np.square(x), axis=(row, column), keepdims=keepdims))
    if ord in (1, -1, math.inf, -math.inf):
        first, second = (row, column) if abs(ord) == 1 else (column, row)
        sums = np.sum(np.abs(x), axis=first, keepdims=True)
        best = (np.max if ord > 0 else np.min)(sums, axis=second, keepdims=True)
        return best if keepdims else np.squeeze(best, axis=(row, column))
    raise trace_error(
        f"np.linalg.norm with ord={ord!r} of a matrix needs singular values, which are not "
        "available"
    )


@implements(np.linalg.multi_dot)
def _multi_dot(trace: Trace, arrays: Any) -> Any:
    product, *rest = [trace.lift(a) for a in arrays]
    if not rest:
        raise ValueError("Expecting at least two arrays.")
    for y in rest:
        product = _dot(trace, product, y)
    return product


@implements(np.cross)
def _cross(
    trace: Trace,
    a: Any,
    b: Any,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    x = np.moveaxis(trace.lift(a), axisa, -1)
    y = np.moveaxis(trace.lift(b), axisb, -1)
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise trace_error(
            f"np.cross of vectors with {x.shape[-1]} and {y.shape[-1]} elements is not "
            "available, only with 3"
        )
    result = common_type([x, y], "np.cross")
    x, y = convert(x, result), convert(y, result)

    def part(i: int, j: int) -> Any:
        return np.subtract(x[..., i] * y[..., j], x[..., j] * y[..., i])

    made = np.stack([part(1, 2), part(2, 0), part(0, 1)], axis=-1)
    return np.moveaxis(made, -1, axisc)
