#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps of PyTorch modules, next to PyTorch's own training."""

from __future__ import annotations

import copy
import inspect
import os
import random
import sys
import unittest
from collections.abc import Callable
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

SEED = int(os.environ.get("PATHWAYS_TEST_SEED", random.randrange(1 << 30)))
STEPS = 4


class MLP(nn.Module):
    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.first = nn.Linear(6, width)
        self.second = nn.Linear(width, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(torch.tanh(self.first(x)))


class Noisy(nn.Module):
    """Dropout, batch normalization and an argument that both stages read."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(6, 8)
        self.norm = nn.BatchNorm1d(8)
        self.second = nn.Linear(8, 8)
        self.last = nn.Linear(14, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = F.dropout(F.relu(self.norm(self.first(x))), 0.5, self.training)
        h = h + F.relu(self.second(h), inplace=True)
        return self.last(torch.cat([h, x], 1))


class Tied(nn.Module):
    """The scores are products with the embedding, in another stage."""

    def __init__(self) -> None:
        super().__init__()
        self.token = nn.Embedding(5, 8)
        self.frozen = nn.Linear(8, 8).requires_grad_(False)
        self.unused = nn.Linear(3, 3)
        self.body = nn.Linear(8, 8)
        self.head = nn.Linear(8, 5, bias=False)
        self.head.weight = self.token.weight

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.frozen(self.token(tokens))
        return self.head(torch.tanh(self.body(x)))


def batches(count: int = STEPS, rows: int = 8) -> list[tuple[torch.Tensor, torch.Tensor]]:
    return [(torch.randn(rows, 6), torch.randint(5, (rows,))) for _ in range(count)]


def read(x: Any) -> np.ndarray[Any, Any]:
    return np.asarray(x)


class Training(unittest.TestCase):
    def setUp(self) -> None:
        torch.manual_seed(SEED)

    def train(
        self, module: nn.Module, optimizer: Any, data: list[Any], *,
        topology: str = "1x1x1", loss: Any = F.cross_entropy, rates: list[float] | None = None,
        before: Callable[[pt.TrainExecutable], None] | None = None, **options: Any,
    ) -> tuple[list[float], dict[str, torch.Tensor], dict[str, Any]]:  # fmt: skip
        """The losses, the state of the module and that of the optimizer."""
        step_of = pt.train_step(copy.deepcopy(module), loss, optimizer, **options)
        with pw.Session(topology) as session:
            step = session.load(step_of.compile(*data[0], topology=topology))
            if before is not None:
                before(step)
            losses = [
                step(*batch, **({} if rates is None else {"lr": rates[i]})).loss
                for i, batch in enumerate(data)
            ]
            values = [float(pt.to_tensor(x)) for x in losses]
            return values, step.state_dict(), step.optimizer_state_dict()

    def eager(
        self, module: nn.Module, make: Callable[[Any], torch.optim.Optimizer],
        data: list[Any], *, rates: list[float] | None = None, clip: float | None = None,
        parts: int = 1, autocast: bool = False,
    ) -> tuple[list[float], nn.Module, torch.optim.Optimizer]:  # fmt: skip
        module = copy.deepcopy(module)
        optimizer = make([p for p in module.parameters() if p.requires_grad])
        losses = []
        for i, (x, y) in enumerate(data):
            if rates is not None:
                optimizer.param_groups[0]["lr"] = rates[i]
            optimizer.zero_grad()
            total = 0.0
            for a, b in zip(x.chunk(parts), y.chunk(parts)):
                with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
                    loss = F.cross_entropy(module(a), b) / parts
                loss.backward()
                total += loss.item()
            if clip is not None:
                nn.utils.clip_grad_norm_(module.parameters(), clip)
            optimizer.step()
            losses.append(total)
        return losses, module, optimizer

    def check_state(
        self, got: dict[str, torch.Tensor], module: nn.Module, tolerance: float = 1e-5
    ) -> None:
        want = module.state_dict()
        self.assertEqual(list(got), list(want))
        for name, value in want.items():
            self.assertEqual(got[name].dtype, value.dtype, name)
            torch.testing.assert_close(
                got[name], value, rtol=tolerance, atol=tolerance,
                msg=lambda m, name=name: f"{name}: {m}",
            )  # fmt: skip

    def test_optimizers(self) -> None:
        data, module = batches(), MLP()
        for name, options in (
            ("SGD", dict(lr=0.1)),
            ("SGD", dict(lr=0.1, momentum=0.9, dampening=0.3, weight_decay=0.01)),
            ("SGD", dict(lr=0.1, momentum=0.9, nesterov=True)),
            ("SGD", dict(lr=0.1, momentum=0.5, maximize=True)),
            ("Adam", dict(lr=0.01, weight_decay=0.1)),
            ("Adam", dict(lr=0.01, betas=(0.5, 0.9), eps=1e-4, amsgrad=True)),
            ("AdamW", dict(lr=0.01, weight_decay=0.2, maximize=True)),
        ):
            with self.subTest(name=name, options=options):
                kind = getattr(torch.optim, name)
                losses, eager, optimizer = self.eager(
                    module, lambda p: kind(p, **options), data
                )
                own = getattr(pt, name)(**options)
                got, state, saved = self.train(module, own, data)
                np.testing.assert_allclose(got, losses, rtol=1e-5)
                self.check_state(state, eager)
                wanted = optimizer.state_dict()
                if own.states:
                    self.assertEqual(set(saved["state"]), set(wanted["state"]))
                for i, slots in saved["state"].items():
                    for slot, value in slots.items():
                        torch.testing.assert_close(
                            value.double(),
                            torch.as_tensor(wanted["state"][i][slot]).double(),
                            rtol=1e-4, atol=1e-6,
                        )  # fmt: skip

    def test_rate_of_each_step_clipping_and_micro_batches(self) -> None:
        data, module, rates = batches(), MLP(), [0.1, 0.2, 0.05, 0.0]
        losses, eager, _ = self.eager(
            module, lambda p: torch.optim.SGD(p, 1.0, momentum=0.9), data, rates=rates,
            clip=0.2, parts=2,
        )  # fmt: skip
        got, state, _ = self.train(
            module, pt.SGD(lr="per step", momentum=0.9), data, rates=rates, clip_norm=0.2,
            micro_batches=2,
        )  # fmt: skip
        np.testing.assert_allclose(got, losses, rtol=1e-5)
        self.check_state(state, eager)

    def test_autocast(self) -> None:
        data, module = batches(), MLP()
        losses, eager, _ = self.eager(
            module, lambda p: torch.optim.Adam(p, 0.01), data, autocast=True
        )
        got, state, _ = self.train(module, pt.Adam(lr=0.01), data, autocast="bf16")
        np.testing.assert_allclose(got, losses, rtol=2e-2)
        self.assertEqual(state["first.weight"].dtype, torch.float32)
        self.check_state(state, eager, tolerance=0.05)

    def test_elements(self) -> None:
        for element, tolerance in ((torch.float64, 1e-10), (torch.bfloat16, 2e-2)):
            with self.subTest(element=element):
                data = [(x.to(element), y) for x, y in batches()]
                module = MLP().to(element)
                losses, eager, _ = self.eager(
                    module, lambda p: torch.optim.SGD(p, 0.1, momentum=0.9), data
                )
                got, state, _ = self.train(module, pt.SGD(lr=0.1, momentum=0.9), data)
                np.testing.assert_allclose(got, losses, rtol=tolerance)
                self.check_state(state, eager, tolerance)

    def test_optimizer_of_pytorch_with_groups_and_state(self) -> None:
        data, module = batches(), MLP()

        def make(parameters: Any) -> torch.optim.Optimizer:
            parameters = list(parameters)
            return torch.optim.AdamW(
                [{"params": parameters[2:], "lr": 0.05}, {"params": parameters[:2]}],
                lr=0.01,
            )

        _, eager, optimizer = self.eager(module, make, data[:2])
        mine = copy.deepcopy(eager)
        later = make(mine.parameters())
        later.load_state_dict(copy.deepcopy(optimizer.state_dict()))
        step_of = pt.train_step(mine, F.cross_entropy, later)
        losses = []
        for x, y in data[2:]:
            optimizer.zero_grad()
            loss = F.cross_entropy(eager(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        with pw.Session("1x1x1") as session:
            step = session.load(step_of.compile(*data[0], topology="1x1x1"))
            self.assertEqual(step.step_count, 2)
            got = [float(read(step(*batch).loss)) for batch in data[2:]]
            np.testing.assert_allclose(got, losses, rtol=1e-5)
            self.check_state(step.state_dict(), eager)

    def test_stop_and_continue(self) -> None:
        data, module = batches(6), Noisy()
        whole, state, saved = self.train(module, pt.Adam(lr=0.01), data)
        first, kept, kept_saved = self.train(module, pt.Adam(lr=0.01), data[:3])
        kept_saved = copy.deepcopy(kept_saved)
        rest, last, last_saved = self.train(
            module, pt.Adam(lr=0.01), data[3:],
            before=lambda step: step.load_state_dict(kept, kept_saved),
        )  # fmt: skip
        self.assertEqual(whole, first + rest)
        for name, value in state.items():
            self.assertTrue(torch.equal(value, last[name]), name)
        self.assertEqual(saved["pathways"], last_saved["pathways"])
        torch.optim.Adam(module.parameters()).load_state_dict(saved)

    def test_random_numbers(self) -> None:
        module, (x, y) = Noisy(), batches(1)[0]
        data = [(x, y)] * 3
        still = pt.SGD(lr=0.0)
        one, _, _ = self.train(module, still, data)
        self.assertEqual(len(set(one)), 3, "each step has numbers of its own")
        other, _, _ = self.train(module, still, data, seed=1)
        self.assertNotEqual(one, other)
        four, _, _ = self.train(
            module, still, data, on={"data": 4}, batch="data", topology="1x1x4"
        )
        np.testing.assert_allclose(one, four, rtol=1e-5)
        stages, _, _ = self.train(
            module, still, data, cut="second", on=[None, None], topology="2x1x1"
        )
        np.testing.assert_allclose(one, stages, rtol=1e-5)

    def test_stages(self) -> None:
        for module, cut, batch in (
            (Noisy().eval(), ["second"], batches()),
            (Tied(), "body", [(torch.randint(5, (8,)), y) for _, y in batches()]),
        ):
            with self.subTest(cut=cut):
                losses, eager, _ = self.eager(
                    module, lambda p: torch.optim.Adam(p, 0.01), batch
                )
                optimizer = pt.Adam(lr=0.01)
                for options in (
                    dict(topology="1x1x1"),
                    dict(cut=cut, on=[None, None], topology="2x1x1"),
                    dict(
                        cut=cut, topology="2x1x2", micro_batches=2, batch="data",
                        on=[pw.Slice("a", data=2), pw.Slice("b", data=2, apart_from="a")],
                    ),
                ):  # fmt: skip
                    got, state, _ = self.train(module, optimizer, batch, **options)
                    np.testing.assert_allclose(got, losses, rtol=1e-5)
                    self.check_state(state, eager)

    def test_eval(self) -> None:
        data, module = batches(), Noisy()
        module.train()
        for options in ({}, dict(cut="second", on=[None, None])):
            topology = "2x1x1" if options else "1x1x1"
            step_of = pt.train_step(module, F.cross_entropy, pt.SGD(lr=0.1), **options)
            with pw.Session(topology) as session:
                step = session.load(step_of.compile(*data[0], topology=topology))
                for batch in data:
                    step(*batch)
                x = torch.randn(3, 6)
                got = read(step.eval(x))
                copied = copy.deepcopy(module)
                copied.load_state_dict(step.state_dict())
            self.assertTrue(module.training)
            self.assertGreater(int(copied.norm.num_batches_tracked), 0)
            want = copied.eval()(x).detach().numpy()
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)

    def test_stepped(self) -> None:
        data, module = batches(), MLP()
        want, _, _ = self.train(module, pt.Adam(lr=0.01), data)
        step_of = pt.train_step(module, F.cross_entropy, pt.Adam(lr=0.01))
        with pw.Session("1x1x1") as session:
            step = session.load(
                step_of.compile(*data[0], topology="1x1x1", stepped=True)
            )
            xs, ys = (torch.stack(column) for column in zip(*data))
            self.assertEqual(read(step(xs, ys).loss).tolist(), want)
            self.assertEqual(step.step_count, len(data))

    def test_uneven_split(self) -> None:
        data, module = batches(rows=6), MLP(7)
        want, state, _ = self.train(module, pt.Adam(lr=0.01), data)
        split = {"first.*": ("model",), "second.weight": (None, "model")}
        step_of = pt.train_step(
            module, F.cross_entropy, pt.Adam(lr=0.01), on={"model": 4}, split=split
        )
        plan = step_of.compile(*data[0], topology="1x1x4")
        self.assertIn(
            "first.weight: dimension 0 of 7 is cut into 4 parts that are not equal",
            plan.remarks,
        )
        with pw.Session("1x1x4") as session:
            step = session.load(plan)
            got = [float(read(step(*batch).loss)) for batch in data]
            np.testing.assert_allclose(got, want, rtol=1e-5)
            for name, value in step.state_dict().items():
                torch.testing.assert_close(value, state[name], rtol=1e-4, atol=1e-5)

    def test_state_cut_over_the_batch_axis(self) -> None:
        data, module = batches(), Noisy().eval()
        options = dict(on={"data": 4}, batch="data", topology="1x1x4")
        want, _, _ = self.train(module, pt.Adam(lr=0.01), data)
        got, _, _ = self.train(
            module, pt.Adam(lr=0.01), data, split={"*": ("data",)}, **options
        )
        np.testing.assert_allclose(got, want, rtol=1e-5)

    def test_loss_of_the_module(self) -> None:
        class Own(MLP):
            def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
                return F.cross_entropy(super().forward(x), y)

        data, module = batches(), MLP()
        want, _, _ = self.train(module, pt.SGD(lr=0.1), data)
        own = Own()
        own.load_state_dict(module.state_dict())
        got, _, _ = self.train(own, pt.SGD(lr=0.1), data, loss=None)
        self.assertEqual(got, want)

    def refuses(self, kind: type[Exception], words: str, call: Callable[[], Any]) -> None:
        with self.assertRaises(kind) as caught:
            call()
        self.assertIn(words, str(caught.exception))

    def test_errors_of_arguments(self) -> None:
        module, loss = MLP(), F.cross_entropy

        def make(optimizer: Any = pt.SGD(lr=0.1), **options: Any) -> Callable[[], Any]:
            return lambda: pt.train_step(module, loss, optimizer, **options)

        lbfgs = torch.optim.LBFGS(module.parameters())
        self.refuses(TypeError, "calls a closure", make(lbfgs))
        self.refuses(TypeError, "is a str", make("adam"))
        strange = torch.optim.Adam(module.parameters(), differentiable=True)
        self.refuses(ValueError, "differentiable=True", make(strange))
        alien = torch.optim.SGD([torch.zeros(2, requires_grad=True)], 0.1)
        self.refuses(ValueError, "not one of the module", make(alien))
        self.refuses(
            ValueError, "'*.wait'", make(on={"m": 2}, split={"*.wait": ("m",)})
        )
        self.refuses(ValueError, "'data'", make(on={"m": 2}, batch="data"))
        self.refuses(ValueError, "'third'", make(cut="third", on=[None, None]))
        self.refuses(ValueError, "2 stages and 1 slices", make(cut="second"))
        self.refuses(ValueError, "one stage", make(on=[None, None]))
        self.refuses(ValueError, "clip_norm is 0", make(clip_norm=0))
        self.refuses(ValueError, "clip_norm is nan", make(clip_norm=float("nan")))
        self.refuses(ValueError, "micro_batches is 0", make(micro_batches=0))
        self.refuses(ValueError, "micro_batches is 1.5", make(micro_batches=1.5))
        self.refuses(TypeError, "clip_norm is a number, not '1'", make(clip_norm="1"))
        self.refuses(TypeError, "seed is an integer, not 'a'", make(seed="a"))
        self.refuses(ValueError, f"seed is {1 << 64}", make(seed=1 << 64))
        self.refuses(ValueError, "seed is -", make(seed=-(1 << 63) - 1))
        self.refuses(TypeError, "axes with their sizes, not 's'", make(on="s"))
        self.refuses(TypeError, "axes with their sizes, not 3", make(on=3))
        self.refuses(ValueError, '"f8"', make(autocast="f8"))
        self.refuses(ValueError, "lr is -1", lambda: pt.SGD(lr=-1))
        self.refuses(ValueError, "lr is nan", lambda: pt.Adam(lr=float("nan")))
        self.refuses(ValueError, "nesterov", lambda: pt.SGD(lr=1, nesterov=True))
        frozen = MLP().requires_grad_(False)
        self.refuses(
            ValueError, "requires gradients",
            lambda: pt.train_step(frozen, loss, pt.SGD(lr=1)),
        )  # fmt: skip

    def test_errors_of_tracing(self) -> None:
        x, y = batches(1)[0]

        def trace(module: nn.Module, loss: Any = F.cross_entropy, **options: Any) -> Any:
            sgd = pt.SGD(lr=0.1)
            return lambda: pt.train_step(module, loss, sgd, **options).trace(x, y)

        class Branches(MLP):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                y = super().forward(x)
                return -y if y.sum() > 0 else y

        line = inspect.getsourcelines(Branches.forward)[1] + 2
        self.refuses(
            pt.TraceError, f"test_torch_training.py:{line}", trace(Branches())
        )
        unreduced = lambda a, b: F.cross_entropy(a, b, reduction="none")  # noqa: E731
        self.refuses(pt.TraceError, "shape (8,)", trace(MLP(), unreduced))
        self.refuses(pt.TraceError, "a float", trace(MLP(), lambda a, b: b.sum()))
        chances = lambda a, b: F.cross_entropy(a, b.float())  # noqa: E731
        self.refuses(pt.TraceError, "elements of f32, expected integers", trace(MLP(), chances))
        self.refuses(
            pt.TraceError, "does not depend", trace(MLP(), lambda a, b: b.float().sum())
        )
        two = [None] * 2
        self.refuses(pt.TraceError, "not reached", trace(Uncalled(), cut="unused", on=two))
        self.refuses(
            pt.TraceError, "in the order of calls",
            trace(MLP(), cut=["second", "first"], on=[None] * 3),
        )  # fmt: skip
        self.refuses(pw.InvalidArgument, "3 micro-batches", trace(MLP(), micro_batches=3))
        self.refuses(
            pw.InvalidArgument, "input 0 is a str",
            lambda: pt.train_step(MLP(), None, pt.SGD(lr=1)).trace("x"),
        )  # fmt: skip
        hidden = MLP()
        hidden.again = [hidden.first.weight]
        hidden.forward = lambda x: F.linear(x, hidden.again[0])  # type: ignore
        self.refuses(pt.TraceError, "first.weight", trace(hidden))

    def test_errors_of_calls(self) -> None:
        (x, y), *_ = batches()
        step_of = pt.train_step(MLP(), F.cross_entropy, pt.SGD(lr="per step"))
        with pw.Session("1x1x1") as session:
            step = session.load(step_of.compile(x, y, topology="1x1x1"))
            bad = pw.InvalidArgument
            self.refuses(bad, "takes x, target, got 1", lambda: step(x, lr=0.1))
            self.refuses(bad, "give lr", lambda: step(x, y))
            self.refuses(bad, "closure", lambda: step(x, y, lr=lambda: 0.1))
            self.refuses(bad, "closure", lambda: step(lambda: x, y, lr=0.1))
            self.refuses(bad, "x", lambda: step(x[:4], y, lr=0.1))
            self.refuses(bad, "f64", lambda: step(x.double(), y, lr=0.1))
            state = step.state_dict()
            self.refuses(
                bad, "first.bias", lambda: step.load_state_dict({**state, "first.bias": x})
            )
            state.pop("first.bias")
            self.refuses(bad, "lacks ['first.bias']", lambda: step.load_state_dict(state))
            self.refuses(bad, "torch.optim", lambda: step.load_state_dict(None, {}))
            self.assertEqual(step.step_count, 0)
            step(x, y, lr=0.1)
            self.assertEqual(step.step_count, 1)


class Uncalled(MLP):
    """A module with a part that it does not call."""

    def __init__(self) -> None:
        super().__init__()
        self.unused = nn.Linear(2, 2)


if __name__ == "__main__":
    print(f"seed {SEED}", flush=True)
    unittest.main(verbosity=2)
