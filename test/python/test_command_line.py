# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m pathways: run, explain, status, and their errors."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path

from session_support import GOLDEN, add_text, np, pw

from pathways._command_line import main


class Commands(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.input = self.folder / "in.npz"
        np.savez(self.input, v=np.array([1, 2], np.float32))

    def call(self, *arguments: object) -> tuple[int, str, str]:
        """Returns the exit code, and what was written to both outputs."""
        out, error = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            try:
                code = main([str(argument) for argument in arguments])
            except SystemExit as end:  # of argparse
                code = int(end.code or 0)
        return code, out.getvalue(), error.getvalue()

    def check_error(self, code: int, text: str, *arguments: object) -> None:
        got, out, error = self.call(*arguments)
        self.assertEqual((got, out), (code, ""), error)
        self.assertRegex(error, text)
        self.assertEqual(error.count("\n"), 1, error)
        self.assertIn("error: ", error)

    def test_run(self) -> None:
        shown = "y: 2xf32 = [3., 5.]\nz: 2xf32 = [2., 4.]\n"
        for world in ("threads", "sim"):
            done = self.call(
                "run", GOLDEN, "--topology=2x1x4", f"--input={self.input}", f"--world={world}"
            )
            self.assertEqual(done, (0, shown, ""))

    def test_plan_and_archives(self) -> None:
        plan, output = self.folder / "g.plan", self.folder / "out.npz"
        pw.compile(GOLDEN, "2x1x4").save(plan)
        np.savez(self.input, np.array([1, 2], np.float32))  # named arr_0
        done = self.call(
            "run", plan, "--topology=2x1x4", f"--input={self.input}", f"--output={output}"
        )
        self.assertEqual(done, (0, "", ""))
        with np.load(output) as archive:
            self.assertEqual(sorted(archive), ["y", "z"])
            self.assertEqual(archive["y"].tolist(), [3, 5])
            self.assertEqual(archive["z"].dtype, np.float32)
        self.check_error(
            2, "takes no --carry", "run", plan, "--topology=2x1x4", "--carry=a=b"
        )
        self.check_error(4, "island", "explain", plan, "--topology=1x1x8")

    def test_stablehlo(self) -> None:
        text = self.folder / "sum.mlir"
        text.write_text(add_text("3x"))
        np.savez(self.input, x=np.arange(6, dtype=np.float32).reshape(2, 3))
        done = self.call(
            "run", text, "--topology=1x1x1", f"--input={self.input}", "--stepped=x,y"
        )
        self.assertEqual(done[:2], (0, "y: 2x3xf32 = [[ 0.,  2.,  4.],\n [ 6.,  8., 10.]]\n"))

    def test_explain(self) -> None:
        code, out, error = self.call("explain", GOLDEN, "--topology=2x1x4")
        self.assertEqual((code, error), (0, ""))
        costs = pw.compile(GOLDEN, "2x1x4").costs()
        for text in (
            "program f",
            "v: 2xf32; cut [x] of x=2",
            f"at most {costs.peak_bytes:,} on a device",
            f"step time: {costs.step_time * 1e6:,.1f} us",
            "16 bytes inside islands, 8 between",
            "island1/host1/device0",
        ):
            self.assertIn(text, out)
        code, out, error = self.call("explain", GOLDEN, "--topology=2x1x4", "--json")
        found = json.loads(out)
        self.assertEqual(found["costs"], costs.details)
        self.assertEqual([port["name"] for port in found["results"]], ["y", "z"])

    def test_usage(self) -> None:
        self.check_error(2, "required: COMMAND")
        self.check_error(2, "invalid choice: 'walk'", "walk")
        self.check_error(2, "--processes", "run", GOLDEN, "--processes=x")
        self.check_error(2, "'2y1x4'", "run", GOLDEN, "--topology=2y1x4")
        self.check_error(2, "has a world", "run", GOLDEN, "--connect=x:1", "--processes=2")
        self.check_error(2, "99 processes", "run", GOLDEN, "--topology=2x1x4", "--processes=99")
        self.check_error(2, "'99999'", "status", "127.0.0.1:99999")
        self.check_error(4, "cannot dial", "status", f"unix:{self.folder}/nobody")

    def test_files(self) -> None:
        where = ("--topology=2x1x4",)
        self.check_error(2, "no file 'none'", "run", "none", *where)
        self.check_error(2, "directory", "run", self.folder, *where)
        self.check_error(2, "UTF-8", "run", self.input, *where)
        self.check_error(2, "argument v: 2xf32 is missing", "run", GOLDEN, *where)
        self.check_error(2, "as .npz", "run", GOLDEN, *where, f"--input={GOLDEN}")
        self.check_error(2, "no file", "run", GOLDEN, *where, "--input=none.npz")
        self.check_error(
            2, "cannot write", "run", GOLDEN, *where, f"--input={self.input}",
            f"--output={self.folder}/none/x.npz",
        )  # fmt: skip
        np.savez(self.input, v=np.zeros(3, np.float32))
        self.check_error(
            2, "'v' of program 'f' is 3xf32", "run", GOLDEN, *where, f"--input={self.input}"
        )
        np.savez(self.input, v=np.zeros(2, np.float32), w=1)
        self.check_error(2, "'w', only v", "run", GOLDEN, *where, f"--input={self.input}")
        wrong = self.folder / "wrong.mlir"
        wrong.write_text("func.func @main(\n")
        self.check_error(3, r"wrong\.mlir:\d+:\d+: error: ", "run", wrong, *where)
        short = self.folder / "short.plan"
        short.write_bytes(bytes(pw.compile(GOLDEN, "2x1x4"))[:100])
        self.check_error(2, "truncated", "explain", short, *where)


if __name__ == "__main__":
    unittest.main()
