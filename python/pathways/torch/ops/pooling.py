# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lowerings of pooling and of resampling.

A mean over windows whose sizes differ, and a linear interpolation, are products with
matrices of constants, one for each dimension: their gradients are the products with the
transposed matrices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pathways._stablehlo import Function, Value
from pathways.torch.ops._parts import add, divide, full, numbers, op, scale, spread, total


Matrix = list[list[float]]


class _Windows:
    """The windows of a pooling over the last dimensions of `x`."""

    def __init__(
        self,
        x: Value,
        sizes: Sequence[int],
        strides: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int] = (1,),
        ceil_mode: bool = False,
        spatial: int = 2,
    ) -> None:
        self.spatial = spatial
        self.first = x.rank - spatial
        self.extents = list(x.shape[self.first :])
        self.sizes = spread(sizes, spatial)
        self.strides = spread(strides, spatial) if strides else list(self.sizes)
        self.pads = spread(padding, spatial)
        self.dilation = spread(dilation, spatial)
        self.results: list[int] = []
        self.high: list[int] = []
        for i, extent in enumerate(self.extents):
            reach = (self.sizes[i] - 1) * self.dilation[i] + 1
            spare = extent + 2 * self.pads[i] - reach
            stride = self.strides[i]
            count = (-(-spare // stride) if ceil_mode else spare // stride) + 1
            # No window begins in the padding behind the values.
            if ceil_mode and (count - 1) * self.strides[i] >= extent + self.pads[i]:
                count -= 1
            self.results.append(count)
            end = (count - 1) * self.strides[i] + reach
            self.high.append(end - extent - self.pads[i])

    def whole(self, values: Sequence[int], one: int = 1) -> list[int]:
        """`values` for the spatial dimensions, and `one` for those before."""
        return [one] * self.first + list(values)

    def whole_pads(self) -> list[tuple[int, int]]:
        return [(0, 0)] * self.first + list(zip(self.pads, self.high))

    def counts(self, count_include_pad: bool, divisor: int | None) -> list[float]:
        """The divisor of each window, row-major."""
        if divisor is not None:
            return [float(divisor)] * math.prod(self.results)
        lines = []
        for i, extent in enumerate(self.extents):
            pad = self.pads[i]
            line = []
            for j in range(self.results[i]):
                start = j * self.strides[i] - pad
                end = min(start + self.sizes[i], extent + pad)
                if not count_include_pad:
                    start, end = max(start, 0), min(end, extent)
                line.append(end - start)
            lines.append(line)
        counts = [1.0]
        for line in lines:
            counts = [a * b for a in counts for b in line]
        return counts


def _lowest(f: Function, element: str) -> Value:
    return f.constant(-math.inf, element)


@op("max_pool2d_with_indices.default")
def max_pool2d_with_indices(
    f: Function,
    x: Value,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    ceil_mode: bool = False,
) -> tuple[Value, Value]:
    """The second result has positions in the plane of each channel."""
    w = _Windows(x, kernel_size, stride, padding, dilation, ceil_mode)
    sizes, strides = w.whole(w.sizes), w.whole(w.strides)
    pads, dilations = w.whole_pads(), w.whole(w.dilation)
    values = f.reduce_window(
        "maximum", x, _lowest(f, x.element), sizes, strides, pads, None, dilations
    )
    # Backward passes take the values, so the positions are seldom used, and not computed
    # then.
    index_type = x.type.with_element("i64")
    row, column = f.iota(index_type, x.rank - 2), f.iota(index_type, x.rank - 1)
    position = add(f, scale(f, row, w.extents[1]), column)

    def first_greatest(pair: list[Value]) -> list[Value]:
        a, at, b, bt = pair
        is_nan = f.compare("NE", b, b)
        is_greater = f.binary("or", f.compare("GT", b, a), is_nan)
        return [f.select(is_greater, b, a), f.select(is_greater, bt, at)]

    inits = [_lowest(f, x.element), f.constant(0, "i64")]
    _, index = f.reduce_windows(
        [x, position], inits, sizes, strides, pads, first_greatest, None, dilations
    )
    return values, index


@op("max_pool2d_with_indices_backward.default")
def max_pool2d_with_indices_backward(
    f: Function,
    dy: Value,
    x: Value,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
    indices: Value,
) -> Value:
    w = _Windows(x, kernel_size, stride, padding, dilation, ceil_mode)
    zero = f.constant(0, dy.element)
    if w.dilation == [1, 1]:
        return f.select_and_scatter(
            x,
            dy,
            zero,
            w.whole(w.sizes),
            w.whole(w.strides),
            w.whole_pads(),
            lambda pair: f.compare("GE", pair[0], pair[1]),
        )
    # Each offset in a window is one summand: the gradients of the windows that have their
    # greatest value there.
    spaced = [(n - 1) * s + 1 for n, s in zip(w.results, w.strides)]
    row, column = f.iota(indices.type, x.rank - 2), f.iota(indices.type, x.rank - 1)
    starts = add(
        f,
        scale(f, row, w.strides[0] * w.extents[1]),
        scale(f, column, w.strides[1]),
    )
    dx = full(f, x, 0)
    for i in range(w.sizes[0]):
        for j in range(w.sizes[1]):
            offset = [i * w.dilation[0] - w.pads[0], j * w.dilation[1] - w.pads[1]]
            at = full(f, indices, offset[0] * w.extents[1] + offset[1])
            is_here = f.compare("EQ", indices, add(f, starts, at))
            part = f.pad(
                f.select(is_here, dy, full(f, dy, 0)),
                zero,
                w.whole(offset, 0),
                w.whole([w.extents[d] - offset[d] - spaced[d] for d in range(2)], 0),
                w.whole([s - 1 for s in w.strides], 0),
            )
            dx = add(f, dx, part)
    return dx


@op("avg_pool2d.default")
def avg_pool2d(
    f: Function,
    x: Value,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Value:
    w = _Windows(x, kernel_size, stride, padding, ceil_mode=ceil_mode)
    zero = f.constant(0, x.element)
    summed = f.reduce_window(
        "add", x, zero, w.whole(w.sizes), w.whole(w.strides), w.whole_pads()
    )
    return divide(f, summed, _divisors(f, summed, w, count_include_pad, divisor_override))


def _divisors(
    f: Function, y: Value, w: _Windows, count_include_pad: bool, divisor: int | None
) -> Value:
    counts = numbers(f, w.counts(count_include_pad, divisor), w.results, y.element)
    return f.broadcast(counts, y.shape)


@op("avg_pool2d_backward.default")
def avg_pool2d_backward(
    f: Function,
    dy: Value,
    x: Value,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Value:
    w = _Windows(x, kernel_size, stride, padding, ceil_mode=ceil_mode)
    zero = f.constant(0, dy.element)
    dy = divide(f, dy, _divisors(f, dy, w, count_include_pad, divisor_override))
    # A place takes from the windows that reach it: those of the same size over the spread
    # gradients.
    low = [k - 1 - p for k, p in zip(w.sizes, w.pads)]
    high = []
    for d in range(2):
        spaced = (w.results[d] - 1) * w.strides[d] + 1
        high.append(w.extents[d] + w.sizes[d] - 1 - low[d] - spaced)
    spread_out = f.pad(
        dy,
        zero,
        w.whole(low, 0),
        w.whole(high, 0),
        w.whole([s - 1 for s in w.strides], 0),
    )
    none = [(0, 0)] * x.rank
    return f.reduce_window("add", spread_out, zero, w.whole(w.sizes), w.whole([1, 1]), none)


def _mixed(f: Function, x: Value, matrices: Sequence[Matrix], is_transposed: bool) -> Value:
    """Multiplies the last dimensions with matrices of (results, inputs)."""
    first = x.rank - len(matrices)
    for i, rows in enumerate(matrices):
        if rows == [[float(r == c) for c in range(len(rows))] for r in range(len(rows))]:
            continue
        matrix = numbers(
            f, [v for row in rows for v in row], (len(rows), len(rows[0])), x.element
        )
        d = first + i
        x = f.dot_general(x, matrix, ([d], [0 if is_transposed else 1]))
        order = list(range(x.rank - 1))
        x = f.transpose(x, [*order[:d], x.rank - 1, *order[d:]])
    return x


def _adaptive(extent: int, count: int) -> Matrix:
    """Means over windows that cover all places."""
    rows = []
    for i in range(count):
        start, end = i * extent // count, -(-(i + 1) * extent // count)
        rows.append([1 / (end - start) if start <= j < end else 0.0 for j in range(extent)])
    return rows


@op("_adaptive_avg_pool2d.default")
def adaptive_avg_pool2d(f: Function, x: Value, output_size: Sequence[int]) -> Value:
    matrices = [_adaptive(x.shape[-2 + i], output_size[i]) for i in range(2)]
    return _mixed(f, x, matrices, is_transposed=False)


@op("_adaptive_avg_pool2d_backward.default")
def adaptive_avg_pool2d_backward(f: Function, dy: Value, x: Value) -> Value:
    matrices = [_adaptive(x.shape[-2 + i], dy.shape[-2 + i]) for i in range(2)]
    return _mixed(f, dy, matrices, is_transposed=True)


def _nearest(extent: int, count: int, factor: float | None) -> Matrix:
    """One place for each result."""
    ratio = 1 / factor if factor else extent / count
    places = [min(int(i * ratio), extent - 1) for i in range(count)]
    return [[float(j == place) for j in range(extent)] for place in places]


def _linear(extent: int, count: int, align_corners: bool, factor: float | None) -> Matrix:
    """Weights of two neighbouring places for each result."""
    rows = []
    for i in range(count):
        if align_corners:
            at = i * (extent - 1) / (count - 1) if count > 1 else 0.0
        else:
            ratio = 1 / factor if factor else extent / count
            at = max((i + 0.5) * ratio - 0.5, 0.0)
        low = min(int(at), extent - 1)
        row = [0.0] * extent
        row[low] += 1 - (at - low)
        row[min(low + 1, extent - 1)] += at - low
        rows.append(row)
    return rows


def _target(
    extents: Sequence[int], sizes: Sequence[int] | None, factors: Sequence[float] | None
) -> tuple[list[int], list[float | None]]:
    """The sizes of a result, and the scales that were given in their place."""
    if sizes is not None:
        return list(sizes), [None] * len(extents)
    assert factors is not None
    return [int(n * s) for n, s in zip(extents, factors)], list(factors)


@op("upsample_nearest2d.default", "upsample_nearest1d.default")
def upsample_nearest(
    f: Function, x: Value, output_size: Sequence[int], *factors: float | None
) -> Value:
    scales = [*factors, None, None]
    return _nearest_up(f, x, output_size, scales)


def _nearest_up(
    f: Function, x: Value, sizes: Sequence[int], scales: Sequence[float | None]
) -> Value:
    extents = x.shape[2:]
    whole = [n // m for n, m in zip(sizes, extents)]
    if all(m * k == n for n, m, k in zip(sizes, extents, whole)) and not any(
        s is not None and s != k for s, k in zip(scales, whole)
    ):
        return _repeat(f, x, whole)
    rows = [_nearest(m, n, s) for m, n, s in zip(extents, sizes, scales)]
    return _mixed(f, x, rows, is_transposed=False)


def _repeat(f: Function, x: Value, times: Sequence[int]) -> Value:
    """Repeats each place of the last dimensions."""
    shape, dims, joined = list(x.shape[:2]), [0, 1], list(x.shape[:2])
    for n, k in zip(x.shape[2:], times):
        dims.append(len(shape))
        shape += [n, k]
        joined.append(n * k)
    return f.reshape(f.broadcast_in_dim(x, shape, dims), joined)


@op("upsample_nearest2d.vec", "upsample_nearest1d.vec")
def upsample_nearest_vec(
    f: Function,
    x: Value,
    output_size: Sequence[int] | None,
    scale_factors: Sequence[float] | None,
) -> Value:
    return _nearest_up(f, x, *_target(x.shape[2:], output_size, scale_factors))


def _nearest_down(
    f: Function, dy: Value, extents: Sequence[int], scales: Sequence[float | None]
) -> Value:
    whole = [n // m for n, m in zip(dy.shape[2:], extents)]
    if all(m * k == n for n, m, k in zip(dy.shape[2:], extents, whole)) and not any(
        s is not None and s != k for s, k in zip(scales, whole)
    ):
        shape = list(dy.shape[:2])
        for m, k in zip(extents, whole):
            shape += [m, k]
        return total(f, f.reshape(dy, shape), range(3, len(shape), 2))
    rows = [_nearest(m, n, s) for m, n, s in zip(extents, dy.shape[2:], scales)]
    return _mixed(f, dy, rows, is_transposed=True)


@op("upsample_nearest2d_backward.default", "upsample_nearest1d_backward.default")
def upsample_nearest_backward(
    f: Function,
    dy: Value,
    output_size: Sequence[int],
    input_size: Sequence[int],
    *factors: float | None,
) -> Value:
    return _nearest_down(f, dy, input_size[2:], [*factors, None, None])


@op("upsample_nearest2d_backward.vec", "upsample_nearest1d_backward.vec")
def upsample_nearest_backward_vec(
    f: Function,
    dy: Value,
    output_size: Sequence[int] | None,
    input_size: Sequence[int],
    scale_factors: Sequence[float] | None,
) -> Value:
    _, scales = _target(input_size[2:], output_size, scale_factors)
    return _nearest_down(f, dy, input_size[2:], scales)


def _bilinear(
    f: Function,
    x: Value,
    extents: Sequence[int],
    sizes: Sequence[int],
    align_corners: bool,
    scales: Sequence[float | None],
    is_transposed: bool,
) -> Value:
    rows = [_linear(m, n, align_corners, s) for m, n, s in zip(extents, sizes, scales)]
    return _mixed(f, x, rows, is_transposed)


@op("upsample_linear1d.default", "upsample_bilinear2d.default", "upsample_trilinear3d.default")
def upsample_bilinear2d(
    f: Function,
    x: Value,
    output_size: Sequence[int],
    align_corners: bool,
    *factors: float | None,
) -> Value:
    scales = [*factors, None, None, None]
    return _bilinear(f, x, x.shape[2:], output_size, align_corners, scales, False)


@op("upsample_linear1d.vec", "upsample_bilinear2d.vec", "upsample_trilinear3d.vec")
def upsample_bilinear2d_vec(
    f: Function,
    x: Value,
    output_size: Sequence[int] | None,
    align_corners: bool,
    scale_factors: Sequence[float] | None,
) -> Value:
    sizes, scales = _target(x.shape[2:], output_size, scale_factors)
    return _bilinear(f, x, x.shape[2:], sizes, align_corners, scales, False)


@op(
    "upsample_linear1d_backward.default",
    "upsample_bilinear2d_backward.default",
    "upsample_trilinear3d_backward.default",
)
def upsample_bilinear2d_backward(
    f: Function,
    dy: Value,
    output_size: Sequence[int],
    input_size: Sequence[int],
    align_corners: bool,
    *factors: float | None,
) -> Value:
    scales = [*factors, None, None, None]
    extents = input_size[2:]
    return _bilinear(f, dy, extents, dy.shape[2:], align_corners, scales, True)


@op(
    "upsample_linear1d_backward.vec",
    "upsample_bilinear2d_backward.vec",
    "upsample_trilinear3d_backward.vec",
)
def upsample_bilinear2d_backward_vec(
    f: Function,
    dy: Value,
    output_size: Sequence[int] | None,
    input_size: Sequence[int],
    align_corners: bool,
    scale_factors: Sequence[float] | None,
) -> Value:
    extents = input_size[2:]
    _, scales = _target(extents, output_size, scale_factors)
    return _bilinear(f, dy, extents, dy.shape[2:], align_corners, scales, True)
