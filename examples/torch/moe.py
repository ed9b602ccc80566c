# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# mypy: disable-error-code="no-any-return, no-untyped-call"
"""A mixture of experts, of which each token takes two of four, in plain PyTorch."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Experts(nn.Module):
    """MLPs of one shape. A token is the sum of its best `best`, weighted by a softmax."""

    def __init__(self, width: int, hidden: int, experts: int, best: int) -> None:
        super().__init__()
        self.best = best
        self.gate = nn.Linear(width, experts, bias=False)
        self.widen = nn.Parameter(torch.randn(experts, width, hidden) * width**-0.5)
        self.narrow = nn.Parameter(torch.randn(experts, hidden, width) * hidden**-0.5)

    def forward(self, x: Tensor) -> Tensor:
        scores = self.gate(x)
        values, chosen = scores.topk(self.best, dim=-1)
        weights = torch.zeros_like(scores).scatter(-1, chosen, values.softmax(-1))
        hidden = F.gelu(torch.einsum("btw,ewh->beth", x, self.widen))
        outputs = torch.einsum("beth,ehw->betw", hidden, self.narrow)
        return torch.einsum("betw,bte->btw", outputs, weights)


class Block(nn.Module):
    """Token mixing by a product over places, then experts, each added to the input."""

    def __init__(self, width: int, length: int, experts: int, best: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mix = nn.Linear(length, length)
        self.experts = Experts(width, 2 * width, experts, best)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.mix(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.experts(self.norm2(x))


class MixtureOfExperts(nn.Module):
    def __init__(
        self, width: int = 128, length: int = 32, layers: int = 2, classes: int = 128,
        experts: int = 4, best: int = 2,
    ) -> None:  # fmt: skip
        super().__init__()
        self.token = nn.Embedding(classes, width)
        self.blocks = nn.Sequential(
            *(Block(width, length, experts, best) for _ in range(layers))
        )
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, tokens: Tensor) -> Tensor:
        """Scores of a class for each token, of shape (batch, classes, length)."""
        x = self.norm(self.blocks(self.token(tokens)))
        return self.head(x).transpose(1, 2)
