#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Cuts the text into what the steps of the training read. Needs nothing but Python.
#
#   batches.py STEPS FOLDER
#
# writes inputs.npy and targets.npy, whose characters are the next ones, and loss.npy,
# what make_data.py says of these steps, all of it stepped. Each of the pieces of a
# step goes on where that of the step before ended.

import pathlib
import struct
import sys

PIECES, LENGTH = 4, 128
DATA = pathlib.Path(__file__).resolve().parent / "data"


def read_text():
    return (DATA / "text.txt").read_bytes()


def known_losses():
    return [float(line) for line in (DATA / "loss.txt").read_text().split()]


def pieces(text, steps, shift):
    """The characters of all steps, one piece after the other."""
    apart = (len(text) - 1) // PIECES
    most = apart // LENGTH
    if not 1 <= steps <= most:
        sys.exit(f"error: the text is for 1 to {most} steps, got {steps}")
    return b"".join(
        text[begin : begin + LENGTH]
        for step in range(steps)
        for begin in (piece * apart + step * LENGTH + shift for piece in range(PIECES))
    )


def write_npy(path, dtype, shape, data):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    header = header.encode().ljust(117) + b"\n"
    prefix = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header))
    pathlib.Path(path).write_bytes(prefix + header + data)


def main():
    if len(sys.argv) != 3 or not sys.argv[1].isdecimal():
        sys.exit("usage: batches.py STEPS FOLDER")
    steps, folder = int(sys.argv[1]), pathlib.Path(sys.argv[2])
    text = read_text()
    for name, shift in (("inputs", 0), ("targets", 1)):
        data = pieces(text, steps, shift)
        write_npy(folder / f"{name}.npy", "|i1", (steps, PIECES, LENGTH), data)
    losses = known_losses()[:steps]
    if len(losses) < steps:
        sys.exit(f"error: the loss of {len(losses)} steps is known, got {steps}")
    write_npy(folder / "loss.npy", "<f4", (steps,), struct.pack(f"<{steps}f", *losses))


if __name__ == "__main__":
    main()
