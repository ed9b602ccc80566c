# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lowerings of convolutions."""

from __future__ import annotations

from collections.abc import Sequence

from pathways._stablehlo import Function, Type, Value
from pathways.torch.ops._parts import add, along, op, spread, total


def _numbers(x: str, kernel: str, result: str, spatial: int) -> str:
    """Dimension numbers, from two letters for each side: "bf", "oi" and "bf"."""
    places = [str(i) for i in range(spatial)]
    texts = [f"[{', '.join([*letters, *places])}]" for letters in (x, kernel, result)]
    return f"{texts[0]}x{texts[1]}->{texts[2]}"


def _forward(
    f: Function,
    x: Value,
    weight: Value,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Value:
    """(N, C, ...) with a kernel of (O, C / groups, ...)."""
    spatial = x.rank - 2
    shape = [x.shape[0], weight.shape[0]]
    for i in range(spatial):
        reach = (weight.shape[2 + i] - 1) * dilation[i] + 1
        shape.append((x.shape[2 + i] + 2 * padding[i] - reach) // stride[i] + 1)
    return f.convolution(
        x,
        weight,
        stride,
        [(p, p) for p in padding],
        [1] * spatial,
        dilation,
        _numbers("bf", "oi", "bf", spatial),
        Type(tuple(shape), x.element),
        feature_groups=groups,
    )


def _transposed(
    f: Function,
    y: Value,
    weight: Value,
    sizes: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Value:
    """The transpose of `_forward`: (N, O, ...) becomes (N, C, *sizes)."""
    spatial = y.rank - 2
    channels = weight.shape[1] * groups
    pads = []
    for i in range(spatial):
        reach = (weight.shape[2 + i] - 1) * dilation[i]
        low = reach - padding[i]
        spaced = (y.shape[2 + i] - 1) * stride[i] + 1
        pads.append((low, sizes[i] - spaced - low + reach))
    # The groups of the kernel move from its first to its second dimension.
    if groups > 1:
        inner = list(weight.shape[2:])
        per_group = weight.shape[0] // groups
        kernel = f.reshape(weight, [groups, per_group, weight.shape[1], *inner])
        kernel = f.transpose(kernel, [1, 0, 2, *range(3, 3 + spatial)])
        kernel = f.reshape(kernel, [per_group, channels, *inner])
    else:
        kernel = weight
    return f.convolution(
        y,
        kernel,
        [1] * spatial,
        pads,
        stride,
        dilation,
        _numbers("bf", "io", "bf", spatial),
        Type((y.shape[0], channels, *sizes), y.element),
        feature_groups=groups,
        reversal=[True] * spatial,
    )


def _kernel_gradient(
    f: Function,
    x: Value,
    dy: Value,
    sizes: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Value:
    """The gradient of the kernel of `_forward`, whose spatial sizes are `sizes`."""
    spatial = x.rank - 2
    pads = []
    for i in range(spatial):
        spaced = (dy.shape[2 + i] - 1) * stride[i] + 1
        high = (sizes[i] - 1) * dilation[i] + spaced - x.shape[2 + i] - padding[i]
        pads.append((padding[i], high))
    return f.convolution(
        x,
        dy,
        dilation,
        pads,
        [1] * spatial,
        stride,
        _numbers("fb", "io", "fb", spatial),
        Type((dy.shape[1], x.shape[1] // groups, *sizes), x.element),
        batch_groups=groups,
    )


@op("convolution.default")
def convolution(
    f: Function,
    x: Value,
    weight: Value,
    bias: Value | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Value:
    spatial = x.rank - 2
    stride, padding = spread(stride, spatial), spread(padding, spatial)
    dilation, extra = spread(dilation, spatial), spread(output_padding, spatial)
    if transposed:
        sizes = [
            (x.shape[2 + i] - 1) * stride[i]
            - 2 * padding[i]
            + dilation[i] * (weight.shape[2 + i] - 1)
            + extra[i]
            + 1
            for i in range(spatial)
        ]
        y = _transposed(f, x, weight, sizes, stride, padding, dilation, groups)
    else:
        y = _forward(f, x, weight, stride, padding, dilation, groups)
    return y if bias is None else add(f, y, along(f, bias, y, [1]))


@op("convolution_backward.default")
def convolution_backward(
    f: Function,
    dy: Value,
    x: Value,
    weight: Value,
    bias_sizes: Sequence[int] | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> tuple[Value | None, Value | None, Value | None]:
    spatial = x.rank - 2
    stride, padding = spread(stride, spatial), spread(padding, spatial)
    dilation = spread(dilation, spatial)
    dx = dw = db = None
    if output_mask[0]:
        if transposed:
            dx = _forward(f, dy, weight, stride, padding, dilation, groups)
            # The last rows of the result may reach beyond those that x has.
            limits = [dx.shape[0], dx.shape[1], *x.shape[2:]]
            dx = f.slice(dx, [0] * dx.rank, limits)
        else:
            sizes = x.shape[2:]
            dx = _transposed(f, dy, weight, sizes, stride, padding, dilation, groups)
    if output_mask[1]:
        ends = (dy, x) if transposed else (x, dy)
        dw = _kernel_gradient(
            f, *ends, weight.shape[2:], stride, padding, dilation, groups
        )
    if output_mask[2]:
        db = total(f, dy, [0, *range(2, dy.rank)])
    return dx, dw, db
