#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps of PyTorch modules in four stages, in the order of schedules."""

from __future__ import annotations

import copy
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
    from torch import nn
except ImportError:
    sys.exit(77)

import pathways as pw
import pathways.torch as pt

torch.set_num_threads(1)

STEPS, MICRO_BATCHES, ROWS = 2, 8, 16
A, B = pw.Slice("a"), pw.Slice("b")
FOUR = [pw.Slice(name) for name in ("s0", "s1", "s2", "s3")]
CUTS = ["1", "2", "3"]


class Stage(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.layer = nn.Linear(inputs, outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.layer(x))


def make() -> nn.Module:
    torch.manual_seed(3)
    return nn.Sequential(Stage(5, 6), Stage(6, 7), Stage(7, 6), nn.Linear(6, 4))


def batches() -> list[tuple[torch.Tensor, torch.Tensor]]:
    torch.manual_seed(4)
    return [(torch.randn(ROWS, 5), torch.randint(4, (ROWS,))) for _ in range(STEPS)]


def train(
    module: nn.Module, topology: str = "1x1x4", **options: Any
) -> tuple[list[bytes], dict[str, torch.Tensor], pw.Plan]:
    """Returns the bits of the losses, the parameters afterwards, and the plan."""
    module = copy.deepcopy(module)
    step = pt.train_step(module, F.cross_entropy, pt.SGD(lr=0.1, momentum=0.9), cut=CUTS,
                         micro_batches=MICRO_BATCHES, **options)
    losses = []
    with pw.Session(topology) as session:
        plan = step.compile(*batches()[0], topology=session.topology)
        run = session.load(plan)
        for x, y in batches():
            losses.append(np.asarray(run(x, y).loss).tobytes())
        return losses, run.state_dict(), plan.plan


class Schedules(unittest.TestCase):
    def same(self, got: Any, wanted: Any) -> None:
        self.assertEqual(got[0], wanted[0])
        for name, value in wanted[1].items():
            self.assertTrue(torch.equal(got[1][name], value), name)

    def test_all_schedules_give_the_same_losses(self) -> None:
        module = make()
        plain = train(module, on=FOUR)
        self.assertEqual(plain[2].order, "")
        orders = set()
        for schedule, on in (
            ("gpipe", FOUR),
            ("1f1b", FOUR),
            ("eager-1f1b", FOUR),
            ("zb-h1", FOUR),
            ("zb-h2", FOUR),
            ("interleaved", [A, B, A, B]),
            ("zbv", [A, B, B, A]),
            ("dualpipe-v", [A, B, B, A]),
        ):
            with self.subTest(schedule):
                topology = "1x1x4" if on is FOUR else "1x1x2"
                got = train(module, topology, on=on, schedule=schedule)
                self.same(got, plain)
                self.assertEqual(got[2].order.count("\n"), len(set(on)))
                orders.add(got[2].order)
        self.assertEqual(len(orders), 8)

    def test_losses_are_those_of_pytorch(self) -> None:
        module = make()
        losses, state, _ = train(module, on=FOUR, schedule="1f1b")
        optimizer = torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
        for (x, y), loss in zip(batches(), losses):
            optimizer.zero_grad()
            wanted = F.cross_entropy(module(x), y)
            wanted.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            np.testing.assert_allclose(np.frombuffer(loss, np.float32)[0],
                                       wanted.item(), rtol=1e-5)
        for name, value in module.state_dict().items():
            torch.testing.assert_close(state[name], value, rtol=1e-4, atol=1e-5)

    def test_recomputed_stages(self) -> None:
        module = make()
        plain = train(module, on=FOUR, schedule="gpipe")
        got = train(module, on=FOUR, schedule="gpipe", recompute=["[12]F"])
        self.same(got, plain)
        again = [r for r in got[2].remarks if "runs again before" in r]
        self.assertEqual(len(again), 2, got[2].remarks)

    def test_file_of_orders(self) -> None:
        module = make()
        count = range(MICRO_BATCHES)
        text = "".join(
            ",".join([*(f"{s}F{i}" for i in count), *(f"{s}B{i}" for i in count)]) + "\n"
            for s in range(4)
        )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "order.csv"
            path.write_text(text, encoding="utf-8")
            got = train(module, on=FOUR, schedule=f"@{path}")
        self.assertEqual(got[2].order, text)
        self.same(got, train(module, on=FOUR, schedule="gpipe"))

    def test_fastest_schedule(self) -> None:
        module = make()
        got = train(module, on=FOUR, schedule="auto")
        self.same(got, train(module, on=FOUR, schedule="gpipe"))
        self.assertIn("schedule 'auto' is", "\n".join(got[2].remarks))
        self.assertEqual(got[2].order.count("\n"), 4)
        step = pt.train_step(module, F.cross_entropy, pt.SGD(lr=0.1, momentum=0.9), cut=CUTS,
                             micro_batches=MICRO_BATCHES, on=FOUR, schedule="auto")
        rows = pw.explain_schedules(step.trace(*batches()[0]).source, "1x1x4")
        best = min((row for row in rows if row.fits_memory), key=lambda row: row.step_time)
        self.assertEqual(best.schedule, got[2].report["orders"][0]["schedule"])

    def test_random_numbers_and_buffers(self) -> None:
        module = nn.Sequential(
            nn.Sequential(nn.Linear(5, 6), nn.BatchNorm1d(6)),
            nn.Dropout(0.5),
            nn.Linear(6, 6),
            nn.Sequential(nn.Dropout(0.3), nn.Linear(6, 4)),
        )
        plain = train(module, on=FOUR)
        for schedule in ("1f1b", "gpipe"):
            self.same(train(module, on=FOUR, schedule=schedule), plain)

    def test_cut_batches(self) -> None:
        module = make()
        slices = [pw.Slice(f"w{i}", data=2) for i in range(4)]
        options: dict[str, Any] = dict(on=slices, batch="data", topology="1x1x8")
        losses, state, _ = train(module, schedule="1f1b", **options)
        wanted, states, _ = train(module, on=FOUR, schedule="1f1b")
        for got, want in zip(losses, wanted):
            np.testing.assert_allclose(np.frombuffer(got, np.float32),
                                       np.frombuffer(want, np.float32), rtol=1e-5)
        for name, value in states.items():
            torch.testing.assert_close(state[name], value, rtol=1e-4, atol=1e-5)

    def test_wrong_options(self) -> None:
        def step(**options: Any) -> Any:
            given = {"cut": CUTS, "on": FOUR, "micro_batches": 8, **options}
            return pt.train_step(make(), F.cross_entropy, pt.SGD(lr=0.1), **given)

        for error, message, options in (
            (ValueError, "the schedule is '1f1b', but there is one stage",
             dict(schedule="1f1b", cut=(), on=None)),
            (ValueError, "the schedule is empty", dict(schedule="")),
            (TypeError, "a name or @ and a path, not 3", dict(schedule=3)),
            (ValueError, r"recompute is \['0F'\], but there is no schedule",
             dict(recompute="0F")),
            (ValueError, "two slices have the same name",
             dict(schedule="zbv", on=[A, B, pw.Slice("b", apart_from="a"), A])),
        ):
            with self.subTest(message), self.assertRaisesRegex(error, message):
                step(**options)
        with self.assertRaisesRegex(pt.TraceError, "recompute of '4F' fits no label of a"):
            step(schedule="1f1b", recompute=["4F"]).trace(*batches()[0])
        with self.assertRaisesRegex(pw.ProgramError, "schedule 'zbv'"):
            step(schedule="zbv").compile(*batches()[0], topology="1x1x4")


if __name__ == "__main__":
    unittest.main()
