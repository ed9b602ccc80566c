# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lowerings of normalizations and their gradients.

Sums of f16 and bf16 are computed in f32.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pathways._stablehlo import Function, Value
from pathways.torch._registry import Context, lowers
from pathways.torch.ops._parts import (
    add,
    along,
    full,
    mean,
    multiply,
    op,
    scale,
    subtract,
    total,
    widen,
)


def _moments(f: Function, x: Value, dims: Sequence[int]) -> tuple[Value, Value]:
    """The mean and the variance over dimensions, which go."""
    kept = [d for d in range(x.rank) if d not in dims]
    average = mean(f, x, dims)
    centred = subtract(f, x, along(f, average, x, kept))
    return average, mean(f, multiply(f, centred, centred), dims)


def _inverse_root(f: Function, variance: Value, eps: float) -> Value:
    return f.unary("rsqrt", add(f, variance, full(f, variance, eps)))


def _affine(
    f: Function, x: Value, weight: Value | None, bias: Value | None, dims: Sequence[int]
) -> Value:
    if weight is not None:
        x = multiply(f, x, along(f, f.convert(weight, x.element), x, dims))
    if bias is not None:
        x = add(f, x, along(f, f.convert(bias, x.element), x, dims))
    return x


def _normalized(
    f: Function, x: Value, average: Value, inverse: Value, kept: Sequence[int]
) -> Value:
    centred = subtract(f, x, along(f, average, x, kept))
    return multiply(f, centred, along(f, inverse, x, kept))


def _input_gradient(
    f: Function, dy: Value, x: Value, inverse: Value, kept: Sequence[int]
) -> Value:
    """The gradient of what was normalized, from that of the normalized values `x`, if the
    moments depend on it: of `dy`, the parts along 1 and along `x` go."""
    dims = [d for d in range(x.rank) if d not in kept]
    level = along(f, mean(f, dy, dims), x, kept)
    slope = along(f, mean(f, multiply(f, dy, x), dims), x, kept)
    rest = subtract(f, subtract(f, dy, level), multiply(f, x, slope))
    return multiply(f, rest, along(f, inverse, x, kept))


def _batch_norm(
    f: Function,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value | None,
    running_var: Value | None,
    training: bool,
    momentum: float,
    eps: float,
) -> list[Value]:
    """The results of native_batch_norm, and the new running statistics, if any."""
    element, x = x.element, widen(f, x)
    dims = [0, *range(2, x.rank)]
    if not training:
        assert running_mean is not None and running_var is not None
        average, variance = widen(f, running_mean), widen(f, running_var)
        inverse = _inverse_root(f, variance, eps)
        y = _affine(f, _normalized(f, x, average, inverse, [1]), weight, bias, [1])
        return [f.convert(y, element)]
    average, variance = _moments(f, x, dims)
    inverse = _inverse_root(f, variance, eps)
    y = _affine(f, _normalized(f, x, average, inverse, [1]), weight, bias, [1])
    results = [f.convert(y, element), average, inverse]
    count = math.prod(x.shape[d] for d in dims)
    unbiased = scale(f, variance, count / (count - 1) if count > 1 else math.nan)
    for running, new in ((running_mean, average), (running_var, unbiased)):
        if running is not None:
            new = f.convert(new, running.element)
            results.append(
                add(f, scale(f, running, 1 - momentum), scale(f, new, momentum))
            )
    return results


@lowers("aten.native_batch_norm.default")
def native_batch_norm(context: Context, *args: Any) -> list[Value]:
    """In eval mode there are no statistics of the batch, and nothing reads them."""
    results = _batch_norm(context.f, *args)[:3]
    for type in context.results[len(results) :]:
        assert type is not None
        results.append(context.f.constant(0, type.element, type.shape))
    return results


@lowers("aten._native_batch_norm_legit_functional.default")
def updating_batch_norm(context: Context, *args: Any) -> list[Value]:
    """PyTorch writes the running statistics in place, which no schema says. Here they are
    two more results."""
    return _batch_norm(context.f, *args)


@op("native_batch_norm_backward.default")
def native_batch_norm_backward(
    f: Function,
    dy: Value,
    x: Value,
    weight: Value | None,
    running_mean: Value | None,
    running_var: Value | None,
    save_mean: Value | None,
    save_invstd: Value | None,
    train: bool,
    eps: float,
    output_mask: Sequence[bool],
) -> tuple[Value | None, ...]:
    element, dy, x = x.element, widen(f, dy), widen(f, x)
    dims = [0, *range(2, x.rank)]
    if train:
        assert save_mean is not None and save_invstd is not None
        average, inverse = save_mean, save_invstd
    else:
        assert running_mean is not None and running_var is not None
        average = widen(f, running_mean)
        inverse = _inverse_root(f, widen(f, running_var), eps)
    normal = _normalized(f, x, average, inverse, [1])
    dx = dw = db = None
    if output_mask[0]:
        scaled = _affine(f, dy, weight, None, [1])
        if train:
            dx = _input_gradient(f, scaled, normal, inverse, [1])
        else:
            dx = multiply(f, scaled, along(f, inverse, x, [1]))
        dx = f.convert(dx, element)
    if output_mask[1]:
        dw = total(f, multiply(f, dy, normal), dims)
    if output_mask[2]:
        db = total(f, dy, dims)
    return dx, *_of_weight(f, weight, element, dw, db)


def _of_weight(
    f: Function, weight: Value | None, element: str, *gradients: Value | None
) -> tuple[Value | None, ...]:
    """The gradients with the element type of the weight, or of what is normalized."""
    target = element if weight is None else weight.element
    return tuple(None if g is None else f.convert(g, target) for g in gradients)


@op("native_layer_norm.default")
def native_layer_norm(
    f: Function,
    x: Value,
    normalized_shape: Sequence[int],
    weight: Value | None,
    bias: Value | None,
    eps: float,
) -> tuple[Value, Value, Value]:
    """The moments keep their dimensions, with one element each."""
    element, x = x.element, widen(f, x)
    first = x.rank - len(normalized_shape)
    kept, dims = range(first), range(first, x.rank)
    average, variance = _moments(f, x, dims)
    inverse = _inverse_root(f, variance, eps)
    y = _affine(f, _normalized(f, x, average, inverse, kept), weight, bias, dims)
    shape = [*x.shape[:first], *[1] * len(dims)]
    return f.convert(y, element), f.reshape(average, shape), f.reshape(inverse, shape)


@op("native_layer_norm_backward.default")
def native_layer_norm_backward(
    f: Function,
    dy: Value,
    x: Value,
    normalized_shape: Sequence[int],
    mean: Value,
    rstd: Value,
    weight: Value | None,
    bias: Value | None,
    output_mask: Sequence[bool],
) -> tuple[Value | None, ...]:
    element, dy, x = x.element, widen(f, dy), widen(f, x)
    first = x.rank - len(normalized_shape)
    kept, dims = range(first), range(first, x.rank)
    if not x.type.size:  # then PyTorch's own graphs have statistics of no use
        nothing = f.constant(0, element, normalized_shape)
        return f.convert(x, element), nothing, nothing
    average = f.reshape(widen(f, mean), x.shape[:first])
    inverse = f.reshape(widen(f, rstd), x.shape[:first])
    normal = _normalized(f, x, average, inverse, kept)
    dx = dw = db = None
    if output_mask[0]:
        scaled = _affine(f, dy, weight, None, dims)
        dx = f.convert(_input_gradient(f, scaled, normal, inverse, kept), element)
    if output_mask[1]:
        dw = total(f, multiply(f, dy, normal), kept)
    if output_mask[2]:
        db = total(f, dy, kept)
    return dx, *_of_weight(f, weight, element, dw, db)


@op("native_group_norm.default")
def native_group_norm(
    f: Function,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> tuple[Value, Value, Value]:
    element, shape = x.element, x.shape
    x = f.reshape(widen(f, x), (N, group, C // group * HxW))
    average, variance = _moments(f, x, [2])
    inverse = _inverse_root(f, variance, eps)
    y = f.reshape(_normalized(f, x, average, inverse, [0, 1]), shape)
    y = _affine(f, y, weight, bias, [1])
    return f.convert(y, element), f.convert(average, element), f.convert(inverse, element)


@op("native_group_norm_backward.default")
def native_group_norm_backward(
    f: Function,
    dy: Value,
    x: Value,
    mean: Value,
    rstd: Value,
    weight: Value | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    output_mask: Sequence[bool],
) -> tuple[Value | None, ...]:
    element, shape = x.element, x.shape
    grouped = (N, group, C // group * HxW)
    average, inverse = widen(f, mean), widen(f, rstd)
    normal = _normalized(f, f.reshape(widen(f, x), grouped), average, inverse, [0, 1])
    dy = widen(f, dy)
    dims = [0, *range(2, dy.rank)]
    dx = dw = db = None
    if output_mask[0]:
        scaled = f.reshape(_affine(f, dy, weight, None, [1]), grouped)
        dx = _input_gradient(f, scaled, normal, inverse, [0, 1])
        dx = f.convert(f.reshape(dx, shape), element)
    if output_mask[1]:
        dw = total(f, multiply(f, dy, f.reshape(normal, shape)), dims)
    if output_mask[2]:
        db = total(f, dy, dims)
    return dx, *_of_weight(f, weight, element, dw, db)
