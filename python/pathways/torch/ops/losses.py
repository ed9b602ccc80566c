# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lowerings of losses and their gradients.

The class of an element is chosen by a comparison with an iota: it fuses with what
computes the scores, and is cut along every dimension.
"""

from __future__ import annotations

from pathways._stablehlo import Function, Value
from pathways.torch._registry import Context, lowers
from pathways.torch.ops._parts import (
    MEAN,
    NO_REDUCTION,
    along,
    divide,
    full,
    multiply,
    op,
    total,
)


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


@lowers("aten.nll_loss_forward.default", "aten.nll_loss2d_forward.default")
def nll_loss_forward(
    c: Context,
    x: Value,
    target: Value,
    weight: Value | None,
    reduction: int,
    ignore_index: int,
) -> tuple[Value, Value]:
    """The second result is the weight of all targets."""
    f = c.f
    if "i" not in target.element:
        c.error(f"the target has elements of {target.element}, expected integers (classes)")
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
