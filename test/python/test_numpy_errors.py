#!/usr/bin/python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a function over NumPy must not do while it is traced. Each error names the line."""

import cProfile
import inspect
import pickle
import random
import sys
import unittest

try:
    import numpy as np
except ImportError:
    sys.exit(77)

import pathways as pw
from numpy.random import rand as imported_rand

GENERATOR = np.random.default_rng(7)
OUT = np.zeros(4, np.float32)


def line_of(function, part):
    """The line of a function that has this text."""
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if part in line)


class Errors(unittest.TestCase):
    def refuses(self, function, *words, at="HERE", types=(pw.f32[4],)):
        with self.assertRaises(pw.ProgramError) as caught:
            pw.program(function, framework="numpy").trace(*types)
        message = str(caught.exception)
        for word in words:
            self.assertIn(word, message)
        self.assertEqual(caught.exception.file, __file__)
        self.assertEqual(caught.exception.line, line_of(function, at), message)
        return caught.exception

    def test_random_numbers(self):
        def module(x):
            return x + np.random.rand(4)  # HERE

        def imported(x):
            y = x * 2
            return y + imported_rand(4)  # HERE

        def generator(x):
            return x + GENERATOR.normal(size=4)  # HERE

        def beside(x):
            noise = np.random.default_rng(0).normal(size=4)  # HERE
            return x * 2, noise.sum() > 100

        def standard(x):
            return x * random.gauss(0, 1)  # HERE

        def choice(x):
            return x * random.choice([1, 2])  # HERE

        def shuffled(x):
            order = np.arange(4)
            np.random.shuffle(order)  # HERE
            return x[order]

        def secret(x):
            return x * random.SystemRandom().random()  # HERE

        for function in (module, imported, generator, beside, standard, choice, shuffled,
                         secret):
            with self.subTest(function.__name__):
                self.refuses(function, "random")
        # The generators are as before, and work after the trace.
        self.assertEqual(np.random.rand(2).shape, (2,))
        self.assertIsNone(sys.getprofile())

    def test_values(self):
        def to_float(x):
            return float(x[0]) * x  # HERE

        def to_int(x):
            return x * int(x.sum())  # HERE

        def branch(x):
            if x.sum() > 0:  # HERE
                return x
            return -x

        def loop(x):
            while np.max(x) > 1:  # HERE
                x = x / 2
            return x

        def both(x):
            return x * (x[0] > 0 and x[1] > 0)  # HERE

        def as_array(x):
            return np.asarray(x) + 1  # HERE

        def as_array_of_list(x):
            return np.array([x[0], 1.0]) + x[:2]  # HERE

        def as_scalar(x):
            return np.float32(x[0]) * x  # HERE

        def in_math(x):
            import math

            return x * math.sqrt(x[0])  # HERE

        def python_index(x):
            return [1, 2, 3, 4][x.astype(int)[0]] * x  # HERE

        def python_range(x):
            return sum(x[i] for i in range(x[0].astype(int)))  # HERE

        def contains(x):
            return x * (1.0 in x)  # HERE

        def item(x):
            return x * x.item(0)  # HERE

        def tolist(x):
            return np.array(x.tolist())  # HERE

        def extreme(x):
            return max(x[0], x[1])  # HERE

        def text(x):
            return x * float(f"{x[0]:.3f}")  # HERE

        for function in (to_float, to_int, branch, loop, both, as_array, as_array_of_list,
                         as_scalar, in_math, python_index, python_range, contains, item,
                         tolist, extreme, text):
            with self.subTest(function.__name__):
                self.refuses(function, "value")

    def test_writes(self):
        def item(x):
            x[0] = 1  # HERE
            return x

        def beside(x):
            out = np.zeros(4, np.float32)
            out[:] = x  # HERE
            return out

        def element(x):
            out = np.zeros(4, np.float32)
            out[1] = x[0]  # HERE
            return out

        def augmented(x):
            x += 1  # HERE
            return x

        def augmented_beside(x):
            out = np.zeros(4, np.float32)
            out += x  # HERE
            return out

        def out(x):
            np.add(x, 1, out=OUT)  # HERE
            return x

        def out_of_function(x):
            return np.sum(x, out=np.zeros(()))  # HERE

        def copyto(x):
            np.copyto(OUT, x)  # HERE
            return x

        def full(x):
            return np.full(3, x[0])  # HERE

        def method(x):
            x.sort()  # HERE
            return x

        def at(x):
            np.add.at(OUT, [0], x[0])  # HERE
            return x

        def diagonal(x):
            square = np.outer(x, x)
            np.fill_diagonal(square, 0)  # HERE
            return square

        for function in (item, beside, element, augmented, augmented_beside, out,
                         out_of_function, copyto, full, method, at, diagonal):
            with self.subTest(function.__name__):
                self.refuses(function)
        self.assertFalse(OUT.any())

    def test_shapes_that_depend_on_values(self):
        def mask(x):
            return x[x > 0]  # HERE

        def nonzero(x):
            return np.nonzero(x)  # HERE

        def where(x):
            return np.where(x > 0)  # HERE

        def unique(x):
            return np.unique(x)  # HERE

        def bound(x):
            return x[: x[0].astype(int)]  # HERE

        for function in (mask, nonzero, where, unique, bound):
            with self.subTest(function.__name__):
                self.refuses(function)

    def test_not_available(self):
        def fft(x):
            return np.fft.fft(x)  # HERE

        def ufunc(x):
            return np.frompyfunc(lambda a: a, 1, 1)(x)  # HERE

        def frexp(x):
            return np.frexp(x)  # HERE

        def polyfit(x):
            return np.polyfit(x, x, 1)  # HERE

        def attribute(x):
            return x.strides  # HERE

        def complex_number(x):
            return x * 1j  # HERE

        def extended(x):
            return x.astype(np.longdouble)  # HERE

        def date(x):
            return np.equal(x, np.datetime64("2020-01-01"))  # HERE

        def nothing(x):
            return x + None  # HERE

        for function, word in ((fft, "np.fft.fft"), (ufunc, "ufunc"), (frexp, "frexp"),
                               (polyfit, "np.polyfit"), (attribute, "strides"),
                               (complex_number, "complex"), (extended, "float128"),
                               (date, "datetime64"), (nothing, "NoneType")):
            with self.subTest(function.__name__):
                self.refuses(function, word)

    def test_wrong_calls(self):
        def shapes(x):
            return x + np.ones(3)  # HERE

        def product(x):
            return x @ np.ones((3, 2))  # HERE

        def axis(x):
            return np.sum(x, axis=2)  # HERE

        def reshape(x):
            return x.reshape(3, 2)  # HERE

        def index(x):
            return x[4]  # HERE

        def too_many(x):
            return x[0, 0]  # HERE

        def concatenate(x):
            return np.concatenate([x, np.ones((2, 2))])  # HERE

        def einsum(x):
            return np.einsum("ij->i", x)  # HERE

        def power(x):
            return x.astype(int) ** -1  # HERE

        def empty(x):
            return np.max(x[:0])  # HERE

        def invert(x):
            return ~x  # HERE

        for function, words in (
            (shapes, ["(4,)", "(3,)"]), (product, ["(4,)", "(3, 2)"]), (axis, ["2"]),
            (reshape, ["4", "(3, 2)"]), (index, ["4"]), (too_many, ["too many indices"]),
            (concatenate, ["(2, 2)"]), (einsum, ["ij"]),
            (power, ["negative"]), (empty, ["zero-size"]), (invert, ["invert"]),
        ):
            with self.subTest(function.__name__):
                self.refuses(function, *words)

    def test_types_that_depend_on_values(self):
        def arrays(n, s):
            return n * s  # HERE

        error = self.refuses(arrays, "int16", "int64",
                             types=(pw.i16[4], pw.i64))
        self.assertIn(".astype", error.hint)
        copy = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(copy), copy.line, copy.hint), (str(error), error.line, error.hint))
        # Where the result is the same for all values, it is no error.
        traced = pw.program(lambda n, s: (n / s, n < s)).trace(pw.i16[4], pw.i64)
        self.assertIn("tensor<4xf64>", traced.text)

    def test_values_of_other_functions(self):
        kept = []

        def keep(x):
            kept.append(x)
            return x

        pw.program(keep).trace(pw.f32[4])

        def use(x):
            return x + kept[0]  # HERE

        self.refuses(use, "another function")
        outer = []
        inner = pw.computation(lambda v: v + outer[0])

        def program(x):
            outer.append(x)
            return inner(x)

        with self.assertRaisesRegex(pw.ProgramError, "another function"):
            pw.program(program).trace(pw.f32[4])
        with self.assertRaisesRegex(pw.ProgramError, "has returned"):
            kept[0] + 1

    def test_elements(self):
        with self.assertRaisesRegex(pw.InvalidArgument, "complex64"):
            pw.program(lambda x: x).trace(np.zeros(2, np.complex64))
        with self.assertRaisesRegex(pw.ProgramError, "bf16"):
            pw.program(lambda x: x + 1).trace(pw.bf16[2])
        text = pw.program(lambda x: x.astype(np.float32) + 1).trace(pw.bf16[2]).text
        self.assertIn("tensor<2xbf16>) -> (tensor<2xf32>)", text)

    def test_under_a_profiler(self):
        profiler = cProfile.Profile()
        profiler.enable()
        pw.program(lambda x: np.tanh(x) + x[0]).trace(pw.f32[4])
        after = sys.getprofile()
        profiler.disable()
        self.assertIs(after, profiler)
        seen = []
        sys.setprofile(lambda frame, event, arg: seen.append(event))
        pw.program(lambda x: np.tanh(x)).trace(pw.f32[4])
        sys.setprofile(None)
        self.assertTrue(seen)

    def test_iteration_over_known_lengths(self):
        def rows(x):
            first, second = x
            return sum(row * i for i, row in enumerate(x)), first - second, len(x)

        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        with pw.Session("1x1x1"):
            for g, w in zip(pw.program(rows)(x), rows(x)):
                np.testing.assert_array_equal(np.asarray(g), w)

    def test_compiler_errors_name_the_line(self):
        front, back = pw.Slice("front", d=2), pw.Slice("back", d=2, apart_from="front")
        first = pw.computation(lambda v: v * 2, on=front)
        second = pw.computation(lambda v: v + 1, on=back)

        def program(v):
            h = first(v)
            return second(h)

        with self.assertRaisesRegex(pw.ProgramError, "back") as caught:
            pw.program(program).compile(pw.f32[4], topology="1x1x4")
        # Slices have the place of the program.
        self.assertEqual(caught.exception.file, __file__)
        self.assertEqual(caught.exception.line, line_of(program, "def program"))
        wide = pw.Slice("wide", d=3)

        def too_wide(v):
            return np.tanh(v)

        with self.assertRaisesRegex(pw.ProgramError, "needs 3") as caught:
            pw.program(too_wide, on=wide).compile(pw.f32[4], topology="1x1x2")
        self.assertEqual(caught.exception.line, line_of(too_wide, "def too_wide"))


if __name__ == "__main__":
    unittest.main()
