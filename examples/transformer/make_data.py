#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Trains the model of program.mlir in NumPy, unsharded and in double precision, and
# writes data/loss.txt: what the loss of each step should be. The gradients are not
# those that program.mlir writes out: here they follow from the way forward, operation
# by operation. Needed only to change the data: the files are in the repository.
#
#   apt-get install python3-numpy
#   /usr/bin/python3 make_data.py [--check | --text FILE...]
#
# --check compares gradients with differences of losses instead. --text makes the
# text first, of the beginning of the named files: lines that are ASCII.

import pathlib
import sys

import numpy

import batches

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import random_values

WIDTH, LAYERS, HEADS, LENGTH, PIECES = 256, 4, 4, batches.LENGTH, batches.PIECES
HIDDEN, CHARACTERS = 4 * WIDTH, 128
STEPS = 100
RATE, KEPT, KEPT2, EPSILON = 1e-3, 0.9, 0.99, 1e-8

# ---------------------------------------------------------------------------
# Values that know how they were made
# ---------------------------------------------------------------------------


def fit(gradient, shape):
    """The sum over what was broadcast."""
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=0)
    for axis, size in enumerate(shape):
        if size == 1:
            gradient = gradient.sum(axis=axis, keepdims=True)
    return gradient


class Value:
    """An array, and how gradients of it become those of what it was made of."""

    def __init__(self, array, *made_of):
        self.array = array
        self.made_of = made_of  # pairs of a value and a function of the gradient
        self.gradient = None

    def __add__(self, other):
        return Value(self.array + other.array,
                     (self, lambda g: g), (other, lambda g: g))

    def __mul__(self, other):
        if not isinstance(other, Value):
            other = Value(numpy.float64(other))
        return Value(self.array * other.array,
                     (self, lambda g: g * other.array),
                     (other, lambda g: g * self.array))

    def __sub__(self, other):
        return self + other * -1.0

    def __matmul__(self, other):
        return Value(self.array @ other.array,
                     (self, lambda g: g @ other.array.swapaxes(-1, -2)),
                     (other, lambda g: self.array.swapaxes(-1, -2) @ g))

    def of(self, result, slope):
        return Value(result, (self, lambda g: g * slope))

    def exp(self):
        result = numpy.exp(self.array)
        return self.of(result, result)

    def log(self):
        return self.of(numpy.log(self.array), 1 / self.array)

    def tanh(self):
        result = numpy.tanh(self.array)
        return self.of(result, 1 - result**2)

    def power(self, exponent):
        return self.of(self.array**exponent, exponent * self.array ** (exponent - 1))

    def sum(self):
        """Over the last dimension."""
        return Value(self.array.sum(axis=-1, keepdims=True),
                     (self, lambda g: numpy.broadcast_to(g, self.array.shape)))

    def reshape(self, *shape):
        return Value(self.array.reshape(shape),
                     (self, lambda g: g.reshape(self.array.shape)))

    def swap(self, first, second):
        return Value(self.array.swapaxes(first, second),
                     (self, lambda g: g.swapaxes(first, second)))

    def row(self, index):
        def put(g):
            whole = numpy.zeros_like(self.array)
            whole[index] = g
            return whole

        return Value(self.array[index], (self, put))

    def go_back(self):
        """Sets the gradient of all that this number was made of."""
        order, seen = [], set()

        def visit(value):
            if id(value) in seen:
                return
            seen.add(id(value))
            for source, _ in value.made_of:
                visit(source)
            order.append(value)

        visit(self)
        for value in order:
            value.gradient = numpy.zeros_like(value.array)
        self.gradient = numpy.ones_like(self.array)
        for value in reversed(order):
            for source, rule in value.made_of:
                source.gradient = source.gradient + fit(
                    rule(value.gradient), source.array.shape
                )


# ---------------------------------------------------------------------------
# The model
# ---------------------------------------------------------------------------


def norm(x, gain, bias):
    centred = x - x.sum() * (1 / WIDTH)
    variance = (centred * centred).sum() * (1 / WIDTH)
    one = Value(numpy.ones(1))
    scaled = centred * (variance + Value(numpy.array([1e-5]))).power(-0.5)
    return scaled * (gain + one) + bias


def gelu(x):
    one = Value(numpy.ones(1))
    u = (x + x * x * x * 0.044715) * 0.7978845608
    return x * 0.5 * (u.tanh() + one)


def softmax(x):
    # What is taken off for exponentials to be finite changes nothing.
    e = (x - Value(x.array.max(axis=-1, keepdims=True))).exp()
    return e * e.sum().power(-1.0)


def attention(x, wqkv):
    def heads(i):
        all_of_them = x @ wqkv.row(i)
        return all_of_them.reshape(PIECES, LENGTH, HEADS, -1).swap(1, 2)

    q, k, v = heads(0), heads(1), heads(2)
    future = numpy.triu(numpy.full((LENGTH, LENGTH), -1e30), 1)
    scores = (q @ k.swap(-1, -2)) * (WIDTH // HEADS) ** -0.5 + Value(future)
    return (softmax(scores) @ v).swap(1, 2).reshape(PIECES * LENGTH, WIDTH)


def layer(x, p, i):
    norms = p[f"norms{i}"]
    a = norm(x, norms.row(0), norms.row(1))
    z = x + attention(a, p[f"wqkv{i}"]) @ p[f"wo{i}"]
    a = norm(z, norms.row(2), norms.row(3))
    return z + gelu(a @ p[f"win{i}"].swap(0, 1)) @ p[f"wout{i}"]


def loss_of(p, inputs, targets):
    one_hot = numpy.eye(CHARACTERS)
    x = Value(one_hot[inputs.ravel()]) @ p["token"]
    x = x.reshape(PIECES, LENGTH, WIDTH) + p["place"]
    x = x.reshape(PIECES * LENGTH, WIDTH)
    for i in range(LAYERS):
        x = layer(x, p, i)
    x = norm(x, p["norm"].row(0), p["norm"].row(1))
    q = softmax(x @ p["head"].swap(0, 1))
    own = (q * Value(one_hot[targets.ravel()])).sum().log()
    return own.reshape(-1).sum() * (-1 / (PIECES * LENGTH))


# ---------------------------------------------------------------------------
# What `run` has pw-run begin with
# ---------------------------------------------------------------------------


def first_parameters():
    shapes = {"token": (CHARACTERS, WIDTH), "place": (LENGTH, WIDTH)}
    for i in range(LAYERS):
        shapes[f"norms{i}"] = (4, WIDTH)
        shapes[f"wqkv{i}"] = (3, WIDTH, WIDTH)
        shapes[f"wo{i}"] = (WIDTH, WIDTH)
        shapes[f"win{i}"] = (HIDDEN, WIDTH)
        shapes[f"wout{i}"] = (HIDDEN, WIDTH)
    shapes["norm"] = (2, WIDTH)
    shapes["head"] = (CHARACTERS, WIDTH)
    values = random_values.first_values(HERE / "parameters.txt", shapes)
    return {name: Value(array) for name, array in values.items()}


def step_of(text, step):
    """Inputs and targets of one step."""
    shape = (STEPS, PIECES, LENGTH)
    return (
        numpy.frombuffer(batches.pieces(text, STEPS, shift), numpy.int8)
        .reshape(shape)[step]
        for shift in (0, 1)
    )


# ---------------------------------------------------------------------------
# What can be asked for
# ---------------------------------------------------------------------------


def check():
    p = first_parameters()
    inputs, targets = step_of(batches.read_text(), 0)
    loss_of(p, inputs, targets)
    loss = loss_of(p, inputs, targets)
    loss.go_back()
    gradients = {name: value.gradient for name, value in p.items()}
    chooser = numpy.random.default_rng(1)
    worst = 0
    for name, value in p.items():
        # The element that matters most: others drown in rounding.
        at = numpy.unravel_index(abs(gradients[name]).argmax(), value.array.shape)
        if chooser.random() < 0.5:
            rows = numpy.argwhere(abs(gradients[name]) > 1e-4)
            at = tuple(chooser.choice(rows))
        sides = []
        for h in (1e-5, -1e-5):
            value.array[at] += h
            sides.append(loss_of(p, inputs, targets).array.item())
            value.array[at] -= h
        slope = (sides[0] - sides[1]) / 2e-5
        error = abs(slope - gradients[name][at]) / abs(slope)
        worst = max(worst, error)
        print(f"{name}{list(map(int, at))}: {gradients[name][at]:.9f} {slope:.9f}")
    print(f"largest relative difference: {worst:.2g}")
    return 0 if worst < 1e-4 else 1


def train():
    p = first_parameters()
    m = {name: numpy.zeros_like(value.array) for name, value in p.items()}
    v = {name: numpy.zeros_like(value.array) for name, value in p.items()}
    text, losses = batches.read_text(), []
    for step in range(STEPS):
        inputs, targets = step_of(text, step)
        loss = loss_of(p, inputs, targets)
        loss.go_back()
        losses.append(loss.array.item())
        print(step + 1, losses[-1], flush=True)
        for name, value in p.items():
            g = value.gradient
            m[name] = KEPT * m[name] + (1 - KEPT) * g
            v[name] = KEPT2 * v[name] + (1 - KEPT2) * g * g
            mean = m[name] / (1 - KEPT ** (step + 1))
            mean2 = v[name] / (1 - KEPT2 ** (step + 1))
            value.array = value.array - RATE * mean / (numpy.sqrt(mean2) + EPSILON)
        p = {name: Value(value.array) for name, value in p.items()}
    (batches.DATA / "loss.txt").write_text("".join(f"{x:.7f}\n" for x in losses))
    return 0


def make_text(files):
    text = "".join(
        line
        for file in files
        for line in pathlib.Path(file).read_text().splitlines(keepends=True)
        if line.isascii()
    )
    size = STEPS * PIECES * LENGTH + 1
    if len(text) < size:
        sys.exit(f"error: expected {size} characters, got {len(text)}")
    batches.DATA.mkdir(exist_ok=True)
    (batches.DATA / "text.txt").write_text(text[:size])


def main():
    if sys.argv[1:] == ["--check"]:
        return check()
    if sys.argv[1:2] == ["--text"]:
        make_text(sys.argv[2:])
    elif len(sys.argv) > 1:
        sys.exit("usage: make_data.py [--check | --text FILE...]")
    return train()


if __name__ == "__main__":
    sys.exit(main())
