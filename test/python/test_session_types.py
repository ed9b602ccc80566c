# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mypy --strict over the package, its stub, the examples, and code that uses it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

if importlib.util.find_spec("mypy") is None:
    print("mypy is not installed")
    sys.exit(77)

from session_support import ROOT, np, pw

SOURCES = ROOT / "python"
USE = """
import asyncio
import numpy as np
import pathways as pw

with pw.Session("2x1x4", world="sim") as s:
    f = s.load(pw.compile("program.mlir", topology=s.topology))
    out = f(v=np.array([1, 2], np.float32))
    reveal_type(f)
    reveal_type(out.y)
    reveal_type(out.y.shape)
    reveal_type(f.launch(v=1).wait(timeout=1))
    async def main() -> pw.Results:
        return await f.launch(v=2)
    asyncio.run(main())
    s.load(3)
    pw.Session(world="moon")
    out.y.block_until_ready("soon")
"""


class Types(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def mypy(self, *arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", *arguments],
            cwd=cwd,
            env={
                **os.environ,
                "MYPYPATH": str(SOURCES),
                # The cache stays in the build folder, because PyTorch takes minutes.
                "MYPY_CACHE_DIR": str(Path(pw.__file__).parents[1] / "mypy_cache"),
            },
            capture_output=True,
            text=True,
        )

    def test_package(self) -> None:
        done = self.mypy("mypy", "--strict", "-p", "pathways", cwd=SOURCES)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_examples(self) -> None:
        paths = sorted(str(path) for path in (ROOT / "examples" / "python").glob("*.py"))
        done = self.mypy("mypy", "--strict", *paths)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_use(self) -> None:
        program = self.folder / "use.py"
        program.write_text(USE)
        done = self.mypy("mypy", "--strict", str(program))
        lines = [line.split(": ", 1)[1] for line in done.stdout.splitlines() if "use.py" in line]
        notes = [line for line in lines if line.startswith("note: Revealed")]
        self.assertEqual(len(notes), 4, done.stdout)
        for note, expected in zip(notes, ("Executable", "Array", "int", "Results")):
            self.assertIn(expected, note)
        errors = [line for line in lines if line.startswith("error")]
        self.assertEqual(len(errors), 3, done.stdout)

    def test_stub_is_what_the_module_has(self) -> None:
        """Every class and method of the module is in the stub, and nothing else."""
        import ast

        tree = ast.parse((SOURCES / "pathways" / "_pathways.pyi").read_text())
        stub = {
            node.name: {
                item.name if isinstance(item, ast.FunctionDef) else ast.unparse(item.target)
                for item in node.body
                if isinstance(item, (ast.FunctionDef, ast.AnnAssign))
            }
            for node in tree.body
            if isinstance(node, ast.ClassDef)
        }
        module = pw._pathways
        for name, kind in vars(module).items():
            if isinstance(kind, type):
                own = {
                    member
                    for member in vars(kind)
                    if not member.startswith("__") or member == "__call__"
                }
                declared = {
                    member
                    for member in stub[name]
                    if not member.startswith("__") or member == "__call__"
                }
                self.assertEqual(own, declared, name)
        functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        own_functions = {
            name
            for name, value in vars(module).items()
            if callable(value) and not isinstance(value, type) and not name.startswith("__")
        }
        self.assertEqual(functions, own_functions)

    def test_names_are_documented(self) -> None:
        for name in ("Session", "Plan", "Executable", "Run", "Results", "Array", "compile"):
            self.assertTrue(getattr(pw, name).__doc__, name)
        self.assertTrue((SOURCES / "pathways" / "py.typed").exists())
        self.assertTrue(np.__version__)


if __name__ == "__main__":
    unittest.main()
