#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Trains the network of program.mlir on the digits of ../train in NumPy, unsharded and
# in double precision, and writes into data what the example should give. Needed only
# to change the data: the files are in the repository.
#
#   apt-get install python3-numpy
#   /usr/bin/python3 make_data.py [--check]
#
# --check compares gradients with differences of losses instead.

import pathlib
import sys

import numpy

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import random_values

RATE = 0.125
SHAPES = {
    "w1": (3, 3, 1, 16), "b1": (16,), "w2": (3, 3, 16, 32), "b2": (32,),
    "w3": (512, 10), "b3": (10,),
}


def pad(x):
    return numpy.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))


def taps(x):
    """For each weight of a filter of 3 x 3, its place and the image that it sees."""
    height, width = x.shape[1:3]
    padded = pad(x)
    for i in range(3):
        for j in range(3):
            yield (i, j), padded[:, i : i + height, j : j + width, :]


def convolution(x, w):
    return sum(seen @ w[at] for at, seen in taps(x))


def filter_gradient(x, dz):
    dw = numpy.zeros((3, 3, x.shape[3], dz.shape[3]))
    for at, seen in taps(x):
        dw[at] = numpy.einsum("nyxc,nyxf->cf", seen, dz)
    return dw


def image_gradient(dz, w):
    return convolution(dz, w[::-1, ::-1].transpose(0, 1, 3, 2))


def windows(x):
    """Places within windows of 2 x 2 in dimensions of their own: 2 and 4."""
    n, height, width, c = x.shape
    return x.reshape(n, height // 2, 2, width // 2, 2, c)


def over_windows(p):
    """The value of its window, for each place."""
    return p.repeat(2, axis=1).repeat(2, axis=2)


def step(p, x, y):
    """Loss, accuracy and gradients of a batch."""
    rows = len(x)
    h1 = numpy.maximum(convolution(x, p["w1"]) + p["b1"], 0)
    p1 = windows(h1).max(axis=(2, 4))
    h2 = numpy.maximum(convolution(p1, p["w2"]) + p["b2"], 0)
    flat = h2.reshape(rows, -1)
    q = numpy.exp(flat @ p["w3"] + p["b3"])
    q /= q.sum(axis=1, keepdims=True)
    loss = -numpy.log(q[y == 1]).mean()
    accuracy = (q.argmax(axis=1) == y.argmax(axis=1)).mean()

    dscores = (q - y) / rows
    dz2 = (dscores @ p["w3"].T).reshape(h2.shape) * (h2 > 0)
    dp1 = image_gradient(dz2, p["w2"])
    is_largest = h1 == over_windows(p1)
    dz1 = over_windows(dp1) * (is_largest & (h1 > 0))
    gradients = {
        "w1": filter_gradient(x, dz1), "b1": dz1.sum(axis=(0, 1, 2)),
        "w2": filter_gradient(p1, dz2), "b2": dz2.sum(axis=(0, 1, 2)),
        "w3": flat.T @ dscores, "b3": dscores.sum(axis=0),
    }
    return loss, accuracy, gradients


def read_digits():
    data = HERE.parent / "train" / "data"
    images = numpy.load(data / "images.npy").astype(numpy.float64) / 16
    return images.reshape(*images.shape[:2], 8, 8, 1), numpy.load(data / "labels.npy")


def check(p, images, labels):
    # After some steps: biases are 0 before them, where relu has no slope.
    for i in range(4):
        gradients = step(p, images[i], labels[i])[2]
        p = {name: p[name] - RATE * gradients[name] for name in p}
    gradients = step(p, images[4], labels[4])[2]
    worst = 0
    for name, value in p.items():
        # The element that matters most: others drown in rounding.
        at = numpy.unravel_index(abs(gradients[name]).argmax(), value.shape)
        sides = []
        for h in (1e-6, -1e-6):
            value[at] += h
            sides.append(step(p, images[4], labels[4])[0])
            value[at] -= h
        slope = (sides[0] - sides[1]) / 2e-6
        error = abs(slope - gradients[name][at]) / abs(slope)
        worst = max(worst, error)
        print(f"{name}{list(map(int, at))}: {gradients[name][at]:.9f} {slope:.9f}")
    print(f"largest relative difference: {worst:.2g}")
    return 0 if worst < 1e-4 else 1


def train(p, images, labels):
    losses, accuracies = [], []
    for x, y in zip(images, labels):
        loss, accuracy, gradients = step(p, x, y)
        losses.append(loss)
        accuracies.append(accuracy)
        p = {name: p[name] - RATE * gradients[name] for name in p}
    results = {f"trained_{name}": value for name, value in p.items()}
    results |= {"loss": losses, "accuracy": accuracies}
    (HERE / "data").mkdir(exist_ok=True)
    for name, value in results.items():
        numpy.save(HERE / "data" / f"{name}.npy", numpy.float32(value))
    print(numpy.array(losses))
    print(numpy.array(accuracies), numpy.mean(accuracies[-14:]))
    return 0


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit("usage: make_data.py [--check]")
    p = random_values.first_values(HERE / "parameters.txt", SHAPES)
    return (check if sys.argv[1:] else train)(p, *read_digits())


if __name__ == "__main__":
    sys.exit(main())
