#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the forward passes of frontend_models in PyTorch.

  torch_models.py chess9m|resnet50 MODULE FOLDER STEPS

Prints one line of JSON: the median seconds of a pass, and the flags with which pw-run
computes the same from MODULE. Files for these flags are written to FOLDER. Needs
Debian's python3-torch, thus Debian's Python.
"""

import json
import pathlib
import re
import statistics
import sys
import time

import numpy
import torch
import torch.nn.functional as F


class Chess:
    """A decoder of 8 layers: 256 columns, 8 heads, 79 tokens, a batch of 33."""

    HEADS = 8
    PRODUCTS = 7  # with weights, in each layer

    def __init__(self, text, folder):
        random = numpy.random.default_rng(1)
        shapes = re.findall(r'%arg(\d+): tensor<([\dx]+)x(f32|i32)>',
                            text[text.index('@main'):].split('->', 1)[0])
        self.arrays = {}
        for number, shape, element in shapes:
            shape = [int(size) for size in shape.split('x')]
            if element == 'i32':
                self.tokens = random.integers(0, 1968, shape, dtype='int32')
                self.arrays[f'arg{number}'] = self.tokens
            else:
                scale = 0.05 if len(shape) > 1 else 1
                self.arrays[f'arg{number}'] = (
                    scale * random.standard_normal(shape)).astype('float32')
        numpy.savez(folder / 'inputs.npz', **self.arrays)
        # Weights in the order of their use: the module numbers them by name.
        body = text[text.index('@apply_fn(%arg0: '):]
        self.products = re.findall(r'dot_general %\d+, %arg(\d+),', body)
        self.rows = re.findall(r'broadcast_in_dim %arg(\d+), dims = \[2\]', body)
        self.flags = ['--input=@FOLDER/inputs.npz',
                      '--expected=result0=@FOLDER/expected.npy', '--atol=1e-4']
        self.folder = folder

    def weight(self, number):
        return torch.from_numpy(self.arrays[f'arg{number}'])

    def norm(self, x):
        scale, offset = (self.weight(next(self.row)) for _ in range(2))
        return F.layer_norm(x, x.shape[-1:], scale, offset, 1e-5)

    def times(self, x):
        return x @ self.weight(next(self.product))

    def attention(self, a):
        def heads(x):
            return x.view(*x.shape[:2], self.HEADS, -1).transpose(1, 2)

        q, k, v = (heads(self.times(a)) for _ in range(3))
        p = (q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5).softmax(-1)
        return self.times((p @ v).transpose(1, 2).reshape(a.shape))

    def __call__(self):
        self.product, self.row = iter(self.products), iter(self.rows)
        # Each token sees those before it.
        tokens = torch.from_numpy(self.tokens).long()
        shifted = F.pad(tokens, (1, 0))[:, :-1]
        x = self.weight(0)[shifted] * 256 ** 0.5 + self.weight(1)
        for _ in range(len(self.products) // self.PRODUCTS):
            x = x + self.attention(self.norm(x))
            a = self.norm(x)
            gate = self.times(a)
            x = x + self.times(F.silu(gate) * self.times(a))
        return F.log_softmax(self.times(self.norm(x)) + self.weight(next(self.row)), -1)

    def write_expected(self, result):
        numpy.save(self.folder / 'expected.npy', result.numpy())


class ResNet50:
    """The body of ResNet-50 on one image, without its classifier."""

    def __init__(self, text, folder):
        del text, folder
        self.parameters = []
        self.flags = ['--elided=random:1', '--input=arg0=random:1']
        torch.manual_seed(1)
        self.image = torch.rand(1, 3, 224, 224) * 2 - 1

    def conv(self, x, rows, size, stride=1):
        """A convolution and a normalization by statistics that are given."""
        if self.at == len(self.parameters):
            fan = x.shape[1] * size * size
            self.parameters.append(
                (torch.randn(rows, x.shape[1], size, size) * fan ** -0.5,
                 torch.zeros(rows), torch.ones(rows), torch.ones(rows),
                 torch.zeros(rows)))
        weight, mean, variance, scale, offset = self.parameters[self.at]
        self.at += 1
        x = F.conv2d(x, weight, stride=stride, padding=size // 2)
        return F.batch_norm(x, mean, variance, scale, offset, eps=1e-5)

    def block(self, x, rows, stride, shortcut):
        kept = self.conv(x, 4 * rows, 1, stride) if shortcut else x
        x = F.relu(self.conv(x, rows, 1))
        x = F.relu(self.conv(x, rows, 3, stride))
        return F.relu(self.conv(x, 4 * rows, 1) + kept)

    def __call__(self):
        self.at = 0
        x = F.relu(self.conv(self.image, 64, 7, 2))
        x = F.max_pool2d(x, 3, 2, 1)
        for group, (blocks, rows) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)]):
            for i in range(blocks):
                x = self.block(x, rows, 2 if group > 0 and i == 0 else 1, i == 0)
        return x, x.mean((2, 3), keepdim=True)

    def write_expected(self, result):
        del result


def main():
    what, module, folder, steps = sys.argv[1:]
    torch.set_num_threads(1)
    text = pathlib.Path(module).read_text(encoding='utf-8')
    model = {'chess9m': Chess, 'resnet50': ResNet50}[what](text, pathlib.Path(folder))
    seconds = []
    with torch.no_grad():
        model.write_expected(model())
        for _ in range(int(steps)):
            start = time.perf_counter()
            model()
            seconds.append(time.perf_counter() - start)
    print(json.dumps({'seconds': statistics.median(seconds), 'flags': model.flags}))


if __name__ == '__main__':
    main()
