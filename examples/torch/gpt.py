# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# mypy: disable-error-code="no-any-return, no-untyped-call"
"""A decoder transformer over characters, in plain PyTorch.

It has the sizes of examples/transformer: 4 layers of 256 columns and 4 heads, and pieces
of 128 characters.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Block(nn.Module):
    """Causal attention and an MLP, each of a normalized input and added to it."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)
        self.proj = nn.Linear(width, width, bias=False)
        self.widen = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)

    def attention(self, a: Tensor) -> Tensor:
        batch, length, width = a.shape
        shape = (batch, length, self.heads, width // self.heads)
        q = self.query(a).view(shape).transpose(1, 2)
        k = self.key(a).view(shape).transpose(1, 2)
        v = self.value(a).view(shape).transpose(1, 2)
        scores = q @ k.transpose(-1, -2) * shape[-1] ** -0.5
        past = torch.ones(length, length, dtype=torch.bool, device=a.device).tril()
        scores = scores.masked_fill(~past, -torch.inf)
        return self.proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(a.shape))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.narrow(F.gelu(self.widen(self.norm2(x))))


class GPT(nn.Module):
    def __init__(
        self, width: int = 256, layers: int = 4, heads: int = 4, length: int = 128,
        characters: int = 128,
    ) -> None:  # fmt: skip
        super().__init__()
        self.token = nn.Embedding(characters, width)
        self.place = nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, characters, bias=False)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, tokens: Tensor) -> Tensor:
        """Scores of the next character, of shape (batch, characters, length)."""
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.token(tokens) + self.place(places)
        return self.head(self.norm(self.blocks(x))).transpose(1, 2)
