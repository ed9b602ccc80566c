# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# npy.py PATH DESCR SHAPE VALUE...: writes a .npy file with the standard library
# alone; npy.py --show PATH prints one. So tests need no NumPy.

import ast
import struct
import sys

CODES = {
    "<f4": "f",
    "<f8": "d",
    "|i1": "b",
    "<i2": "h",
    "<i4": "i",
    "<i8": "q",
    "|u1": "B",
    "<u2": "H",
    "<u4": "I",
    "<u8": "Q",
    ">f4": "f",
}


def write(path, descr, shape, values):
    shape = tuple(int(extent) for extent in shape.split("x") if extent)
    header = repr({"descr": descr, "fortran_order": False, "shape": shape}) + "\n"
    order = ">" if descr[0] == ">" else "<"
    code = CODES[descr]
    numbers = [float(v) if code in "fd" else int(v) for v in values]
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)))
        file.write(header.encode("latin1"))
        file.write(struct.pack(f"{order}{len(numbers)}{code}", *numbers))


def show(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x93NUMPY\x01\0", data[:8]
    (length,) = struct.unpack("<H", data[8:10])
    header = ast.literal_eval(data[10 : 10 + length].decode("latin1"))
    body = data[10 + length :]
    code = CODES[header["descr"]]
    count = len(body) // struct.calcsize("<" + code)
    print(header["descr"], header["shape"], struct.unpack(f"<{count}{code}", body))


if sys.argv[1] == "--show":
    show(sys.argv[2])
else:
    write(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
