#!/usr/bin/python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares random functions over NumPy, as programs, with NumPy itself.

Every fifth one also runs on two devices, with arguments that are cut. --cases=N sets the
number of functions, PATHWAYS_TEST_SEED the first seed. A function in which a value that is
not known decides a type is refused; few are.
"""

import argparse
import os
import sys
import traceback
import warnings

try:
    import numpy as np
except ImportError:
    sys.exit(77)

import pathways as pw
import random_numpy


def check(case, session, options):
    """Runs a case, and returns its results."""
    program = pw.program(lambda *v: case(*v), framework="numpy", name="case", **options)
    traced = program.trace(*case.arguments)
    executable = session.load(traced)
    got = [np.asarray(r) for r in traced.unflatten(executable(*case.arguments))]
    with np.errstate(all="ignore"):
        case.check(got, case(*case.arguments))
    return got


def cuts(rng, case):
    """Cuts each argument along a random dimension, or leaves it open."""
    split = {}
    for i, argument in enumerate(case.arguments):
        if argument.ndim and rng.random() < 0.7:
            dims = [None] * argument.ndim
            dims[rng.integers(argument.ndim)] = "d"
            split[f"v.{i}"] = tuple(dims)
    return split


def main():
    parser = argparse.ArgumentParser()
    every = 500 if os.environ.get("PATHWAYS_TEST_ALL") else 150
    parser.add_argument("--cases", type=int, default=every)
    parser.add_argument("--first", type=int, default=0)
    arguments = parser.parse_args()
    seed = int(os.environ.get("PATHWAYS_TEST_SEED") or np.random.SeedSequence().entropy % 2**32)
    print(f"seed {seed}")
    warnings.simplefilter("ignore")
    failures, sharded, refused = 0, 0, 0
    with pw.Session("1x1x1") as one, pw.Session("1x1x2") as two:
        for number in range(arguments.first, arguments.first + arguments.cases):
            rng = np.random.default_rng([seed, number])
            case = random_numpy.Generator(rng).case()
            try:
                check(case, one, {})
                if number % 5 == 0:
                    sharded += 1
                    on = pw.Slice("s", d=2)
                    check(case, two, {"on": on, "split": cuts(rng, case)})
            except (AssertionError, pw.Error) as error:
                if isinstance(error, pw.TraceError) and "depends on the value" in str(error):
                    refused += 1
                    continue
                failures += 1
                print(f"--- case {number}: PATHWAYS_TEST_SEED={seed} --first={number} "
                      f"--cases=1\n{case.describe()}\n{error}")
                if not isinstance(error, AssertionError):
                    traceback.print_exc(limit=-3)
                if failures >= 20:
                    break
    print(f"{arguments.cases} functions, {sharded} of them on two devices, "
          f"{refused} refused, {failures} failures")
    return 1 if failures or refused > 3 + arguments.cases // 50 else 0


if __name__ == "__main__":
    sys.exit(main())
