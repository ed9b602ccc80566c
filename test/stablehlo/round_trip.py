#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that programs of StableHLO keep their meaning when they are printed.

Usage: round_trip.py PW_OPT FOLDER

Reads each .mlir file below FOLDER and compares its generic form with the generic
form of what pw-opt prints for it, in pretty and in generic form. Prints one line
per file that differs or does not parse, and exits with 1 if there is one. Without
the folder, the check is skipped, with exit status 77.
"""

import os
import subprocess
import sys

SEPARATOR = "\n// -----\n"
SKIPPED = 77


def run(pw_opt, text, is_generic):
    """What pw-opt prints for `text`, and its errors; None in place of the former."""
    command = [pw_opt, "-split-input-file", "-"]
    if is_generic:
        command.insert(1, "-mlir-print-op-generic")
    done = subprocess.run(command, input=text, capture_output=True, text=True,
                          check=False)
    return (done.stdout if done.returncode == 0 else None), done.stderr


def check(pw_opt, text):
    """What is wrong with `text`, or None."""
    generic, error = run(pw_opt, text, True)
    if generic is None:
        return "does not parse: " + error.strip().split("\n")[0]
    pretty, error = run(pw_opt, text, False)
    if pretty is None:
        return "is not printed: " + error.strip().split("\n")[0]
    for form, printed in (("pretty", pretty), ("generic", generic)):
        again, error = run(pw_opt, printed, True)
        if again is None:
            return f"its {form} form does not parse: " + error.strip().split("\n")[0]
        if again != generic:
            return f"its {form} form means something else"
    return None


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main(arguments):
    if len(arguments) != 2:
        print(__doc__)
        return 2
    pw_opt, folder = arguments
    if not os.path.isdir(folder):
        print(f"skipped: there is no folder {folder}")
        return SKIPPED
    groups = {}
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".mlir"):
                groups.setdefault(parent, []).append(os.path.join(parent, name))
    failed = count = 0
    for parent, paths in groups.items():
        count += len(paths)
        # One process for many files is faster; files are told apart only on failure.
        if check(pw_opt, SEPARATOR.join(read(path) for path in paths)) is None:
            continue
        for path in paths:
            wrong = check(pw_opt, read(path))
            if wrong:
                failed += 1
                print(f"{path}: {wrong}")
    print(f"{count} files, {failed} failed")
    return 1 if failed or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
