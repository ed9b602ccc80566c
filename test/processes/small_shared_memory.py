#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs processes that speak by shared memory where there is little of it.

Usage: small_shared_memory.py PW_RUN

Four of them need a quarter of what containers have unless told, 64 MiB; where there is
next to none the error says how much. Nothing is left behind. Exits 77 where the system
does not let it mount its own /dev/shm.
"""

import os
import pathlib
import subprocess
import sys

from isolation import isolate
from running_cluster import LIMIT

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "examples/golden/program.mlir"


def run(pw_run, size):
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", "/dev/shm"],
                   check=True)
    ran = subprocess.run(
        [pw_run, GOLDEN, "--topology=2x2x2", "--input=v=1,2", "--expected=y=3,5",
         "--expected=z=2,4", "--processes=4", "--transport=shm"],
        capture_output=True, text=True, timeout=LIMIT)
    left = os.listdir("/dev/shm")
    subprocess.run(["umount", "/dev/shm"], check=True)
    if left:
        sys.exit(f"with {size} bytes {left} is left in /dev/shm")
    return ran


def main():
    isolate(["--mount"], "mount -t tmpfs none /dev/shm")
    pw_run = sys.argv[1]
    little = run(pw_run, 16 << 20)
    if little.returncode != 0:
        sys.exit(f"16 MiB are too little: {little.stderr}")
    none = run(pw_run, 64 << 10)
    said = "; /dev/shm has 65536 of 65536 bytes free, expected 3145728"
    if none.returncode != 5 or said not in none.stderr:
        sys.exit(f"64 KiB: exit status {none.returncode}, expected 5; not said: '{said}'\n"
                 f"{none.stderr}")
    print("4 processes share 16 MiB, and say that 64 KiB are too little")


if __name__ == "__main__":
    main()
