#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes the example's inputs from the digits that scikit-learn comes with, and
# trains the same network on them in NumPy, unsharded, for what the example should
# give. Needed only to change the data: the files are in the repository.
#
#   apt-get install python3-numpy python3-sklearn
#   /usr/bin/python3 make_data.py [digits.csv.gz]
#
# The digits are the test set of "Optical Recognition of Handwritten Digits" by
# E. Alpaydin and C. Kaynak (1998), UCI Machine Learning Repository,
# https://doi.org/10.24432/C50P49, under CC BY 4.0: 1797 lines of 64 pixels of 0
# to 16 and a digit. Here they are shuffled and cut into batches, the digits are
# one-hot, and the last five are left out.

import pathlib
import sys

import numpy

STEPS, ROWS, PIXELS, HIDDEN, DIGITS = 56, 32, 64, 64, 10
RATE = 0.5

SOURCE = "/usr/lib/python3/dist-packages/sklearn/datasets/data/digits.csv.gz"

folder = pathlib.Path(__file__).resolve().parent / "data"
folder.mkdir(exist_ok=True)
random = numpy.random.default_rng(1)

lines = numpy.loadtxt(sys.argv[1] if len(sys.argv) > 1 else SOURCE, delimiter=",")
lines = random.permutation(lines.astype(numpy.int8))[: STEPS * ROWS]
images = lines[:, :PIXELS].reshape(STEPS, ROWS, PIXELS)
labels = numpy.eye(DIGITS, dtype=numpy.int8)[lines[:, PIXELS]]
labels = labels.reshape(STEPS, ROWS, DIGITS)


def normal(inputs, outputs):
    """Parameters that give outputs about as large as the inputs."""
    return (random.normal(size=(inputs, outputs)) * (2 / inputs) ** 0.5).astype(
        numpy.float32
    )


w0 = normal(PIXELS, HIDDEN)
w1 = normal(HIDDEN, DIGITS)
for name in ("images", "labels", "w0", "w1"):
    numpy.save(folder / f"{name}.npy", globals()[name])

# In double precision, so that it is closer to the truth than any order of the
# additions in single precision.
w0, w1 = w0.astype(numpy.float64), w1.astype(numpy.float64)
b0, b1 = numpy.zeros(HIDDEN), numpy.zeros(DIGITS)
loss, accuracy = numpy.zeros(STEPS), numpy.zeros(STEPS)
for step in range(STEPS):
    x, y = images[step] / 16, labels[step]
    h = numpy.maximum(x @ w0 + b0, 0)
    p = numpy.exp(h @ w1 + b1)
    p /= p.sum(axis=1, keepdims=True)
    loss[step] = -numpy.log(p[y == 1]).mean()
    accuracy[step] = (p.argmax(axis=1) == y.argmax(axis=1)).mean()

    dscores = (p - y) / ROWS
    dh = (dscores @ w1.T) * (h > 0)
    w1 -= RATE * (h.T @ dscores)
    b1 -= RATE * dscores.sum(axis=0)
    w0 -= RATE * (x.T @ dh)
    b0 -= RATE * dh.sum(axis=0)

trained = {"w0": w0, "b0": b0, "w1": w1, "b1": b1}
for name, array in trained.items():
    numpy.save(folder / f"trained_{name}.npy", array.astype(numpy.float32))
numpy.save(folder / "loss.npy", loss.astype(numpy.float32))
numpy.save(folder / "accuracy.npy", accuracy.astype(numpy.float32))
print(loss)
print(accuracy, accuracy[-14:].mean())
