# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that change shapes and move elements."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from .._stablehlo import Value
from ._context import Trace, trace_error
from ._registry import axis_index, axis_indices, dummy, implements, np
from ._traced import Traced
from ._ufuncs import broadcast_shapes, convert_value

_SLICE_ALL = slice(None)


def _sizes(shape: Any) -> list[int]:
    if isinstance(shape, (tuple, list, np.ndarray)):
        return [operator.index(n) for n in shape]
    return [operator.index(shape)]


def transposed(x: Traced, dims: Sequence[int]) -> Traced:
    return x._trace.wrap(x._trace.function.transpose(x._value, list(dims)), x.dtype)


def reshaped(x: Traced, shape: Sequence[int]) -> Traced:
    return x._trace.wrap(x._trace.function.reshape(x._value, tuple(shape)), x.dtype)


def index_along(x: Traced, d: int, index: Any) -> Traced:
    """x[:, :, ..., index] with `index` at dimension d."""
    return x[(_SLICE_ALL,) * d + (index,)]


@implements(np.reshape)
def _reshape(trace: Trace, a: Any, newshape: Any, order: str = "C") -> Traced:
    x = trace.lift(a)
    shape = _sizes(newshape)
    if order not in ("C", "F", "A"):
        raise ValueError(f"order must be 'C', 'F' or 'A', got {order!r}")
    if shape.count(-1) > 1:
        raise ValueError("can only specify one unknown dimension")
    if -1 in shape:
        known = math.prod(n for n in shape if n != -1)
        if known == 0 or x.size % known:
            raise ValueError(f"cannot reshape array of size {x.size} into shape {newshape}")
        shape[shape.index(-1)] = x.size // known
    if math.prod(shape) != x.size or any(n < 0 for n in shape):
        raise ValueError(f"cannot reshape array of size {x.size} into shape {newshape}")
    if order == "F":
        reverse = transposed(x, range(x.ndim)[::-1])
        return transposed(reshaped(reverse, shape[::-1]), range(len(shape))[::-1])
    return reshaped(x, shape)


@implements(np.ravel)
def _ravel(trace: Trace, a: Any, order: str = "C") -> Traced:
    return _reshape(trace, a, -1 if np.size(a) else 0, "C" if order == "K" else order)


def _permuting(function: Callable[..., Any]) -> None:
    """A function that permutes dimensions: NumPy says how. Dimension i of the array that
    it is asked with has i elements."""

    def handler(trace: Trace, a: Any, *args: Any, **kwargs: Any) -> Traced:
        x = trace.lift(a)
        return transposed(x, function(dummy(range(x.ndim)), *args, **kwargs).shape)

    implements(function)(handler)


def _renaming(function: Callable[..., Any]) -> None:
    """A function that adds or removes dimensions of one element: NumPy says which."""

    def handler(trace: Trace, a: Any, *args: Any, **kwargs: Any) -> Traced:
        x = trace.lift(a)
        return reshaped(x, function(dummy(x.shape), *args, **kwargs).shape)

    implements(function)(handler)


for _function in (np.transpose, np.swapaxes, np.moveaxis, np.rollaxis):
    _permuting(_function)
for _function in (np.expand_dims, np.squeeze):
    _renaming(_function)


def _at_least(function: Callable[..., Any]) -> None:
    def handler(trace: Trace, *arrays: Any) -> Any:
        lifted = [trace.lift(a) for a in arrays]
        made = [reshaped(x, function(dummy(x.shape)).shape) for x in lifted]
        return made[0] if len(made) == 1 else made

    implements(function)(handler)


for _function in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
    _at_least(_function)


@implements(np.broadcast_to)
def _broadcast_to(trace: Trace, array: Any, shape: Any, subok: bool = False) -> Traced:
    x, sizes = trace.lift(array), tuple(_sizes(shape))
    if np.broadcast_to(dummy(x.shape), sizes).shape != sizes:
        raise ValueError(f"cannot broadcast {x.shape} to {sizes}")
    return trace.wrap(trace.function.broadcast(x._value, sizes), x.dtype)


@implements(np.broadcast_arrays)
def _broadcast_arrays(trace: Trace, *arrays: Any, subok: bool = False) -> list[Traced]:
    lifted = [trace.lift(a) for a in arrays]
    shape = broadcast_shapes([x.shape for x in lifted], "np.broadcast_arrays")
    return [_broadcast_to(trace, x, shape) for x in lifted]


def _listed(arrays: Any) -> list[Any]:
    if isinstance(arrays, Traced):
        return list(arrays)
    return list(arrays)


@implements(np.concatenate)
def _concatenate(
    trace: Trace,
    arrays: Any,
    axis: int | None = 0,
    *,
    dtype: Any = None,
    casting: str = "same_kind",
) -> Traced:
    lifted = [trace.lift(a) for a in _listed(arrays)]
    if not lifted:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        lifted, axis = [x.reshape(-1) if x.size else x.reshape(0) for x in lifted], 0
    if any(x.ndim == 0 for x in lifted):
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    types = [x.dtype for x in lifted] if dtype is None else [dtype]
    result = np.result_type(*types)
    trace.type_of(result, ())
    d = axis_index(axis, lifted[0].ndim)
    for i, x in enumerate(lifted):
        rest = [n for e, n in enumerate(x.shape) if e != d]
        first = [n for e, n in enumerate(lifted[0].shape) if e != d]
        if x.ndim != lifted[0].ndim or rest != first:
            raise ValueError(
                f"array 0 has shape {lifted[0].shape} and array {i} has shape {x.shape}: "
                f"all dimensions but {d} must be equal"
            )
    values = [convert_value(trace, x._value, result) for x in lifted]
    return trace.wrap(trace.function.concatenate(values, d), result)


@implements(np.stack)
def _stack(
    trace: Trace,
    arrays: Any,
    axis: int = 0,
    *,
    dtype: Any = None,
    casting: str = "same_kind",
) -> Traced:
    lifted = [trace.lift(a) for a in _listed(arrays)]
    if not lifted:
        raise ValueError("need at least one array to stack")
    shapes = {x.shape for x in lifted}
    if len(shapes) > 1:
        raise ValueError(f"all input arrays must have the same shape, got {sorted(shapes)}")
    d = axis_index(axis, lifted[0].ndim + 1)
    parts = [reshaped(x, (*x.shape[:d], 1, *x.shape[d:])) for x in lifted]
    return _concatenate(trace, parts, d, dtype=dtype)


def _stacking(function: Callable[..., Any], lift: Callable[..., Any], axis: int) -> None:
    def handler(trace: Trace, tup: Any, *, dtype: Any = None, casting: str = "") -> Traced:
        parts = [lift(trace.lift(a)) for a in _listed(tup)]
        d = 0 if function is np.hstack and parts and parts[0].ndim == 1 else axis
        return _concatenate(trace, parts, d, dtype=dtype)

    implements(function)(handler)


def _as_column(x: Traced) -> Any:
    return reshaped(x, (x.size, 1)) if x.ndim < 2 else x


_stacking(np.vstack, np.atleast_2d, 0)
_stacking(np.hstack, np.atleast_1d, 1)
_stacking(np.dstack, np.atleast_3d, 2)
_stacking(np.column_stack, _as_column, 1)


@implements(np.append)
def _append(trace: Trace, arr: Any, values: Any, axis: int | None = None) -> Traced:
    return _concatenate(trace, [trace.lift(arr), trace.lift(values)], axis)


def _parts(x: Traced, indices_or_sections: Any, d: int, must_divide: bool) -> list[Traced]:
    if isinstance(indices_or_sections, Traced):
        raise trace_error("the places where an array is split must be known, not traced")
    n = x.shape[d]
    if np.ndim(indices_or_sections) == 0:
        sections = operator.index(indices_or_sections)
        if sections <= 0:
            raise ValueError("number sections must be larger than 0.")
        if must_divide and n % sections:
            raise ValueError("array split does not result in an equal division")
        sizes = [n // sections + (i < n % sections) for i in range(sections)]
        cuts = list(np.cumsum(sizes)[:-1])
    else:
        cuts = [operator.index(i) for i in indices_or_sections]
    bounds = [0, *cuts, n]
    return [index_along(x, d, slice(a, b)) for a, b in zip(bounds, bounds[1:])]


@implements(np.split)
def _split(trace: Trace, ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Traced]:
    x = trace.lift(ary)
    return _parts(x, indices_or_sections, axis_index(axis, x.ndim), must_divide=True)


@implements(np.array_split)
def _array_split(
    trace: Trace, ary: Any, indices_or_sections: Any, axis: int = 0
) -> list[Traced]:
    x = trace.lift(ary)
    return _parts(x, indices_or_sections, axis_index(axis, x.ndim), must_divide=False)


@implements(np.vsplit)
def _vsplit(trace: Trace, ary: Any, indices_or_sections: Any) -> list[Traced]:
    return _split(trace, ary, indices_or_sections, 0)


@implements(np.hsplit)
def _hsplit(trace: Trace, ary: Any, indices_or_sections: Any) -> list[Traced]:
    return _split(trace, ary, indices_or_sections, 1 if np.ndim(ary) > 1 else 0)


@implements(np.repeat)
def _repeat(trace: Trace, a: Any, repeats: Any, axis: int | None = None) -> Traced:
    if isinstance(repeats, Traced):
        raise trace_error("the number of repetitions decides the shape: it must be known")
    x = trace.lift(a)
    if axis is None:
        x, axis = x.reshape(-1) if x.size else x.reshape(0), 0
    d = axis_index(axis, x.ndim)
    n = x.shape[d]
    counts = np.asarray(repeats)
    if counts.size != 1:
        return index_along(x, d, np.repeat(np.arange(n), counts))
    count = operator.index(counts.reshape(())[()])
    if count < 0:
        raise ValueError("repeats may not contain negative values.")
    f = trace.function
    shape = (*x.shape[: d + 1], count, *x.shape[d + 1 :])
    dims = [e if e <= d else e + 1 for e in range(x.ndim)]
    value = f.broadcast_in_dim(x._value, shape, dims)
    result = (*x.shape[:d], n * count, *x.shape[d + 1 :])
    return reshaped(trace.wrap(value, x.dtype), result)


@implements(np.tile)
def _tile(trace: Trace, A: Any, reps: Any) -> Traced:
    x = trace.lift(A)
    counts = _sizes(reps)
    rank = max(x.ndim, len(counts))
    counts = [1] * (rank - len(counts)) + counts
    shape = (1,) * (rank - x.ndim) + x.shape
    if any(c < 0 for c in counts):
        raise ValueError("negative dimensions are not allowed")
    mixed = [n for pair in zip(counts, shape) for n in pair]
    value = trace.function.broadcast_in_dim(
        trace.function.reshape(x._value, shape), mixed, range(1, 2 * rank, 2)
    )
    return reshaped(trace.wrap(value, x.dtype), [c * n for c, n in zip(counts, shape)])


@implements(np.flip)
def _flip(trace: Trace, m: Any, axis: Any = None) -> Traced:
    x = trace.lift(m)
    value = trace.function.reverse(x._value, axis_indices(axis, x.ndim))
    return trace.wrap(value, x.dtype)


@implements(np.flipud)
def _flipud(trace: Trace, m: Any) -> Traced:
    return _flip(trace, m, 0)


@implements(np.fliplr)
def _fliplr(trace: Trace, m: Any) -> Traced:
    return _flip(trace, m, 1)


@implements(np.rot90)
def _rot90(trace: Trace, m: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    x = trace.lift(m)
    first, second = (axis_index(a, x.ndim) for a in axes)
    if first == second:
        raise ValueError("Axes must be different.")
    if k % 4 == 0:
        return x
    if k % 4 == 2:
        return _flip(trace, x, (first, second))
    swap = list(range(x.ndim))
    swap[first], swap[second] = second, first
    if k % 4 == 1:
        return transposed(_flip(trace, x, second), swap)
    return _flip(trace, transposed(x, swap), second)


@implements(np.roll)
def _roll(trace: Trace, a: Any, shift: Any, axis: Any = None) -> Traced:
    if isinstance(shift, Traced):
        raise trace_error(
            "np.roll by a traced number is not available",
            "use np.take with np.arange(n) - shift and mode='wrap'",
        )
    x = trace.lift(a)
    if axis is None:
        flat = x.reshape(x.size)
        return reshaped(_roll(trace, flat, int(np.sum(shift)), 0), x.shape)
    for by, along in np.nditer([np.asarray(shift), np.asarray(axis)]):
        d = axis_index(along, x.ndim)
        n = x.shape[d]
        k = int(by) % n if n else 0
        if k:
            ends = index_along(x, d, slice(n - k, None)), index_along(x, d, slice(0, n - k))
            x = _concatenate(trace, ends, d)
    return x


@implements(np.pad)
def _pad(
    trace: Trace, array: Any, pad_width: Any, mode: Any = "constant", **kw: Any
) -> Traced:
    x = trace.lift(array)
    if isinstance(pad_width, Traced):
        raise trace_error("the padding decides the shape: it must be known, not traced")
    widths = np.broadcast_to(np.asarray(pad_width), (x.ndim, 2))
    if widths.dtype.kind not in "iu":
        raise TypeError("`pad_width` must be of integral type.")
    if (widths < 0).any():
        raise ValueError("index can't contain negative values")
    if mode == "constant":
        return _pad_constant(trace, x, widths, kw.pop("constant_values", 0), kw)
    if kw or mode not in ("edge", "reflect", "symmetric", "wrap"):
        what = f"mode={mode!r}" + "".join(f", {k}=" for k in kw)
        raise ValueError(f"{what} is not available in traced functions")
    for d, (low, high) in enumerate(widths):
        if low or high:
            x = index_along(x, d, np.pad(np.arange(x.shape[d]), (low, high), mode=mode))
    return x


def _pad_constant(trace: Trace, x: Traced, widths: Any, fill: Any, kw: Any) -> Traced:
    if kw:
        raise ValueError(f"unsupported keyword arguments for mode 'constant': {set(kw)}")
    if isinstance(fill, Traced):
        if fill.ndim:
            raise trace_error("traced constant_values of np.pad must be one number")
        value = convert_value(trace, fill._value, x.dtype)
        low, high = widths[:, 0].tolist(), widths[:, 1].tolist()
        return trace.wrap(trace.function.pad(x._value, value, low, high), x.dtype)
    fills = np.broadcast_to(np.asarray(fill), (x.ndim, 2)).astype(x.dtype)
    f, value = trace.function, x._value
    for d, (low, high) in enumerate(widths.tolist()):
        for amount, side, number in ((low, 0, fills[d, 0]), (high, 1, fills[d, 1])):
            if amount:
                ends = [[0] * x.ndim, [0] * x.ndim]
                ends[side][d] = amount
                value = f.pad(value, f.constant(number, value.element), *ends)
    return trace.wrap(value, x.dtype)


def _triangle(trace: Trace, m: Any, k: int, is_lower: bool) -> Traced:
    x = trace.lift(m)
    if x.ndim < 2:
        x = _broadcast_to(trace, x, (x.size, x.size))
    f = trace.function
    indices = x._value.type.with_element("i64")
    rows, columns = f.iota(indices, x.ndim - 2), f.iota(indices, x.ndim - 1)
    edge = f.binary("add", rows, f.constant(k, "i64", x.shape))
    keep = f.compare("LE" if is_lower else "GE", columns, edge)
    zero = f.constant(0, x._value.element, x.shape)
    return trace.wrap(f.select(keep, x._value, zero), x.dtype)


@implements(np.tril)
def _tril(trace: Trace, m: Any, k: int = 0) -> Traced:
    return _triangle(trace, m, k, True)


@implements(np.triu)
def _triu(trace: Trace, m: Any, k: int = 0) -> Traced:
    return _triangle(trace, m, k, False)


@implements(np.diagonal)
def _diagonal(
    trace: Trace, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1
) -> Traced:
    x = trace.lift(a)
    if x.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    first, second = axis_index(axis1, x.ndim), axis_index(axis2, x.ndim)
    if first == second:
        raise ValueError("axis1 and axis2 cannot be the same")
    others = [d for d in range(x.ndim) if d not in (first, second)]
    x = transposed(x, [*others, first, second])
    rows, columns = x.shape[-2:]
    start = offset if offset >= 0 else -offset * columns
    count = min(rows + min(offset, 0), columns - max(offset, 0))
    outer = x.shape[:-2]
    if count <= 0:
        return reshaped(x[..., :0, 0], (*outer, 0)) if rows and columns else reshaped(
            x, (*outer, 0)
        )
    # In row-major order the elements of a diagonal have equal distances.
    flat = reshaped(x, (*outer, rows * columns))
    last = start + (count - 1) * (columns + 1) + 1
    return flat[(..., slice(start, last, columns + 1))]


@implements(np.diag)
def _diag(trace: Trace, v: Any, k: int = 0) -> Traced:
    x = trace.lift(v)
    if x.ndim == 2:
        return _diagonal(trace, x, k)
    if x.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    n = x.shape[0] + abs(k)
    f = trace.function
    # Each row has the whole vector; the mask keeps one element of it.
    padded = f.pad(
        x._value, f.constant(0, x._value.element), [max(k, 0)], [max(-k, 0)]
    )
    rows = f.broadcast_in_dim(padded, (n, n), [1])
    mask = trace.constant(np.eye(n, k=k, dtype=bool))
    zero = f.constant(0, x._value.element, (n, n))
    return trace.wrap(f.select(mask, rows, zero), x.dtype)


@implements(np.trace)
def _trace(
    trace: Trace,
    a: Any,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: Any = None,
) -> Any:
    return np.sum(_diagonal(trace, a, offset, axis1, axis2), axis=-1, dtype=dtype)


def _filled(trace: Trace, a: Any, value: Any, dtype: Any, shape: Any) -> Traced:
    x = trace.lift(a)
    result = x.dtype if dtype is None else np.dtype(dtype)
    sizes = x.shape if shape is None else tuple(_sizes(shape))
    if not isinstance(value, Traced):
        value = np.asarray(value).astype(result)
    lifted = trace.lift(value)
    whole = broadcast_shapes([sizes, lifted.shape], "np.full_like")
    filled: Value = trace.function.broadcast(
        convert_value(trace, lifted._value, result), whole
    )
    if filled.shape != sizes:
        raise ValueError(f"could not broadcast input array from shape {lifted.shape}")
    return trace.wrap(filled, result)


@implements(np.zeros_like, np.empty_like)
def _zeros_like(
    trace: Trace,
    a: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
) -> Traced:
    return _filled(trace, a, 0, dtype, shape)


@implements(np.ones_like)
def _ones_like(
    trace: Trace,
    a: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
) -> Traced:
    return _filled(trace, a, 1, dtype, shape)


@implements(np.full_like)
def _full_like(
    trace: Trace,
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
) -> Traced:
    return _filled(trace, a, fill_value, dtype, shape)


@implements(np.copy)
def _copy(trace: Trace, a: Any, order: str = "K", subok: bool = False) -> Traced:
    return trace.lift(a)


@implements(np.shape)
def _shape(trace: Trace, a: Any) -> tuple[int, ...]:
    return trace.lift(a).shape


@implements(np.ndim)
def _ndim(trace: Trace, a: Any) -> int:
    return trace.lift(a).ndim


@implements(np.size)
def _size(trace: Trace, a: Any, axis: int | None = None) -> int:
    x = trace.lift(a)
    return x.size if axis is None else x.shape[axis_index(axis, x.ndim)]


@implements(np.meshgrid)
def _meshgrid(
    trace: Trace, *xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> list[Any]:
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    lifted = [trace.lift(x).reshape(-1) for x in xi]
    count = len(lifted)
    parts = []
    for i, x in enumerate(lifted):
        at = 1 - i if indexing == "xy" and count > 1 and i < 2 else i
        parts.append(reshaped(x, [x.size if d == at else 1 for d in range(count)]))
    return parts if sparse else _broadcast_arrays(trace, *parts)
