# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# mypy: disable-error-code="no-any-return, no-untyped-call"
"""A network of LSTM layers over characters, in plain PyTorch."""

from __future__ import annotations

from torch import Tensor, nn


class Layer(nn.Module):
    """One layer of an LSTM, with dimensions (batch, time, columns)."""

    def __init__(self, inputs: int, columns: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(inputs, columns, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        y, _ = self.lstm(x)
        return y


class CharacterLSTM(nn.Module):
    def __init__(
        self, characters: int = 128, width: int = 64, columns: int = 128, layers: int = 2
    ) -> None:
        super().__init__()
        self.token = nn.Embedding(characters, width)
        sizes = [width] + [columns] * layers
        self.layers = nn.Sequential(*(Layer(*pair) for pair in zip(sizes, sizes[1:])))
        self.head = nn.Linear(columns, characters)

    def forward(self, tokens: Tensor) -> Tensor:
        """Scores of the next character, of shape (batch, characters, length)."""
        return self.head(self.layers(self.token(tokens))).transpose(1, 2)
