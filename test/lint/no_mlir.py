#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that programs made of the runtime load no MLIR.

Takes programs; fails when the dynamic linker would load a library whose name
begins with libMLIR for one of them. With --must-load, fails when it would not:
a program that does, to show that the check can see it.
"""

import argparse
import re
import subprocess
import sys


def loaded(program):
    """Names of the shared libraries that `program` loads."""
    result = subprocess.run(["ldd", program], check=True, text=True,
                            stdout=subprocess.PIPE)
    return re.findall(r"^\s*(\S+)", result.stdout, re.MULTILINE)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--must-load", metavar="PROGRAM")
    arguments = parser.parse_args()
    failed = False
    for program in arguments.programs:
        for name in loaded(program):
            if name.startswith("libMLIR"):
                print(f"{program}: loads {name}, expected no MLIR")
                failed = True
    if arguments.must_load and not any(
            name.startswith("libMLIR") for name in loaded(arguments.must_load)):
        print(f"{arguments.must_load}: loads no libMLIR, expected that it does")
        failed = True
    print(f"{len(arguments.programs)} programs")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
