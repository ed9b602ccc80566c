# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# mypy: disable-error-code="no-any-return, no-untyped-call"
"""A residual convolutional network with batch normalization, in plain PyTorch.

Its activations are smooth. With ReLU, the rounding of a value near 0 decides if it has a
gradient, and losses of 100 steps differ between two ways to add up, also in PyTorch.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn


class Block(nn.Module):
    """Two normalized convolutions, added to the input or to a projection of it."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, groups=4, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.project = nn.Sequential()
        if stride > 1 or inputs != outputs:
            self.project = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x: Tensor) -> Tensor:
        y = F.silu(self.norm1(self.conv1(x)))
        return F.silu(self.norm2(self.conv2(y)) + self.project(x))


class ResNet(nn.Module):
    def __init__(self, columns: int = 16, classes: int = 10) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, columns, 3, padding=1), nn.BatchNorm2d(columns), nn.SiLU(),
            nn.AvgPool2d(2),
        )  # fmt: skip
        self.blocks = nn.Sequential(
            Block(columns, columns, 1),
            Block(columns, 2 * columns, 2),
            Block(2 * columns, 4 * columns, 2),
        )
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(4 * columns, classes)

    def forward(self, images: Tensor) -> Tensor:
        """Scores of the classes for images of shape (batch, 3, height, width)."""
        x = self.blocks(self.stem(images))
        return self.head(self.pool(x).flatten(1))
