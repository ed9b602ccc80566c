#!/usr/bin/python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the wheel where users have it: in a virtual environment outside of the tree.

  check_wheel.py BUILD

BUILD is the build tree. Without NumPy, venv or pip it exits with code 77.
"""

from __future__ import annotations

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "test/processes"))
from running_cluster import RunningCluster, make_key

MAX_BYTES = 12_000_000
MLIR = "libMLIR.so.22.1"
TOPOLOGY, HOSTS = "2x1x4", [["host0"], ["host1"]]
# Examples that run in the topology, and what they print, or None.
EXAMPLES = {"figure2": "[3.0, 5.0] [2.0, 4.0]\n", "two_islands": None}
PLAN_ONLY = """
import sys
import numpy as np
import pathways as pw

plan = pw.Plan.read(sys.argv[1])
print(plan.costs("2x1x4").dcn_bytes)
for options in ({}, {"world": "sim"}, {"processes": 2}):
    with pw.Session("2x1x4", **options) as session:
        out = session.load(plan)(v=np.array([1, 2], np.float32))
        print(np.asarray(out.y).tolist(), np.asarray(out.z).tolist())
try:
    pw.compile(sys.argv[2], "2x1x4")
except pw.NotFound as error:
    print("libMLIR" in str(error))
"""


def build_wheel(build: pathlib.Path, out: pathlib.Path) -> pathlib.Path:
    made = subprocess.run(
        [sys.executable, ROOT / "python/build_wheel.py", build, out],
        stdout=subprocess.PIPE, text=True, check=True)  # fmt: skip
    return pathlib.Path(made.stdout.strip())


class Wheel(unittest.TestCase):
    build: pathlib.Path

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        # The test sees neither the package of the build tree nor its tools.
        cls.environment = {"PATH": "/usr/bin:/bin", "HOME": folder.name}
        cls.wheel = build_wheel(cls.build, cls.folder / "first")
        cls.again = build_wheel(cls.build, cls.folder / "second")
        cls.venv = cls.folder / "venv"
        for command in (
            ["/usr/bin/python3", "-m", "venv", "--system-site-packages", cls.venv],
            [cls.venv / "bin/pip", "install", "-q", "--no-index", "--no-deps", cls.wheel],
        ):
            subprocess.run(command, check=True, cwd=folder.name, env=cls.environment)
        [cls.package] = cls.venv.glob("lib/python3.*/site-packages/pathways")
        cls.examples = cls.folder / "examples"
        shutil.copytree(ROOT / "examples/python", cls.examples)
        cls.program = cls.folder / "program.mlir"
        shutil.copy(ROOT / "examples/golden/program.mlir", cls.program)

    def run_python(self, *arguments: object, **environment: str) -> str:
        """Returns what the Python of the environment prints."""
        done = subprocess.run(
            [str(argument) for argument in (self.venv / "bin/python", *arguments)],
            cwd=self.folder, env={**self.environment, **environment},
            capture_output=True, text=True, timeout=300, check=False)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_contents(self) -> None:
        self.assertLessEqual(self.wheel.stat().st_size, MAX_BYTES)
        self.assertTrue(self.again.read_bytes() == self.wheel.read_bytes(), "other bytes")
        names = zipfile.ZipFile(self.wheel).namelist()
        self.assertEqual(len(names), len(set(names)))
        for path in (ROOT / "python/pathways").rglob("*.py"):
            self.assertIn(path.relative_to(ROOT / "python").as_posix(), names)
        for path in self.package.iterdir():
            if path.name == "pw-node" or ".so" in path.name:
                said = subprocess.run(
                    ["readelf", "-d", path], check=True, capture_output=True, text=True)
                self.assertNotIn(str(self.build), said.stdout)
        # The interpreter checks the sizes and hashes of the record.
        self.assertEqual(self.run_python("-c", CHECK_RECORD), f"{len(names)} files\n")

    def test_examples(self) -> None:
        key = make_key(self.folder)
        with RunningCluster(self.package / "pw-node", TOPOLOGY, HOSTS, key) as cluster:
            connect = (f"--connect={cluster.address}", f"--key={key}")
            for name, expected in EXAMPLES.items():
                for options in ((), ("--world=sim",), ("--processes=2",), connect):
                    with self.subTest(name, options=options):
                        path = self.examples / f"{name}.py"
                        printed = self.run_python(path, *options)
                        expected = expected or printed
                        self.assertEqual(printed, expected)
            status = self.run_python("-m", "pathways", "status", cluster.address, connect[1])
            self.assertIn("2 hosts, 8 devices, 8 of them available", status)
            archive = self.folder / "in.npz"
            save = "import sys, numpy as np; np.savez(sys.argv[1], np.array([1, 2], 'f4'))"
            self.run_python("-c", save, archive)
            printed = self.run_python(
                "-m", "pathways", "run", self.program, f"--input={archive}", *connect)
            self.assertEqual(printed, "y: 2xf32 = [3., 5.]\nz: 2xf32 = [2., 4.]\n")

    def test_plans_alone(self) -> None:
        """Without MLIR all works but compiling."""
        plan = self.folder / "f.plan"
        code = "import sys, pathways as pw; pw.compile(sys.argv[1], '2x1x4').save(sys.argv[2])"
        self.run_python("-c", code, self.program, plan)
        hidden = self.folder / "hidden"
        hidden.mkdir()
        # The loader stops at a file of this name that is no library.
        (hidden / MLIR).touch()
        printed = self.run_python(
            "-c", PLAN_ONLY, plan, self.program, LD_LIBRARY_PATH=str(hidden))
        self.assertEqual(printed, "8\n" + 3 * "[3.0, 5.0] [2.0, 4.0]\n" + "True\n")
        printed = self.run_python("-m", "pathways", "explain", plan, "--topology=2x1x4",
                                  LD_LIBRARY_PATH=str(hidden))
        self.assertIn("8 between them", printed)


CHECK_RECORD = """
import base64, hashlib
from importlib.metadata import files
count = 0
for file in files("pathways"):
    if "pathways" not in file.parts[0] or file.parts[-1].endswith(".pyc"):
        continue
    if file.parts[-1] in ("INSTALLER", "REQUESTED", "direct_url.json"):
        continue
    count += 1
    if file.hash:
        data = file.read_binary()
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        assert (file.hash.value, file.size) == (digest, len(data)), file
print(count, "files")
"""


def main() -> int:
    for module in ("numpy", "ensurepip", "pip"):
        if importlib.util.find_spec(module) is None:
            print(f"skipped: {module} is not installed")
            return 77
    if len(sys.argv) != 2 or not os.path.isdir(sys.argv[1]):
        print(f"error: usage: {sys.argv[0]} BUILD", file=sys.stderr)
        return 2
    Wheel.build = pathlib.Path(sys.argv[1]).resolve()
    return not unittest.main(argv=sys.argv[:1], exit=False).result.wasSuccessful()


if __name__ == "__main__":
    sys.exit(main())
