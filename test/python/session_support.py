# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of sessions share."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

try:
    import numpy as np
except ImportError:
    print("NumPy is not installed")
    sys.exit(77)

import pathways as pw

ROOT = Path(__file__).resolve().parents[2]
# f(v) = (2 v + 1, 2 v) for two numbers, over six devices.
GOLDEN = ROOT / "examples" / "golden" / "program.mlir"
# More steps than any test waits for.
ENDLESS = 10**9


def add_text(shape: str, element: str = "f32", attributes: str = "") -> str:
    """Returns a module whose argument is `x`, and whose result `y` is x + x."""
    tensor = f"tensor<{shape}{element}>"
    add = "or" if element == "i1" else "add"
    return (
        f'func.func public @main(%arg0: {tensor} {attributes} loc("x")) -> '
        f'({tensor} {{jax.result_info = "y"}}) {{\n'
        f"  %0 = stablehlo.{add} %arg0, %arg0 : {tensor}\n"
        f"  return %0 : {tensor}\n"
        "}\n"
    )


def run_python(code: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a script in a process of its own, with the package."""
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", code, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


def check_python(code: str, *arguments: str) -> str:
    """Returns the output of a script, which must succeed and write no error."""
    done = run_python(code, *arguments)
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stdout}{done.stderr}"
    assert not done.stderr, done.stderr
    return done.stdout
