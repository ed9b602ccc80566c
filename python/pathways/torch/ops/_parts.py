# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pieces that the lowerings of neural networks share.

They work on values of one element type: callers convert first. Dimensions may be negative
where PyTorch allows it, and `dim_of` makes them positive.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pathways._stablehlo import FLOATS, Function, Type, Value
from pathways.torch._registry import Context, lowers

_Lowering = TypeVar("_Lowering", bound=Callable[..., Any])

# The reductions of losses, as ATen numbers them.
NO_REDUCTION, MEAN, SUM = 0, 1, 2


def op(*names: str) -> Callable[[_Lowering], _Lowering]:
    """Enters a lowering that takes the function, then the arguments, for ops of ATen."""

    def enter(lowering: _Lowering) -> _Lowering:
        @functools.wraps(lowering)
        def call(context: Context, *args: Any, **kwargs: Any) -> Any:
            return lowering(context.f, *args, **kwargs)

        lowers(*(f"aten.{name}" for name in names))(call)
        return lowering

    return enter


def dim_of(dim: int, rank: int) -> int:
    return dim + max(rank, 1) if dim < 0 else dim


def full(f: Function, like: Value, value: Any) -> Value:
    """A constant of the type of `like`."""
    return f.constant(value, like.element, like.shape)


def add(f: Function, x: Value, y: Value) -> Value:
    return f.binary("add", x, y)


def subtract(f: Function, x: Value, y: Value) -> Value:
    return f.binary("subtract", x, y)


def multiply(f: Function, x: Value, y: Value) -> Value:
    return f.binary("multiply", x, y)


def divide(f: Function, x: Value, y: Value) -> Value:
    return f.binary("divide", x, y)


def scale(f: Function, x: Value, factor: float) -> Value:
    """Multiplies by a number."""
    return multiply(f, x, full(f, x, factor))


def along(f: Function, vector: Value, like: Value, dims: Sequence[int]) -> Value:
    """Broadcasts to the shape of `like`: dimension i becomes dimension dims[i]."""
    return f.broadcast_in_dim(vector, like.shape, dims)


def total(f: Function, x: Value, dims: Sequence[int]) -> Value:
    """The sum over dimensions, which go."""
    if not dims:
        return x
    return f.reduce_by("add", x, f.constant(0, x.element), sorted(dims))


def mean(f: Function, x: Value, dims: Sequence[int]) -> Value:
    """The mean over dimensions, which go. It is NaN if there are no elements."""
    count = math.prod(x.shape[d] for d in dims)
    summed = total(f, x, dims)
    return divide(f, summed, full(f, summed, count))


def wide(element: str) -> str:
    """The element type in which sums of `element` are computed."""
    return "f32" if element in ("f16", "bf16") else element


def widen(f: Function, x: Value) -> Value:
    return f.convert(x, wide(x.element))


def numbers(
    f: Function, values: Sequence[float], shape: Sequence[int], element: str
) -> Value:
    """A constant with these elements, row-major."""
    import numpy

    if not values or min(values) == max(values):
        return f.constant(values[0] if values else 0, element, shape)
    if element in FLOATS:
        exact = "f64" if element == "f64" else "f32"
        data = numpy.asarray(values, numpy.float64 if exact == "f64" else numpy.float32)
        made = f.constant_bytes(data.tobytes(), Type(tuple(shape), exact))
        return f.convert(made, element)
    data = numpy.asarray(values, numpy.int64)
    made = f.constant_bytes(data.tobytes(), Type(tuple(shape), "i64"))
    return f.convert(made, element)


def spread(numbers: int | Sequence[int], count: int) -> list[int]:
    """The `count` numbers of an argument such as int[2], which may be a single one."""
    values = [numbers] if isinstance(numbers, int) else list(numbers)
    return values * count if len(values) == 1 else values
