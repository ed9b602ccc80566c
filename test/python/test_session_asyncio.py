# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Waits of asyncio."""

from __future__ import annotations

import asyncio
import os
import unittest

from session_support import ENDLESS, GOLDEN, np, pw


class Awaits(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.session = pw.Session("2x1x4")
        self.addCleanup(self.session.close)
        self.f = self.session.load(GOLDEN)

    async def test_runs(self) -> None:
        out = await self.f.launch(v=[1, 2])
        np.testing.assert_array_equal(np.asarray(out.y), [3, 5])
        out = await self.f(v=[1, 2])
        self.assertTrue(out.z.is_ready())
        self.assertIs(await out.z, out.z)

    async def test_many_at_once(self) -> None:
        outs = await asyncio.gather(*[self.f.launch([i, 0]) for i in range(50)])
        self.assertEqual([int(np.asarray(out.z)[0]) for out in outs], list(range(0, 100, 2)))

    async def test_arrays(self) -> None:
        y = self.f.launch([1, 2], steps=2000).results.y
        self.assertIs(await y, y)
        self.assertTrue(y.is_ready())

    async def test_failures(self) -> None:
        run = self.f.launch([1, 2], steps=ENDLESS)
        y = run.results.y
        waits = [asyncio.ensure_future(run.ended()), asyncio.ensure_future(y.ended())]
        await asyncio.sleep(0)
        run.cancel()
        for wait in waits:
            with self.assertRaisesRegex(pw.RunError, "cancelled"):
                await wait
        with self.assertRaises(pw.RunError):
            await run

    async def test_cancelled_waits(self) -> None:
        run = self.f.launch([1, 2], steps=ENDLESS)
        for wait in (run, run.results.y):
            with self.assertRaises(TimeoutError):
                await asyncio.wait_for(wait, 0.05)
        self.assertFalse(run.is_ready())
        run.cancel()
        with self.assertRaises(pw.RunError):
            await run

    async def test_other_tasks_go_on(self) -> None:
        run = self.f.launch([1, 2], steps=ENDLESS)
        turns = 0

        async def turn() -> None:
            nonlocal turns
            while turns < 100:
                turns += 1
                await asyncio.sleep(0)
            run.cancel()

        with self.assertRaises(pw.RunError):
            await asyncio.gather(run.ended(), turn())
        self.assertEqual(turns, 100)

    async def test_a_session_that_closes(self) -> None:
        wait = asyncio.ensure_future(self.f.launch([1, 2], steps=ENDLESS).ended())
        await asyncio.sleep(0)
        self.session.close()
        with self.assertRaises(pw.RunError):
            await wait

    async def test_simulation(self) -> None:
        with pw.Session("2x1x4", world="sim") as session:
            out = await session.load(GOLDEN).launch([1, 2])
            np.testing.assert_array_equal(np.asarray(await out.y), [3, 5])


class Loops(unittest.TestCase):
    def test_loops_leave_no_descriptor(self) -> None:
        with pw.Session("2x1x4") as session:
            f = session.load(GOLDEN)

            async def launch() -> None:
                await asyncio.gather(*[f.launch([1, 2], steps=100) for _ in range(4)])

            asyncio.run(launch())
            before = len(os.listdir("/proc/self/fd"))
            for _ in range(5):
                asyncio.run(launch())
            self.assertLessEqual(len(os.listdir("/proc/self/fd")), before)


if __name__ == "__main__":
    unittest.main()
