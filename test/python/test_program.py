#!/usr/bin/python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of computations over slices: what they become, and what they compute."""

import pathlib
import sys
import threading
import types
import unittest
from collections import namedtuple
from unittest import mock

try:
    import numpy as np
except ImportError:
    sys.exit(77)

import pathways as pw

V = np.array([1, 2], np.float32)
X = np.arange(8, dtype=np.float32).reshape(2, 4)


def values(tree):
    """The values of all arrays in a tuple or a dictionary."""
    if isinstance(tree, dict):
        return {key: values(value) for key, value in tree.items()}
    if isinstance(tree, (tuple, list)):
        return [values(value) for value in tree]
    return np.asarray(tree).tolist()


class Figure2(unittest.TestCase):
    def program(self, **axes):
        a = pw.computation(lambda v: v * 2, on=pw.Slice("sa", **axes))
        b = pw.computation(lambda v: v + 1, on=pw.Slice("sb", **axes))
        c = pw.computation(lambda v: v / 2, on=pw.Slice("sc", **axes))

        @pw.program
        def f(v):
            x = a(v)
            y = b(x)
            z = a(c(x))
            return y, z

        return f

    def test_called(self):
        f = self.program(x=2)
        for topology, world in (("2x1x4", "threads"), ("2x1x4", "sim"), ("1x1x1", "threads")):
            with pw.Session(topology, world=world):
                y, z = f(V)
                self.assertEqual((values(y), values(z)), ([3, 5], [2, 4]))

    def test_loaded(self):
        f = self.program(x=2)
        with pw.Session("2x1x4") as s:
            run = s.load(f.compile(v=pw.f32[2], topology=s.topology))
            out = run(v=V)
            self.assertEqual((values(out[0]), values(out[1])), ([3, 5], [2, 4]))
            self.assertEqual([p.name for p in run.results], ["result0", "result1"])
            self.assertEqual([p.name for p in run.arguments], ["v"])

    def test_one_device_each(self):
        f = self.program()
        self.assertNotIn("sdy.mesh", f.trace(V).text)
        with pw.Session("1x1x4"):
            self.assertEqual(values(f(V)), [[3, 5], [2, 4]])

    def test_calls_share_a_function(self):
        text = self.program(x=2).trace(V).text
        self.assertEqual(text.count("func.func private"), 3)
        self.assertEqual(text.count("func.call"), 4)
        self.assertIn('loc("' + __file__, text)

    def test_slices(self):
        self.assertEqual(self.program(x=2).trace(V).source.slices, "sa,sb,sc")


class Names(unittest.TestCase):
    def test_trees(self):
        Pair = namedtuple("Pair", "left right")

        @pw.program
        def f(state, pair, *rest, scale=2.0):
            return {"sum": state["w"] + state["layers"][1], "pair": Pair(*pair[::-1]),
                    "rest": [r * scale for r in rest], "none": None}

        state = {"w": V, "layers": [V, V * 10]}
        traced = f.trace(state, Pair(V, V * 3), V, V * 2)
        self.assertEqual(traced.arguments, (
            "state.w", "state.layers.0", "state.layers.1", "pair.left", "pair.right",
            "rest.0", "rest.1"))
        self.assertEqual(traced.results, ("sum", "pair.left", "pair.right", "rest.0", "rest.1"))
        with pw.Session("1x1x1") as s:
            out = f(state, Pair(V, V * 3), V, V * 2)
            self.assertEqual(values(out["sum"]), [11, 22])
            self.assertEqual(values(out["pair"].left), [3, 6])
            self.assertEqual(values(out["rest"]), [[2, 4], [4, 8]])
            self.assertIsNone(out["none"])
            by_name = s.load(traced)(**{
                "state.w": V, "state.layers.0": V, "state.layers.1": V, "pair.left": V,
                "pair.right": V, "rest.0": V, "rest.1": V})
            self.assertEqual(values(by_name["sum"]), [2, 4])
            self.assertEqual(values(by_name.sum), [2, 4])

    def test_decorators_with_options(self):
        @pw.program(static="count")
        def f(x, count):
            return {"y": sum(x * i for i in range(count))}

        @pw.computation(static=["axis"], on=pw.Slice("s"))
        def total(x, axis):
            return np.sum(x, axis=axis)

        with pw.Session("1x1x1"):
            self.assertEqual(values(f(V, 4)["y"]), [6, 12])
            self.assertEqual(values(f(V, count=3)["y"]), [3, 6])
            self.assertEqual(values(total(X, 0)), [4, 6, 8, 10])
            self.assertEqual(values(total(X, axis=1)), [6, 22])
        self.assertEqual(f.__name__, "f")

    def test_cached_by_types(self):
        traces = []

        @pw.program
        def f(x):
            traces.append(x.shape)
            return x + 1

        with pw.Session("1x1x1"):
            for value in (V, V + 1, np.zeros(3, np.float32), V.astype(np.float64), 1.5, V):
                np.testing.assert_array_equal(np.asarray(f(value)), np.asarray(value) + 1)
            self.assertEqual(traces, [(2,), (3,), (2,), ()])
            out = f(f(V))  # an Array is an argument as well
            self.assertEqual(values(out), [3, 4])
            self.assertEqual(len(traces), 4)
        with pw.Session("1x1x1"):
            self.assertEqual(values(f(V)), [2, 3])
            self.assertEqual(len(traces), 5)

    def test_numbers_have_types_by_value(self):
        """NumPy 1 looks at the values of numbers: so do programs that are called."""
        scale = pw.computation(lambda x, y: x * y)
        programs = (pw.program(lambda x, y: x * y), pw.program(lambda x, y: scale(x, y)))
        with pw.Session("1x1x1"):
            for f in programs:
                for x in (V, V.astype(np.int8), V.astype(np.uint8), V.astype(np.float16)):
                    for y in (0.1, 1e30, 1e300, 5, 200, -1, 70000, True, np.float64(0.5),
                              np.int64(3), np.array(2.5), np.float32(2)):
                        with np.errstate(all="ignore"):
                            want = x * y
                        got = np.asarray(f(x, y))
                        self.assertEqual(got.dtype, want.dtype, f"{x.dtype} * {y!r}")
                        np.testing.assert_allclose(got, want, rtol=1e-3)
        inside = pw.program(lambda x: scale(x, 0.5) + scale(x, 3))
        with pw.Session("1x1x1"):
            self.assertEqual(str(np.asarray(inside(V)).dtype), "float32")

    def test_numbers_share_programs(self):
        traces = []

        @pw.program
        def f(x, y):
            traces.append(y)
            return x * y

        with pw.Session("1x1x1"):
            for y in (0.1, 0.2, 1e30, 2e30, 3, 5, 200, 210):
                np.testing.assert_allclose(np.asarray(f(V, y)), V * y, rtol=1e-6)
        self.assertEqual(len(traces), 4)

    def test_threads_trace_at_once(self):
        out = {}

        def work(i):
            program = pw.program(lambda x: [x * i + k for k in range(20)])
            out[i] = program.trace(V).text

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        texts = {pw.program(lambda x, i=i: [x * i + k for k in range(20)]).trace(V).text
                 for i in range(1)}
        self.assertEqual(out[0].count("stablehlo.add"), 20)
        self.assertEqual(next(iter(texts)).count("stablehlo.add"), 20)


class Slices(unittest.TestCase):
    def test_two_islands(self):
        front, back = pw.Slice("front", d=2), pw.Slice("back", d=2, apart_from="front")

        @pw.program(on=front, split={"x": "d", "y": (None, "d")})
        def f(x, w):
            h = np.tanh(x @ w)
            y = h.to(back) @ w.to(back).T
            return {"y": y, "h": h.to(back)}

        w = np.arange(12, dtype=np.float32).reshape(4, 3) / 10
        traced = f.trace(x=pw.f32[2, 4], w=pw.f32[4, 3])
        self.assertEqual(traced.source.slices, "front:0,back:1")
        self.assertIn('sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>', traced.text)
        self.assertIn('sdy.sharding = #sdy.sharding<@mesh, [{}, {"d"}]>', traced.text)
        h = np.tanh(X @ w)
        for topology in ("2x1x2", "2x2x1"):
            with pw.Session(topology) as s:
                out = s.load(traced)(x=X, w=w)
                np.testing.assert_allclose(np.asarray(out.y), h @ w.T, rtol=1e-5)
                np.testing.assert_allclose(np.asarray(out.h), h, rtol=1e-5)
        with self.assertRaises(pw.Error):
            pw.compile(traced, "1x1x4")

    def test_islands(self):
        a, b = pw.Slice("a"), pw.Slice("b", apart_from="a")
        c, d = pw.Slice("c", apart_from=("a", b)), pw.Slice("d")

        @pw.program
        def f(x):
            return x.to(a), x.to(b), x.to(c), x.to(d)

        traced = f.trace(V)
        self.assertEqual(traced.source.slices, "a:0,b:1,c:2,d")
        with pw.Session("3x1x2") as s:
            self.assertEqual([values(r) for r in s.load(traced)(V)], [[1, 2]] * 4)

    def test_spans(self):
        wide = pw.Slice("wide", x=4, spans=2)
        f = pw.program(lambda x: np.sum(x * 2), on=wide, split={"x": (None, "x")})
        traced = f.trace(X)
        self.assertEqual(traced.source.slices, "wide:0-1")
        with pw.Session("2x1x2") as s:
            self.assertEqual(values(s.load(traced)(X)[0]), 56)

    def test_meshes_of_other_shapes(self):
        # Four devices as one axis, as two, and as two of other sizes' names.
        flat, square = pw.Slice("flat", x=4), pw.Slice("square", rows=2, columns=2)
        first = pw.computation(lambda v: v * 2, on=flat, split={"v": (None, "x")})
        second = pw.computation(lambda v: v + 1, on=square, split={"v": ("rows", "columns")})
        f = pw.program(lambda v: second(first(v)), split={"v": (None, "x")})
        traced = f.trace(X)
        self.assertIn('sdy.mesh @mesh = <["rows"=2, "columns"=2]>', traced.text)
        self.assertIn('[{}, {"rows", "columns"}]', traced.text)
        self.assertIn('[{"rows"}, {"columns"}]', traced.text)
        with pw.Session("2x1x4") as s:
            np.testing.assert_array_equal(np.asarray(s.load(traced)(X)[0]), X * 2 + 1)

    def test_no_common_mesh(self):
        cases = (
            (pw.Slice("s", x=2), pw.Slice("t", x=4), "'s' has 2 devices and slice 't' has 4"),
            (pw.Slice("s", x=2, y=3), pw.Slice("t", x=3, y=2), "'s'.*'t'.*no common mesh"),
            (pw.Slice("s", x=2), pw.Slice("t"), "'s' has 2 devices and slice 't' has 1"),
            (pw.Slice("s", x=2), pw.Slice("s", x=4), "two slices have one name"),
        )
        for one, two, message in cases:
            with self.subTest(message), self.assertRaisesRegex(pw.ProgramError, message) as e:
                pw.program(lambda x: (x.to(one) + 1).to(two)).trace(X)
            self.assertEqual(e.exception.file, __file__)

    def test_operands_on_two_slices(self):
        s, t = pw.Slice("s"), pw.Slice("t")

        def add(x):
            return x.to(s) + x.to(t)  # HERE

        with self.assertRaisesRegex(pw.ProgramError, "'s' and 't'.*value.to") as caught:
            pw.program(add).trace(X)
        self.assertEqual(caught.exception.line, add.__code__.co_firstlineno + 1)
        f = pw.program(lambda x: (x.to(s) * 2).to(t) + x.to(t))
        with pw.Session("1x1x2"):
            np.testing.assert_array_equal(np.asarray(f(X)), X * 3)

    def test_wrong_slices(self):
        for make, message in (
            (lambda: pw.Slice("s", x=0), "axis 'x' of slice 's' has size 0"),
            (lambda: pw.Slice("s", x="2"), "size '2'"),
            (lambda: pw.Slice("", x=2), "name of a slice"),
            (lambda: pw.Slice("a b"), "'a b'"),
            (lambda: pw.Slice("s", x=3, spans=2), "3 devices and spans 2"),
            (lambda: pw.Slice("s", apart_from="s"), "apart from itself"),
            (lambda: pw.Slice("s", apart_from=3), "'s' is apart from 3, expected slices"),
            (lambda: pw.Slice("s", apart_from=["a", 3]), "expected slices or their names"),
            (lambda: pw.Slice("s", **{"a b": 2}), "axis of slice 's'.*'a b'"),
            (lambda: pw.computation(np.tanh, on="s"), "on= must be"),
            (lambda: pw.program(np.tanh, on="s"), "on= must be"),
            (lambda: pw.computation(3), "not 3"),
            (lambda: pw.computation(np.tanh, framework="tf"), "'tf'"),
        ):
            with self.subTest(message), self.assertRaisesRegex(pw.InvalidArgument, message):
                make()
        lonely = pw.Slice("s", apart_from="nowhere")
        with self.assertRaisesRegex(pw.InvalidArgument, "'s' is apart from 'nowhere'"):
            pw.program(lambda x: x.to(lonely)).trace(X)
        with self.assertRaises(AttributeError):
            lonely.name = "t"

    def test_calls_in_the_wrong_place(self):
        f = pw.program(lambda x: x + 1)
        with pw.Session("1x1x1") as session:
            run = session.load(f.trace(X))
            f(X)
            for inner in (f, run):
                with self.subTest(inner), self.assertRaises(pw.Error):
                    pw.program(lambda x: inner(x)).trace(X)
            with self.assertRaisesRegex(pw.InvalidArgument, "missing.*'x'"):
                session.load(pw.program(lambda x: x + 1))
            constant = session.load(pw.program(lambda: {"y": np.arange(3)}))
            self.assertEqual(values(constant().y), [0, 1, 2])
        s = pw.Slice("s")
        inner = pw.computation(lambda x: x + 1, on=s)
        outer = pw.computation(lambda x: inner(x) * 2, on=s)
        with self.assertRaisesRegex(pw.ProgramError, "inside of another"):
            pw.program(lambda x: outer(x)).trace(X)
        mover = pw.computation(lambda x: x.to(s), on=s)
        with self.assertRaisesRegex(pw.ProgramError, "computation"):
            pw.program(lambda x: mover(x)).trace(X)


class Split(unittest.TestCase):
    s = pw.Slice("s", data=2, model=2)

    def test_split(self):
        f = pw.program(lambda x, w: {"y": x @ w}, on=self.s,
                       split={"x": "data", "w": (None, "model"), "y": ("data", "model")})
        text = f.trace(X, np.ones((4, 6), np.float32)).text
        self.assertIn('tensor<2x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}',
                      text)
        self.assertIn('#sdy.sharding<@mesh, [{}, {"model"}]>', text)
        self.assertIn('#sdy.sharding<@mesh, [{"data"}, {"model"}]>', text)
        with pw.Session("1x1x4"):
            got = f(X, np.ones((4, 6), np.float32))["y"]
            np.testing.assert_array_equal(np.asarray(got), X @ np.ones((4, 6)))

    def test_axis_that_does_not_divide(self):
        f = pw.program(lambda x: x * 2, on=pw.Slice("s", d=4), split={"x": "d"})
        x = np.arange(7, dtype=np.float32)
        with pw.Session("1x1x4"):
            np.testing.assert_array_equal(np.asarray(f(x)), x * 2)

    def test_wrong_split(self):
        for split, message in (
            ({"z": "data"}, "'z'.*'x'"),
            ({"x": "rows"}, "axis 'rows'.*data, model"),
            ({"x": (None, None, "data")}, "3 dimensions, but the value has 2"),
            ({"x": ("data", "data")}, "two dimensions along the axis 'data'"),
            ({"x": 1}, "expected names of axes"),
            ({"x": (1,)}, "expected names of axes"),
        ):
            f = pw.program(lambda x: x * 2, on=self.s, split=split)
            with self.subTest(split), self.assertRaisesRegex(pw.InvalidArgument, message):
                f.trace(X)
        f = pw.program(lambda x: x * 2, split={"x": "d"})
        with self.assertRaisesRegex(pw.InvalidArgument, "axis 'd'.*no axes"):
            f.trace(X)


class Steps(unittest.TestCase):
    def test_carry(self):
        @pw.program(carry="w", stepped=("x", "loss"))
        def f(w, x):
            loss = np.sum(np.square(x - w))
            return {"w": w + 0.5 * (x - w), "loss": loss}

        traced = f.trace(w=pw.f64[3], x=pw.f64[3])
        self.assertEqual((traced.source.carry, traced.source.stepped), ("0:0", "x,loss"))
        rng = np.random.default_rng(0)
        w, xs = rng.normal(size=3), rng.normal(size=(5, 3))
        want, losses = w, []
        for x in xs:
            losses.append(np.sum(np.square(x - want)))
            want = want + 0.5 * (x - want)
        with pw.Session("1x1x1") as s:
            out = s.load(traced)(w=w, x=xs)
            np.testing.assert_allclose(np.asarray(out.w), want, rtol=1e-12)
            np.testing.assert_allclose(np.asarray(out.loss), losses, rtol=1e-12)
            again = f(w, xs)
            np.testing.assert_array_equal(np.asarray(again["w"]), np.asarray(out.w))

    def test_carry_by_place_and_by_name(self):
        def f(state, x):
            return {k: v + x for k, v in state.items()}, x * 2

        state = {"a": V, "b": V * 2}
        traced = pw.program(f, carry=["state"]).trace(state, V)
        self.assertEqual(traced.source.carry, "0:0,1:1")
        traced = pw.program(f, carry={"x": "result1"}).trace(state, V)
        self.assertEqual(traced.source.carry, "2:2")

    def test_wrong_carry(self):
        def f(w, x):
            return {"w": w @ x, "y": x}

        for options, message in (
            ({"carry": "v"}, "'v'.*w, x"),
            ({"carry": {"w": "z"}}, "a result 'z' for 'w', but the results are 'w', 'y'"),
            ({"carry": "w"}, r"'w' of pw.f32\[2, 4\] with 'w' of pw.f32\[2, 3\]"),
            ({"stepped": "z"}, "stepped= names 'z'"),
        ):
            with self.subTest(options), self.assertRaisesRegex(pw.InvalidArgument, message):
                pw.program(f, **options).trace(pw.f32[2, 4], pw.f32[4, 3])
        with self.assertRaisesRegex(pw.InvalidArgument, "'x' is stepped"):
            pw.program(lambda x: x, stepped="x")(1.0)


class Arguments(unittest.TestCase):
    def test_wrong_arguments(self):
        f = pw.program(lambda x, y: x + y)
        for call, message in (
            (lambda: f.trace(pw.f32), "missing a required argument: 'y'"),
            (lambda: f.trace(pw.f32, pw.f32, pw.f32), "too many positional"),
            (lambda: f.trace(pw.f32, z=pw.f32), "missing|unexpected"),
            (lambda: f(np.zeros(2, "datetime64[s]"), 1), "datetime64"),
            (lambda: pw.f32[-1], "negative"),
            (lambda: pw.f32[2][2], "has a shape"),
            (lambda: pw.f32[1 << 40, 0, 1 << 23], "too large"),
            (lambda: pw.program(lambda x, n: x, static="n")(V, [V]), "hashed: 'n.0'"),
            (lambda: pw.f32["a"], "integers"),
            (lambda: f(V, V, seed=1), "seed"),
        ):
            with self.subTest(message), self.assertRaisesRegex(pw.InvalidArgument, message):
                call()

    def test_wrong_results(self):
        for f, message in ((lambda x: "text", "str"), (lambda x: {1, 2}, "set"),
                           (lambda x: x.shape and object(), "object")):
            with self.subTest(message), self.assertRaisesRegex(pw.ProgramError, message):
                pw.program(f).trace(V)

    def test_constants_and_unchanged_arguments(self):
        table = np.arange(3)

        def f(x):
            return x, table, 2.5, np.float32(1), True

        with pw.Session("1x1x1"):
            out = pw.program(f)(V)
            self.assertEqual(values(out), [[1, 2], [0, 1, 2], 2.5, 1, True])
            self.assertEqual([str(np.asarray(r).dtype) for r in out],
                             ["float32", "int64", "float64", "float32", "bool"])

    def test_types(self):
        self.assertEqual(repr(pw.f32[2, 3]), "pw.f32[2, 3]")
        self.assertEqual(pw.ui8.dtype, np.uint8)
        self.assertEqual({pw.f32[2]: 1}[pw.f32[2]], 1)
        self.assertNotEqual(pw.f32[2], pw.f64[2])
        self.assertEqual(pw.bf16(np.zeros(2, np.uint16)).dtype, pw.bf16[2].dtype)


TEXT = """\
// A comment with a { that nothing closes.
#loc1 = loc("model.py":3:4)
module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2xf32> {jax.buffer_donor = true} loc("x"), %arg1: tensor<f32> loc("y)")) -> (tensor<2xf32> {jax.result_info = "r"}, tensor<f32>) {
    %0 = call @helper(%arg0) : (tensor<2xf32>) -> tensor<2xf32> loc(#loc1)
    return %0, %arg1 : tensor<2xf32>, tensor<f32>
  }
  func.func private @helper(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<2xf32> loc(#loc1)
    return %0 : tensor<2xf32>
  }
}
"""

PW_TEXT = """\
pw.slice @s mesh <"x" = 2>
func.func private @twice(%v: tensor<1xf32>) -> tensor<1xf32> attributes {pw.local_view} {
  %r = arith.addf %v, %v : tensor<1xf32>
  return %r : tensor<1xf32>
}
pw.program @f(%v: !pw.array<2xf32, @s, [{"x"}]>)
    -> (!pw.array<2xf32, @s, [{"x"}]> {pw.name = "y"}) {
  %y = pw.call @twice(%v)
      : (!pw.array<2xf32, @s, [{"x"}]>) -> !pw.array<2xf32, @s, [{"x"}]>
  pw.return %y : !pw.array<2xf32, @s, [{"x"}]>
}
"""


class Texts(unittest.TestCase):
    def test_parts_of_a_program(self):
        s, t = pw.Slice("s"), pw.Slice("t")
        first = pw.computation(TEXT, on=s, name="first")
        second = pw.computation(TEXT, on=t, name="second")

        @pw.program
        def f(x):
            y, n = first(x, np.float32(3))
            z, _ = second(y, n)
            return {"z": z + n.to(t)}

        traced = f.trace(V)
        self.assertEqual(traced.text.count("func.func private"), 4)
        with pw.Session("1x1x2"):
            self.assertEqual(values(f(V)), {"z": [7, 11]})

    def test_by_itself(self):
        with pw.Session("1x1x2"):
            for f in (pw.program(TEXT), pw.program(TEXT, on=pw.Slice("s", d=2))):
                y, n = f(V, np.float32(2))
                self.assertEqual((values(y), values(n)), ([2, 4], 2))
            out = pw.program(TEXT)(**{"y)": np.float32(2), "x": V})
            self.assertEqual(values(out.r), [2, 4])

    def test_files(self):
        examples = pathlib.Path(__file__).parents[2] / "examples"
        step = pw.program(examples / "stablehlo" / "mlp.mlir", carry={"state": "[0]"},
                          stepped=("x", "y", "[1]"))
        self.assertEqual(step.name, "mlp")
        source = step.trace().source
        self.assertEqual((source.carry, source.stepped), ("state:[0]", "x,y,[1]"))
        shapes = {p.name: p.shape for p in step.compile(topology="1x1x1").arguments}
        with pw.Session("1x1x1"):
            out = step(**{name: np.full((5, *shape) if name in "xy" else shape, 0.5, np.float32)
                          for name, shape in shapes.items()})
            self.assertEqual(out["result[1]"].shape, (5,))
        golden = pw.program(str(examples / "golden" / "program.mlir"))
        with pw.Session("2x1x4"):
            self.assertEqual(values(golden(v=V).z), [2, 4])
        with self.assertRaisesRegex(pw.NotFound, "no_such.mlir"):
            pw.computation("no_such.mlir")
        # Texts with meshes are programs, but no parts of one.
        train = examples / "stablehlo" / "train.mlir"
        pw.program(train).compile(topology="1x1x1", oversubscribe=True)

    def test_wrong_texts(self):
        for text, message in (
            ("module {}\n", "no function"),
            ("func.func public @main(%a: tensor<?xf32>) {\n}\n", "fixed shape"),
            ("func.func public @main(%a: tensor<2xf32> {\n", "nothing closes"),
            ("sdy.mesh @m = <[\"x\"=2]>\nfunc.func public @main() {\n return }\n", "mesh"),
            (PW_TEXT, "pw dialect"),
        ):
            with self.subTest(message), self.assertRaisesRegex(pw.InvalidArgument, message):
                c = pw.computation(text)
                pw.program(lambda x: c(x)).trace(V)
        c = pw.computation(TEXT)
        with self.assertRaisesRegex(pw.ProgramError, "by position, got x="):
            pw.program(lambda x: c(x=x)).trace(V)
        with self.assertRaisesRegex(pw.InvalidArgument, "split="):
            pw.program(TEXT, split={"x": "d"}).trace()
        with self.assertRaisesRegex(pw.ProgramError, "takes .*2xf32.*got .*3xf32"):
            pw.program(lambda x: c(x, x)).trace(np.zeros(3, np.float32))

    def test_pw_dialect(self):
        f = pw.program(PW_TEXT)
        with pw.Session("1x1x2") as s:
            out = s.load(f.compile(topology=s.topology))(v=V)
            self.assertEqual(values(out.y), [2, 4])
            self.assertEqual(values(f(V)[0]), [2, 4])
        with self.assertRaisesRegex(pw.InvalidArgument, "split="):
            pw.program(PW_TEXT, split={"v": "x"}).trace()


class Jax(unittest.TestCase):
    """JAX is not installed where the tests run: a stub stands for it."""

    def stub(self, x64=False):
        lowered = []

        class Jitted:
            def __init__(self, function):
                self.function = function

            def lower(self, *shapes):
                lowered.append(shapes)
                self.function(*shapes)
                return types.SimpleNamespace(as_text=lambda debug_info: TEXT)

        jax = types.ModuleType("jax")
        jax.config = types.SimpleNamespace(jax_enable_x64=x64)
        jax.numpy = types.SimpleNamespace(dtype=np.dtype)
        jax.ShapeDtypeStruct = lambda shape, dtype: types.SimpleNamespace(
            shape=shape, dtype=dtype)

        def jit(function, keep_unused):
            self.assertTrue(keep_unused)
            return Jitted(function)

        jax.jit = jit
        return jax, lowered

    def test_lowered(self):
        jax, lowered = self.stub()
        c = pw.computation(lambda x, opts: {"b": x, "a": opts["n"]}, framework="jax")
        with mock.patch.dict(sys.modules, {"jax": jax}), pw.Session("1x1x1"):
            out = pw.program(lambda x: c(x, {"n": np.float32(3)}))(V)
            self.assertEqual(values(out), {"b": [2, 4], "a": 3})
            ((x, n),) = lowered
            self.assertEqual((x.shape, x.dtype, n.shape), ((2,), np.float32, ()))

    def test_wide_elements(self):
        jax, _ = self.stub()
        f = pw.program(lambda x: x, framework="jax")
        with mock.patch.dict(sys.modules, {"jax": jax}):
            with self.assertRaisesRegex(pw.InvalidArgument, "f64.*jax_enable_x64"):
                f.trace(pw.f64[2])

    def test_without_jax(self):
        f = pw.program(lambda x: x, framework="jax")
        with mock.patch.dict(sys.modules, {"jax": None}):
            with self.assertRaisesRegex(pw.NotFound, "cannot be imported.*as_text"):
                f.trace(pw.f32[2])

    def test_recognized(self):
        class Jitted:
            def lower(self):
                pass

            def trace(self):
                pass

            def __call__(self, x):
                return x

        with mock.patch.dict(sys.modules, {"jax": None}):
            with self.assertRaises(pw.NotFound):
                pw.program(Jitted()).trace(pw.f32[2])


if __name__ == "__main__":
    unittest.main()
