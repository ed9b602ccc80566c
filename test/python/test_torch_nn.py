#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares lowerings of neural networks with PyTorch: results, and gradients by PyTorch.

Each test makes one program of several cases. Random values have the seed
PATHWAYS_TEST_SEED, which is printed.
"""

from __future__ import annotations

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
except ImportError:
    sys.exit(77)

import pathways as pw
from pathways.torch import trace

SEED = int(os.environ.get("PATHWAYS_TEST_SEED", random.randrange(1 << 30)))

Case = tuple[str, Callable[..., Any], tuple[Any, ...]]


def with_gradients(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the results, then the gradients of a weighted sum of those that are floats.
    The weights differ, so that no gradient is left out by symmetry."""

    def call(*args: Any) -> Any:
        args = tuple(
            a.detach().requires_grad_() if a.is_floating_point() else a for a in args
        )
        out = function(*args)
        outs = list(out) if isinstance(out, (tuple, list)) else [out]
        leaves = [a for a in args if a.requires_grad]
        terms = []
        for x in outs:
            if x.requires_grad:
                weights = torch.arange(1, x.numel() + 1, dtype=x.dtype).view(x.shape)
                terms.append((x * (weights / (x.numel() + 1) + 0.5)).sum())
        if not terms or not leaves:
            return outs
        grads = torch.autograd.grad(sum(terms), leaves, allow_unused=True)
        return [x.detach() for x in outs] + [g for g in grads if g is not None]

    return call


class Lowerings(unittest.TestCase):
    session: pw.Session

    @classmethod
    def setUpClass(cls) -> None:
        cls.session = pw.Session("1x1x1")

    @classmethod
    def tearDownClass(cls) -> None:
        cls.session.close()

    def setUp(self) -> None:
        torch.manual_seed(SEED)

    def compare(self, cases: list[Case], tolerance: float = 2e-5) -> None:
        arguments = [a for _, _, args in cases for a in args]
        functions = [with_gradients(f) for _, f, _ in cases]

        def all_of_them(*args: Any) -> Any:
            values = iter(args)
            return [f(*(next(values) for _ in a)) for f, (_, _, a) in zip(functions, cases)]

        traced = trace(all_of_them, *arguments)
        executable = self.session.load(traced)
        results = executable(*(a.detach().numpy() for a in arguments))
        got = traced.unflatten([np.asarray(results[i]) for i in range(len(results))])
        for (name, _, args), f, outs in zip(cases, functions, got):
            wanted = f(*args)
            self.assertEqual(len(outs), len(wanted), name)
            for i, (have, want) in enumerate(zip(outs, wanted)):
                want = want.detach().numpy()
                self.assertEqual(have.shape, want.shape, f"{name}, result {i}")
                self.assertEqual(have.dtype, want.dtype, f"{name}, result {i}")
                if want.size and want.dtype.kind == "f":
                    scale = np.abs(want[np.isfinite(want)]).max(initial=1e-3)
                    np.testing.assert_allclose(
                        have, want, rtol=tolerance, atol=tolerance * float(scale),
                        err_msg=f"{name}, result {i}, seed {SEED}",
                    )  # fmt: skip
                else:
                    np.testing.assert_array_equal(
                        have, want, err_msg=f"{name}, result {i}, seed {SEED}"
                    )

    def test_convolutions(self) -> None:
        r = torch.randn
        cases: list[Case] = []

        def add(name: str, x: tuple[int, ...], w: tuple[int, ...], **options: Any) -> None:
            rank = len(x) - 2
            transposed = options.pop("transposed", False)
            kind = "conv_transpose" if transposed else "conv"
            function = getattr(F, f"{kind}{rank}d")
            channels = w[1] * options.get("groups", 1) if transposed else w[0]
            bias = options.pop("bias", True)
            args = (r(x), r(w), r(channels)) if bias else (r(x), r(w))
            cases.append((name, lambda *a: function(*a, **options), args))

        add("plain", (2, 3, 7, 6), (4, 3, 3, 3))
        add("without bias", (2, 3, 7, 6), (4, 3, 3, 2), bias=False)
        add("stride", (2, 3, 8, 9), (4, 3, 3, 3), stride=2, padding=1)
        add("uneven stride", (1, 2, 9, 8), (3, 2, 2, 3), stride=(3, 2), padding=(0, 2))
        add("dilation", (1, 2, 9, 9), (3, 2, 3, 2), dilation=(2, 3), padding=2)
        add("groups", (2, 4, 6, 5), (6, 2, 3, 3), groups=2, padding=1)
        add("depthwise", (2, 4, 6, 5), (8, 1, 3, 3), groups=4, stride=2)
        add("one dimension", (2, 3, 11), (4, 3, 4), stride=2, padding=1)
        add("three dimensions", (1, 2, 5, 4, 6), (3, 2, 2, 3, 2), stride=(1, 2, 1))
        add("pointwise", (2, 5, 4, 4), (3, 5, 1, 1), stride=2)
        add("transposed", (2, 3, 4, 5), (3, 4, 3, 3), transposed=True)
        add(
            "transposed with stride", (1, 4, 4, 5), (4, 2, 3, 3), transposed=True, stride=2,
            padding=1, output_padding=1,
        )  # fmt: skip
        add(
            "transposed with groups", (1, 4, 4, 3), (4, 3, 2, 3), transposed=True, groups=2,
            dilation=2, stride=(2, 1),
        )  # fmt: skip
        add("transposed, one dimension", (2, 2, 5), (2, 3, 4), transposed=True, stride=3)
        self.compare(cases)

    def test_pooling(self) -> None:
        x = torch.randn(2, 3, 9, 8)
        pools: list[Case] = [
            ("max", lambda x: F.max_pool2d(x, 2), (x,)),
            ("max, overlapping", lambda x: F.max_pool2d(x, 3, 2, 1), (x,)),
            ("max, ceil", lambda x: F.max_pool2d(x, (3, 2), 2, 1, ceil_mode=True), (x,)),
            ("max, dilation", lambda x: F.max_pool2d(x, 2, 2, 1, dilation=3), (x,)),
            (
                "max with indices",
                lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True), (x,),
            ),
            (
                "ties", lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True),
                (torch.randint(0, 3, (1, 2, 8, 8)).float(),),
            ),
            ("max of a plane", lambda x: F.max_pool2d(x, 3, 1), (x[0],)),
            ("mean", lambda x: F.avg_pool2d(x, 2), (x,)),
            ("mean, padding", lambda x: F.avg_pool2d(x, 3, 2, 1), (x,)),
            ("mean, ceil", lambda x: F.avg_pool2d(x, 3, 2, 1, True), (x,)),
            (
                "mean without padding",
                lambda x: F.avg_pool2d(x, (3, 2), (2, 3), 1, True, False), (x,),
            ),
            ("divisor", lambda x: F.avg_pool2d(x, 3, 2, 1, divisor_override=5), (x,)),
            ("adaptive", lambda x: F.adaptive_avg_pool2d(x, (4, 3)), (x,)),
            ("adaptive to one", lambda x: F.adaptive_avg_pool2d(x, 1), (x,)),
            ("adaptive, larger", lambda x: F.adaptive_avg_pool2d(x, (11, 8)), (x,)),
        ]  # fmt: skip
        self.compare(pools)

    def test_resampling(self) -> None:
        x = torch.randn(2, 3, 5, 4)
        cases: list[Case] = []
        for options in (
            {"scale_factor": 2},
            {"size": (10, 12)},
            {"size": (7, 3)},
            {"scale_factor": 1.7},
            {"scale_factor": (0.6, 2.3), "recompute_scale_factor": True},
        ):
            cases.append(
                (f"nearest {options}", lambda x, o=options: F.interpolate(x, **o), (x,))
            )
            for align in (False, True):
                cases.append((
                    f"bilinear {options} {align}",
                    lambda x, o=options, a=align: F.interpolate(
                        x, mode="bilinear", align_corners=a, **o
                    ),
                    (x,),
                ))  # fmt: skip
        cases.append(("1d", lambda x: F.interpolate(x, scale_factor=3), (x[0],)))
        for pad in ((1, 2), (1, 0, 2, 3), (-1, 1, 0, -2), (0, 0, 0, 0, 1, 1)):
            cases.append((f"pad {pad}", lambda x, p=pad: F.pad(x, p, value=1.5), (x,)))
        for mode in ("reflect", "replicate"):
            cases.append((mode, lambda x, m=mode: F.pad(x, (1, 2, 3, 0), mode=m), (x,)))
            cases.append((mode, lambda x, m=mode: F.pad(x, (1, 3), mode=m), (x[0],)))
        self.compare(cases)

    def test_normalization(self) -> None:
        r = torch.randn
        x, image = r(4, 5, 6), r(3, 8, 4, 5) * 2 + 1
        w, b, channels = r(6), r(6), r(8)
        mean, variance = r(8), torch.rand(8) + 0.5

        def running(
            x: Any, w: Any, b: Any, mean: Any, variance: Any, training: bool
        ) -> list[Any]:
            mean, variance = mean.detach().clone(), variance.detach().clone()
            y = F.batch_norm(x, mean, variance, w, b, training, 0.3, 1e-4)
            return [y, mean, variance]

        cases: list[Case] = [
            ("layer", lambda x, w, b: F.layer_norm(x, (6,), w, b), (x, w, b)),
            ("layer, no weight", lambda x: F.layer_norm(x, (5, 6)), (x,)),
            (
                "layer, two dimensions",
                lambda x, w, b: F.layer_norm(x, (5, 6), w, b, 1e-3),
                (x, r(5, 6), r(5, 6)),
            ),
            ("group", lambda x, w, b: F.group_norm(x, 4, w, b), (image, channels, r(8))),
            ("group, no weight", lambda x: F.group_norm(x, 2), (image,)),
            ("instance", lambda x: F.instance_norm(x), (image,)),
            (
                "batch, training", lambda *a: running(*a, True),
                (image, channels, r(8), mean, variance),
            ),
            (
                "batch, eval", lambda *a: running(*a, False),
                (image, channels, r(8), mean, variance),
            ),
            (
                "batch, no statistics",
                lambda x: F.batch_norm(x, None, None, training=True), (image,),
            ),
            (
                "batch, two dimensions", lambda *a: running(*a, True),
                (r(7, 8), channels, r(8), mean, variance),
            ),
        ]  # fmt: skip
        self.compare(cases, tolerance=1e-4)

    def test_indexing(self) -> None:
        r, i = torch.randn, torch.randint
        x = r(4, 5, 6)

        def written(x: Any, source: Any, where: slice) -> Any:
            x = x.clone()
            x[:, where] = source
            return x

        at = torch.tensor([3, 0, 3, 1])
        cases: list[Case] = [
            ("embedding", lambda w, i: F.embedding(i, w), (r(7, 3), i(0, 7, (4, 2)))),
            (
                "padding", lambda w, i: F.embedding(i, w, padding_idx=2),
                (r(7, 3), torch.tensor([[2, 1], [2, 2], [6, 0]])),
            ),
            (
                "scaled", lambda w, i: F.embedding(i, w, scale_grad_by_freq=True),
                (r(7, 3), torch.tensor([1, 1, 1, 4, 0])),
            ),
            ("one embedding", lambda w, i: F.embedding(i, w), (r(7, 3), i(0, 7, ()))),
            ("gather", lambda x, i: x.gather(1, i), (x, i(0, 5, (4, 3, 6)))),
            ("gather, smaller", lambda x, i: x.gather(-1, i), (x, i(0, 6, (2, 5, 9)))),
            ("gather of numbers", lambda x, i: x.gather(0, i), (r(()), i(0, 1, (1,)))),
            (
                "scatter", lambda x, i, s: x.scatter(2, i, s),
                (x, torch.rand(4, 5, 6).argsort(2)[:, :, :3], r(4, 5, 3)),
            ),
            (
                "scatter, smaller", lambda x, i, s: x.scatter(1, i, s.detach()),
                (x, torch.rand(3, 5, 4).argsort(1)[:, :2], r(4, 4, 6)),
            ),
            (
                "scatter of a value", lambda x, i: x.scatter(0, i, 2.5),
                (x, i(0, 4, (2, 5, 6))),
            ),
            (
                "scatter_add", lambda x, i, s: x.scatter_add(1, i, s),
                (x, i(0, 5, (4, 9, 6)), r(4, 9, 6)),
            ),
            ("gather, many", lambda x, i: x.gather(1, i), (r(3, 40), i(0, 40, (2, 25)))),
            (
                "scatter, many", lambda x, i, s: x.scatter(1, i, s),
                (r(3, 40), torch.rand(3, 40).argsort(1)[:, :20], r(3, 20)),
            ),
            (
                "scatter_add, many", lambda x, i, s: x.scatter_add(1, i, s),
                (r(3, 30), i(0, 30, (2, 40)), r(2, 40)),
            ),
            (
                "embedding, many", lambda w, i: F.embedding(i, w, padding_idx=3),
                (r(700, 3), torch.tensor([[1, 3], [3, 699], [1, 1]])),
            ),
            ("index_select", lambda x, i: x.index_select(1, i), (x, at)),
            (
                "index_add", lambda x, i, s: x.index_add(0, i, s, alpha=0.5),
                (x, at, r(4, 5, 6)),
            ),
            (
                "index_copy", lambda x, i, s: x.index_copy(1, i, s),
                (x, torch.tensor([3, 0]), r(4, 2, 6)),
            ),
            ("index_fill", lambda x, i: x.index_fill(2, i, 3.0), (x, at)),
            ("select_scatter", lambda x, s: x.select_scatter(s, 1, -2), (x, r(4, 6))),
            ("slice, written", lambda x, s: written(x, s, slice(1, 4)), (x, r(4, 3, 6))),
            (
                "steps, written", lambda x, s: written(x, s, slice(1, None, 2)),
                (x, r(4, 2, 6)),
            ),
            ("nothing, written", lambda x, s: written(x, s, slice(3, 2)), (x, r(4, 0, 6))),
        ]  # fmt: skip
        self.compare(cases)

    def test_losses(self) -> None:
        r, i = torch.randn, torch.randint
        x, image = r(6, 5), r(2, 5, 3, 4)
        target, pixels = i(0, 5, (6,)), i(0, 5, (2, 3, 4))
        p, q = torch.rand(4, 3), torch.rand(4, 3)
        ignored = target.clone()
        ignored[::2] = -100
        cases: list[Case] = []
        for how in ("mean", "sum", "none"):
            weights = torch.rand(5)

            def add(name: str, f: Callable[..., Any], *args: Any, how: str = how) -> None:
                cases.append((f"{name}, {how}", lambda *a: f(*a, reduction=how), args))

            add("cross entropy", F.cross_entropy, x, target)
            add("ignored", F.cross_entropy, x, ignored)
            add("smoothed", lambda *a, **k: F.cross_entropy(
                *a, label_smoothing=0.1, **k), x, target)
            add("index", lambda x, t, **k: F.cross_entropy(x, t, ignore_index=2, **k),
                x, target)
            cases.append((
                f"weights, {how}",
                lambda x, t, w, how=how: F.cross_entropy(x, t, w.detach(), reduction=how),
                (x, ignored, weights),
            ))  # fmt: skip
            cases.append((
                f"weights of pixels, {how}",
                lambda x, t, w, how=how: F.cross_entropy(x, t, w.detach(), reduction=how),
                (image, pixels, weights),
            ))  # fmt: skip
            add("pixels", F.cross_entropy, image, pixels)
            add("one", F.cross_entropy, r(5), i(0, 5, ()))
            add("mse", F.mse_loss, x, r(6, 5))
            add("l1", F.l1_loss, x, r(6, 5))
            add("smooth l1", F.smooth_l1_loss, x, r(6, 5))
            add("beta", lambda *a, **k: F.smooth_l1_loss(*a, beta=0.5, **k), x, r(6, 5))
            add("huber", lambda *a, **k: F.huber_loss(*a, delta=0.7, **k), x, r(6, 5))
            add("bce", lambda p, q, **k: F.binary_cross_entropy(p, q.detach(), **k), p, q)
            add("bce of 0 and 1", lambda p, q, **k: F.binary_cross_entropy(
                p, q.detach(), **k), torch.tensor([0.0, 1.0, 1e-30]), torch.rand(3))
            add("bce with logits", lambda x, q, **k: F.binary_cross_entropy_with_logits(
                x, q.detach(), **k), r(4, 3) * 5, q)
            add("bce with weights", lambda x, q, w, **k: F.binary_cross_entropy_with_logits(
                x, q.detach(), w.detach(), pos_weight=w.detach() + 1, **k),
                r(4, 3) * 5, q, torch.rand(3))
        self.compare(cases)

    def test_lstm(self) -> None:
        layer = torch.nn.LSTM(3, 4, num_layers=2, batch_first=True, bidirectional=True)
        x = torch.randn(2, 5, 3)
        traced = trace(layer, x)
        self.assertIn("weight_hh_l1_reverse", traced.arguments)
        results = self.session.load(traced)(
            *(p.detach().numpy() for p in traced.parameters.values()), x.numpy()
        )
        y, (h, c) = traced.unflatten([np.asarray(results[i]) for i in range(len(results))])
        want_y, (want_h, want_c) = layer(x)
        for have, want in ((y, want_y), (h, want_h), (c, want_c)):
            np.testing.assert_allclose(have, want.detach().numpy(), rtol=1e-5, atol=1e-5)


if __name__ == "__main__":
    print(f"seed {SEED}", flush=True)
    unittest.main(verbosity=2)
