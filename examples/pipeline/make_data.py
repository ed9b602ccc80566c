#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes the example's inputs and what it should give, in NumPy and unsharded.
# Needed only to change the data: the files are in the repository.

import pathlib

import numpy

STEPS, ROWS, WIDTH, HIDDEN = 2, 32, 64, 96

folder = pathlib.Path(__file__).resolve().parent / "data"
folder.mkdir(exist_ok=True)
random = numpy.random.default_rng(2022)


def make(*shape, scale=1.0):
    return random.uniform(-scale, scale, shape).astype(numpy.float32)


arrays = {
    "x": make(STEPS, ROWS, WIDTH),
    "w0": make(WIDTH, HIDDEN, scale=0.2),
    "w1": make(HIDDEN, WIDTH, scale=0.2),
    "w2": make(WIDTH, HIDDEN, scale=0.2),
    "w3": make(HIDDEN, WIDTH, scale=0.2),
}


def stage(x, w_in, w_out):
    return numpy.maximum(x @ w_in, 0) @ w_out


# In double precision, so that it is closer to the truth than any order of the
# additions in single precision.
exact = {name: array.astype(numpy.float64) for name, array in arrays.items()}
y = stage(
    stage(exact["x"], exact["w0"], exact["w1"]), exact["w2"], exact["w3"]
)
arrays["y"] = y.astype(numpy.float32)

for name, array in arrays.items():
    numpy.save(folder / f"{name}.npy", array)
