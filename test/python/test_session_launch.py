# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans, launches, results and errors."""

from __future__ import annotations

import gc
import itertools
import math
import os
import pickle
import tempfile
import unittest
import weakref
from pathlib import Path
from typing import Any

from session_support import ENDLESS, GOLDEN, add_text, np, pw


class Plans(unittest.TestCase):
    def test_ports(self) -> None:
        plan = pw.compile(GOLDEN, "2x1x4")
        self.assertEqual(plan.name, "f")
        self.assertEqual(plan.arguments, (pw.Port("v", "f32", (2,), False, -1),))
        self.assertEqual([port.name for port in plan.results], ["y", "z"])
        self.assertEqual(plan.arguments[0].dtype, np.float32)
        self.assertIn("v: 2xf32", repr(plan))

    def test_files_and_bytes(self) -> None:
        plan = pw.compile(str(GOLDEN), "2x1x4")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "f.plan"
            plan.save(path)
            self.assertEqual(path.read_bytes(), bytes(plan))
            for again in (
                pw.Plan.read(path),
                pw.Plan.parse(bytes(plan)),
                pickle.loads(pickle.dumps(plan)),
            ):
                self.assertEqual(bytes(again), bytes(plan))
            with pw.Session("2x1x4") as session:
                out = session.load(pw.Plan.read(path))(v=[1, 2])
                np.testing.assert_array_equal(np.asarray(out.y), [3, 5])
            with self.assertRaises(pw.NotFound) as raised:
                pw.Plan.read(Path(folder) / "none")
            self.assertIsInstance(raised.exception, FileNotFoundError)
            with self.assertRaises(pw.Unwritable):
                plan.save(Path(folder) / "no folder" / "f.plan")
        for data in (b"", b"x", bytes(plan)[:-1], bytes(plan)[:100]):
            with self.assertRaises(pw.InvalidArgument):
                pw.Plan.parse(data)

    def test_texts(self) -> None:
        text = GOLDEN.read_text()
        for program in (text, GOLDEN, str(GOLDEN), pw.Source(text)):
            self.assertEqual(pw.compile(program, "2x1x4").name, "f")
        with self.assertRaisesRegex(pw.NotFound, "no such program.mlir"):
            pw.compile("no such program.mlir")
        for path, message in (
            ("/", "'/': Is a directory"),
            ("a\0b", "null byte"),
            ("x" * 5000, "'x+'\\.\\.\\.: File name too long"),
            ("func.func @f() {}", "no line break, so it is the path"),
        ):
            with self.assertRaisesRegex(pw.InvalidArgument, message) as raised:
                pw.compile(path)
            self.assertLess(len(str(raised.exception)), 300)
        for wrong in (3, None, object()):
            with self.assertRaisesRegex(pw.InvalidArgument, type(wrong).__name__):
                pw.compile(wrong)  # type: ignore[arg-type]
        with self.assertRaises(pw.InvalidArgument):
            pw.compile(text, rounding="none")  # type: ignore[arg-type]

    def test_a_text_that_does_not_parse(self) -> None:
        with self.assertRaises(pw.ProgramError) as raised:
            pw.compile(pw.Source("\n  pw.what\n", "mine.mlir"))
        self.assertEqual(raised.exception.place, ("mine.mlir", 2, 3))
        self.assertEqual(raised.exception.line, 2)
        self.assertEqual(raised.exception.column, 3)
        self.assertEqual(raised.exception.file, "mine.mlir")
        self.assertRegex(raised.exception.id, "^PW[0-9]{4}$")
        self.assertIn(raised.exception.id, raised.exception.hint)
        again = pickle.loads(pickle.dumps(raised.exception))
        self.assertEqual(
            (type(again), again.id, str(again)),
            (pw.ProgramError, raised.exception.id, str(raised.exception)),
        )

    def test_options_of_modules(self) -> None:
        text = (
            'func.func public @main(%arg0: tensor<2xf32> loc("x"), '
            '%arg1: tensor<2xf32> loc("s")) -> (tensor<2xf32> {jax.result_info = "t"}) {\n'
            "  %0 = stablehlo.add %arg0, %arg1 : tensor<2xf32>\n"
            "  return %0 : tensor<2xf32>\n}\n"
        )
        source = pw.Source(text, carry="s:t", stepped="x")
        with pw.Session("1x1x1") as session:
            for f in (
                session.load(source),
                session.load(text, carry="s:t", stepped="x"),
            ):
                self.assertTrue(f.arguments[0].stepped)
                self.assertEqual(f.arguments[1].carried_from, 0)
                # The number of steps is that of the stepped values.
                out = f(x=np.ones((5, 2), np.float32), s=[0, 1])
                np.testing.assert_array_equal(np.asarray(out.t), [5, 6])
                with self.assertRaisesRegex(pw.InvalidArgument, "5x2xf32.*3x2xf32"):
                    f.launch(np.ones((5, 2), np.float32), [0, 1], steps=3)
        with self.assertRaises(pw.InvalidArgument):
            pw.compile(GOLDEN, "2x1x4", carry="0:0")


class Launches(unittest.TestCase):
    def setUp(self) -> None:
        self.session = pw.Session("2x1x4")
        self.addCleanup(self.session.close)
        self.f = self.session.load(GOLDEN)
        self.v = np.array([1, 2], np.float32)

    def check(self, out: pw.Results) -> None:
        np.testing.assert_array_equal(np.asarray(out.y), [3, 5])
        np.testing.assert_array_equal(np.asarray(out.z), [2, 4])

    def test_by_name_and_by_position(self) -> None:
        self.check(self.f(v=self.v))
        self.check(self.f(self.v))
        self.check(self.f([1, 2]))
        self.check(self.f(self.session.put(self.v)))
        self.check(self.f.launch(self.v).wait())
        self.check(self.f.launch(v=self.v, steps=3, deadline=1, first_step=2).results)

    def test_results(self) -> None:
        out = self.f(self.v)
        self.assertEqual(len(out), 2)
        y, z = out
        self.assertIs(y, out.y)
        self.assertIs(y, out[0])
        self.assertIs(z, out["z"])
        self.assertIs(z, out[-1])
        self.assertEqual(out._fields, ("y", "z"))
        self.assertEqual(out._asdict(), {"y": y, "z": z})
        self.assertEqual((y.shape, y.dtype, y.nbytes, y.ndim), ((2,), np.float32, 8, 1))
        self.assertEqual(len(y), 2)
        for wrong in (2, -3):
            with self.assertRaisesRegex(IndexError, "out of range, there are 2"):
                out[wrong]
        with self.assertRaisesRegex(KeyError, r"no result 'w', only \('y', 'z'\)"):
            out["w"]
        with self.assertRaisesRegex(AttributeError, r"no result 'w', only \('y', 'z'\)"):
            out.w  # noqa: B018
        self.assertLess({"y", "z", "_asdict"}, set(dir(out)))
        with self.assertRaises(TypeError):
            out[1.5]  # type: ignore[index]

    def test_wrong_arguments_are_named(self) -> None:
        cases: list[tuple[str, Any]] = [
            ("'v' is missing", lambda: self.f()),
            ("2 arguments are given.* has 1", lambda: self.f(1, 2)),
            ("'v' is given twice", lambda: self.f(self.v, v=self.v)),
            ("no argument 'w'.*'v'", lambda: self.f(v=self.v, w=1)),
            ("'v'.*f64.*f32", lambda: self.f(self.v.astype("f8"))),
            ("'v'.*3xf32.*2xf32", lambda: self.f(np.ones(3, "f4"))),
            ("'v'.*3xf32.*2xf32", lambda: self.f(self.session.put(np.ones(3, "f4")))),
            ("'v'.*2xf64.*2xf32", lambda: self.f(self.session.put(np.ones(2)))),
            ("'v' is a str", lambda: self.f("text")),
            ("'v'.*f32", lambda: self.f(1)),
            ("-1", lambda: self.f.launch(self.v, steps=-1)),
            ("steps is 0, expected", lambda: self.f.launch(self.v, steps=0)),
            ("step", lambda: self.f.launch(self.v, first_step=-1)),
        ]
        for pattern, call in cases:
            with self.subTest(pattern), self.assertRaisesRegex(pw.InvalidArgument, pattern):
                call()
        self.check(self.f(self.v))

    def test_arrays_of_another_session(self) -> None:
        with pw.Session("1x1x1") as other:
            array = other.put(self.v)
            with self.assertRaisesRegex(pw.InvalidArgument, "session"):
                self.f(array)
        with self.assertRaisesRegex(pw.InvalidArgument, "closed"):
            self.f(array)

    def test_deleted_arrays(self) -> None:
        array = self.session.put(self.v)
        array.delete()
        array.delete()
        for use in (lambda: self.f(array), lambda: np.asarray(array), array.view):
            with self.assertRaises(pw.InvalidArgument):
                use()
        self.assertEqual(array.shape, (2,))

    def test_donated_arrays(self) -> None:
        text = add_text("4x", attributes="{tf.aliasing_output = 0 : i32}")
        f = self.session.load(text)
        x = self.session.put(np.ones(4, np.float32))
        first = f(x=x).y
        np.testing.assert_array_equal(np.asarray(first), 2)
        # The caller keeps its array: only the program's own copy was donated.
        np.testing.assert_array_equal(np.asarray(x), 1)
        np.testing.assert_array_equal(np.asarray(f(x=x).y), 2)

    def test_failed_runs(self) -> None:
        run = self.f.launch(self.v, steps=ENDLESS)
        early = run.results.y
        self.assertFalse(run.is_ready())
        self.assertFalse(early.is_ready())
        run.cancel()
        for use in (run.wait, early.block_until_ready, early.view, lambda: np.asarray(early)):
            with self.assertRaisesRegex(pw.RunError, "cancelled"):
                use()
        with self.assertRaises(pw.RunError):
            np.asarray(self.f(early).y)
        self.assertTrue(run.is_ready())
        self.assertTrue(early.is_ready())
        self.check(self.f(self.v))

    def test_time_limits(self) -> None:
        run = self.f.launch(self.v, steps=ENDLESS)
        y = run.results.y
        for wait in (run.wait, y.block_until_ready):
            for limit in (0, 0.001, -1, 1e-12):
                with self.assertRaises(pw.TimedOut) as raised:
                    wait(limit)
                self.assertIsInstance(raised.exception, TimeoutError)
            with self.assertRaisesRegex(pw.InvalidArgument, "NaN"):
                wait(math.nan)
            with self.assertRaises(TypeError):
                wait("1")  # type: ignore[arg-type]
        run.cancel()
        with self.assertRaises(pw.RunError):
            run.wait(math.inf)
        with self.assertRaises(pw.InvalidArgument):
            self.session.load(GOLDEN, timeout=math.nan)

    def test_arrays_are_dropped_in_every_order(self) -> None:
        for order in itertools.permutations(range(5)):
            array = self.session.put(self.v)
            run = self.f.launch(array)
            objects: list[Any] = [array, run, run.results, run.results.y, self.f(run.results.z)]
            dead = weakref.ref(array)
            del array, run
            for i in order:
                objects[i] = None
            gc.collect()
            self.assertIsNone(dead())
        self.check(self.f(self.v))

    def test_handles_keep_their_session(self) -> None:
        session = pw.Session("1x1x1")
        array = session.put(self.v)
        alive = weakref.ref(session)
        del session
        gc.collect()
        np.testing.assert_array_equal(np.asarray(array), self.v)
        del array
        gc.collect()
        self.assertIsNone(alive())

    def test_closed_sessions(self) -> None:
        run = self.f.launch(self.v, steps=ENDLESS)
        y = run.results.y
        array = self.session.put(self.v)
        self.session.close()
        self.session.close()
        self.assertTrue(self.session.closed)
        self.assertIn("closed", repr(self.session))
        uses: list[Any] = [
            lambda: self.f(self.v),
            lambda: self.session.put(1),
            lambda: self.session.load(GOLDEN),
            lambda: self.session.topology,
            run.wait,
            run.cancel,
            y.is_ready,
            lambda: y.shape,
            lambda: np.asarray(array),
            lambda: run.results.z,
        ]
        for use in uses:
            with self.assertRaisesRegex(pw.InvalidArgument, "closed"):
                use()

    def test_saved_arrays(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.f(self.v).y.save(os.path.join(folder, "y"))
            with self.assertRaises(pw.AlreadyExists) as raised:
                self.f(self.v).y.save(os.path.join(folder, "y"))
            self.assertIsInstance(raised.exception, FileExistsError)

    def test_wrong_sessions(self) -> None:
        for options in (
            {"topology": "0x1"},
            {"topology": "2x"},
            {"world": "moon"},
            {"weight": 1e9},
            {"priority": 1000},
            {"workers": -1},
            {"stall_timeout": math.nan},
        ):
            with self.subTest(options=options), self.assertRaises(pw.InvalidArgument):
                pw.Session(**{"topology": "1x1x1", **options})
        with self.assertRaises(pw.Error):
            pw.connect("nowhere")
        with self.assertRaises(pw.Error):
            pw.connect("unix:/nowhere/at/all", trust_loopback=True)

    def test_rebind(self) -> None:
        with pw.Session("2x1x8") as session:
            f = session.load(GOLDEN)
            f.rebind("island0/host0/device0")
            self.check(f(self.v))
            with self.assertRaisesRegex(pw.InvalidArgument, "island7"):
                f.rebind("island7")
            f.rebind()
            self.check(f(self.v))

    def test_simulation(self) -> None:
        with pw.Session("2x1x4", world="sim", seed=3) as session:
            self.assertTrue(session.is_simulation)
            self.check(session.load(GOLDEN)(self.v))


if __name__ == "__main__":
    unittest.main()
