#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Prints the course of a training. Needs nothing but Python.
#
#   report.py LOSS.npy

import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from losses import read_floats

CHARACTERS = 512  # Of a step.
LINES = 10


def main():
    losses = read_floats(sys.argv[1])
    steps = len(losses)
    print(f"{steps} steps of {CHARACTERS} characters, none of which was read before")
    print("   steps   loss  as if one of so many characters were as likely")
    per_line = math.ceil(steps / LINES)
    for begin in range(0, steps, per_line):
        end = min(begin + per_line, steps)
        loss = sum(losses[begin:end]) / (end - begin)
        choices = math.exp(loss)
        bar = "#" * round(40 * loss / math.log(128))
        print(f"{begin + 1:4} -{end:3} {loss:6.3f} {choices:6.1f}  {bar}")


if __name__ == "__main__":
    main()
