# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples of sessions print what they should, in every world."""

from __future__ import annotations

import subprocess
import sys
import unittest

from session_support import ROOT

OPTIONS = ("--world=threads", "--world=sim", "--processes=2")


def run_example(name: str, *options: str) -> str:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "python" / f"{name}.py"), *options],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Examples(unittest.TestCase):
    def test_text_program(self) -> None:
        for option in OPTIONS:
            self.assertEqual(
                run_example("text_program", option),
                "<Plan f(v: 2xf32) -> (y: 2xf32, z: 2xf32)>\n(2,) float32\n"
                "[3. 5.] [2. 4.]\n(0,) [3.]\n(1,) [5.]\n",
            )

    def test_event_loop(self) -> None:
        answers = f"{[float(2 * v + 1) for v in range(8)]}\n"
        for option in OPTIONS:
            cancelled = "" if option == "--world=sim" else "cancelled\n"
            self.assertEqual(run_example("event_loop", option), answers + cancelled)

    def test_4096_devices(self) -> None:
        self.assertEqual(
            run_example("devices_4096"),
            "4096 devices, 6 MiB on each\n(65536, 4096) 3 steps\n",
        )


if __name__ == "__main__":
    unittest.main()
