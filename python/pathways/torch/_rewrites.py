# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of PyTorch that cannot be traced as PyTorch composes them: because a shape
depends on values, or because of a fault in the types of their gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F


def smoothed_cross_entropy(
    input: torch.Tensor,
    target: torch.Tensor,
    weight: torch.Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> torch.Tensor | None:
    """F.cross_entropy with smoothing of classes. PyTorch selects the targets that count
    by a mask, and takes the mean of these. None: PyTorch's own composition fits."""
    if not label_smoothing or target.is_floating_point():
        return None
    if size_average is not None or reduce is not None:
        return None
    dim = 1 if input.dim() > 1 else 0
    classes = input.shape[dim]
    scores = F.log_softmax(input, dim)
    nll = F.nll_loss(scores, target, weight, ignore_index=ignore_index, reduction=reduction)
    is_ignored = target == ignore_index
    if weight is not None:
        shape = [classes if d == dim else 1 for d in range(input.dim())]
        smooth = -(scores * weight.view(shape)).sum(dim)
        chosen = weight[target.masked_fill(is_ignored, 0)]
    else:
        smooth = -scores.sum(dim)
        chosen = torch.ones_like(target, dtype=scores.dtype)
    smooth = smooth.masked_fill(is_ignored, 0.0)
    if reduction == "sum":
        smooth = smooth.sum()
    elif reduction == "mean":
        smooth = smooth.sum() / chosen.masked_fill(is_ignored, 0.0).sum()
    return (1 - label_smoothing) * nll + smooth * (label_smoothing / classes)


def huber_loss(
    input: torch.Tensor, target: torch.Tensor, reduction: str = "mean", delta: float = 1.0
) -> torch.Tensor:
    """F.huber_loss, whose gradient PyTorch 1.13 cannot trace without values."""
    rest = input - target
    size = rest.abs()
    losses = torch.where(size < delta, 0.5 * rest * rest, delta * (size - 0.5 * delta))
    if reduction == "none":
        return losses
    return losses.sum() if reduction == "sum" else losses.mean()


_REWRITES: Mapping[Any, Callable[..., torch.Tensor | None]] = {
    F.cross_entropy: smoothed_cross_entropy,
    F.huber_loss: huber_loss,
}


def rewritten(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Returns what another composition of `func` returns, or None."""
    rewrite = _REWRITES.get(func)
    return None if rewrite is None else rewrite(*args, **kwargs)
