#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Prints the course of a training. Needs nothing but Python.
#
#   report.py LOSS.npy ACCURACY.npy

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from losses import read_floats

ROWS = 32  # Images of a step.
STEPS_PER_LINE = 8


def mean(values):
    return sum(values) / len(values)


def main():
    losses, accuracies = (read_floats(path) for path in sys.argv[1:3])
    steps = len(losses)
    print(f"{steps} steps of {ROWS} images, none of which was seen before its step")
    print("   steps   loss  read right")
    for begin in range(0, steps, STEPS_PER_LINE):
        end = min(begin + STEPS_PER_LINE, steps)
        right = mean(accuracies[begin:end])
        bar = "#" * round(40 * right)
        print(f"{begin + 1:4} -{end:3} {mean(losses[begin:end]):6.3f} {right:7.1%}  {bar}")


if __name__ == "__main__":
    main()
