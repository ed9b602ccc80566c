#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests tracing itself: in-place operations, modules, names, errors with the user's line,
random numbers, autocast, and shardings."""

import copy
import random
import sys
import unittest

from torch_support import Case, check, np, to_numpy
import functorch
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils.checkpoint import checkpoint

import pathways as pw
import pathways.torch as pt
from pathways._stablehlo import Module, Type
from pathways.torch._registry import TABLE, find
from pathways.torch._seeds import SEED, Seeds

A_CONSTANT = torch.arange(3.0)


def line_here(offset):
    return sys._getframe(1).f_lineno + offset


class InPlace(unittest.TestCase):
    """Writes, also through views, and gradients of them, against PyTorch."""

    @classmethod
    def setUpClass(cls):
        cls.session = pw.Session("1x1x1")

    @classmethod
    def tearDownClass(cls):
        cls.session.close()

    def test_writes(self):
        def add(x):
            y = x * 1
            y.add_(2).mul_(y)
            return y

        def row(x):
            y = x * 2
            y[0] = torch.tensor([1.0, 2.0, 3.0])
            y[:, 1:].sub_(1)
            y[-1, ::2] *= 3
            return y, y[0]

        def view_after_write(x):
            y = x.clone()
            v = y.t()
            w = y.reshape(-1)[2:5]
            y[1] = 7
            w.mul_(2)
            v[0].zero_()
            return y, v, w

        def write_to_view_of_view(x):
            y = x.clone()
            v = y.unsqueeze(0).transpose(1, 2).select(0, 0)
            v[1].fill_(5)
            y.diagonal().add_(1)
            return y, v

        def parts(x):
            y = x.clone()
            a, b = y.split([1, 2], 1)
            a += 1
            b.copy_(b * 10)
            first, *_ = y.unbind(0)
            first.neg_()
            return y, a, b, first

        def reshaped(x):
            y = x.clone()
            y.unsqueeze_(0).squeeze_(0).t_()
            y[0] = 0
            return y

        def out(x):
            y = torch.empty(3, 3)
            torch.mul(x, 2, out=y)
            z = torch.zeros(3, 3)
            z.masked_fill_(x > 0, 4).clamp_(0, 3)
            return y, z

        def cast(x):
            y = x.to(torch.int32)
            y += 1
            z = torch.zeros(3, 3, dtype=torch.float64)
            z.copy_(x)
            z += x
            return y, z

        def strided(x):
            y = x.clone()
            y.as_strided((2, 2), (3, 1), 1).fill_(9)
            y.as_strided((3,), (4,)).mul_(2)
            return y

        def overlap(x):
            y = x.clone()
            v = y.as_strided((4,), (2,), 0)
            v += 1
            return y, v * 2

        def same(x):
            y = x.contiguous()
            z = y.detach()
            return z + y, F.dropout(x, 0.5, training=False)

        def indexed(x):
            y = x.clone()
            y[torch.tensor([0, 2])] = 1.5
            y[y > 2] = -1
            y.index_add_(0, torch.tensor([1, 1]), x[:2])
            y.scatter_(0, torch.tensor([[0, 1, 2]]), 8.0)
            return y

        functions = [
            add, row, view_after_write, write_to_view_of_view, parts, reshaped, out, cast,
            strided, overlap, same, indexed,
        ]
        x = torch.randn(3, 3, generator=torch.Generator().manual_seed(1))
        cases = [Case(f, (x,), f.__name__) for f in functions]
        wrong = check(cases, self.session)
        self.assertFalse(wrong, "\n".join(wrong))

    def test_gradients_through_writes(self):
        def loss(x, w):
            y = x @ w
            z = y.relu()
            y.add_(2)
            mask = torch.ones(3, 3).tril()
            mask[:, 1] = 2.0
            y[0] = torch.tensor([1.0, 2.0, 3.0])
            y[1:, 0] *= z[1:, 0]
            q = torch.ones_like(z)
            q.t().select(0, 1).mul_(y[2])
            w = w.clone()
            w.mul_(3)
            return (F.gelu(z * mask) * A_CONSTANT).sum() + y.sum() + q.sum() + w.sum()

        def by_autograd(x, w):
            x = x.detach().requires_grad_()
            (gradient,) = torch.autograd.grad(loss(x, w), x)
            return gradient

        generator = torch.Generator().manual_seed(2)
        args = [torch.randn(3, 3, generator=generator) for _ in range(2)]
        cases = [
            Case(functorch.grad_and_value(loss), args, "functorch"),
            Case(functorch.grad(loss, argnums=(0, 1)), args, "functorch both"),
            Case(by_autograd, args, "autograd"),
            Case(functorch.vmap(lambda x, w: (x * w).sum()), args, "vmap"),
            Case(functorch.jacrev(lambda x, w: (x @ w).sum(0)), args, "jacrev"),
        ]
        wrong = check(cases, self.session)
        self.assertFalse(wrong, "\n".join(wrong))

    def test_trees_and_values(self):
        def tree(state, pair, factor, flag=False, *, extra):
            a, b = pair
            out = state["w"] * factor + a - b[0]
            return {"loss": out.sum(), "all": (out, [extra["k"] * 2]), "n": 3, "none": None}

        x = torch.randn(2, 3, generator=torch.Generator().manual_seed(3))
        traced = pt.trace(tree, {"w": x}, (x, [x + 1]), 2.5, extra={"k": x})
        self.assertEqual(traced.arguments, ["state.w", "pair.0", "pair.1.0", "extra.k"])
        self.assertEqual(traced.results, ["loss", "all.0", "all.1.0", "n"])
        f = self.session.load(pw.compile(traced, topology=self.session.topology))
        arrays = [to_numpy(v) for v in (x, x, x + 1, x)]
        results = f(*arrays)
        got = traced.unflatten([np.asarray(r) for r in results])
        want = tree({"w": x}, (x, [x + 1]), 2.5, extra={"k": x})
        self.assertEqual(list(got), list(want))
        self.assertIsNone(got["none"])
        self.assertEqual(int(got["n"]), 3)
        np.testing.assert_allclose(got["all"][1][0], want["all"][1][0].numpy(), rtol=1e-6)

    def test_same_tensor_twice(self):
        x = torch.ones(2)
        traced = pt.trace(lambda a, b: a - 2 * b, x, x)
        f = self.session.load(pw.compile(traced, topology=self.session.topology))
        got = f(np.array([1, 2], np.float32), np.array([3, 5], np.float32))
        np.testing.assert_array_equal(np.asarray(got[0]), [-5, -8])

    def test_examples_without_values(self):
        for example in (np.ones((2, 3), np.float32), Type((2, 3), "f32"), torch.ones(2, 3)):
            traced = pt.trace(lambda x: x.sum(), example)
            self.assertEqual(traced.types, [Type((2, 3), "f32")])

    def test_larger_than_memory(self):
        traced = pt.trace(lambda x, y: (x @ y).sum(), *[Type((1 << 20, 1 << 20), "f32")] * 2)
        self.assertIn("1048576x1048576xf32", traced.text)


class Modules(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.session = pw.Session("1x1x1")

    @classmethod
    def tearDownClass(cls):
        cls.session.close()

    def run_traced(self, traced, **values):
        f = self.session.load(pw.compile(traced, topology=self.session.topology))
        given = {name: to_numpy(t) for name, t in traced.parameters.items()} | values
        return f(**given)

    def test_parameters_are_arguments(self):
        torch.manual_seed(1)
        module = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
        x = torch.randn(3, 4)
        traced = pt.trace(module, x)
        self.assertEqual(
            traced.arguments, ["0.weight", "0.bias", "2.weight", "2.bias", "input"]
        )
        got = np.asarray(self.run_traced(traced, input=x.numpy())[0])
        np.testing.assert_allclose(got, module(x).detach().numpy(), rtol=1e-5, atol=1e-6)
        self.assertIsInstance(module[0].weight, nn.Parameter)

    def test_tied_parameters(self):
        class Tied(nn.Module):
            def __init__(self):
                super().__init__()
                self.embedding = nn.Embedding(5, 4)
                self.head = nn.Linear(4, 5, bias=False)
                self.head.weight = self.embedding.weight

            def forward(self, i):
                return self.head(self.embedding(i))

        module = Tied()
        i = torch.tensor([[0, 3], [4, 1]])
        traced = pt.trace(module, i)
        self.assertEqual(traced.arguments, ["embedding.weight", "i"])
        self.assertNotIn("5x4xf32> loc(\"_", traced.text)
        got = np.asarray(self.run_traced(traced, i=i.numpy())[0])
        np.testing.assert_allclose(got, module(i).detach().numpy(), rtol=1e-5, atol=1e-6)

    def test_buffers_that_change(self):
        module = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))
        x = torch.randn(6, 4)
        traced = pt.trace(module, x)
        self.assertEqual(
            sorted(traced.buffers),
            ["1.num_batches_tracked", "1.running_mean", "1.running_var"],
        )
        before = {k: v.clone() for k, v in module.state_dict().items()}
        out = self.run_traced(traced, input=x.numpy())
        want = module(x).detach().numpy()
        np.testing.assert_allclose(np.asarray(out[0]), want, rtol=1e-4, atol=1e-5)
        for name, result in traced.buffers.items():
            self.assertFalse(torch.equal(before[name], module.state_dict()[name]), name)
            np.testing.assert_allclose(
                np.asarray(out[result]), module.state_dict()[name].numpy(), rtol=1e-5, atol=1e-6
            )

    def test_autocast(self):
        module = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))

        def loss(x, y):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return F.mse_loss(module(x).float(), y)

        x, y = torch.randn(5, 8), torch.randn(5, 4)
        traced = pt.trace(loss, x, y)
        self.assertIn("xbf16>", traced.text)
        f = self.session.load(pw.compile(traced, topology=self.session.topology))
        got = float(np.asarray(f(x.numpy(), y.numpy())[0]))
        self.assertAlmostEqual(got, loss(x, y).item(), delta=0.02 * abs(got))

    def test_large_constants(self):
        table = torch.arange(40000, dtype=torch.float32).reshape(200, 200)
        traced = pt.trace(lambda x: x + table, torch.zeros(200))
        f = self.session.load(pw.compile(traced, topology=self.session.topology))
        got = np.asarray(f(np.zeros(200, np.float32))[0])
        np.testing.assert_array_equal(got, table.numpy())


class Random(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.session = pw.Session("1x1x4")

    @classmethod
    def tearDownClass(cls):
        cls.session.close()

    def load(self, function, *args, **options):
        traced = pt.trace(function, *args, **options)
        return traced, self.session.load(pw.compile(traced, topology=self.session.topology))

    def test_distributions(self):
        n = 20000

        def draw(x):
            return {
                "rand": torch.rand(n),
                "randn": torch.randn(n),
                "bernoulli": torch.bernoulli(x),
                "dropout": F.dropout(torch.ones(n), 0.25),
                "randint": torch.randint(3, 9, (n,)),
                "exponential": torch.empty(n).exponential_(2.0),
                "normal": torch.empty(n).normal_(1.0, 3.0),
                "uniform": torch.empty(n).uniform_(-1.0, 3.0),
                "half": torch.rand(n, dtype=torch.bfloat16).float(),
                "double": torch.rand(n, dtype=torch.float64),
                "permutation": torch.randperm(100),
                "multinomial": torch.multinomial(torch.tensor([1.0, 0.0, 3.0]), n, True),
                "draws": torch.multinomial(torch.tensor([1.0, 2.0, 3.0]), 3),
                "geometric": torch.empty(n).geometric_(0.25),
            }

        x = torch.full((n,), 0.3)
        traced, f = self.load(draw, x)
        self.assertEqual(traced.seed, "seed")
        self.assertEqual(traced.arguments[-1], "seed")
        out = {k: np.asarray(v) for k, v in f(x.numpy(), np.uint64(11))._asdict().items()}
        moments = {  # mean, standard deviation
            "rand": (0.5, 0.2887),
            "randn": (0, 1),
            "bernoulli": (0.3, 0.4583),
            "dropout": (1.0, 0.5774),
            "randint": (5.5, 1.708),
            "exponential": (0.5, 0.5),
            "normal": (1.0, 3.0),
            "uniform": (1.0, 1.1547),
            "half": (0.498, 0.2887),
            "double": (0.5, 0.2887),
            "multinomial": (1.5, 0.866),
            "geometric": (4.0, 3.4641),
        }
        for name, (mean, deviation) in moments.items():
            values = out[name].astype(np.float64)
            self.assertLess(abs(values.mean() - mean), 6 * deviation / n**0.5 + 1e-3, name)
            self.assertLess(abs(values.std() - deviation), 0.06 * deviation, name)
        self.assertEqual(sorted(out["permutation"]), list(range(100)))
        self.assertEqual(sorted(out["draws"]), [0, 1, 2])
        self.assertEqual(sorted(set(out["dropout"])), [0.0, np.float32(1 / 0.75)])
        self.assertEqual(sorted(set(out["randint"])), [3, 4, 5, 6, 7, 8])
        for name in ("rand", "half", "double"):
            self.assertGreaterEqual(out[name].min(), 0)
            self.assertLess(out[name].max(), 1)
        self.assertLess(abs(np.corrcoef(out["rand"], out["double"])[0, 1]), 0.05)

    def test_pure_function_of_the_seed(self):
        def step(x):
            return F.dropout(x, 0.5) + torch.randn(8, 8)

        x = torch.ones(8, 8)
        _, whole = self.load(step, x)
        _, cut = self.load(step, x, mesh={"d": 4}, split={"x": "d"})
        first = np.asarray(whole(x.numpy(), np.uint64(5))[0])
        np.testing.assert_array_equal(first, np.asarray(whole(x.numpy(), np.uint64(5))[0]))
        np.testing.assert_array_equal(first, np.asarray(cut(x.numpy(), np.uint64(5))[0]))
        self.assertFalse(np.array_equal(first, np.asarray(whole(x.numpy(), np.uint64(6))[0])))

    def test_computed_again(self):
        """A checkpoint computes dropout twice, which must drop the same elements."""

        def gradient(x):
            x = x.detach().requires_grad_()
            y = checkpoint(lambda x: F.dropout(x, 0.5) * 2, x, use_reentrant=False)
            return y, torch.autograd.grad(y.sum(), x)[0]

        before = torch.get_rng_state()
        _, f = self.load(gradient, torch.ones(64))
        self.assertTrue(torch.equal(before, torch.get_rng_state()))
        out = f(np.ones(64, np.float32), np.uint64(3))
        np.testing.assert_array_equal(np.asarray(out[0]), np.asarray(out[1]))
        self.assertEqual(set(np.asarray(out[0])), {0.0, 4.0})

        captured = pt.capture(lambda x: F.dropout(x, 0.5), (torch.ones(64),))
        module = Module()
        function = module.function("main")
        argument = function.argument(captured.arguments[0])
        seeds = Seeds(function, function.argument(SEED))
        function.returns(
            [
                pt.lower_graph(captured.module, function, [argument], seed=seeds)[0]
                for _ in range(2)
            ]
        )
        f = self.session.load(pw.Source(module.text()))
        out = f(np.ones(64, np.float32), np.uint64(3))
        self.assertFalse(np.array_equal(np.asarray(out[0]), np.asarray(out[1])))

        def twice(x):
            return F.dropout(x, 0.5), F.dropout(x, 0.5)

        _, f = self.load(twice, torch.ones(64))
        out = f(np.ones(64, np.float32), np.uint64(3))
        self.assertFalse(np.array_equal(np.asarray(out[0]), np.asarray(out[1])))

    def test_sharded(self):
        module = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4))
        x = torch.randn(8, 8)
        _, f = self.load(
            module,
            x,
            mesh=[("data", 2), ("model", 2)],
            split={"input": "data", "0.*": "model", "2.weight": (None, "model")},
        )
        values = {k: to_numpy(v) for k, v in dict(module.named_parameters()).items()}
        got = np.asarray(f(input=x.numpy(), **values)[0])
        np.testing.assert_allclose(got, module(x).detach().numpy(), rtol=1e-4, atol=1e-5)


class Errors(unittest.TestCase):
    def refuses(self, function, *args, says, offset=None, kind=pt.TraceError, **options):
        """`offset`: the line of the error, from that of the call of this function."""
        here = sys._getframe(1).f_lineno
        with self.assertRaises(kind) as caught:
            pt.trace(function, *(args or (torch.ones(3),)), **options)
        self.assertIn(says, str(caught.exception))
        if offset is not None:
            self.assertEqual(caught.exception.file, __file__)
            self.assertEqual(caught.exception.line, here + offset, str(caught.exception))

    def test_control_flow(self):
        def branch(x):
            if x.sum() > 0:
                return x
            return -x

        self.refuses(branch, says="the value of a traced tensor", offset=-4)
        self.refuses(lambda x: x * x.max().item(), says="the value of a traced", offset=0)
        self.refuses(lambda x: x * float(x[0]), says="the value of a traced", offset=0)
        self.refuses(lambda x: x[int(x[0]):], says="the value of a traced", offset=0)
        self.refuses(lambda x: torch.ones(3) if bool(x[0]) else x, says="value", offset=0)

    def test_reads(self):
        self.refuses(lambda x: torch.from_numpy(x.numpy()), says="numpy()", offset=0)
        self.refuses(lambda x: x + np.asarray(x), says="np.asarray", offset=0)
        self.refuses(lambda x: torch.tensor(x.tolist()), says="tolist()", offset=0)
        self.refuses(lambda x: x + x.data_ptr(), says="data_ptr()", offset=0)

    def test_dynamic_shapes(self):
        self.refuses(lambda x: x[x > 0], says="depends on values", offset=0)
        self.refuses(lambda x: x.nonzero(), says="depends on values", offset=0)
        self.refuses(lambda x: torch.unique(x), says="depends on values", offset=0)
        self.refuses(lambda x: x.masked_select(x > 0), says="depends on values", offset=0)

    def test_unknown_operation(self):
        self.refuses(lambda x: torch.special.bessel_j0(x), says="special_bessel_j0", offset=0)

        def loss(x):
            y = F.gelu(x)
            return y.sum()

        line = line_here(-3)
        lowering = TABLE.pop("aten.gelu_backward")
        try:
            with self.assertRaises(pt.TraceError) as caught:
                pt.trace(functorch.grad(loss), torch.ones(3, 3))
        finally:
            TABLE["aten.gelu_backward"] = lowering
        self.assertIn(
            "aten.gelu_backward.default, the backward of aten.gelu.default, has no lowering",
            str(caught.exception),
        )
        self.assertEqual(caught.exception.line, line)
        self.assertEqual(caught.exception.place[2], 17)

    def test_operations_of_models(self):
        """What training steps of usual models consist of."""
        names = """
            add.Tensor add.Scalar sub.Tensor rsub.Scalar mul.Tensor mul.Scalar div.Tensor
            div.Scalar pow.Tensor_Tensor pow.Tensor_Scalar sqrt.default sigmoid.default
            sigmoid_backward.default tanh.default tanh_backward.default relu.default
            threshold_backward.default gelu.default gelu_backward.default
            bitwise_not.default masked_fill.Scalar mm.default addmm.default bmm.default
            t.default transpose.int permute.default view.default _unsafe_view.default
            _reshape_alias.default expand.default unsqueeze.default squeeze.dim select.int
            slice.Tensor split.Tensor cat.default clone.default detach.default
            lift_fresh_copy.default sum.dim_IntList sum.default mean.default mean.dim
            _softmax.default _softmax_backward_data.default _log_softmax.default
            _log_softmax_backward_data.default nll_loss_forward.default
            nll_loss_backward.default native_layer_norm.default
            native_layer_norm_backward.default native_batch_norm.default
            native_batch_norm_backward.default convolution.default
            convolution_backward.default max_pool2d_with_indices.default
            max_pool2d_with_indices_backward.default embedding.default
            embedding_dense_backward.default gather.default scatter.src topk.default
            arange.default zeros.default ones.default zeros_like.default ones_like.default
            new_zeros.default empty.memory_format tril.default empty_like.default
            bernoulli.p index.Tensor index_put.default where.self cumsum.default amax.default
            var.correction rsqrt.default baddbmm.default upsample_nearest2d.vec
            upsample_bilinear2d.vec constant_pad_nd.default native_group_norm.default
            native_group_norm_backward.default log.default exp.default erf.default
            clamp.default eq.Tensor ne.Scalar lt.Tensor le.Scalar gt.Tensor ge.Scalar
            logical_and.default logical_or.default logical_not.default argmax.default
            sort.default _to_copy.default select_scatter.default slice_scatter.default
            _native_batch_norm_legit_functional.default
        """
        missing = [name for name in names.split() if find(f"aten.{name}") is None]
        self.assertEqual(missing, [])
        self.assertIn("aten.relu", pt.operations())
        # One operation has one lowering.
        both = [n for n in pt.operations() if n.rpartition(".")[0] in TABLE]
        self.assertEqual(both, [])

    def test_backward_operation_is_named_after_its_forward_operation(self):
        def loss(x):
            y = x * 2
            z = torch.special.entr(y)
            return z.exp().sum()

        captured = pt.capture(functorch.grad(loss), (torch.ones(3) / 2,))
        first = line_here(-5)
        places = {}
        for node in captured.module.graph.nodes:
            backward = node.meta.get("pathways.backward")
            if backward is not None:
                places.setdefault(backward, set()).add(node.meta["pathways.place"][1])
        self.assertEqual(places["aten.sum.default"], {first + 2})
        self.assertIn(first + 2, places["aten.exp.default"])
        self.assertEqual(places["aten.special_entr.default"], {first + 1})
        self.assertEqual(places["aten.mul.Tensor"], {first})

    def test_lowering_of_the_user(self):
        with self.assertRaises(pw.InvalidArgument) as caught:
            pt.lowers("aten.relu")(lambda c, x: x)
        self.assertIn("aten.relu has a lowering already", str(caught.exception))
        try:

            @pt.lowers("aten.special_bessel_j0")
            def bessel_j0(c, x):
                return c.f.binary("add", x, c.constant(1, x.element, x.shape))

            traced = pt.trace(torch.special.bessel_j0, torch.ones(3), names=["x"])
        finally:
            TABLE.pop("aten.special_bessel_j0", None)
        with pw.Session("1x1x1") as session:
            out = session.load(traced)(np.ones(3, np.float32))
            np.testing.assert_array_equal(np.asarray(out[0]), [2, 2, 2])

    def test_wrong_lowering(self):
        try:
            pt.lowers("aten.special_bessel_j0")(lambda c, x: c.f.reshape(x, (3, 1)))
            self.refuses(
                lambda x: torch.special.bessel_j0(x), says="expected tensor<3xf32>", offset=1
            )
        finally:
            TABLE.pop("aten.special_bessel_j0", None)

    def test_module_lines_are_those_of_the_module(self):
        class Bad(nn.Module):
            def forward(self, x):
                return torch.special.bessel_j1(x)

        line = line_here(-2)
        with self.assertRaises(pt.TraceError) as caught:
            pt.trace(nn.Sequential(nn.Linear(3, 3), Bad()), torch.ones(3))
        self.assertEqual((caught.exception.file, caught.exception.line), (__file__, line))

    def test_hidden_numbers(self):
        self.refuses(lambda x: x + np.random.rand(), says="np.random")
        self.refuses(lambda x: x + random.random(), says="from random")
        self.refuses(
            lambda x: x + torch.rand(3, generator=torch.Generator()), says="generator", offset=1
        )

    def test_arguments(self):
        self.refuses(lambda x: x.add_(1), says="writes to its argument x")
        self.refuses(lambda x: object(), says="returns a builtins.object")
        self.refuses(lambda x: x, torch.ones(2, dtype=torch.complex64), says="complex64")
        self.refuses(lambda x: torch.view_as_complex(x), torch.ones(3, 2), says="view_as_complex")
        self.refuses(lambda x: x, says="2 names for 1", names=["a", "b"])
        self.refuses(lambda x: x, says="2 names for 1", results=["a", "b"])
        self.refuses(
            lambda x, y: x, torch.ones(3), torch.ones(3), says="name v", names=["v", "v"]
        )
        self.refuses(lambda x: x, says="fits no argument", split={"y": "d"}, mesh={"d": 2})
        self.refuses(lambda x: x, says="axis 'e'", split={"x": "e"}, mesh={"d": 2})
        self.refuses(
            lambda x: x, says="has 2 dimensions", split={"x": ("d", None)}, mesh={"d": 2}
        )
        with self.assertRaises(ZeroDivisionError):
            pt.trace(lambda x: x / (1 // 0), torch.ones(3))
        with self.assertRaises(RuntimeError):  # what PyTorch itself refuses
            pt.trace(lambda x: x @ torch.ones(7, 7), torch.ones(3, 3))

    def test_writes_around_the_function(self):
        total = torch.zeros(3)

        def count(x):
            total.add_(x)
            return total * 2

        self.refuses(count, says="writes to a tensor that is no argument", offset=-3)
        norm = nn.BatchNorm1d(3)
        rows = torch.randn(4, 3)
        self.refuses(lambda x: norm(x), rows, says="call its eval()", offset=0)
        norm.eval()
        pt.trace(lambda x: norm(x), rows)
        pt.trace(lambda x: torch.tensor([1.0, 2.0, 3.0]).add_(x), torch.ones(3))
        self.assertEqual(total.sum().item(), 0.0)

    def test_what_fake_tensors_lack(self):
        self.refuses(lambda x: torch.tensor([x[0], x[1]]), says="cannot trace", offset=0)
        self.refuses(lambda x: copy.deepcopy(x) * 2, says="cannot trace", offset=0)
        self.refuses(
            lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.qint8),
            says="cannot trace", offset=1,
        )

        def assign(x):
            x.data = x * 2
            return x

        self.refuses(assign, says="an assignment to .data", offset=-3)

    def test_gradients_left_in_modules(self):
        module = nn.Linear(3, 2)

        def gradient(x):
            module(x).sum().backward()
            return module.weight.grad * 1

        pt.trace(gradient, torch.ones(3))
        self.assertIsNone(module.weight.grad)
        module.weight.grad = torch.ones(2, 3)
        with self.assertRaises(pt.TraceError):  # it would be added to
            pt.trace(gradient, torch.ones(3))
        self.assertTrue(torch.equal(module.weight.grad, torch.ones(2, 3)))

    def test_failures_leave_no_state(self):
        module = nn.Linear(3, 3)
        weight = module.weight
        module.register_forward_hook(lambda *_: 1 / 0)
        with self.assertRaises(ZeroDivisionError):
            pt.trace(module, torch.ones(3))
        self.assertIs(module.weight, weight)
        self.assertEqual(torch.ones(2).sum().item(), 2.0)

    def test_graphs_of_others(self):
        """Graphs that are not ours: without lines, with in-place calls, with sizes."""
        module = make_fx(lambda x: torch.special.bessel_j0(x))(torch.ones(3))
        for node in module.graph.nodes:
            node.meta["stack_trace"] = '  File "model.py", line 7, in forward\n    return f(x)\n'
        function = Module().function("main")
        argument = function.argument(Type((3,), "f32"))
        with self.assertRaises(pt.TraceError) as caught:
            pt.lower_graph(module, function, [argument])
        self.assertEqual((caught.exception.file, caught.exception.line), ("model.py", 7))
        with self.assertRaises(pt.TraceError) as caught:
            pt.lower_graph(module, function, [function.argument(Type((4,), "f32"))])
        self.assertIn("expected tensor<3xf32>", str(caught.exception))
        module = make_fx(lambda x: x.add_(1))(torch.ones(3))
        with self.assertRaises(pt.TraceError) as caught:
            pt.lower_graph(module, function, [argument])
        self.assertIn("aten.add_.Tensor", str(caught.exception))
        with self.assertRaises(pt.TraceError) as caught:
            random_graph = make_fx(lambda x: torch.rand_like(x))(torch.ones(3))
            pt.lower_graph(random_graph, function, [argument])
        self.assertIn("no seed", str(caught.exception))
        by_size = make_fx(
            lambda x: x.reshape(x.shape[0] * x.shape[1]) * 2, tracing_mode="symbolic"
        )(torch.ones(3, 4))
        matrix = function.argument(Type((3, 4), "f32"))
        with self.assertRaises(pt.TraceError) as caught:
            pt.lower_graph(by_size, function, [matrix])
        self.assertIn("the node x_1 has the size", str(caught.exception))
        for node in by_size.graph.nodes:
            if node.op == "placeholder":
                del node.meta["tensor_meta"], node.meta["val"]
        with self.assertRaises(pt.TraceError) as caught:
            pt.lower_graph(by_size, function, [matrix])
        self.assertIn("the node sym_size is aten.sym_size", str(caught.exception))
        tree = make_fx(lambda x: {"a": x + 1, "b": [x * 2]})(torch.ones(3))
        self.assertEqual(len(pt.lower_graph(tree, function, [argument])), 2)


if __name__ == "__main__":
    unittest.main()
