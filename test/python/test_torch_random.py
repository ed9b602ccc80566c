#!/usr/bin/python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares random functions over PyTorch, as programs, with PyTorch itself.

Many functions make one program. Every fifth program also runs on two devices, with
arguments that are cut. --cases=N sets the number of functions, PATHWAYS_TEST_SEED the
seed, --first=N the first function.
"""

import argparse
import os
import sys
import warnings

from torch_support import Batch, np, pw, seed_of_run
import random_torch
from pathways._stablehlo import Sharding

SIZE = 20


def cut(rng):
    """Returns a function that cuts an argument along a random dimension, or leaves it."""

    def sharding(type):
        if not type.shape or rng.random() < 0.3:
            return None
        chosen = rng.integers(len(type.shape))
        return Sharding(tuple(("d",) if d == chosen else () for d in range(len(type.shape))))

    return sharding


class Case:
    """A random program in the form that Batch takes."""

    def __init__(self, number, program):
        self.number, self.program = number, program
        self.function, self.args = program, tuple(program.arguments)
        self.tensors, self.expected = program.arguments, program.expected


def check(cases, session, options):
    """Returns pairs of a case and what is wrong with it."""
    try:
        results = Batch(cases, **options()).run(session)
    except Exception as failure:
        if len(cases) == 1:
            return [(cases[0], f"{type(failure).__name__}: {str(failure)[:600]}")]
        half = len(cases) // 2
        return check(cases[:half], session, options) + check(cases[half:], session, options)
    wrong = [
        (case, random_torch.compare(case.program, got)) for case, got in zip(cases, results)
    ]
    return [(case, text) for case, text in wrong if text]


def main():
    parser = argparse.ArgumentParser()
    every = 1000 if os.environ.get("PATHWAYS_TEST_ALL") else 200
    parser.add_argument("--cases", type=int, default=every)
    parser.add_argument("--first", type=int, default=0)
    arguments = parser.parse_args()
    seed = seed_of_run()
    warnings.simplefilter("ignore")
    failures, sharded, gradients = 0, 0, 0
    last = arguments.first + arguments.cases
    with pw.Session("1x1x1") as one, pw.Session("1x1x2") as two:
        for start in range(arguments.first, last, SIZE):
            cases = []
            for number in range(start, min(start + SIZE, last)):
                rng = np.random.default_rng([seed, number])
                cases.append(Case(number, random_torch.Generator(rng).program()))
                gradients += cases[-1].program.with_gradient
            runs = [(one, dict)]
            if start // SIZE % 5 == 0:
                sharded += len(cases)
                runs.append(
                    (
                        two,
                        lambda: {
                            "mesh": [("d", 2)],
                            "split": cut(np.random.default_rng([seed, start])),
                        },
                    )
                )
            for session, options in runs:
                for case, text in check(cases, session, options):
                    failures += 1
                    print(
                        f"--- PATHWAYS_TEST_SEED={seed} --first={case.number} --cases=1"
                        f"{' on two devices' if session is two else ''}\n"
                        f"{case.program.describe()}\n{text}",
                        flush=True,
                    )
            if failures >= 20:
                break
    print(
        f"{arguments.cases} functions, {gradients} with gradients, {sharded} on two devices, "
        f"{failures} failures"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
