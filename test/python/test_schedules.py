# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedules and costs of the calls of loops."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from session_support import GOLDEN, np, pw

# Returns z plus twice the sum of the rows of xs.
LOOP = """
pw.slice @s mesh <"d" = 1>
!x = !pw.array<4xf32, @s, [{}]>
!xs = !pw.array<3x4xf32, @s, [{}, {}]>
func.func private @add(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}
pw.program @p(%xs: !xs, %z: !x) -> !x {
  %0 = pw.for 3 (%x = %xs stepped : !xs -> !x, %a = %z carried : !x) -> (!x carried) {
    %1 = pw.call @add(%x, %x) label "0F" : (!x, !x) -> !x
    %2 = pw.call @add(%1, %a) label "0B" : (!x, !x) -> !x
    pw.yield %2 : !x
  }
  pw.return %0 : !x
}
"""
GPIPE = "0F0,0F1,0F2,0B0,0B1,0B2\n"


class Schedules(unittest.TestCase):
    def test_names_and_files(self) -> None:
        plain = pw.compile(LOOP, "1x1x1")
        self.assertEqual(plain.order, "")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "order.csv"
            path.write_text(GPIPE, encoding="utf-8")
            plans = [
                pw.compile(LOOP, "1x1x1", schedule=name)
                for name in ("gpipe", "1f1b", f"@{path}", "zb-h1")
            ]
        self.assertEqual(
            [plan.order for plan in plans],
            [GPIPE, "0F0,0B0,0F1,0B1,0F2,0B2\n", GPIPE, "0F0,0W0,0F1,0W1,0F2,0W2\n"],
        )
        self.assertEqual(plans[1].report["orders"][0]["schedule"], "1f1b")
        self.assertEqual(pw.Plan.parse(bytes(plans[0])).order, "")
        xs, z = np.arange(12, dtype=np.float32).reshape(3, 4), np.ones(4, np.float32)
        with pw.Session("1x1x1") as session:
            for plan in (plain, *plans):
                got = session.load(plan)(xs, z)
                np.testing.assert_array_equal(np.asarray(got[0]), z + 2 * xs.sum(0))

    def test_costs_of_labels(self) -> None:
        plan = pw.compile(LOOP, "1x1x1", label_costs="*=1ms,*F=40ms,0B=2ms")
        self.assertGreaterEqual(plan.step_time, 0.126)
        self.assertLess(plan.step_time, 0.127)

    def test_auto(self) -> None:
        costs = "*F=1ms,*B=2ms,*W=2ms"
        plan = pw.compile(LOOP, "1x1x1", schedule="auto", label_costs=costs)
        self.assertIn("schedule 'auto' is", plan.remarks[-1])
        chosen = plan.report["orders"][0]["schedule"]
        self.assertEqual(
            plan.order, pw.compile(LOOP, "1x1x1", schedule=chosen).order
        )
        rows = pw.explain_schedules(LOOP, "1x1x1", label_costs=costs)
        best = min((row for row in rows if row.fits_memory), key=lambda row: row.step_time)
        self.assertEqual(best.schedule, chosen)

    def test_explained(self) -> None:
        rows = pw.explain_schedules(LOOP, "1x1x1", label_costs="*F=1ms,*B=2ms,*W=2ms")
        names = [row.schedule for row in rows]
        self.assertEqual(names[:3], ["gpipe", "1f1b", "eager-1f1b"])
        for row in rows:
            with self.subTest(row=row):
                if row.schedule in ("zbv", "dualpipe-v"):
                    self.assertIn("is for 2 stages on 1 slices, got 1", row.misfit or "")
                    self.assertFalse(row.fits_memory)
                    continue
                self.assertIsNone(row.misfit)
                self.assertTrue(row.fits_memory)
                plan = pw.compile(
                    LOOP, "1x1x1", schedule=row.schedule, label_costs="*F=1ms,*[BW]=2ms"
                )
                self.assertAlmostEqual(row.step_time, 9e-3, delta=1e-4)
                self.assertLessEqual(row.step_time, plan.step_time)
                self.assertEqual(
                    {name: memory.peak for name, memory in row.memory.items()}, plan.memory
                )
                self.assertEqual(row.peak_bytes, max(plan.memory.values()))
                self.assertEqual(row.estimated, ())
        estimated = pw.explain_schedules(LOOP, "1x1x1")[0].estimated
        self.assertEqual(estimated, ("0F", "0B"))
        for program, options, message in (
            (LOOP, {"schedule": "1f1b"}, "all schedules are explained"),
            (LOOP, {"label_costs": "*X=1ms"}, "fits the label of no call with any schedule"),
            (GOLDEN, {}, "no loop with labels"),
        ):
            with self.subTest(options=options):
                with self.assertRaisesRegex(pw.Error, message):
                    pw.explain_schedules(program, "2x1x4", **options)  # type: ignore[arg-type]

    def test_what_does_not_fit(self) -> None:
        for options, message in (
            ({"schedule": "fastest"}, "there is no schedule 'fastest'"),
            ({"schedule": "@/no/file"}, "'/no/file', which cannot be read"),
            ({"label_costs": "*X=1ms"}, r"cost '\*X=1ms' fits the label of no call"),
            ({"label_costs": "0F"}, "cost '0F' is not a pattern of labels and a time"),
        ):
            with self.subTest(options=options):
                with self.assertRaisesRegex(pw.ProgramError, message):
                    pw.compile(LOOP, "1x1x1", **options)  # type: ignore[arg-type]
        with self.assertRaisesRegex(pw.ProgramError, "no loop with labels"):
            pw.compile(GOLDEN, "2x1x4", schedule="1f1b")


if __name__ == "__main__":
    unittest.main()
