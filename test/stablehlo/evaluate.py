#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Evaluates modules of StableHLO with NumPy.

    evaluate.py PW_OPT FILE|FOLDER...

Runs @main, which takes nothing, of every module, and reports the checks that do not
hold. Exits with 77 if NumPy or all folders are missing.

The evaluator shares no code with the compiler. It reads the generic form that pw-opt
prints, rounds each result to its type, and adds term by term. Programs for several
partitions run in lockstep: an operation is evaluated for all partitions before the
next one is.
"""

import os
import sys

try:
    import generic_form
    import operations
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

SKIPPED = 77


def modules_of(paths):
    for path in paths:
        if os.path.isfile(path):
            yield path
        for parent, folders, names in os.walk(path):
            folders.sort()
            for name in sorted(names):
                if name.endswith(".mlir"):
                    yield os.path.join(parent, name)


def evaluate(text, inputs=()):
    """The results of @main of a module in generic form, and the checks."""
    module = generic_form.parse(text)
    machine = operations.Machine(module)
    return machine.run("main", list(inputs)), machine.checks


def main(arguments):
    if len(arguments) < 2:
        print(__doc__)
        return 2
    pw_opt, *paths = arguments
    files = list(modules_of(paths))
    if not files:
        print("skipped: there are no modules in " + ", ".join(paths))
        return SKIPPED
    failed = checks = 0
    for start in range(0, len(files), 50):
        group = files[start:start + 50]
        texts = []
        for path in group:
            with open(path, encoding="utf-8") as file:
                texts.append(file.read())
        for path, text in zip(group, generic_form.normalize(pw_opt, texts)):
            _, done = evaluate(text)
            checks += len(done)
            wrong = [check for check in done if check]
            failed += bool(wrong)
            for check in wrong:
                print(f"{path}: {check}")
    print(f"{len(files)} modules, {checks} checks, {failed} modules failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
