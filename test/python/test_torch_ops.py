#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares lowerings of PyTorch operations with PyTorch: shapes with 0 and 1, dtypes,
broadcasting, negative dimensions, gradients.

A case that PyTorch itself refuses, such as a dtype that it has no kernel for, is left
out; each test states how many cases there are at least.
"""

import os
import unittest

from torch_support import Case, check, seed_of_run
import torch
import torch.nn.functional as F

import pathways as pw

ALL = bool(os.environ.get("PATHWAYS_TEST_ALL"))
SHAPES = [(), (0,), (1,), (5,), (3, 4), (2, 0, 3), (2, 1, 3)]
FLOATS = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
INTEGERS = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]
PAIRS = [
    ((3, 4), (3, 4)),
    ((3, 4), (4,)),
    ((3, 1), (1, 4)),
    ((2, 1, 3), (4, 1)),
    ((), (3,)),
    ((0, 3), (3,)),
    ((1,), (0,)),
    ((), ()),
]


class Cases(list):
    """Collects cases, and leaves out what PyTorch refuses."""

    def __init__(self, seed):
        super().__init__()
        self.seen, self.total = {}, 0
        self.generator = torch.Generator().manual_seed(seed)

    def tensor(self, shape, dtype=torch.float32, low=-3.0, high=3.0):
        if dtype is torch.bool:
            return torch.rand(shape, generator=self.generator) < 0.5
        if not dtype.is_floating_point:
            first = 0 if dtype is torch.uint8 else int(low)
            span = (first, int(high) + 1)
            return torch.randint(*span, shape, generator=self.generator).to(dtype)
        x = torch.rand(shape, generator=self.generator, dtype=torch.float64)
        return (x * (high - low) + low).to(dtype)

    def add(self, name, function, *args, **options):
        try:
            case = Case(function, args, name, **options)
        except (RuntimeError, IndexError, TypeError, NotImplementedError, ValueError):
            return
        # Each run has some of the cases, but some of each operation.
        self.seen[name] = self.seen.get(name, 0) + 1
        self.total += 1
        if not ALL and self.seen[name] > 3 and self.total % 10:
            return
        shapes = [tuple(t.shape) for t in case.tensors]
        dtypes = sorted({str(t.dtype).removeprefix("torch.") for t in case.tensors})
        case.name = f"{name} {shapes} {dtypes}"
        self.append(case)


def with_gradients(function, count):
    """The function, and the gradients of a weighted sum of its result for the first
    `count` arguments."""

    def call(*args):
        leaves = [a.detach().clone().requires_grad_() for a in args[:count]]
        y = function(*leaves, *args[count:])
        weights = torch.linspace(0.5, 1.5, y.numel(), dtype=torch.float64).to(y.dtype)
        gradients = torch.autograd.grad(
            (y * weights.reshape(y.shape)).sum(), leaves, allow_unused=True
        )
        return [y.detach(), *(g for g in gradients if g is not None)]

    return call


class TorchOps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.seed = seed_of_run()
        cls.session = pw.Session("1x1x1")

    @classmethod
    def tearDownClass(cls):
        cls.session.close()

    def verify(self, cases, least):
        self.assertGreaterEqual(cases.total, least, "PyTorch refused too many cases")
        wrong = check(cases, self.session)
        self.assertFalse(wrong, "\n" + "\n".join(wrong[:40]))

    # Elements.

    def test_unary_floats(self):
        cases = Cases(self.seed)
        ranges = {
            "exp exp2 expm1 sin cos tan sinh cosh tanh atan asinh sigmoid erf erfc sinc": (-3, 3),
            "log log2 log10 log1p sqrt rsqrt reciprocal lgamma digamma": (0.1, 4),
            "asin acos atanh erfinv": (-0.9, 0.9),
            "acosh": (1.1, 4),
        }
        for names, (low, high) in ranges.items():
            for name in names.split():
                function = getattr(torch, name)
                for shape in SHAPES:
                    cases.add(name, function, cases.tensor(shape, low=low, high=high))
                for dtype in FLOATS + INTEGERS + [torch.bool]:
                    cases.add(name, function, cases.tensor((2, 3), dtype, low, high))
                special = torch.tensor([0.0, -0.0, float("inf"), float("-inf"), float("nan")])
                cases.add(name, function, special)
                x = cases.tensor((4,), low=low, high=high)
                cases.add(name + " gradient", with_gradients(function, 1), x)
        x = cases.tensor((4,), low=0.1, high=0.9)
        cases.add("logit", torch.logit, x)
        cases.add("logit eps", lambda x: torch.logit(x, 0.2), x)
        for n in range(3):
            cases.add("polygamma", lambda x, n=n: torch.polygamma(n, x), x, looser=8)
        self.verify(cases, 500)

    def test_unary(self):
        cases = Cases(self.seed)
        names = "neg abs sign sgn ceil floor trunc round frac square relu isnan isinf isfinite"
        names += " isposinf isneginf signbit nan_to_num positive logical_not bitwise_not clone"
        for name in names.split():
            function = getattr(torch, name)
            for shape in SHAPES:
                cases.add(name, function, cases.tensor(shape))
                cases.add(name, function, cases.tensor(shape, torch.int32))
            for dtype in FLOATS + INTEGERS + [torch.bool]:
                cases.add(name, function, cases.tensor((2, 3), dtype))
            special = [0.0, -0.0, float("inf"), float("-inf"), float("nan"), 0.5, 1.5, -2.5]
            for dtype in FLOATS:
                cases.add(name, function, torch.tensor(special, dtype=dtype))
        for decimals in (-1, 0, 2):
            cases.add(
                "round.decimals",
                lambda x, d=decimals: torch.round(x, decimals=d),
                cases.tensor((5,), low=-300, high=300),
            )
        for source in FLOATS + INTEGERS + [torch.bool]:
            for target in FLOATS + INTEGERS + [torch.bool]:
                x = cases.tensor((7,), source, low=0, high=100)
                cases.add(f"to {target}", lambda x, t=target: x.to(t), x)
        cases.add("view.dtype", lambda x: x.view(torch.int32), cases.tensor((3, 4)))
        cases.add("view.dtype", lambda x: x.view(torch.float64), cases.tensor((3, 4)))
        cases.add("view.dtype", lambda x: x.view(torch.int16), cases.tensor((3, 4)))
        self.verify(cases, 600)

    def test_binary(self):
        cases = Cases(self.seed)
        names = "add sub mul div floor_divide remainder fmod maximum minimum fmax fmin atan2"
        names += " hypot copysign xlogy logaddexp logaddexp2 heaviside nextafter eq ne lt le gt ge"
        names += " logical_and logical_or logical_xor rsub"
        kinds = [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.int8]
        kinds += [torch.uint8, torch.bool]
        for name in names.split():
            function = getattr(torch, name)
            for a, b in PAIRS:
                cases.add(name, function, cases.tensor(a), cases.tensor(b))
            for first in kinds:
                for second in kinds:
                    x = cases.tensor((3, 2), first, low=-9, high=9)
                    y = cases.tensor((2,), second, low=1, high=5)
                    cases.add(name, function, x, y)
                    cases.add(name + " 0-d", function, x, y[0])
                cases.add(name + " int", lambda x, f=function: f(x, 3), x)
                cases.add(name + " float", lambda x, f=function: f(x, 2.5), x)
                cases.add(name + " -float", lambda x, f=function: f(x, -0.7), x)
            nan = torch.tensor([float("nan"), 1.0, float("inf"), -0.0, 0.0])
            cases.add(name, function, nan[:, None], nan)
        for mode in (None, "trunc", "floor"):
            for kind in kinds:
                x = cases.tensor((20,), kind, low=-9, high=9)
                for y in (cases.tensor((20,), kind, low=1, high=4), 2, -1.5):
                    cases.add(
                        f"div {mode}", lambda x, y, m=mode: torch.div(x, y, rounding_mode=m), x, y
                    )
        for alpha in (2, -0.5):
            cases.add(
                "add alpha", lambda x, y, a=alpha: torch.add(x, y, alpha=a),
                cases.tensor((3, 2)), cases.tensor((2,)),
            )
        cases.add("rsub", lambda x: 3 - x, cases.tensor((3,), torch.int32))
        cases.add("rdiv", lambda x: 3 / x, cases.tensor((3,), low=1, high=2))
        for name in "bitwise_and bitwise_or bitwise_xor".split():
            function = getattr(torch, name)
            for kind in INTEGERS + [torch.bool]:
                x, y = cases.tensor((3, 2), kind, -9, 9), cases.tensor((2,), kind, -9, 9)
                cases.add(name, function, x, y)
                cases.add(name, lambda x, f=function: f(x, 5), x)
        for kind in INTEGERS:
            x, y = cases.tensor((3, 2), kind, -9, 9), cases.tensor((2,), kind, 0, 3)
            cases.add("<<", lambda x, y: x << y, x, y)
            cases.add(">>", lambda x, y: x >> y, x, y)
            cases.add("<< 2", lambda x: x << 2, x)
        self.verify(cases, 2000)

    def test_pow(self):
        cases = Cases(self.seed)
        for exponent in (0, 1, 2, 3, 4, -1, -2, 0.5, -0.5, 1.5, -1.7):
            for kind in FLOATS + INTEGERS:
                x = cases.tensor((2, 3), kind, low=0.2, high=3)
                cases.add(f"pow {exponent}", lambda x, e=exponent: x**e, x)
            x = cases.tensor((4,), low=0.2, high=3)
            cases.add("pow gradient", with_gradients(lambda x, e=exponent: x**e, 1), x)
        for kind in FLOATS + INTEGERS:
            x = cases.tensor((3, 2), kind, low=0.5, high=3)
            cases.add("pow", torch.pow, x, cases.tensor((2,), kind, low=0, high=3))
            cases.add("rpow", lambda x: 2**x, x)
            cases.add("rpow", lambda x: 1.5**x, x)
        x, y = cases.tensor((3, 2), low=0.2, high=3), cases.tensor((2,))
        cases.add("pow gradients", with_gradients(torch.pow, 2), x, y)
        self.verify(cases, 100)

    def test_choices(self):
        cases = Cases(self.seed)
        for a, b in PAIRS:
            x, y = cases.tensor(a), cases.tensor(b)
            cases.add("where", torch.where, cases.tensor(b, torch.bool), x, y)
            cases.add("lerp", torch.lerp, x, y, cases.tensor(a, low=0, high=1))
            cases.add("lerp", lambda x, y: torch.lerp(x, y, 0.3), x, y)
            cases.add("addcmul", lambda x, y: torch.addcmul(x, y, x, value=0.5), x, y)
            cases.add("addcdiv", lambda x, y: torch.addcdiv(x, y, x, value=2), x, y)
            mask = cases.tensor(b, torch.bool)
            cases.add("masked_fill", lambda x, m: x.masked_fill(m, float("-inf")), x, mask)
            cases.add("masked_fill", lambda x, m: x.masked_fill(m, x.sum()), x, mask)
            cases.add("clamp", torch.clamp, x, y, y + 1)
        for kind in FLOATS + INTEGERS:
            x = cases.tensor((3, 4), kind)
            cases.add("where scalar", lambda x: torch.where(x > 1, x, 0.0), x)
            cases.add("where scalar", lambda x: torch.where(x > 1, 2, x), x)
            for low, high in ((0, 1), (None, 1), (-1, None), (0.5, 1.5), (2, 1)):
                cases.add("clamp", lambda x, a=low, b=high: torch.clamp(x, a, b), x)
            cases.add("clamp_min", lambda x: torch.clamp_min(x, 1), x)
            cases.add("clamp_max", lambda x: torch.clamp_max(x, 1), x)
        nan = torch.tensor([float("nan"), 1.0, float("inf")])
        cases.add("clamp nan", lambda x: torch.clamp(x, 0, 2), nan)
        x, y = cases.tensor((3, 4)), cases.tensor((4,))
        mask = cases.tensor((3, 4), torch.bool)
        cases.add("where", with_gradients(lambda x, y, m: torch.where(m, x, y), 2), x, y, mask)
        cases.add("lerp", with_gradients(lambda x, y: torch.lerp(x, y, 0.7), 2), x, y)
        cases.add("clamp", with_gradients(lambda x: x.clamp(-1, 1), 1), x)
        self.verify(cases, 120)

    def test_activations(self):
        cases = Cases(self.seed)
        functions = {
            "relu": F.relu,
            "relu6": F.relu6,
            "elu": F.elu,
            "elu 0.5": lambda x: F.elu(x, 0.5),
            "selu": F.selu,
            "celu": lambda x: F.celu(x, 0.7),
            "gelu": F.gelu,
            "gelu tanh": lambda x: F.gelu(x, approximate="tanh"),
            "silu": F.silu,
            "mish": F.mish,
            "softplus": F.softplus,
            "softplus 2": lambda x: F.softplus(x, 2, 3),
            "logsigmoid": F.logsigmoid,
            "leaky_relu": lambda x: F.leaky_relu(x, 0.2),
            "hardtanh": F.hardtanh,
            "hardsigmoid": F.hardsigmoid,
            "hardswish": F.hardswish,
            "hardshrink": F.hardshrink,
            "softshrink": F.softshrink,
            "tanhshrink": F.tanhshrink,
            "softsign": F.softsign,
            "threshold": lambda x: F.threshold(x, 0.3, 7.0),
            "tanh": torch.tanh,
            "sigmoid": torch.sigmoid,
            "glu": lambda x: F.glu(x, -1),
            "prelu": lambda x: F.prelu(x, torch.tensor([0.3], dtype=x.dtype)),
        }
        for name, function in functions.items():
            for shape in [(), (0,), (1,), (6,), (3, 4), (2, 0, 4)]:
                x = cases.tensor(shape, low=-5, high=5)
                cases.add(name, with_gradients(function, 1), x)
            for dtype in (torch.float64, torch.bfloat16):
                if name == "hardsigmoid" and dtype is torch.float64:
                    continue  # PyTorch divides by 6 in f32
                x = cases.tensor((3, 4), dtype, low=-5, high=5)
                cases.add(name, with_gradients(function, 1), x, looser=2)
        x, w = cases.tensor((2, 3, 4)), cases.tensor((3,))
        cases.add("prelu channels", with_gradients(F.prelu, 2), x, w)
        self.verify(cases, 170)

    def test_losses(self):
        cases = Cases(self.seed)
        for reduction in ("none", "mean", "sum"):
            for shape in [(), (1,), (5,), (3, 4)]:
                x, y = cases.tensor(shape), cases.tensor(shape)
                p, q = cases.tensor(shape, low=0.1, high=0.9), cases.tensor(shape, low=0, high=1)
                for name, function, count, args in (
                    ("mse_loss", F.mse_loss, 2, (x, y)),
                    ("l1_loss", F.l1_loss, 2, (x, y)),
                    ("smooth_l1_loss", F.smooth_l1_loss, 2, (x, y)),
                    ("huber_loss", F.huber_loss, 2, (x, y)),
                    ("bce", F.binary_cross_entropy, 1, (p, q)),
                    ("bce logits", F.binary_cross_entropy_with_logits, 1, (x, q)),
                    ("kl_div", F.kl_div, 1, (x, q)),
                    ("soft_margin", F.soft_margin_loss, 1, (x, y)),
                    ("poisson", F.poisson_nll_loss, 1, (x, q)),
                ):
                    def loss(*args, function=function, reduction=reduction):
                        return function(*args, reduction=reduction)

                    cases.add(f"{name} {reduction}", with_gradients(loss, count), *args)
                weight = cases.tensor(shape, low=0, high=1)
                cases.add(
                    "bce weight",
                    with_gradients(
                        lambda x, y, w, r=reduction: F.binary_cross_entropy(x, y, w, reduction=r), 1
                    ),
                    p, q, weight,
                )
                cases.add(
                    "bce pos_weight",
                    with_gradients(
                        lambda x, y, w, r=reduction: F.binary_cross_entropy_with_logits(
                            x, y, pos_weight=w, reduction=r
                        ),
                        1,
                    ),
                    x, q, weight,
                )
        self.verify(cases, 120)

    # Reductions.

    def test_reductions(self):
        cases = Cases(self.seed)
        names = "sum mean prod amax amin any all count_nonzero argmax argmin max min var std"
        names += " logsumexp nansum median"
        shapes = [(), (1,), (5,), (3, 4), (2, 1, 3), (2, 0, 3)]
        for name in names.split():
            function = getattr(torch, name)
            for shape in shapes:
                for kind in (torch.float32, torch.int32):
                    x = cases.tensor(shape, kind)
                    cases.add(name, function, x)
                    for dim in (0, -1, 1):
                        for keep in (False, True):
                            cases.add(
                                f"{name} {dim} {keep}",
                                lambda x, f=function, d=dim, k=keep: f(x, d, keepdim=k), x,
                            )
                x = cases.tensor(shape)
                cases.add(f"{name} pair", lambda x, f=function: f(x, (0, -1)), x)
                cases.add(f"{name} gradient", with_gradients(function, 1), x)
                if name not in ("max", "min", "median"):
                    cases.add(
                        f"{name} gradient",
                        with_gradients(lambda x, f=function: f(x, -1), 1), x, looser=2,
                    )
            for kind in FLOATS + INTEGERS + [torch.bool]:
                cases.add(name, function, cases.tensor((3, 4), kind))
                cases.add(name, lambda x, f=function: f(x, 0), cases.tensor((3, 4), kind))
        ties = torch.tensor([[1.0, 3.0, 3.0, 0.0], [2.0, float("nan"), 5.0, float("nan")]])
        for name in ("argmax", "argmin", "max", "min"):
            cases.add(f"{name} ties", lambda x, n=name: getattr(torch, n)(x, 1), ties)
            cases.add(f"{name} bool", lambda x, n=name: getattr(torch, n)(x, 0), ties > 2)
        for dtype in (torch.float64, torch.int32):
            x = cases.tensor((3, 4))
            cases.add("sum dtype", lambda x, d=dtype: torch.sum(x, dtype=d), x)
            cases.add("sum dtype", lambda x, d=dtype: torch.sum(x, 1, dtype=d), x)
        for correction in (0, 1, 2):
            x = cases.tensor((3, 4))
            for name in ("var", "std", "var_mean", "std_mean"):
                cases.add(
                    name,
                    lambda x, n=name, c=correction: getattr(torch, n)(x, 1, correction=c), x,
                )
                cases.add(
                    name, lambda x, n=name: getattr(torch, n)(x, (0, 1), unbiased=False), x
                )
        cases.add("var of one", lambda x: torch.var(x, 1), cases.tensor((3, 1)))
        cases.add("aminmax", lambda x: tuple(torch.aminmax(x)), cases.tensor((3, 4)))
        cases.add("aminmax", lambda x: tuple(torch.aminmax(x, dim=1)), cases.tensor((3, 4)))
        self.verify(cases, 500)

    def test_norms(self):
        cases = Cases(self.seed)
        for p in (0, 1, 2, 3, 2.5, float("inf"), float("-inf")):
            for shape in [(5,), (3, 4), (1,)]:
                x = cases.tensor(shape)
                cases.add(f"norm {p}", lambda x, p=p: torch.norm(x, p), x)
                cases.add(f"norm {p}", lambda x, p=p: torch.norm(x, p, dim=-1), x)
                cases.add(
                    f"vector_norm {p}",
                    lambda x, p=p: torch.linalg.vector_norm(x, p, dim=0, keepdim=True), x,
                )
            cases.add(
                f"norm {p} gradient",
                with_gradients(lambda x, p=p: torch.norm(x, p, dim=1), 1),
                cases.tensor((3, 4)), looser=4,
            )
        cases.add("normalize", with_gradients(lambda x: F.normalize(x), 1), cases.tensor((3, 4)))
        cases.add(
            "cosine", with_gradients(F.cosine_similarity, 2),
            cases.tensor((3, 4)), cases.tensor((3, 4)),
        )
        self.verify(cases, 60)

    def test_softmax(self):
        cases = Cases(self.seed)
        for function in (torch.softmax, torch.log_softmax):
            for shape in [(), (1,), (5,), (3, 4), (2, 1, 3), (2, 0, 3)]:
                for dim in (0, -1, 1):
                    x = cases.tensor(shape, low=-9, high=9)
                    cases.add(
                        function.__name__,
                        with_gradients(lambda x, f=function, d=dim: f(x, d), 1), x,
                    )
            for dtype in (torch.float64, torch.bfloat16):
                x = cases.tensor((3, 4), dtype)
                cases.add(
                    function.__name__, with_gradients(lambda x, f=function: f(x, 1), 1), x,
                    looser=2,
                )
        masked = torch.tensor([[0.0, float("-inf"), 1.0]])
        cases.add("softmax masked", lambda x: torch.softmax(x, 1), masked)
        self.verify(cases, 25)

    def test_cumulative(self):
        cases = Cases(self.seed)
        for name in "cumsum cumprod logcumsumexp cummax cummin".split():
            function = getattr(torch, name)
            for shape in SHAPES:
                for dim in (0, -1):
                    for kind in (torch.float32, torch.int32, torch.bool):
                        x = cases.tensor(shape, kind)
                        cases.add(name, lambda x, f=function, d=dim: tuple(f(x, d))
                                  if isinstance(f(x, d), tuple) else f(x, d), x)
            if name in ("cumsum", "cumprod", "logcumsumexp"):
                x = cases.tensor((3, 4), low=0.5, high=2)
                cases.add(name, with_gradients(lambda x, f=function: f(x, 1), 1), x, looser=4)
        self.verify(cases, 90)

    # Products.

    def test_products(self):
        cases = Cases(self.seed)
        for n, k, m in ((2, 3, 4), (1, 3, 1), (0, 3, 4), (2, 0, 4), (2, 3, 0), (1, 1, 1)):
            a, b = cases.tensor((n, k)), cases.tensor((k, m))
            cases.add("mm", with_gradients(torch.mm, 2), a, b)
            cases.add("@", torch.matmul, a, b)
            cases.add("addmm", with_gradients(torch.addmm, 3), cases.tensor((m,)), a, b)
            cases.add(
                "addmm",
                lambda c, a, b: torch.addmm(c, a, b, beta=0.5, alpha=2),
                cases.tensor((n, m)), a, b,
            )
            cases.add(
                "addmm beta 0", lambda c, a, b: torch.addmm(c, a, b, beta=0),
                torch.full((n, m), float("nan")), a, b,
            )
            c, d = cases.tensor((3, n, k)), cases.tensor((3, k, m))
            cases.add("bmm", with_gradients(torch.bmm, 2), c, d)
            cases.add("baddbmm", with_gradients(torch.baddbmm, 3), cases.tensor((n, m)), c, d)
            cases.add("addbmm", torch.addbmm, cases.tensor((n, m)), c, d)
            cases.add("matmul", with_gradients(torch.matmul, 2), c, b)
            cases.add("matmul", torch.matmul, cases.tensor((2, 1, n, k)), d)
            cases.add("mv", with_gradients(torch.mv, 2), a, cases.tensor((k,)))
            cases.add("addmv", torch.addmv, cases.tensor((n,)), a, cases.tensor((k,)))
            cases.add("dot", with_gradients(torch.dot, 2), cases.tensor((k,)), cases.tensor((k,)))
            cases.add("outer", torch.outer, cases.tensor((n,)), cases.tensor((m,)))
            cases.add("addr", torch.addr, a @ b, cases.tensor((n,)), cases.tensor((m,)))
            cases.add("linear", with_gradients(F.linear, 3), a, cases.tensor((m, k)),
                      cases.tensor((m,)))
            cases.add("einsum", with_gradients(lambda a, b: torch.einsum("ij,jk->ki", a, b), 2),
                      a, b)
            cases.add("tensordot", lambda c, d: torch.tensordot(c, d, ([0, 2], [0, 1])), c, d)
        for dtype in (torch.float64, torch.bfloat16, torch.int64, torch.int32):
            a, b = cases.tensor((3, 4), dtype), cases.tensor((4, 2), dtype)
            cases.add("mm", torch.mm, a, b)
            cases.add("addmm", torch.addmm, cases.tensor((2,), dtype), a, b)
        cases.add("bilinear", with_gradients(F.bilinear, 3), cases.tensor((5, 3)),
                  cases.tensor((5, 4)), cases.tensor((2, 3, 4)))
        for p in (1.0, 2.0, float("inf")):
            cases.add("cdist", with_gradients(lambda a, b, p=p: torch.cdist(a, b, p), 2),
                      cases.tensor((3, 4)), cases.tensor((5, 4)))
        cases.add("kron", torch.kron, cases.tensor((2, 3)), cases.tensor((3, 2)))
        cases.add("chain", lambda a, b: torch.chain_matmul(a, b), cases.tensor((2, 3)),
                  cases.tensor((3, 2)))
        self.verify(cases, 80)

    # Shapes.

    def test_shapes(self):
        cases = Cases(self.seed)
        x = cases.tensor((2, 3, 4))
        e = cases.tensor((2, 0, 4))
        one = cases.tensor((1, 3, 1))
        scalar = cases.tensor(())
        functions = [
            lambda x: x.reshape(-1),
            lambda x: x.view(4, 6),
            lambda x: x.reshape(1, 2, 1, -1),
            lambda x: x.t(),
            lambda x: x[0].t(),
            lambda x: x.transpose(0, -1),
            lambda x: x.transpose(-1, -2).reshape(-1),
            lambda x: x.permute(2, 0, -2),
            lambda x: x.expand(5, -1, -1, -1),
            lambda x: x.expand(2, 3, 4),
            lambda x: x.unsqueeze(0),
            lambda x: x.unsqueeze(-1),
            lambda x: x.squeeze(),
            lambda x: x.squeeze(0),
            lambda x: x.squeeze(-1),
            lambda x: x.squeeze(1),
            lambda x: x.flatten(),
            lambda x: x.flatten(1),
            lambda x: x[0],
            lambda x: x[-1],
            lambda x: x[:, 1],
            lambda x: x[..., -1],
            lambda x: x[:, 1:],
            lambda x: x[:, -2:-1],
            lambda x: x[:, ::2],
            lambda x: x[:, 5:],
            lambda x: x[:, :100, None],
            lambda x: x[0, 0, 0],
            lambda x: x.narrow(1, 1, 2),
            lambda x: x.split(2, -1),
            lambda x: x.split(3, 0),
            lambda x: x.split([1, 2], 1),
            lambda x: x.chunk(3, 2),
            lambda x: x.unbind(0),
            lambda x: x.unbind(-1),
            lambda x: x.tensor_split(2, 1),
            lambda x: torch.cat([x, x], 0),
            lambda x: torch.cat([x, x * 2, x], -1),
            lambda x: torch.cat([torch.zeros(0), x], 0),
            lambda x: torch.cat([x, x.long()], 0),
            lambda x: torch.stack([x, x], 0),
            lambda x: torch.stack([x, x], -1),
            lambda x: x.repeat(2, 1, 3),
            lambda x: x.repeat(2, 1, 1, 3),
            lambda x: x.repeat(0, 1, 1),
            lambda x: x.tile(2),
            lambda x: x.repeat_interleave(2, 1),
            lambda x: x.flip(0),
            lambda x: x.flip(0, -1),
            lambda x: x.roll(1),
            lambda x: x.roll((1, -2), (0, 1)),
            lambda x: x.roll(5, -1),
            lambda x: x.rot90(),
            lambda x: x.rot90(2, (0, 2)),
            lambda x: x.rot90(-1, (2, 1)),
            lambda x: x.movedim(0, -1),
            lambda x: x.swapaxes(0, 1),
            lambda x: x.unfold(1, 2, 1),
            lambda x: x.unfold(-1, 3, 1),
            lambda x: x.unfold(2, 2, 2),
            lambda x: x.contiguous().as_strided((2, 2), (1, 3), 1),
            lambda x: x.as_strided((3, 3), (1, 1)),
            lambda x: x.transpose(0, 1).as_strided((2, 4), (12, 1), 4),
            lambda x: torch.broadcast_to(x, (2, 2, 3, 4)),
            lambda x: torch.atleast_3d(x),
            lambda x: torch.meshgrid(x.flatten(), x.flatten(), indexing="ij"),
            lambda x: torch.hstack([x, x]),
            lambda x: torch.block_diag(x.flatten(1), x.flatten(1)),
            lambda x: F.pixel_shuffle(x.reshape(1, 4, 3, 2), 2),
            lambda x: x.diff(dim=1),
        ]
        for i, function in enumerate(functions):
            for value in (x, e, one, scalar):
                cases.add(f"shape {i}", function, value)
                cases.add(f"shape {i}", function, value.to(torch.int32))
            def first(x, function=function):
                y = function(x)
                return y if isinstance(y, torch.Tensor) else sum(t.sum() for t in y)

            cases.add(f"shape {i} gradient", with_gradients(first, 1), x)
        self.verify(cases, 350)

    def test_diagonals(self):
        cases = Cases(self.seed)
        for shape in [(3, 4), (4, 3), (1, 1), (2, 3, 4), (0, 3), (2, 1, 3)]:
            x = cases.tensor(shape)
            for k in (-2, 0, 1, 5):
                cases.add("tril", with_gradients(lambda x, k=k: torch.tril(x, k), 1), x)
                cases.add("triu", with_gradients(lambda x, k=k: torch.triu(x, k), 1), x)
                cases.add("diagonal", with_gradients(lambda x, k=k: torch.diagonal(x, k), 1), x)
                cases.add(
                    "diagonal", with_gradients(lambda x, k=k: torch.diagonal(x, k, -1, 0), 1), x
                )
                cases.add("diag_embed", with_gradients(lambda x, k=k: torch.diag_embed(x, k), 1), x)
                cases.add("diag_embed", lambda x, k=k: torch.diag_embed(x, k, 0, -1), x)
                cases.add("diag", lambda x, k=k: torch.diag(x, k), x)
                cases.add("diag", with_gradients(lambda x, k=k: torch.diag(x[0], k), 1), x)
                cases.add(
                    "diagonal_scatter",
                    lambda x, k=k: torch.diagonal_scatter(x, torch.diagonal(x, k) * 2, k), x,
                )
            cases.add("trace", with_gradients(torch.trace, 1), x)
            cases.add("tril bool", torch.tril, x > 0)
        self.verify(cases, 150)

    # Indices.

    def test_indexing(self):
        cases = Cases(self.seed)
        x = cases.tensor((3, 4, 5))
        i = torch.tensor([0, 2, -1, 1])
        j = torch.tensor([3, 0, -4, 1])
        k = torch.tensor([[0, 1], [2, -1]])
        empty = torch.zeros(0, dtype=torch.int64)
        functions = [
            lambda x, i, j, k: x[i],
            lambda x, i, j, k: x[:, j],
            lambda x, i, j, k: x[..., j],
            lambda x, i, j, k: x[i, j],
            lambda x, i, j, k: x[i, :, j],
            lambda x, i, j, k: x[:, i, j],
            lambda x, i, j, k: x[k],
            lambda x, i, j, k: x[k, k],
            lambda x, i, j, k: x[:, k],
            lambda x, i, j, k: x[k[:, :1], :, k],
            lambda x, i, j, k: x[i, j, i],
            lambda x, i, j, k: x[k.int()],
            lambda x, i, j, k: x[1, j],
            lambda x, i, j, k: x[i, 1:3],
            lambda x, i, j, k: x.index_select(1, i),
            lambda x, i, j, k: x.index_select(-1, i % 3),
            lambda x, i, j, k: x.take(i),
            lambda x, i, j, k: x.take(k),
        ]
        for n, function in enumerate(functions):
            cases.add(f"index {n}", with_gradients(function, 1), x, i, j, k)
            cases.add(f"index {n}", function, x > 0, i, j, k)
            cases.add(f"index {n} empty", function, x, empty, empty, empty[:, None])
        mask = cases.tensor((3, 4), torch.bool)

        def put(x, *index, value=7.0, accumulate=False):
            y = x.clone()
            if accumulate:
                return y.index_put_(index, torch.as_tensor(value), accumulate=True)
            y[index] = value
            return y

        distinct = torch.tensor([2, 0, 1])
        for n, index in enumerate(
            [(i,), (slice(None), distinct), (distinct, distinct), (k,), (mask,), (1,), (empty,)]
        ):
            cases.add(f"put {n}", lambda x, index=index: put(x, *index), x)
        cases.add("put mask", lambda x, m: put(x, m), x, mask)
        cases.add("put mask", lambda x, m: put(x, slice(None), m.t()[:, :3]), x[:, :, :3],
                  cases.tensor((3, 4), torch.bool))
        cases.add("put sum", lambda x, k: put(x, k, accumulate=True), x, k)
        cases.add("put sum", lambda x, i, j: put(x, i, j, accumulate=True), x, i, j)
        values = cases.tensor((3, 5))
        cases.add("put values", lambda x, d, v: put(x, d, d, value=v), x, distinct, values)
        for alpha in (1, 2):
            cases.add(
                "index_add", lambda x, d, s, a=alpha: x.index_add(0, d, s, alpha=a),
                x, torch.tensor([0, 0, 2]), cases.tensor((3, 4, 5)),
            )
        cases.add("index_copy", lambda x, d, s: x.index_copy(1, d, s), x, distinct,
                  cases.tensor((3, 3, 5)))
        cases.add("index_fill", lambda x, d: x.index_fill(-1, d, 2.0), x, distinct)
        cases.add("put_", lambda x, d: x.clone().put_(d, torch.arange(3.0)), x, distinct)
        cases.add("put_ sum", lambda x, d: x.clone().put_(d, torch.arange(4.0), True), x, k)
        cases.add("masked_scatter", lambda x, m: x.masked_scatter(m, torch.arange(60.0)), x, x > 0)
        limits, found = torch.tensor([-2.0, 0.0, 1.0]), cases.tensor((4, 5))
        for right in (False, True):
            cases.add("bucketize", lambda x, b, r=right: torch.bucketize(x, b, right=r), found,
                      limits)
            cases.add("searchsorted", lambda x, b, r=right: torch.searchsorted(b, x, right=r),
                      found, limits)
        cases.add("one_hot", lambda i: F.one_hot(i % 3, 3), k)
        self.verify(cases, 70)

    def test_scatter_reduce(self):
        cases = Cases(self.seed)
        x, source = cases.tensor((4, 5)), cases.tensor((3, 5))
        index = torch.randint(0, 4, (3, 5), generator=cases.generator)
        for include in (True, False):
            for name in ("sum", "prod", "mean", "amax", "amin"):

                def reduce(x, i, s, dim=0, name=name, include=include):
                    return x.scatter_reduce(dim, i, s, name, include_self=include)

                cases.add(f"scatter {name}", reduce, x, index, source)
                cases.add(
                    f"scatter {name}",
                    lambda x, i, s, f=reduce: f(x, i, s, -1),
                    (x * 9).long(), index.clamp(0, 2), (source * 5).long(),
                )
                if name != "sum":
                    cases.add(
                        f"index {name}",
                        lambda x, i, s, n=name, k=include: x.index_reduce(
                            0, i[:, 0], s, n, include_self=k
                        ),
                        x, index, source,
                    )
        self.verify(cases, 25)

    def test_linear_algebra(self):
        cases = Cases(self.seed)
        a, b = cases.tensor((2, 3, 3)), cases.tensor((2, 3, 2))
        eye = torch.eye(3)
        for upper in (False, True):
            cases.add(
                f"cholesky {upper}",
                lambda a, u=upper: torch.linalg.cholesky(a @ a.mT + eye, upper=u),
                a, looser=4,
            )
            for left in (False, True):
                cases.add(
                    f"triangular {upper} {left}",
                    lambda a, b, u=upper, k=left: torch.linalg.solve_triangular(
                        (a.triu() if u else a.tril()) + 3 * eye, b if k else b.mT,
                        upper=u, left=k,
                    ),
                    a, b, looser=4,
                )
        cases.add("cholesky gradient",
                  with_gradients(lambda a: torch.linalg.cholesky(a @ a.mT + eye), 1), a, looser=8)
        cases.add("cross", with_gradients(lambda x, y: torch.cross(x, y, 1), 2), a, a + 1)
        cases.add("renorm", with_gradients(lambda x: torch.renorm(x, 2, 0, 1.0), 1), a, looser=4)
        for padding, stride, dilation in ((0, 1, 1), (1, 2, 1), (2, 1, 2)):
            cases.add(
                "unfold",
                with_gradients(
                    lambda x, d=dilation, p=padding, s=stride: F.unfold(x, (2, 3), d, p, s), 1
                ),
                cases.tensor((2, 3, 5, 6)),
            )
        self.verify(cases, 12)

    def test_sorting(self):
        cases = Cases(self.seed)
        for shape in [(), (1,), (0,), (7,), (3, 4), (2, 1, 3), (2, 0, 3)]:
            for kind in (torch.float32, torch.int64, torch.float64, torch.bool):
                # All values differ, as PyTorch does not say which of equal ones comes first.
                n = max(1, torch.Size(shape).numel())
                order = torch.randperm(n, generator=cases.generator)[: torch.Size(shape).numel()]
                x = order.reshape(shape).to(kind)
                for dim in (0, -1):
                    for down in (False, True):
                        cases.add(
                            f"sort {down}",
                            lambda x, d=dim, r=down: tuple(
                                torch.sort(x, dim=d, descending=r, stable=True)
                            ),
                            x,
                        )
                        cases.add(
                            f"argsort {down}",
                            lambda x, d=dim, r=down: torch.argsort(x, d, r), x
                        )
                    for k in (0, 1, 3):
                        cases.add(
                            f"topk {k}", lambda x, k=k, d=dim: tuple(torch.topk(x, k, d)), x
                        )
                        cases.add(
                            f"bottomk {k}",
                            lambda x, k=k, d=dim: tuple(torch.topk(x, k, d, largest=False)), x,
                        )
                    cases.add("kthvalue", lambda x, d=dim: tuple(torch.kthvalue(x, 1, d)), x)
                    cases.add("median", lambda x, d=dim: tuple(torch.median(x, d)), x)
                cases.add("median", torch.median, x)
        nan = torch.tensor([3.0, float("nan"), float("inf"), -1.0, float("-inf")])
        for down in (False, True):
            cases.add("sort nan", lambda x, r=down: tuple(torch.sort(x, descending=r)), nan)
        cases.add("topk nan", lambda x: tuple(torch.topk(x, 2)), nan)
        cases.add("median nan", torch.median, nan)
        cases.add("sort gradient", with_gradients(lambda x: torch.sort(x)[0], 1),
                  cases.tensor((3, 4)))
        cases.add("topk gradient", with_gradients(lambda x: torch.topk(x, 2)[0], 1),
                  cases.tensor((3, 4)))
        self.verify(cases, 300)

    # Tensors without tensors.

    def test_creation(self):
        cases = Cases(self.seed)
        x = cases.tensor((2, 3))
        functions = [
            lambda x: torch.zeros(2, 3),
            lambda x: torch.ones(0, 3, dtype=torch.int32),
            lambda x: torch.full((2,), 7),
            lambda x: torch.full((2, 2), 0.5, dtype=torch.bfloat16),
            lambda x: torch.zeros_like(x, dtype=torch.int8),
            lambda x: torch.ones_like(x),
            lambda x: torch.full_like(x, -1.5),
            lambda x: x.new_zeros(4),
            lambda x: x.new_ones((2, 1)),
            lambda x: x.new_full((2,), 3.0),
            lambda x: torch.arange(5),
            lambda x: torch.arange(2, 11, 3),
            lambda x: torch.arange(5, 0, -2),
            lambda x: torch.arange(0.5, 2.0, 0.25),
            lambda x: torch.arange(0, 1, 0.1),
            lambda x: torch.arange(3, dtype=torch.float32),
            lambda x: torch.arange(0),
            lambda x: torch.arange(4, dtype=torch.bfloat16),
            lambda x: torch.eye(3),
            lambda x: torch.eye(2, 4, dtype=torch.int64),
            lambda x: torch.linspace(0, 1, 7),
            lambda x: torch.linspace(3, -3, 1),
            lambda x: torch.logspace(0, 2, 5),
            lambda x: torch.tril_indices(3, 4, 1),
            lambda x: torch.triu_indices(3, 3),
            lambda x: torch.tensor([1.0, 2.0, 3.0]),
            lambda x: torch.tensor([[True, False]]),
            lambda x: torch.tensor(5),
            lambda x: torch.tensor([0.1, 0.2], dtype=torch.bfloat16),
            lambda x: torch.scalar_tensor(2.5),
            lambda x: (x, 3, 2.5, True)[0],
        ]
        for i, function in enumerate(functions):
            cases.add(f"creation {i}", function, x)
        self.verify(cases, len(functions))


if __name__ == "__main__":
    unittest.main()
