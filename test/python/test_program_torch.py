#!/usr/bin/python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions and modules of PyTorch as parts of programs."""

import sys
import unittest

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
except ImportError:
    sys.exit(77)

import pathways as pw

X = np.arange(8, dtype=np.float32).reshape(2, 4) / 4


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.fc = torch.nn.Linear(4, 3)

    def forward(self, x, scale=1.0):
        return F.relu(self.fc(x)) * scale


class Functions(unittest.TestCase):
    def test_beside_numpy(self):
        s, t = pw.Slice("s", d=2), pw.Slice("t", d=2)
        first = pw.computation(lambda x: torch.softmax(x, -1), on=s, split={"x": "d"})
        second = pw.computation(lambda p: np.sum(p * np.log(p), axis=-1), on=t)

        @pw.program
        def f(x):
            p = first(x)
            return {"p": p, "entropy": second(p)}

        p = torch.softmax(torch.tensor(X), -1).numpy()
        with pw.Session("2x1x2"):
            out = f(X)
            np.testing.assert_allclose(np.asarray(out["p"]), p, rtol=1e-6)
            np.testing.assert_allclose(
                np.asarray(out["entropy"]), np.sum(p * np.log(p), -1), rtol=1e-5)

    def test_function_by_itself(self):
        with pw.Session("1x1x2"):
            f = pw.computation(lambda x, y: (x @ y.T, {"n": torch.norm(x)}),
                               on=pw.Slice("s", d=2))
            product, rest = f(torch.tensor(X), torch.tensor(X))
            np.testing.assert_allclose(np.asarray(product), X @ X.T, rtol=1e-6)
            np.testing.assert_allclose(np.asarray(rest["n"]), np.linalg.norm(X), rtol=1e-6)

    def test_recognized(self):
        def by_names(x):
            return F.relu(x)

        def by_module(x):
            return x

        text = pw.program(by_names).trace(pw.f32[2]).text
        self.assertIn("stablehlo.maximum", text)
        # Without a name of torch, the argument decides.
        self.assertIn("return %arg0", pw.program(by_module).trace(torch.zeros(2)).text)
        with self.assertRaisesRegex(pw.ProgramError, "bf16"):
            pw.program(lambda x: x + 1).trace(pw.bf16[2])
        f = pw.program(lambda x: x + 1, framework="torch")
        self.assertIn("tensor<2xbf16>", f.trace(pw.bf16[2]).text)

    def test_module(self):
        net = Net()
        with pw.Session("2x1x2"):
            f = pw.computation(net, on=pw.Slice("s", m=2), split={"fc.weight": ("m", None)})
            want = net(torch.tensor(X)).detach().numpy()
            np.testing.assert_allclose(np.asarray(f(X)), want, rtol=1e-5, atol=1e-6)
            # The parameters are arguments: new values need no new program.
            with torch.no_grad():
                net.fc.weight.mul_(2)
            want = net(torch.tensor(X)).detach().numpy()
            np.testing.assert_allclose(np.asarray(f(X)), want, rtol=1e-5, atol=1e-6)

    def test_modules_in_a_program(self):
        one, two = Net(), torch.nn.Linear(3, 4)
        first = pw.computation(one, on=pw.Slice("s"))
        second = pw.computation(two, on=pw.Slice("t", apart_from="s"))
        f = pw.program(lambda x: second(first(second(first(x, scale=0.5)))))
        traced = f.trace(X)
        self.assertEqual(traced.arguments, ("x", "fc.weight", "fc.bias", "weight", "bias"))
        self.assertEqual(traced.source.slices, "s:0,t:1")
        want = two(one(two(one(torch.tensor(X), scale=0.5)))).detach().numpy()
        with pw.Session("2x1x1"):
            np.testing.assert_allclose(np.asarray(f(X)), want, rtol=1e-5, atol=1e-6)

    def test_names_that_are_taken(self):
        one, two = Net(), Net()
        f = pw.program(lambda x: pw_one(x) + pw_two(x))
        pw_one = pw.computation(one, name="one")
        pw_two = pw.computation(two, name="two")
        self.assertEqual(f.trace(X).arguments[1:], (
            "fc.weight", "fc.bias", "two.fc.weight", "two.fc.bias"))

    def test_names_of_arguments_that_are_taken(self):
        net = pw.computation(Net(), name="net")
        f = pw.program(lambda **named: net(named["fc.bias"]))
        traced = f.trace(**{"fc.bias": X})
        self.assertEqual(traced.arguments, ("fc.bias", "fc.weight", "net.fc.bias"))
        drop = pw.computation(lambda x: F.dropout(x, 0.5, True))
        g = pw.program(lambda seed: drop(seed))
        self.assertEqual(g.trace(X).arguments, ("seed", "_seed"))
        with pw.Session("1x1x1"):
            self.assertEqual(g(X, _seed=3).shape, (2, 4))

    def test_split_of_parameters(self):
        net, s = Net(), pw.Slice("s", m=2)
        for options in ({"fc.weight": ("m", None)}, {"*.weight": "m"}):
            text = pw.program(net, on=s, split=options).trace(X).text
            self.assertIn('tensor<3x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {}]>}',
                          text)
        with self.assertRaisesRegex(pw.InvalidArgument, "'fc.gain'"):
            pw.program(net, on=s, split={"fc.gain": "m"}).trace(X)
        with pw.Session("1x1x2"):
            f = pw.program(net, on=s, split={"*.weight": "m", "x": (None, "m")})
            np.testing.assert_allclose(
                np.asarray(f(X)), net(torch.tensor(X)).detach().numpy(), rtol=1e-5, atol=1e-6)

    def test_seed(self):
        drop = pw.computation(lambda x: F.dropout(x, 0.5, True), on=pw.Slice("s"))
        f = pw.program(lambda x: (drop(x), drop(x)))
        x = np.ones(1000, np.float32)
        with pw.Session("1x1x1"):
            with self.assertRaisesRegex(pw.InvalidArgument, "seed="):
                f(x)
            first, second = (np.asarray(r) for r in f(x, seed=1))
            again, _ = (np.asarray(r) for r in f(x, seed=1))
            other, _ = (np.asarray(r) for r in f(x, seed=2))
            np.testing.assert_array_equal(first, again)
            for a, b in ((first, second), (first, other)):
                self.assertGreater(np.mean(a != b), 0.3)
            self.assertAlmostEqual(float(first.mean()), 1, delta=0.2)

    def test_random_numbers_beside_numpy(self):
        draw = torch.rand  # so that the code mentions no module of PyTorch

        def f(x):
            return x + draw(4).numpy()

        with self.assertRaisesRegex(pw.ProgramError, "random"):
            pw.program(f, framework="numpy").trace(X)

    def test_errors_name_the_line(self):
        def branch(x):
            if x.sum() > 0:  # HERE
                return F.relu(x)
            return x

        c = pw.computation(branch, on=pw.Slice("s"))
        with self.assertRaises(pw.TraceError) as caught:
            pw.program(lambda x: c(x)).trace(X)
        self.assertEqual(caught.exception.file, __file__)
        self.assertEqual(caught.exception.line, branch.__code__.co_firstlineno + 1)

    def test_module_that_writes_to_buffers(self):
        norm = torch.nn.BatchNorm1d(4)
        f = pw.program(pw.computation(norm))
        with self.assertRaisesRegex(pw.ProgramError, r"writes to '.*running_mean.*eval\(\)"):
            f.trace(X)
        norm.eval()
        with pw.Session("1x1x1"):
            np.testing.assert_allclose(
                np.asarray(f(X)), norm(torch.tensor(X)).detach().numpy(), rtol=1e-5)


if __name__ == "__main__":
    unittest.main()
