#!/usr/bin/python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every ufunc and every function that is available in traced functions, against NumPy,
and the types of results for all types of operands."""

import itertools
import os
import sys
import unittest
import warnings

try:
    import numpy as np
except ImportError:
    sys.exit(77)

import pathways as pw
from pathways._numpy._elementwise import ELEMENTWISE
from pathways._numpy._functions import name_of
from pathways._numpy._registry import FUNCTIONS

warnings.simplefilter("ignore")

INF, NAN = np.inf, np.nan
DTYPES = [np.dtype(c) for c in "?bhilBHILefd"]
# Edges of all ufuncs: zeros of both signs, infinities, NaNs, halves, large numbers.
EDGES = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 2.5, -2.5, 3.25, -7.0, 100.0, INF, -INF, NAN]
INTEGERS = [0, 1, -1, 2, -3, 7, 31, -64, 100]
TOLERANCE = {"e": 2e-3, "f": 3e-6, "d": 1e-13}


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.session = pw.Session("1x1x1")
        cls.session.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.session.__exit__(None, None, None)

    def compare(self, f, *args):
        with np.errstate(all="ignore"):
            want = f(*args)
        got = pw.program(f, framework="numpy")(*args)
        if not isinstance(want, (tuple, list)):
            got, want = [got], [want]
        for i, (g, w) in enumerate(zip(got, want, strict=True)):
            g, w = np.asarray(g), np.asarray(w)
            self.assertEqual((g.dtype, g.shape), (w.dtype, w.shape), f"result {i}")
            limit = TOLERANCE.get(w.dtype.char, 0)
            g, w = (a.astype(float) if a.dtype.kind == "f" else a for a in (g, w))
            np.testing.assert_allclose(g, w, rtol=limit, atol=limit, err_msg=f"result {i}")


class Ufuncs(Case):
    def test_values(self):
        skipped = 0
        for name in ELEMENTWISE:
            ufunc = getattr(np, name)
            calls = []
            for dtype in map(np.dtype, "efdlBi?"):
                args = self.edges(name, ufunc, dtype)
                try:
                    with np.errstate(all="ignore"):
                        ufunc(*args)
                except TypeError:
                    skipped += 1
                    with self.assertRaises(pw.ProgramError):
                        pw.program(ufunc, framework="numpy").trace(*args)
                    continue
                calls.append(args)

            def all_types(*v):
                parts = [ufunc(*v[i : i + ufunc.nin]) for i in range(0, len(v), ufunc.nin)]
                return [r for p in parts for r in (p if isinstance(p, tuple) else [p])]

            with self.subTest(name):
                self.compare(all_types, *itertools.chain(*calls))
        self.assertGreater(skipped, 5)

    def edges(self, name, ufunc, dtype):
        """Operands of a type, without those for which NumPy defines no result."""
        numbers = EDGES if dtype.kind == "f" else INTEGERS
        if dtype.kind == "u" or (dtype.kind == "i" and "power" in name):
            numbers = [abs(n) for n in numbers]
        if name in ("left_shift", "right_shift"):
            numbers = [abs(n) % 7 for n in numbers]
        one = np.array(numbers).astype(dtype)
        if name == "reciprocal" and dtype.kind != "f":
            one[one == 0] = 1
        if ufunc.nin == 1:
            return [one]
        pairs = np.array(list(itertools.product(one, one)), dtype)
        return [pairs[:, 0].copy(), pairs[:, 1].copy()]

    def test_types(self):
        """All types of operands, and numbers of all sizes: only the types count here."""
        numbers = (1, -1, True, 200, -200, 70000, 2**31, 2**40, 2**63, 1.0, 1e10, 1e300, -2.5,
                   INF, NAN)
        count = 0
        some = ("add", "subtract", "true_divide", "floor_divide", "power", "less", "arctan2",
                "left_shift", "logical_and", "copysign", "exp", "sign", "float_power")
        for name in ELEMENTWISE if os.environ.get("PATHWAYS_TEST_ALL") else some:
            ufunc = getattr(np, name)
            for a in DTYPES:
                cases = [[np.ones(2, a)], [np.ones((), a)]]
                if ufunc.nin == 2:
                    cases = []
                    for b in DTYPES:
                        cases += [[np.ones(2, a), np.ones(2, b)], [np.ones((), a), np.ones((), b)]]
                        for number in (b.type(1), np.full((), 1, b)):
                            cases.append([np.ones(2, a), number])
                    for number, shape in itertools.product(numbers, ((2,), ())):
                        cases.append([np.ones(shape, a), number])
                for case in cases:
                    count += self.check_types(ufunc, case)
        self.assertGreater(count, 5_000)

    def check_types(self, ufunc, case):
        try:
            with np.errstate(all="ignore"):
                want = ufunc(*case)
            types = [np.asarray(w).dtype for w in (want if isinstance(want, tuple) else [want])]
        except (TypeError, ValueError, OverflowError):
            types = None
        got = self.traced_types(ufunc, case)
        if types is not None and any(t.char in "gOFDG" for t in types):
            types = None
        if got != types:
            shown = [f"{x.dtype}{list(x.shape)}" if isinstance(x, np.ndarray) else repr(x)
                     for x in case]
            self.fail(f"np.{ufunc.__name__} of {', '.join(shown)} is {got}, expected {types}")
        return 1

    def traced_types(self, ufunc, case):
        from pathways._numpy import Trace, Traced, element_of
        from pathways._stablehlo import Module, Type

        function = Module("m").function("f")
        trace = Trace(function)
        first, *rest = case
        value = function.argument(Type(first.shape, element_of(first.dtype)), "x")
        others = [Traced(trace, function.argument(Type(o.shape, element_of(o.dtype))), o.dtype)
                  if isinstance(o, np.ndarray) and (o.ndim or not first.ndim) else o
                  for o in rest]
        try:
            made = ufunc(Traced(trace, value, first.dtype), *others)
        except pw.ProgramError:
            return None
        return [m.dtype for m in (made if isinstance(made, tuple) else [made])]

    def test_options(self):
        x, n = np.array([1.5, 2.5], np.float32), np.array([3, 4], np.int8)
        self.compare(lambda x, n: (np.add(x, n, dtype=np.float64), np.multiply(n, n, dtype=int)),
                     x, n)
        self.compare(lambda x, n: (np.add.outer(x, n), np.add.reduce(n), np.add.accumulate(n),
                                   np.maximum.accumulate(x), np.logical_xor.reduce(n),
                                   np.multiply.reduce(n, keepdims=True)), x, n)
        self.compare(lambda x: (x ** 2, x ** -1, x ** 0.5, x ** 3, 2 ** x, x ** x), x)
        self.compare(lambda n: (n ** 2, n ** 3, 2 ** n, -n, abs(n), ~n, n << 1, n >> 1, n // 2,
                                7 % n, divmod(n, 2)[1], n & 6, n | 1, n ^ 5, +n, 1 - n, n == 3,
                                3 != n, 2 < n, n >= 4), n)


A = np.arange(12, dtype=np.float32).reshape(3, 4) / 4 - 1
B = np.arange(4, dtype=np.float64) - 1.5
I = np.array([[2, 0, 1], [1, 1, 0]])
N = np.array([[1, NAN, -INF], [INF, 0, 2]])
E = np.zeros((0, 3), np.float32)

CASES = {
    "all": (lambda a: (np.all(a), np.all(a > 0, axis=0)), A),
    "allclose": (lambda a: (np.allclose(a, a), np.allclose(a, a + 1)), A),
    "any": (lambda a: (np.any(a), a.any(axis=1, keepdims=True)), A),
    "append": (lambda a, b: (np.append(a, b), np.append(a, a, axis=1)), A, B),
    "argmax": (lambda a, n: (a.argmax(), np.argmax(n, axis=1), np.argmax(n, 0, keepdims=True)),
               A, N),
    "argmin": (lambda a, n: (a.argmin(), np.argmin(n, axis=1), np.argmin(a % 1, axis=-1)), A, N),
    "argsort": (lambda a, n: (np.argsort(-a, axis=0), n.argsort(), np.argsort(n, axis=None)),
                A, N),
    "around": (lambda a, i: (np.around(a * 1.1, 1), a.round(), np.round_(a * 100, -1),
                             np.around(i * 14, -1), np.around(a > 0)), A, I),
    "array_equal": (lambda a, n: (np.array_equal(a, a), np.array_equal(n, n),
                                  np.array_equal(n, n, equal_nan=True)), A, N),
    "array_split": (lambda a: np.array_split(a, 3, axis=1), A),
    "atleast_1d": (lambda a, b: np.atleast_1d(a.sum(), b), A, B),
    "atleast_2d": (lambda b: np.atleast_2d(b), B),
    "atleast_3d": (lambda a: np.atleast_3d(a), A),
    "average": (lambda a, b, i: (np.average(a), np.average(a, axis=1, weights=b + 2),
                                 *np.average(a, axis=0, weights=a + 2, returned=True),
                                 np.average(i, axis=0)), A, B, I),
    "broadcast_arrays": (lambda a, b: np.broadcast_arrays(a, b), A, B),
    "broadcast_to": (lambda b: np.broadcast_to(b, (2, 3, 4)), B),
    "clip": (lambda a, b, i: (a.clip(0, 1), np.clip(a, None, b.astype("f")), np.clip(i, 1, 2),
                              a.clip(min=0), np.clip(i, 0.5, 300)), A, B, I),
    "column_stack": (lambda b, i: np.column_stack([b, b, np.eye(4)]), B, I),
    "concatenate": (lambda a, b: (np.concatenate([a, a.astype(int)], axis=1),
                                  np.concatenate((a, b), axis=None),
                                  np.concatenate([b, b], dtype=np.float32)), A, B),
    "copy": (lambda a: (np.copy(a), a.copy()), A),
    "count_nonzero": (lambda a: (np.count_nonzero(a), np.count_nonzero(a, axis=0)), A),
    "cross": (lambda i: np.cross(i, i[::-1] + 1), I),
    "cumprod": (lambda a, i: (a.cumprod(axis=0), np.cumprod(i)), A, I),
    "cumsum": (lambda a, i: (a.cumsum(axis=1), np.cumsum(i), np.cumsum(i > 0, dtype="i2")), A, I),
    "diag": (lambda a, b: (np.diag(a), np.diag(a, -1), np.diag(b), np.diag(b, 2)), A, B),
    "diagonal": (lambda a: (np.diagonal(a), a.diagonal(2), np.diagonal(a, -5),
                            np.diagonal(a.reshape(2, 3, 2), 1, 2, 1)), A),
    "diff": (lambda a, i: (np.diff(a), np.diff(i, n=2, axis=1), np.diff(i > 0)), A, I),
    "dot": (lambda a, b: (a.dot(b), np.dot(b, b), np.dot(2, b), np.dot(a, a.T)), A, B),
    "dstack": (lambda a: np.dstack([a, a * 2]), A),
    "einsum": (lambda a, b, i: (np.einsum("ij,j->i", a, b), np.einsum("ij->ji", a),
                                np.einsum("ii", a[:, :3]), np.einsum("ij,ij->", a, a),
                                np.einsum("...j,j,ij->...i", a, b, a),
                                np.einsum("ij,kj,ik->", a, a, a @ a.T),
                                np.einsum("iij->j", a.reshape(2, 2, 3)),
                                np.einsum("ij,kl->", i, i), np.einsum("ij,jk", i.T, i),
                                np.einsum("i,ij->ij", a[:1, 0], a)), A, B, I),
    "empty_like": (lambda a: np.empty_like(a) * 0, A),
    "expand_dims": (lambda a: (np.expand_dims(a, 1), np.expand_dims(a, (0, -1))), A),
    "fix": (lambda a: np.fix(a * 1.5), A),
    "flip": (lambda a: (np.flip(a), np.flip(a, 1), np.flip(a, (0, -1))), A),
    "fliplr": (lambda a: np.fliplr(a), A),
    "flipud": (lambda a: np.flipud(a), A),
    "full_like": (lambda a: (np.full_like(a, 2.5), np.full_like(a, a[0, 0], dtype=int),
                             np.full_like(a, 1, shape=(2,))), A),
    "hsplit": (lambda a, b: np.hsplit(a, 2) + np.hsplit(b, [1, 3]), A, B),
    "hstack": (lambda a, b: (np.hstack([a, a]), np.hstack((b, b))), A, B),
    "imag": (lambda a: (np.imag(a), a.imag), A),
    "inner": (lambda a, b: (np.inner(a, b), np.inner(a, a)), A, B),
    "iscomplexobj": (lambda a: a * (1 if np.iscomplexobj(a) else 2), A),
    "isclose": (lambda n: (np.isclose(n, n[::-1]), np.isclose(n, n, equal_nan=True)), N),
    "isneginf": (lambda n: np.isneginf(n), N),
    "isposinf": (lambda n: np.isposinf(n), N),
    "isrealobj": (lambda a: a * (1 if np.isrealobj(a) else 2), A),
    "kron": (lambda a, b: (np.kron(a, b), np.kron(b, a), np.kron(b, b)), A, B),
    "linalg.multi_dot": (lambda a: np.linalg.multi_dot([a, a.T, a]), A),
    "linalg.norm": (lambda a, i: (np.linalg.norm(a), np.linalg.norm(a, axis=1, keepdims=True),
                                  np.linalg.norm(a, 1), np.linalg.norm(a, -np.inf),
                                  np.linalg.norm(a, "fro", axis=(1, 0)),
                                  *(np.linalg.norm(a, p, axis=0) for p in (0, 1, 3, INF, -INF)),
                                  np.linalg.norm(i, -1), np.linalg.norm(i, INF, keepdims=True)),
                    A, I),
    "max": (lambda a, n, e: (a.max(), np.max(n, axis=0), np.amax(a, axis=1, initial=1),
                             np.max(a, where=a < 1, initial=-9), np.max(e, axis=1)), A, N, E),
    "mean": (lambda a, i, e: (a.mean(), np.mean(i, axis=0), np.mean(a, axis=(0, 1)),
                              np.mean(a, dtype="f8"), np.mean(a, axis=1, where=a > 0),
                              np.mean(e, axis=1), np.mean(a.astype("f2"), axis=1)), A, I, E),
    "median": (lambda a, n, i: (np.median(a), np.median(n, axis=0), np.median(i, axis=1),
                                np.median(a, axis=(0, 1), keepdims=True)), A, N, I),
    "meshgrid": (lambda b: (*np.meshgrid(b, b[:2], b[1:]),
                            *np.meshgrid(b, b[:2], indexing="ij", sparse=True)), B),
    "min": (lambda a, n: (a.min(), np.min(n, axis=0), np.amin(a, axis=(0, 1))), A, N),
    "moveaxis": (lambda a: np.moveaxis(a.reshape(3, 2, 2), [0, 1], [-1, 0]), A),
    "nan_to_num": (lambda n: (np.nan_to_num(n), np.nan_to_num(n, nan=5, posinf=6, neginf=7)), N),
    "nanmax": (lambda n: (np.nanmax(n), np.nanmax(n, axis=0)), N),
    "nanmin": (lambda n: (np.nanmin(n), np.nanmin(n, axis=1)), N),
    "nansum": (lambda n: (np.nansum(n), np.nansum(n[:, 1:2], axis=0)), N),
    "ndim": (lambda a: a * np.ndim(a), A),
    "ones_like": (lambda a: (np.ones_like(a), np.ones_like(a, dtype=bool)), A),
    "outer": (lambda a, b: np.outer(a, b), A, B),
    "pad": (lambda a, b: (np.pad(a, 1), np.pad(a, ((1, 2), (0, 3)), constant_values=((1, 2), (3, 4))),
                          *(np.pad(a, (2, 5), mode=m) for m in
                            ("edge", "reflect", "symmetric", "wrap"))), A, B),
    "prod": (lambda a, i: (a.prod(axis=1), np.prod(i), np.prod(i > 0, axis=0)), A, I),
    "ptp": (lambda a, i: (a.ptp(), np.ptp(i, axis=1)), A, I),
    "ravel": (lambda a: (a.ravel(), np.ravel(a, "F"), a.flatten()), A),
    "real": (lambda a: (np.real(a), a.real), A),
    "repeat": (lambda a: (a.repeat(2), np.repeat(a, 3, axis=0), np.repeat(a, [0, 2, 1], axis=0)),
               A),
    "reshape": (lambda a: (a.reshape(4, 3), a.reshape(-1), np.reshape(a, (2, -1), order="F")), A),
    "result_type": (lambda a, b: a.astype(np.result_type(a, b)), A, B),
    "round_": (lambda a: np.round_(a * 3), A),
    "roll": (lambda a: (np.roll(a, 5), np.roll(a, -1, axis=0), np.roll(a, (1, 2), (0, 1))), A),
    "rollaxis": (lambda a: np.rollaxis(a.reshape(3, 2, 2), 2), A),
    "rot90": (lambda a: [np.rot90(a, k) for k in range(-1, 5)], A),
    "searchsorted": (lambda b, n: (np.searchsorted(b, n), np.searchsorted(b, b, side="right"),
                                  np.searchsorted(np.arange(3), n),
                                  np.searchsorted(np.arange(3), n, side="right")),
                     B, N),
    "select": (lambda a: np.select([a < 0, a > 1], [a * 2, a - 5], 3), A),
    "shape": (lambda a: a.reshape(np.shape(a)[::-1]), A),
    "size": (lambda a: a * np.size(a) + np.size(a, 1), A),
    "sort": (lambda a, n, i: (np.sort(-a), np.sort(n, axis=0), np.sort(i, axis=None),
                              np.sort(i > 0, axis=1)), A, N, I),
    "split": (lambda a: [*np.split(a, 2, axis=1), *np.split(a, [1, 5, 2])], A),
    "squeeze": (lambda a: (a[None, :, None].squeeze(), np.squeeze(a[None, :, None], axis=2)), A),
    "stack": (lambda a: (np.stack([a, a]), np.stack((a, a * 2), axis=-1)), A),
    "std": (lambda a, i: (a.std(), np.std(i, axis=0, ddof=1), np.std(a.astype("f2"))), A, I),
    "sum": (lambda a, i, e: (a.sum(), np.sum(i, axis=0), np.sum(a, axis=(0, -1), keepdims=True),
                             np.sum(i > 0), np.sum(i.astype("i1")), np.sum(i.astype("u1")),
                             np.sum(a, where=a > 0, initial=5), np.sum(i, dtype="f2"),
                             np.sum(e), np.sum(e, axis=1)), A, I, E),
    "swapaxes": (lambda a: np.swapaxes(a.reshape(3, 2, 2), 0, -1), A),
    "take": (lambda a, i: (a.take(i), np.take(a, i, axis=0), np.take(a, [1, -1], axis=1),
                           np.take(a, i * 9 - 4, axis=1, mode="wrap"),
                           np.take(a, i * 9 - 4, axis=1, mode="clip")), A, I),
    "take_along_axis": (lambda a, i: (np.take_along_axis(a[:2, :3], i, 1),
                                      np.take_along_axis(a, i[:1, :1], 0),
                                      np.take_along_axis(a, i[0], None)), A, I),
    "tensordot": (lambda a, b: (np.tensordot(a, a), np.tensordot(a, b, 1),
                                np.tensordot(a, a, axes=([1], [1])), np.tensordot(b, b, 0)), A, B),
    "tile": (lambda a, b: (np.tile(a, 2), np.tile(b, (2, 3)), np.tile(a, (2, 1, 2))), A, B),
    "trace": (lambda a, i: (a.trace(), np.trace(i, 1), np.trace(a.reshape(2, 3, 2), 0, 1, 2)),
              A, I),
    "transpose": (lambda a: (a.T, np.transpose(a.reshape(3, 2, 2), (2, 0, 1)),
                             a.transpose(1, 0)), A),
    "tril": (lambda a: (np.tril(a), np.tril(a, 1), np.tril(a[0])), A),
    "triu": (lambda a: (np.triu(a), np.triu(a, -1)), A),
    "var": (lambda a, i: (a.var(), np.var(i, axis=1), np.var(a, ddof=2, axis=0, keepdims=True),
                          np.var(a, axis=1, where=a > -9)), A, I),
    "vdot": (lambda a: np.vdot(a, a * 2), A),
    "vsplit": (lambda a: np.vsplit(a, 3), A),
    "vstack": (lambda a, b: (np.vstack([a, b]), np.vstack([b, b])), A, B),
    "where": (lambda a, i: (np.where(a > 0, a, 0), np.where(i, 1, i), np.where(a > 0, 2.5, 1),
                            np.where([[True], [False], [True]], a, -a)), A, I),
    "zeros_like": (lambda a: np.zeros_like(a), A),
}


class Functions(Case):
    def test_all(self):
        missing = {name_of(f).removeprefix("np.") for f in FUNCTIONS}
        for name, (f, *args) in CASES.items():
            with self.subTest(name):
                self.compare(f, *args)
            found = np
            for part in name.split("."):
                found = getattr(found, part)
            self.assertIn(found, FUNCTIONS, name)
            missing.discard(name_of(found).removeprefix("np."))
        self.assertEqual(missing, set(), "functions without a case")

    def test_indexing(self):
        mask = np.array([True, False, True])

        def f(a, i):
            return (a[1], a[-1, 2], a[..., 0], a[:, 1:3], a[::-1, ::2], a[2:0:-1], a[1:1], a[None],
                    a[:, None, 1], a[i], a[i, 1], a[[0, 2], 1:], a[:, [3, 0]], a[mask], a[mask, 1],
                    a[i[0], i[1]], a[i[:, :, None], [0, 1]], a[..., i], a[None, i[0], :, None],
                    a[np.array([[True, False, True, False]] * 3)], a[np.int64(1)], a[[]], a[-i],
                    a.reshape(3, 2, 2)[[0, 1], :, [1, 0]], a.reshape(3, 2, 2)[0, :, [1, 0]])

        self.compare(f, A, I)

    def test_arguments_by_position(self):
        self.compare(lambda a: (np.sum(a, 1, None, None, True), np.max(a, 0, None, True),
                                np.std(a, 0, None, None, 1), a.std(1, None, None, 1, True),
                                np.mean(a, 0, np.float64, None, True), np.all(a, 0, None, True),
                                a.clip(0, 1, None), np.clip(a, 0, 1, None), np.around(a, 1, None),
                                np.take(a, [1, 9], 1, None, "wrap"), np.cumsum(a, 1, None, None),
                                np.concatenate([a, a], 1, None), np.dot(a, a.T, None),
                                np.argmax(a, 1, None), np.diagonal(a, 1, 1, 0),
                                np.trace(a, 0, 0, 1, np.float64, None)), A)
        for call in (lambda a: np.sum(a, 0, None, np.zeros(4)), lambda a: np.dot(a, a.T, A),
                     lambda a: a.clip(0, 1, A), lambda a: np.concatenate([a, a], 0, A)):
            with self.assertRaisesRegex(pw.ProgramError, "out="):
                pw.program(call).trace(A)

    def test_matmul(self):
        shapes = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)),
                  ((5, 2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)), ((2, 3), (5, 3, 4)),
                  ((5, 1, 2, 3), (6, 3, 1)), ((3,), (5, 3, 2)), ((5, 2, 3), (3,)), ((2, 0), (0, 3)),
                  ((0, 2, 3), (3, 1))]
        for dtype, (a, b) in itertools.product("fdelB?", shapes):
            x = (np.arange(np.prod(a)) % 5).astype(dtype).reshape(a)
            y = (np.arange(np.prod(b)) % 3).astype(dtype).reshape(b)
            with self.subTest(dtype, a=a, b=b):
                self.compare(lambda x, y: x @ y, x, y)

    def test_casts(self):
        def f(a, i, b):
            return [x.astype(t) for x in (a, i, b) for t in DTYPES if t.kind != "u"]

        self.compare(f, A * 3, I - 1, I > 1)


if __name__ == "__main__":
    unittest.main()
