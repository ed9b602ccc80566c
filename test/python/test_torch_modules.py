#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares modules of torch.nn, and losses, with PyTorch: results and gradients of all
parameters."""

import unittest
import warnings

from torch_support import Case, check
import functorch
import torch
import torch.nn as nn
import torch.nn.functional as F

import pathways as pw
from pathways.torch._trace import tensors_of


def modules():
    """Names, modules and arguments."""
    yield "linear", nn.Linear(3, 4), (torch.randn(2, 3),)
    yield "bilinear", nn.Bilinear(3, 4, 2), (torch.randn(5, 3), torch.randn(5, 4))
    encoder = {"d_model": 8, "nhead": 2, "dim_feedforward": 16, "dropout": 0.0}
    yield (
        "encoder",
        nn.TransformerEncoderLayer(**encoder, batch_first=True),
        (torch.randn(2, 5, 8),),
    )
    yield (
        "encoder, norm first",
        nn.TransformerEncoderLayer(**encoder, norm_first=True, activation="gelu"),
        (torch.randn(2, 5, 8),),
    )
    yield (
        "decoder",
        nn.TransformerDecoderLayer(**encoder),
        (torch.randn(2, 5, 8), torch.randn(3, 5, 8)),
    )
    yield "attention", nn.MultiheadAttention(8, 2), (torch.randn(3, 2, 8),) * 3
    yield "lstm", nn.LSTM(4, 5, 2), (torch.randn(3, 2, 4),)
    yield (
        "lstm, both ways",
        nn.LSTM(4, 5, bidirectional=True, batch_first=True),
        (torch.randn(3, 2, 4),),
    )
    yield "gru", nn.GRU(4, 5), (torch.randn(3, 2, 4),)
    yield "rnn", nn.RNN(4, 5), (torch.randn(3, 2, 4),)
    yield "lstm cell", nn.LSTMCell(4, 5), (torch.randn(2, 4),)
    yield "gru cell", nn.GRUCell(4, 5), (torch.randn(2, 4),)
    yield "conv1d", nn.Conv1d(2, 3, 3, padding=1), (torch.randn(2, 2, 5),)
    yield "conv2d, groups", nn.Conv2d(4, 6, 3, 2, 1, groups=2), (torch.randn(1, 4, 5, 6),)
    yield "conv3d", nn.Conv3d(2, 3, 2), (torch.randn(1, 2, 3, 4, 4),)
    yield (
        "conv, circular",
        nn.Conv2d(2, 2, 3, padding=1, padding_mode="circular"),
        (torch.randn(1, 2, 4, 4),),
    )
    yield (
        "transposed",
        nn.ConvTranspose2d(2, 3, 3, stride=2, padding=1, output_padding=1),
        (torch.randn(1, 2, 3, 4),),
    )
    image = torch.randn(2, 2, 6, 6)
    point = lambda *rest: nn.Sequential(nn.Conv2d(2, 2, 1), *rest)  # noqa: E731
    yield "batch norm", point(nn.BatchNorm2d(2, track_running_stats=False)), (image,)
    yield "batch norm, eval", point(nn.BatchNorm2d(2)).eval(), (image,)
    yield "instance norm", point(nn.InstanceNorm2d(2, affine=True)), (image,)
    yield "group norm", point(nn.GroupNorm(2, 2)), (image,)
    yield "layer norm", point(nn.LayerNorm([6, 6])), (image,)
    yield "max pool", point(nn.ReLU(inplace=False), nn.MaxPool2d(2)), (image,)
    yield "average pool", point(nn.AvgPool2d(3, 2, 1)), (image,)
    yield "adaptive pool", point(nn.AdaptiveAvgPool2d((2, 3))), (image,)
    yield "lp pool", point(nn.LPPool2d(2, 2)), (image,)
    yield "nearest", point(nn.Upsample(scale_factor=2)), (image,)
    yield "bilinear up", point(nn.Upsample(scale_factor=2, mode="bilinear")), (image,)
    yield (
        "pads",
        point(nn.ReflectionPad2d(1), nn.ReplicationPad2d(1), nn.ZeroPad2d(1)),
        (image,),
    )
    yield "unfold", point(nn.Unfold(2)), (image,)
    yield "fold", nn.Sequential(nn.Linear(4, 4), nn.Fold((3, 3), 2)), (torch.randn(1, 4, 4),)
    yield "softmax", point(nn.Softmax2d(), nn.Flatten(), nn.Unflatten(1, (2, -1))), (image,)
    yield "pixels", point(nn.PixelUnshuffle(2), nn.PixelShuffle(2)), (image,)
    yield "weight norm", nn.utils.weight_norm(nn.Linear(3, 4)), (torch.randn(2, 3),)
    spectral = nn.utils.parametrizations.spectral_norm(nn.Linear(3, 4))
    yield "spectral norm, eval", spectral.eval(), (torch.randn(2, 3),)
    yield "embedding", nn.Embedding(5, 3, padding_idx=1), (torch.tensor([[1, 2], [0, 1]]),)


def with_gradients(module, arguments):
    """A function of the parameters: the sum of squares, and its gradients."""

    def loss(parameters):
        with tensors_of(module, parameters):
            y = module(*arguments)
        y = y[0] if isinstance(y, tuple) else y
        return y.square().mean() + y.sum() * 0.1

    return functorch.grad_and_value(loss)


def losses():
    """Names, functions and arguments."""
    target = torch.tensor([0, 2, 1])
    scores = torch.randn(3, 4)
    weight = torch.rand(4)
    yield "cross entropy", lambda x: F.cross_entropy(x, target), scores
    yield (
        "smoothed",
        lambda x: F.cross_entropy(x, target, label_smoothing=0.1, weight=weight),
        scores,
    )
    yield "of chances", lambda x: F.cross_entropy(x, torch.softmax(scores, 1)), scores
    yield "nll", lambda x: F.nll_loss(x, target, ignore_index=2), scores
    yield "triplet", lambda x: F.triplet_margin_loss(x, x + 1, x * 2), scores
    yield "cosine", lambda x: F.cosine_embedding_loss(x, x + 1, torch.ones(3)), scores
    yield "hinge", lambda x: F.hinge_embedding_loss(x, torch.ones(3, 4)), scores
    yield "ranking", lambda x: F.margin_ranking_loss(x, x * 2, torch.ones(3, 4)), scores
    yield "many", lambda x: F.multilabel_soft_margin_loss(x, torch.ones(3, 4)), scores
    yield "kl", lambda x: F.kl_div(x, torch.softmax(scores, 1), reduction="batchmean"), scores


class TorchModules(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        warnings.simplefilter("ignore")
        torch.manual_seed(5)
        cls.session = pw.Session("1x1x1")

    @classmethod
    def tearDownClass(cls):
        cls.session.close()

    def test_modules(self):
        cases = []
        for name, module, arguments in modules():
            parameters = {k: v.detach() for k, v in module.named_parameters()}
            self.assertTrue(parameters, name)
            function = with_gradients(module, arguments)
            cases.append(Case(function, (parameters,), name, terms=200))
        wrong = check(cases, self.session, size=8)
        self.assertFalse(wrong, "\n".join(wrong))

    def test_losses(self):
        cases = [
            Case(functorch.grad_and_value(loss), (scores,), name)
            for name, loss, scores in losses()
        ]
        wrong = check(cases, self.session)
        self.assertFalse(wrong, "\n".join(wrong))


if __name__ == "__main__":
    unittest.main()
