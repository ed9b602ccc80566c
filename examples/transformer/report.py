#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Prints the course of a training. Needs nothing but Python.
#
#   report.py LOSS.npy

import ast
import math
import struct
import sys

CHARACTERS = 512  # Of a step.
LINES = 10


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
