# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# steps.py FROM BEGIN END TO: writes steps [BEGIN, END) of a stepped .npy file,
# version 1, to another.

import ast
import struct
import sys

source, begin, end, target = sys.argv[1:]
begin, end = int(begin), int(end)
with open(source, "rb") as file:
    data = file.read()
(length,) = struct.unpack("<H", data[8:10])
header = ast.literal_eval(data[10 : 10 + length].decode("latin1"))
values = data[10 + length :]
step = len(values) // header["shape"][0]
header["shape"] = (end - begin, *header["shape"][1:])
text = repr(header).encode("latin1") + b"\n"
with open(target, "wb") as file:
    file.write(data[:8] + struct.pack("<H", len(text)) + text)
    file.write(values[begin * step : end * step])
