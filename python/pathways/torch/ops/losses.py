# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lowerings of losses and their gradients.

The class of an element is chosen by a comparison with an iota: it fuses with what
computes the scores, and is cut along every dimension.
"""

from __future__ import annotations

from collections.abc import Callable

from pathways._stablehlo import Function, Value
from pathways.torch.ops._parts import (
    MEAN,
    NO_REDUCTION,
    add,
    along,
    divide,
    full,
    multiply,
    op,
    scale,
    subtract,
    total,
)


def _reduced(f: Function, x: Value, reduction: int) -> Value:
    if reduction == NO_REDUCTION:
        return x
    summed = total(f, x, range(x.rank))
    if reduction == MEAN:
        return divide(f, summed, full(f, summed, x.type.size))
    return summed


def _unreduced(f: Function, dy: Value, like: Value, reduction: int) -> Value:
    """The gradient of each element, from that of `_reduced`."""
    if reduction != NO_REDUCTION:
        if reduction == MEAN:
            dy = divide(f, dy, full(f, dy, like.type.size))
        dy = f.broadcast(dy, like.shape)
    return f.broadcast(dy, like.shape)


def _classes(
    f: Function, scores: Value, target: Value, weight: Value | None, ignore_index: int
) -> tuple[Value, Value, list[int]]:
    """If a score is that of the target, the weight of each target, and the dimensions of
    the scores that the target has."""
    dim = 1 if scores.rank > 1 else 0
    kept = [d for d in range(scores.rank) if d != dim]
    classes = f.iota(scores.type.with_element(target.element), dim)
    is_target = f.compare("EQ", classes, along(f, target, classes, kept))
    is_used = f.compare("NE", target, full(f, target, ignore_index))
    if weight is None:
        weights = f.convert(is_used, scores.element)
    else:
        zero = f.constant(0, scores.element, scores.shape)
        chosen = f.select(is_target, along(f, weight, scores, [dim]), zero)
        chosen = total(f, chosen, [dim])
        weights = f.select(is_used, chosen, full(f, chosen, 0))
    return is_target, weights, kept


@op("nll_loss_forward.default", "nll_loss2d_forward.default")
def nll_loss_forward(
    f: Function,
    x: Value,
    target: Value,
    weight: Value | None,
    reduction: int,
    ignore_index: int,
) -> tuple[Value, Value]:
    """The second result is the weight of all targets."""
    is_target, weights, kept = _classes(f, x, target, weight, ignore_index)
    dim = next(d for d in range(x.rank) if d not in kept)
    chosen = total(f, f.select(is_target, x, full(f, x, 0)), [dim])
    is_used = f.compare("NE", target, full(f, target, ignore_index))
    losses = f.select(is_used, multiply(f, chosen, weights), full(f, chosen, 0))
    losses = f.unary("negate", losses)
    if reduction == NO_REDUCTION:
        return losses, f.constant(0, x.element)
    total_weight = total(f, weights, range(weights.rank))
    loss = total(f, losses, range(losses.rank))
    return divide(f, loss, total_weight) if reduction == MEAN else loss, total_weight


@op("nll_loss_backward.default", "nll_loss2d_backward.default")
def nll_loss_backward(
    f: Function,
    dy: Value,
    x: Value,
    target: Value,
    weight: Value | None,
    reduction: int,
    ignore_index: int,
    total_weight: Value,
) -> Value:
    is_target, weights, kept = _classes(f, x, target, weight, ignore_index)
    if reduction == MEAN:
        dy = divide(f, dy, total_weight)
    dy = f.broadcast(dy, target.shape)
    each = f.unary("negate", multiply(f, dy, weights))
    return f.select(is_target, along(f, each, x, kept), full(f, x, 0))


@op("mse_loss.default")
def mse_loss(f: Function, x: Value, target: Value, reduction: int = MEAN) -> Value:
    rest = subtract(f, x, target)
    return _reduced(f, multiply(f, rest, rest), reduction)


@op("mse_loss_backward.default")
def mse_loss_backward(
    f: Function, dy: Value, x: Value, target: Value, reduction: int
) -> Value:
    slope = scale(f, subtract(f, x, target), 2)
    return multiply(f, _unreduced(f, dy, x, reduction), slope)


def _near(
    f: Function,
    rest: Value,
    limit: float,
    inside: Callable[[Value], Value],
    outside: Callable[[Value], Value],
) -> Value:
    """One formula for rests that are smaller than a limit, and one for the others."""
    size = f.unary("abs", rest)
    is_small = f.compare("LT", size, full(f, size, limit))
    return f.select(is_small, inside(rest), outside(rest))


def _huber(f: Function, rest: Value, delta: float, factor: float) -> Value:
    """`factor` times rest^2 / 2 up to `delta`, then linear."""

    def square(rest: Value) -> Value:
        return scale(f, multiply(f, rest, rest), 0.5 * factor)

    def line(rest: Value) -> Value:
        size = f.unary("abs", rest)
        return scale(f, subtract(f, size, full(f, size, 0.5 * delta)), delta * factor)

    return _near(f, rest, delta, square, line)


def _huber_slope(f: Function, rest: Value, delta: float, factor: float) -> Value:
    return _near(
        f,
        rest,
        delta,
        lambda rest: scale(f, rest, factor),
        lambda rest: scale(f, f.unary("sign", rest), delta * factor),
    )


@op("smooth_l1_loss.default")
def smooth_l1_loss(
    f: Function, x: Value, target: Value, reduction: int = MEAN, beta: float = 1.0
) -> Value:
    rest = subtract(f, x, target)
    losses = f.unary("abs", rest) if beta == 0 else _huber(f, rest, beta, 1 / beta)
    return _reduced(f, losses, reduction)


@op("smooth_l1_loss_backward.default")
def smooth_l1_loss_backward(
    f: Function, dy: Value, x: Value, target: Value, reduction: int, beta: float
) -> Value:
    rest = subtract(f, x, target)
    if beta == 0:
        slope = f.unary("sign", rest)
    else:
        slope = _huber_slope(f, rest, beta, 1 / beta)
    return multiply(f, _unreduced(f, dy, x, reduction), slope)


@op("huber_loss.default")
def huber_loss(
    f: Function, x: Value, target: Value, reduction: int = MEAN, delta: float = 1.0
) -> Value:
    return _reduced(f, _huber(f, subtract(f, x, target), delta, 1.0), reduction)


@op("huber_loss_backward.default")
def huber_loss_backward(
    f: Function, dy: Value, x: Value, target: Value, reduction: int, delta: float
) -> Value:
    slope = _huber_slope(f, subtract(f, x, target), delta, 1.0)
    return multiply(f, _unreduced(f, dy, x, reduction), slope)


@op("binary_cross_entropy.default")
def binary_cross_entropy(
    f: Function,
    x: Value,
    target: Value,
    weight: Value | None = None,
    reduction: int = MEAN,
) -> Value:
    """Logarithms are at least -100, as in PyTorch."""
    lowest = full(f, x, -100)
    log_x = f.binary("maximum", f.unary("log", x), lowest)
    log_not = f.binary("maximum", f.unary("log_plus_one", f.unary("negate", x)), lowest)
    rest = subtract(f, target, full(f, target, 1))
    losses = subtract(f, multiply(f, rest, log_not), multiply(f, target, log_x))
    if weight is not None:
        losses = multiply(f, losses, f.broadcast(weight, losses.shape))
    return _reduced(f, losses, reduction)


@op("binary_cross_entropy_backward.default")
def binary_cross_entropy_backward(
    f: Function,
    dy: Value,
    x: Value,
    target: Value,
    weight: Value | None = None,
    reduction: int = MEAN,
) -> Value:
    spread = multiply(f, subtract(f, full(f, x, 1), x), x)
    spread = f.binary("maximum", spread, full(f, x, 1e-12))
    slope = divide(f, subtract(f, x, target), spread)
    if weight is not None:
        slope = multiply(f, slope, f.broadcast(weight, slope.shape))
    return multiply(f, _unreduced(f, dy, x, reduction), slope)


@op("binary_cross_entropy_with_logits.default")
def binary_cross_entropy_with_logits(
    f: Function,
    x: Value,
    target: Value,
    weight: Value | None = None,
    pos_weight: Value | None = None,
    reduction: int = MEAN,
) -> Value:
    zero = full(f, x, 0)
    below = f.binary("maximum", f.unary("negate", x), zero)
    size = f.unary("abs", x)
    tail = f.unary("log_plus_one", f.unary("exponential", f.unary("negate", size)))
    tail = add(f, tail, below)
    first = multiply(f, subtract(f, full(f, target, 1), target), x)
    if pos_weight is not None:
        more = f.broadcast(pos_weight, x.shape)
        more = multiply(f, subtract(f, more, full(f, more, 1)), target)
        tail = multiply(f, add(f, more, full(f, more, 1)), tail)
    losses = add(f, first, tail)
    if weight is not None:
        losses = multiply(f, losses, f.broadcast(weight, losses.shape))
    return _reduced(f, losses, reduction)


@op("l1_loss.default")
def l1_loss(f: Function, x: Value, target: Value, reduction: int = MEAN) -> Value:
    return _reduced(f, f.unary("abs", subtract(f, x, target)), reduction)
