#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Prints the course of a training. Needs nothing but Python.
#
#   report.py LOSS.npy ACCURACY.npy

import ast
import struct
import sys

ROWS = 32  # Images of a step.
STEPS_PER_LINE = 8


def read_floats(path):
    """Returns the elements of a file that holds one dimension of f32."""
    with open(path, "rb") as file:
        magic = file.read(8)
        if magic[:7] != b"\x93NUMPY\x01":
            sys.exit(f"error: {path}: expected an .npy file of version 1")
        header = ast.literal_eval(
            file.read(struct.unpack("<H", file.read(2))[0]).decode("latin-1")
        )
        if header["descr"] != "<f4" or len(header["shape"]) != 1:
            sys.exit(f"error: {path}: expected one dimension of f32, got {header}")
        (count,) = header["shape"]
        return struct.unpack(f"<{count}f", file.read(4 * count))


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
