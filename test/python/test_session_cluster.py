# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Clusters: costs, placement, clients, checkpoints, slices, recovery, traces."""

from __future__ import annotations

import json
import tempfile
import unittest
from pathlib import Path
from typing import Any

from session_support import GOLDEN, add_text, np, pw

MESH = 'sdy.mesh @mesh = <["r"=2, "c"=2]>\n' + add_text(
    "4x6x", attributes='{sdy.sharding = #sdy.sharding<@mesh, [{"r"}, {"c"}]>}'
)
COUNT = """
func.func public @main(%arg0: tensor<2xf32> loc("s")) -> (tensor<2xf32> {jax.result_info = "t"}) {
  %0 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %1 = stablehlo.add %arg0, %0 : tensor<2xf32>
  return %1 : tensor<2xf32>
}
"""


class Costs(unittest.TestCase):
    def test_plans(self) -> None:
        plan = pw.compile(GOLDEN, "2x1x4")
        costs = plan.costs()
        self.assertGreater(costs.peak_bytes, 0)
        self.assertGreaterEqual(costs.total_bytes, costs.peak_bytes)
        self.assertGreater(costs.step_time, 0)
        self.assertEqual(plan.step_time, costs.step_time)
        self.assertEqual(plan.costs(steps=0).step_time, 0)
        self.assertEqual(max(plan.memory.values()), costs.peak_bytes)
        self.assertEqual(plan.costs("2x1x8").total_bytes, costs.total_bytes)
        with self.assertRaises(pw.Error):
            plan.costs("1x1x1")
        with self.assertRaises(pw.InvalidArgument):
            plan.costs(steps=-1)
        self.assertIn("plan.", plan.text)
        self.assertEqual(bytes(pw.compile(plan.text, "2x1x4")), bytes(plan))

    def test_explanations(self) -> None:
        plan = pw.compile(MESH, "1x1x4", explain=["import", "shardings"])
        self.assertTrue(plan.remarks)
        self.assertEqual(plan.report["imported"][0]["op"], "stablehlo.add")
        self.assertEqual(pw.Plan.parse(bytes(plan)).report, {})
        with self.assertRaisesRegex(pw.InvalidArgument, "'all'"):
            pw.compile(MESH, explain=["all"])  # type: ignore[list-item]

    def test_4096_devices(self) -> None:
        with pw.Session("16x32x8", world="sim", costs_only=True) as session:
            self.assertTrue(session.costs_only)
            f = session.load(GOLDEN)
            for value in (pw.f32[2], np.zeros(2, np.float32), [1, 2], session.put(pw.f32[2])):
                out = f(value)
                self.assertEqual(out.y.shape, (2,))
                out.y.block_until_ready()
                with self.assertRaises(pw.InvalidArgument):
                    np.asarray(out.y)
            with self.assertRaises(pw.InvalidArgument):
                f(pw.f32[3])
            with self.assertRaises(pw.InvalidArgument):
                f(pw.f64[2])
            self.assertEqual(len(session.devices), 4096)
            self.assertEqual(len(session.hosts), 512)


class Placement(unittest.TestCase):
    def setUp(self) -> None:
        self.session = pw.Session("1x2x2")
        self.addCleanup(self.session.close)
        self.numbers = np.arange(24, dtype=np.float32).reshape(4, 6)

    def test_shards(self) -> None:
        f = self.session.load(MESH)
        self.assertIsNone(self.session.put(self.numbers).sharding)
        y = f(x=self.numbers).y
        sharding = y.sharding
        assert sharding is not None
        self.assertEqual(sharding, f.shardings["x"])
        self.assertEqual(sharding.mesh, (("r", 2), ("c", 2)))
        self.assertEqual(sharding.dims, (("r",), ("c",)))
        self.assertEqual(len(set(sharding.devices)), 4)
        self.assertEqual(set(f.memory), set(sharding.devices))
        shards = y.shards
        self.assertEqual([shard.offset for shard in shards], [(0, 0), (0, 3), (2, 0), (2, 3)])
        for shard in shards:
            (a, b), (h, w) = shard.offset, shard.shape
            np.testing.assert_array_equal(
                shard.data, 2 * self.numbers[a : a + h, b : b + w]
            )
        np.testing.assert_array_equal(np.asarray(y), 2 * self.numbers)

    def test_put_sharded(self) -> None:
        f = self.session.load(MESH)
        x = self.session.put_sharded(self.numbers, f.shardings["x"])
        self.assertEqual(x.sharding, f.shardings["x"])
        np.testing.assert_array_equal(np.asarray(f(x=x).y), 2 * self.numbers)
        with self.assertRaises(pw.InvalidArgument):
            self.session.put_sharded(self.numbers, pw.Sharding((), ("nowhere",), ((), ())))

    def test_displays_never_wait(self) -> None:
        y = self.session.load(MESH)(x=self.numbers).y
        y.block_until_ready()
        self.assertEqual(y._repr_html_().count("<rect"), 4)
        run = self.session.load(COUNT).launch([0, 0], steps=10**9)
        late = run.results.t
        self.assertIn("not ready", late._repr_html_())
        self.assertIn("not ready", repr(late))
        run.cancel()
        plan = pw.compile(GOLDEN, "2x1x4")
        self.assertIn("<td>v</td><td>2xf32</td>", plan._repr_html_())
        late.delete()
        self.assertIn("Array", late._repr_html_())
        self.session.close()
        self.assertIn("closed", y._repr_html_())
        self.assertIn("closed", repr(y))


class Clients(unittest.TestCase):
    def setUp(self) -> None:
        self.session = pw.Session("2x1x4", trace_events=1 << 12)
        self.addCleanup(self.session.close)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.f = self.session.load(GOLDEN)

    def check(self, f: Any) -> None:
        np.testing.assert_array_equal(np.asarray(f([1, 2]).y), [3, 5])

    def test_another_session(self) -> None:
        with self.session.another("second", weight=2, priority=1) as second:
            self.assertIsInstance(second, pw.Session)
            self.assertEqual(second.topology, self.session.topology)
            self.check(second.load(GOLDEN))
            with self.assertRaises(pw.AlreadyExists):
                self.session.another("second")
            with self.assertRaises(pw.InvalidArgument):
                self.session.another("third", weight=-1)
        self.check(self.f)

    def test_suspend(self) -> None:
        y = self.f([1, 2]).y
        for folder in (None, self.folder / "arrays"):
            self.session.suspend(folder)
            with self.assertRaises(pw.InvalidArgument):
                self.session.suspend()
            self.session.resume()
            np.testing.assert_array_equal(np.asarray(y), [3, 5])
            self.check(self.f)
        with self.assertRaises(pw.InvalidArgument):
            self.session.resume()

    def test_drain(self) -> None:
        with self.assertRaises(pw.Refused):
            self.session.drain("island0", timeout=0)
        self.session.undrain("island0")
        with self.assertRaises(pw.InvalidArgument):
            self.session.drain("island9")
        self.check(self.f)

    def test_slices(self) -> None:
        with pw.Session("2x1x8") as session:
            first = session.reserve(2, 2, name="first")
            second = session.reserve(4, apart_from=[first])
            self.assertEqual(len(first.devices), 4)
            self.assertNotEqual(first.devices[0].split("/")[0], second.devices[0].split("/")[0])
            f = session.load(MESH, on=first)
            self.assertEqual(set(f.memory), set(first.devices))
            with self.assertRaises(pw.InvalidArgument):
                session.reserve(2, apart_from=["first"])  # type: ignore[list-item]
            with self.assertRaises(pw.InvalidArgument):
                session.load(MESH, on=pw.Slice("s", d=4))  # type: ignore[call-overload]
            with self.assertRaises(pw.Error):
                session.reserve(1000, timeout=0)
            with self.assertRaises(pw.InvalidArgument):
                session.reserve(-1)
            second.release()
            with self.assertRaises(pw.InvalidArgument):
                session.load(MESH, on=second)

    def test_checkpoints(self) -> None:
        out = self.f([1, 2])
        self.session.save({"y": out.y, "z": out.z}, self.folder / "both")
        self.assertEqual(sorted(pw.saved_names(self.folder / "both")), ["y", "z"])
        restored = self.session.restore_all(self.folder / "both")
        np.testing.assert_array_equal(np.asarray(restored["y"]), [3, 5])
        np.testing.assert_array_equal(np.asarray(restored["z"]), [2, 4])
        out.y.save(self.folder / "one")
        np.testing.assert_array_equal(
            np.asarray(self.session.restore(self.folder / "one")), [3, 5]
        )
        with self.assertRaises(pw.AlreadyExists):
            self.session.save({"y": out.y}, self.folder / "both")
        with self.assertRaises(pw.NotFound):
            self.session.restore(self.folder / "none")
        with self.assertRaises(pw.InvalidArgument):
            self.session.save({"a/b": out.y}, self.folder / "bad name")
        with self.assertRaises(pw.InvalidArgument):
            self.session.save({"y": 3}, self.folder / "number")  # type: ignore[dict-item]
        (data,) = [p for p in (self.folder / "one").rglob("*") if p.suffix == ".bin"][:1] or [None]
        if data is not None:
            data.write_bytes(b"x" + data.read_bytes()[1:])
            with self.assertRaises(pw.Damaged):
                self.session.restore(self.folder / "one")

    def test_run_to_end(self) -> None:
        f = self.session.load(COUNT, carry="s:t")
        results, report = f.run_to_end(10, checkpoint_every=4, mode="retry", s=[0, 1])
        np.testing.assert_array_equal(np.asarray(results["t"]), [10, 11])
        self.assertGreaterEqual(report.checkpoints, 2)
        self.assertEqual(report.losses, 0)
        where = self.folder / "checkpoints"
        f.run_to_end(4, checkpoint_every=2, checkpoint_dir=where, s=[0, 1])
        results, report = f.run_to_end(
            8, checkpoint_every=2, checkpoint_dir=where, resume=True, s=[0, 1]
        )
        np.testing.assert_array_equal(np.asarray(results["t"]), [8, 9])
        self.assertEqual(report.resumed_at, 4)
        with self.assertRaisesRegex(pw.InvalidArgument, "'x'"):
            f.run_to_end(1, x=1)
        with self.assertRaisesRegex(pw.InvalidArgument, "'s'"):
            f.run_to_end(1)
        with self.assertRaises(pw.InvalidArgument):
            f.run_to_end(1, mode="never", s=[0, 1])  # type: ignore[arg-type]

    def test_traces_profiles_statistics(self) -> None:
        self.check(self.f)
        self.session.write_trace(self.folder / "trace.json")
        self.assertTrue(json.loads((self.folder / "trace.json").read_text()))
        self.session.write_profile(self.f.plan, self.folder / "profile")
        profile = self.folder / "profile"
        self.assertEqual(pw.compile(GOLDEN, "2x1x4", profile=profile).name, "f")
        with self.assertRaises(pw.Unwritable):
            self.session.write_trace(self.folder / "none" / "trace.json")
        with self.assertRaises(pw.InvalidArgument):
            pw.Session("1x1x1").write_trace(self.folder / "other.json")
        statistics = self.session.statistics()
        self.assertGreaterEqual(statistics["steps_done"], 1)
        self.assertEqual(len(statistics["devices"]), 8)
        self.assertEqual(self.session.devices[0]["name"], "island0/host0/device0")

    def test_kernel_cache(self) -> None:
        cache = self.folder / "cache"
        cache.mkdir()
        pw.compile(GOLDEN, "2x1x4", kernel_cache=cache)
        again = pw.compile(GOLDEN, "2x1x4", kernel_cache=cache)
        self.assertTrue(all(kernel["is_cached"] for kernel in again.report["kernels"]))


class Processes(unittest.TestCase):
    def test_hosts_in_other_processes(self) -> None:
        with pw.Session("2x1x4", processes=2) as session:
            f = session.load(GOLDEN)
            np.testing.assert_array_equal(np.asarray(f([1, 2]).y), [3, 5])
            np.testing.assert_array_equal(np.from_dlpack(f([1, 2]).z), [2, 4])


if __name__ == "__main__":
    unittest.main()
