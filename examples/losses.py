# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reads what a training wrote of its course. Needs nothing but Python.

import ast
import struct
import sys


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
