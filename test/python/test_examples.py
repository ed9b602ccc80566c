#!/usr/bin/python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the examples on threads, in simulation and in processes, and compares what they
print. Each has at most 40 lines."""

import os
import pathlib
import subprocess
import sys
import unittest

try:
    import numpy  # noqa: F401
except ImportError:
    sys.exit(77)

import pathways

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples" / "python"
TOOLS = pathlib.Path(pathways.__file__).parents[2] / "bin"

PRINTED = {
    "figure2": "[3.0, 5.0] [2.0, 4.0]\n",
    "numpy_function": "(32, 48) int64\nsame\nsame\n",
    "two_islands": "20 steps, loss 0.758 to 0.122\nas NumPy\n",
}


class Examples(unittest.TestCase):
    def test_printed(self):
        environment = dict(os.environ, PATH=f"{TOOLS}:{os.environ['PATH']}")
        for name, expected in PRINTED.items():
            for option in ("--world=threads", "--world=sim", "--processes=2"):
                with self.subTest(name, option=option):
                    ran = subprocess.run(
                        [sys.executable, EXAMPLES / f"{name}.py", option], text=True,
                        capture_output=True, env=environment, timeout=120, check=False)
                    self.assertEqual((ran.stdout, ran.returncode), (expected, 0), ran.stderr)

    def test_lengths(self):
        for path in EXAMPLES.glob("*.py"):
            lines = path.read_text().splitlines()
            self.assertLessEqual(len(lines), 40, path.name)


if __name__ == "__main__":
    unittest.main()
