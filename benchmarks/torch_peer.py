#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains as examples/transformer and examples/train do, in PyTorch.

  torch_peer.py transformer|train STEPS EPOCHS

STEPS of the text or the images are read EPOCHS times. Prints one line of JSON: the
losses, and the seconds of a step after the first ones, in the fastest of the ways
tried. Needs Debian's python3-torch, thus Debian's Python.
"""

import json
import pathlib
import sys
import time

import numpy
import torch
import torch.nn.functional as F

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / 'examples'


class Transformer:
    def __init__(self):
        sys.path.insert(0, str(EXAMPLES / 'transformer'))
        import make_data
        self.data = make_data
        self.parameters = {
            name: torch.tensor(value.array.astype('float32'), requires_grad=True)
            for name, value in make_data.first_parameters().items()}
        length = make_data.LENGTH
        self.future = torch.ones(length, length, dtype=torch.bool).triu(1)

    def batches(self, steps):
        text = self.data.batches.read_text()
        for step in range(steps):
            inputs, targets = self.data.step_of(text, step)
            yield (torch.tensor(inputs.astype('int64')),
                   torch.tensor(targets.astype('int64')))

    def norm(self, x, rows):
        return F.layer_norm(x, (self.data.WIDTH,), rows[0] + 1, rows[1], 1e-5)

    def attention(self, a, wqkv):
        d = self.data

        def heads(w):
            return (a @ w).view(d.PIECES, d.LENGTH, d.HEADS, -1).transpose(1, 2)

        q, k, v = (heads(w) for w in wqkv)
        scores = q @ k.transpose(-1, -2) * (d.WIDTH // d.HEADS) ** -0.5
        p = scores.masked_fill(self.future, -float('inf')).softmax(-1)
        return (p @ v).transpose(1, 2).reshape(d.PIECES, d.LENGTH, d.WIDTH)

    def loss(self, batch):
        inputs, targets = batch
        p = self.parameters
        x = p['token'][inputs] + p['place']
        for i in range(self.data.LAYERS):
            norms = p[f'norms{i}']
            x = x + self.attention(self.norm(x, norms[:2]),
                                   p[f'wqkv{i}']) @ p[f'wo{i}']
            h = F.linear(self.norm(x, norms[2:]), p[f'win{i}'])
            x = x + F.gelu(h, approximate='tanh') @ p[f'wout{i}']
        scores = F.linear(self.norm(x, p['norm']), p['head'])
        return F.cross_entropy(scores.flatten(0, 1), targets.flatten())

    def optimizers(self):
        d = self.data
        return {f'Adam(foreach={foreach})': lambda parameters, foreach=foreach:
                torch.optim.Adam(parameters, d.RATE, (d.KEPT, d.KEPT2), d.EPSILON,
                                 foreach=foreach)
                for foreach in (False, True)}


class Train:
    def __init__(self):
        def load(name):
            return torch.tensor(numpy.load(EXAMPLES / 'train/data' / f'{name}.npy'))
        self.images = load('images').float() / 16
        self.labels = load('labels').argmax(-1)
        self.parameters = {'w0': load('w0'), 'b0': torch.zeros(64),
                           'w1': load('w1'), 'b1': torch.zeros(10)}
        for value in self.parameters.values():
            value.requires_grad_()

    def batches(self, steps):
        return list(zip(self.images[:steps], self.labels[:steps]))

    def loss(self, batch):
        images, labels = batch
        p = self.parameters
        h = torch.addmm(p['b0'], images, p['w0']).relu()
        return F.cross_entropy(torch.addmm(p['b1'], h, p['w1']), labels)

    def optimizers(self):
        return {f'SGD(foreach={foreach})': lambda parameters, foreach=foreach:
                torch.optim.SGD(parameters, 0.5, foreach=foreach)
                for foreach in (False, True)}


def train(make, which, steps, epochs):
    """Losses, and the seconds of a step but for the first ones."""
    model = make()
    optimizer = model.optimizers()[which](list(model.parameters.values()))
    batches = list(model.batches(steps)) * epochs
    warm_up = max(1, len(batches) // 5)
    losses = []
    for number, batch in enumerate(batches):
        if number == warm_up:
            begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        loss = model.loss(batch)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    seconds = (time.perf_counter() - begin) / (len(batches) - warm_up)
    return losses, seconds


def main():
    make = {'transformer': Transformer, 'train': Train}[sys.argv[1]]
    steps, epochs = map(int, sys.argv[2:])
    best = None
    for which in make().optimizers():
        losses, seconds = train(make, which, steps, epochs)
        if best is None or seconds < best['seconds']:
            best = {'seconds': seconds, 'losses': losses, 'way': which,
                    'torch': torch.__version__}
    print(json.dumps(best))


if __name__ == '__main__':
    main()
