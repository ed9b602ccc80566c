#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# mypy: disable-error-code="no-untyped-call, attr-defined"
"""Trains the modules of this folder, and compares each loss with that of PyTorch.

  train.py [MODEL...] [--way=one|data4|model4|stages2|all] [--steps=N | --test]

A module is trained on one device, on four devices with a part of the batch each, on four
with a part of the parameters each, and in two stages on two islands. Its text is the same.
Losses may differ from PyTorch's by 1e-4 of their size. --test takes 10 steps, or 100 with
PATHWAYS_TEST_ALL. Needs the package and PyTorch; without them it exits with code 77.
"""

from __future__ import annotations

import argparse
import copy
import os
import pathlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

try:
    import numpy as np
    import torch
    import torch.nn.functional as F

    import pathways as pw
    import pathways.torch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

import cnn
import gpt
import lstm
import moe

TEXT = pathlib.Path(__file__).resolve().parent.parent / "transformer/data/text.txt"
TOLERANCE = 1e-4
WAYS = ("one", "data4", "model4", "stages2")

Batch = tuple[torch.Tensor, torch.Tensor]


def characters(pieces: int, length: int) -> Iterator[Batch]:
    """Pieces of the text, and the characters that follow each of theirs."""
    text = torch.frombuffer(bytearray(TEXT.read_bytes()), dtype=torch.uint8).long()
    count = (len(text) - 1) // length
    for first in range(0, count * pieces, pieces):
        places = [(first + i) % count * length for i in range(pieces)]
        yield (
            torch.stack([text[p : p + length] for p in places]),
            torch.stack([text[p + 1 : p + length + 1] for p in places]),
        )


def images() -> Iterator[Batch]:
    """Noisy copies of ten images."""
    generator = torch.Generator().manual_seed(1)
    originals = torch.randn(10, 3, 16, 16, generator=generator)
    while True:
        classes = torch.randint(10, (16,), generator=generator)
        noise = torch.randn(16, 3, 16, 16, generator=generator)
        yield originals[classes] + 2 * noise, classes


class Example(NamedTuple):
    """A module, its batches and optimizer, the cut of its parameters over four devices,
    and the submodule at which the second stage begins."""

    make: Callable[[], torch.nn.Module]
    batches: Callable[[], Iterator[Batch]]
    optimizer: Callable[[Any], torch.optim.Optimizer]
    split: Mapping[str, Any]
    cut: str
    clip_norm: float | None = None


EXAMPLES = {
    "gpt": Example(
        gpt.GPT,
        lambda: characters(4, 128),
        lambda p: torch.optim.AdamW(p, lr=1e-3),
        {
            **{f"*.{n}.weight": ("model", None) for n in ("query", "key", "value")},
            "*.widen.weight": ("model", None),
            **{f"*.{n}.weight": (None, "model") for n in ("proj", "narrow")},
            "*.widen.bias": ("model",),
            "head.weight": ("model", None),
        },
        cut="blocks.2",
    ),
    "cnn": Example(
        cnn.ResNet,
        images,
        lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9, weight_decay=1e-4),
        {"*.conv1.weight": ("model",), "head.weight": (None, "model")},
        cut="blocks.1",
    ),
    "moe": Example(
        moe.MixtureOfExperts,
        lambda: characters(8, 32),
        lambda p: torch.optim.Adam(p, lr=1e-3),
        {"*.experts.widen": ("model",), "*.experts.narrow": ("model",)},
        cut="blocks.1",
    ),
    "lstm": Example(
        lstm.CharacterLSTM,
        lambda: characters(8, 16),
        lambda p: torch.optim.Adam(p, lr=3e-3),
        {"*.weight_ih_l0": ("model", None), "*.weight_hh_l0": ("model", None)},
        cut="layers.1",
        clip_norm=1.0,
    ),
}


def first_batches(example: Example, steps: int) -> list[Batch]:
    return [batch for _, batch in zip(range(steps), example.batches())]


def train_eagerly(example: Example, steps: int) -> list[float]:
    """The losses in PyTorch, with one thread: two wait for each other on a busy machine."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    module = example.make()
    optimizer = example.optimizer(module.parameters())
    losses = []
    for x, y in first_batches(example, steps):
        optimizer.zero_grad()
        loss = F.cross_entropy(module(x), y)
        loss.backward()
        if example.clip_norm is not None:
            torch.nn.utils.clip_grad_norm_(module.parameters(), example.clip_norm)
        optimizer.step()
        losses.append(loss.item())
    return losses


def train(example: Example, way: str, steps: int) -> tuple[list[float], float]:
    """The losses in Pathways, and the seconds of a step after the first one."""
    torch.manual_seed(0)
    module = example.make()
    options: dict[str, Any] = {}
    topology = "1x1x1"
    if way == "data4":
        topology, options = "1x1x4", {"on": pw.Slice("s", data=4), "batch": "data"}
    elif way == "model4":
        topology, options = "1x1x4", {"on": pw.Slice("s", model=4), "split": example.split}
    elif way == "stages2":
        front = pw.Slice("front")
        options = {"on": [front, pw.Slice("back", apart_from=front)], "cut": example.cut}
        topology = "2x1x1"
    step_of = pathways.torch.train_step(
        module, F.cross_entropy, example.optimizer(module.parameters()),
        clip_norm=example.clip_norm, **options,
    )  # fmt: skip
    batches = first_batches(example, steps)
    with pw.Session(topology) as session:
        step = session.load(step_of.compile(*batches[0], topology=topology))
        losses = [float(np.asarray(step(*batches[0]).loss))]
        start = time.perf_counter()
        results = [step(*batch).loss for batch in batches[1:]]
        losses += [float(np.asarray(loss)) for loss in results]
        seconds = (time.perf_counter() - start) / max(len(results), 1)
        trained = copy.deepcopy(module)
        trained.load_state_dict(step.state_dict())
    return losses, seconds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--way", choices=(*WAYS, "all"), default="all")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--test", action="store_true")
    flags = parser.parse_args()
    if flags.test and not os.environ.get("PATHWAYS_TEST_ALL"):
        flags.steps = 10
    failures = 0
    for name in flags.models or EXAMPLES:
        if name not in EXAMPLES:
            parser.error(f"there is no {name}, only {', '.join(EXAMPLES)}")
        want = train_eagerly(EXAMPLES[name], flags.steps)
        for way in WAYS if flags.way == "all" else (flags.way,):
            start = time.perf_counter()
            got, seconds = train(EXAMPLES[name], way, flags.steps)
            worst = max(abs(a - b) / abs(b) for a, b in zip(got, want))
            is_near = worst <= TOLERANCE
            failures += not is_near
            print(
                f"{'' if is_near else 'FAILED '}{name} {way}: loss {got[0]:.4f} to "
                f"{got[-1]:.4f}, at most {worst:.1e} of it from PyTorch's; "
                f"{seconds * 1e3:.1f} ms a step, {time.perf_counter() - start:.0f} s in "
                "all",
                flush=True,
            )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
