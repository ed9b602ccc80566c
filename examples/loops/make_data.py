#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes the example's inputs and what it should give, in NumPy, unsharded and in double
# precision. Needed only to change the data: the files are in the repository.
#
#   make_data.py [--check]
#
# --check compares the results with the files and writes nothing. It exits with 77 if
# NumPy is missing.

import pathlib
import sys

try:
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

STEPS, BATCHES, ROWS, WIDTH, LAYERS = 6, 4, 8, 16, 3
LIMIT, TRIES = 125, 6

folder = pathlib.Path(__file__).resolve().parent / "data"


def make_inputs():
    random = numpy.random.default_rng(2022)

    def make(*shape, scale=1.0):
        return random.uniform(-scale, scale, shape).astype(numpy.float32)

    rows = (STEPS, BATCHES, ROWS, WIDTH)
    x = make(*rows)
    # What another network of one layer makes of the input can be learned.
    teacher = make(WIDTH, WIDTH, scale=0.8)
    return {
        "x": x,
        "target": numpy.tanh(x @ teacher).astype(numpy.float32),
        "front": make(LAYERS, WIDTH, WIDTH, scale=0.55),
        "back": make(LAYERS, WIDTH, WIDTH, scale=0.55),
    }


def forward(x, layers):
    """The input, and the result of each layer."""
    results = [x]
    for w in layers:
        results.append(numpy.tanh(results[-1] @ w))
    return results


def loss_of(xs, targets, layers):
    return sum(
        ((forward(x, layers)[-1] - target) ** 2).sum() / 2
        for x, target in zip(xs, targets)
    )


def gradients_of(xs, targets, layers):
    sums = numpy.zeros_like(layers)
    for x, target in zip(xs, targets):
        results = forward(x, layers)
        d = results[-1] - target
        for layer in reversed(range(len(layers))):
            dz = d * (1 - results[layer + 1] ** 2)
            sums[layer] += results[layer].T @ dz
            d = dz @ layers[layer].T
    return sums


def train(inputs):
    """The results of the program by name. Each decision has to be clear enough that
    single precision takes it in the same way."""
    exact = {name: array.astype(numpy.float64) for name, array in inputs.items()}
    layers = numpy.concatenate([exact["front"], exact["back"]])
    steps = {name: [] for name in ("loss", "length", "rate", "after")}
    for xs, targets in zip(exact["x"], exact["target"]):
        loss = loss_of(xs, targets, layers)
        g = gradients_of(xs, targets, layers)
        length = numpy.sqrt((g**2).sum())
        assert abs(length - LIMIT) > 1e-3 * LIMIT, f"the length {length} is too close"
        if length > LIMIT:
            g *= LIMIT / length
        rate = 0.25
        for _ in range(TRIES):
            rate /= 2
            candidate = layers - rate * g
            after = loss_of(xs, targets, candidate)
            assert abs(after - loss) > 1e-3 * loss, f"{after} is too close to {loss}"
            if after < loss:
                break
        layers = candidate
        for name, value in zip(steps, (loss, length, rate, after)):
            steps[name].append(value)
    return {
        "front": layers[:LAYERS],
        "back": layers[LAYERS:],
        **{name: numpy.array(values) for name, values in steps.items()},
    }


def check_gradients(inputs):
    """Compares some entries of a gradient with differences of losses."""
    xs, targets = (inputs[name][0].astype(numpy.float64) for name in ("x", "target"))
    layers = numpy.concatenate([inputs["front"], inputs["back"]]).astype(numpy.float64)
    g = gradients_of(xs, targets, layers)
    for entry in [(0, 0, 0), (2, 3, 5), (3, 15, 1), (5, 7, 7)]:
        by = numpy.zeros_like(layers)
        by[entry] = 1e-6
        difference = loss_of(xs, targets, layers + by) - loss_of(xs, targets, layers - by)
        assert abs(difference / 2e-6 - g[entry]) < 1e-5, entry


def main():
    inputs = make_inputs()
    results = train(inputs)
    check_gradients(inputs)
    for step in zip(*(results[name] for name in ("loss", "length", "rate", "after"))):
        print("loss %.4f, gradient %.4f, rate %.4f, then %.4f" % step)
    files = {f"{name}.npy": array for name, array in inputs.items()}
    for name, array in results.items():
        files[f"expected_{name}.npy"] = array.astype(numpy.float32)
    folder.mkdir(exist_ok=True)
    for name, array in files.items():
        if "--check" not in sys.argv[1:]:
            numpy.save(folder / name, array)
        elif not numpy.allclose(numpy.load(folder / name), array, rtol=1e-6, atol=1e-7):
            sys.exit(f"error: {folder / name} is not what NumPy computes")


if __name__ == "__main__":
    main()
