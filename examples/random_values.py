# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What trainings begin with, for those in NumPy: the values that pw-run makes of
# specifications of its --input.

import pathlib

import numpy


def random(shape, seed, scale):
    """As pw-run makes random:SEED:SCALE, in double precision."""
    count = int(numpy.prod(shape))
    step = numpy.uint64(0x9E3779B97F4A7C15)
    z = numpy.uint64(seed) + step * numpy.arange(1, count + 1, dtype=numpy.uint64)
    z = (z ^ z >> numpy.uint64(30)) * numpy.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> numpy.uint64(27)) * numpy.uint64(0x94D049BB133111EB)
    z = z ^ z >> numpy.uint64(31)
    values = ((z >> numpy.uint64(40)).astype(numpy.float64) / 2**23 - 1) * scale
    return values.astype(numpy.float32).astype(numpy.float64).reshape(shape)


def first_values(path, shapes):
    """Arrays of `shapes`, by name, as the lines of a file say: NAME zeros, or
    NAME random:SEED:SCALE."""
    specs = dict(
        line.split()
        for line in pathlib.Path(path).read_text().splitlines()
        if line and not line.startswith("#")
    )
    result = {}
    for name, shape in shapes.items():
        kind, *numbers = specs[name].split(":")
        assert kind in ("zeros", "random"), specs[name]
        if kind == "zeros":
            result[name] = numpy.zeros(shape)
        else:
            result[name] = random(shape, int(numbers[0]), float(numbers[1]))
    return result
