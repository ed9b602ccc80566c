# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors without tensors: zeros, ranges, and the like."""

from __future__ import annotations

from typing import Any

import torch

from pathways._stablehlo import Type, Value
from pathways.torch._registry import DTYPES, Context, is_float, lowers
from pathways.torch._terms import Term
from pathways.torch.ops.shapes import rows_minus_columns

Number = bool | int | float


@lowers(
    "aten.zeros",
    "aten.zeros_like",
    "aten.new_zeros",
    "aten.empty",
    "aten.empty_like",
    "aten.empty_strided",
    "aten.new_empty",
    "aten.new_empty_strided",
    "aten._efficientzerotensor",
)
def zeros(c: Context, *_: Any, **__: Any) -> Value:
    """Memory that is not initialized is zeros, so that a program is a pure function."""
    return c.constant(0, c.result.element, c.result.shape)


@lowers("aten.ones", "aten.ones_like", "aten.new_ones")
def ones(c: Context, *_: Any, **__: Any) -> Value:
    return c.constant(1, c.result.element, c.result.shape)


@lowers("aten.full", "aten.full_like", "aten.new_full")
def full(c: Context, *args: Any, **_: Any) -> Value:
    """full(size, value), full_like(x, value), new_full(x, size, value)."""
    value: Number = args[2] if "new_full" in c.name else args[1]
    return c.constant(value, c.result.element, c.result.shape)


@lowers("aten.scalar_tensor")
def scalar_tensor(c: Context, value: Number, **_: Any) -> Value:
    return c.constant(value, c.result.element)


@lowers("aten.arange")
def arange(c: Context, *limits: Number, **_: Any) -> Value:
    start, step = (0, 1) if len(limits) == 1 else (limits[0], (*limits, 1)[2])
    result = c.result
    # PyTorch computes ranges of floats in f64.
    element = "f64" if is_float(result.element) else "i64"
    t = Term(c, c.f.iota(result.with_element(element), 0))
    if step != 1:
        t = t * step
    if start != 0:
        t = t + start
    return c.convert(t.v, result.element)


@lowers("aten.eye")
def eye(c: Context, *_: Any, **__: Any) -> Value:
    result = c.result
    return c.convert(rows_minus_columns(c, result.shape).equals(0).v, result.element)


def computed(c: Context, tensor: torch.Tensor) -> Value:
    """A constant that PyTorch computes now."""
    tensor = tensor.to(DTYPES[c.result.element]).contiguous()
    data = tensor.view(torch.int16) if tensor.dtype is torch.bfloat16 else tensor
    type = Type(tuple(tensor.shape), c.result.element)
    return c.f.constant_bytes(data.numpy().tobytes(), type)


@lowers("aten.linspace")
def linspace(c: Context, start: Number, end: Number, steps: int = 100, **_: Any) -> Value:
    return computed(c, torch.linspace(start, end, steps, dtype=DTYPES[c.result.element]))


@lowers("aten.logspace")
def logspace(
    c: Context, start: Number, end: Number, steps: int = 100, base: float = 10.0, **_: Any
) -> Value:
    dtype = DTYPES[c.result.element]
    return computed(c, torch.logspace(start, end, steps, base, dtype=dtype))


@lowers(
    "aten.hann_window",
    "aten.hamming_window",
    "aten.bartlett_window",
    "aten.blackman_window",
    "aten.kaiser_window",
)
def window(c: Context, *args: Any, **_: Any) -> Value:
    make = getattr(torch, c.name.split(".")[1])
    return computed(c, make(*args, dtype=torch.float64))


@lowers("aten.tril_indices", "aten.triu_indices")
def triangle_indices(c: Context, row: int, column: int, offset: int = 0, **_: Any) -> Value:
    make = torch.tril_indices if "tril" in c.name else torch.triu_indices
    return computed(c, make(row, column, offset))
