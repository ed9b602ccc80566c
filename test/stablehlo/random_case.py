# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A part of a random module: its text, the values of its arguments, its outputs."""

import numpy as np

import elements
from elements import is_float, is_unsigned, round_to, width
from generic_form import hex_of

FLOATS = ["f32", "f64", "f16", "bf16"]
SIGNED = ["i32", "i64", "i8", "i16"]
UNSIGNED = ["ui8", "ui32", "ui64", "ui16"]
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS
ALL = NUMBERS + ["i1"]
MOST_ELEMENTS = 400

SPECIAL_FLOATS = ["nan", "inf", "-inf", "0.0", "-0.0", "1.0", "-1.0", "0.5", "-0.5",
                  "1.5", "2.5", "-2.5", "0.49999997", "255.5", "-129.0", "65504.0",
                  "2147483648.0", "9.3e18", "1e-40", "-1e-7", "3e38"]


def text_of(shape, element):
    return "tensor<" + "".join(f"{size}x" for size in shape) + element + ">"


class Case:
    """Everything is determined by the seed."""

    def __init__(self, seed):
        self.seed = seed
        self.random = np.random.default_rng(seed)
        self.lines = []
        self.functions = []
        self.arguments = []  # name, array, element type
        self.outputs = []  # name, shape, element type, how to compare
        self.count = 0
        self.kind = None

    # Choices.
    def below(self, n):
        return int(self.random.integers(n)) if n > 1 else 0

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def chance(self, probability):
        return self.random.random() < probability

    def pick(self, options):
        return options[self.below(len(options))]

    def subset(self, options, count):
        """`count` of the options, in random order."""
        order = self.random.permutation(len(options))[:count]
        return [options[int(i)] for i in order]

    def size(self):
        if self.chance(0.03):
            return 0
        if self.chance(0.2):
            return 1
        return self.pick([2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 33])

    def shape(self, low=0, high=4, most=MOST_ELEMENTS):
        shape = [self.size() for _ in range(self.between(low, high))]
        while np.prod([max(size, 1) for size in shape]) > most:
            at = int(np.argmax(shape))
            shape[at] = max(1, shape[at] // 2)
        return tuple(shape)

    # Values.
    def values(self, shape, element, style="any"):
        """An array. Styles: any, special, small (sums are exact), positive, unit."""
        if element == "i1":
            return self.random.random(shape) < 0.5
        if not is_float(element):
            return self.integers(shape, element, style)
        if style == "any":
            style = self.pick(["normal", "normal", "wide", "special"])
        if style == "special":
            chosen = self.random.integers(len(SPECIAL_FLOATS), size=shape)
            special = np.array([float(text) for text in SPECIAL_FLOATS])
            return round_to(special[chosen], element)
        if style == "small":
            return round_to(self.random.integers(-3, 4, shape), element)
        numbers = self.random.standard_normal(shape)
        if style == "positive":
            numbers = np.abs(numbers) * 3 + 0.01
        if style == "unit":
            numbers = self.random.random(shape) * 2 - 1
        if style == "wide":
            numbers = numbers * 10.0 ** self.random.integers(-4, 5, shape)
        return round_to(numbers, element)

    def integers(self, shape, element, style):
        info = np.iinfo(elements.DTYPES[element])
        if style in ("small", "unit"):
            low = 0 if is_unsigned(element) else -3
            return self.random.integers(low, 4, shape).astype(elements.DTYPES[element])
        if style == "positive":
            return self.random.integers(1, 100, shape).astype(elements.DTYPES[element])
        if self.chance(0.3):
            some = [0, 1, 2, info.max, info.min, info.max - 1, width(element),
                    width(element) - 1]
            if not is_unsigned(element):
                some += [-1, -2, -width(element)]
            chosen = self.random.integers(len(some), size=shape)
            return np.array(some, elements.DTYPES[element])[chosen]
        if self.chance(0.5):
            low = max(int(info.min), -100)
            return self.random.integers(low, 101, shape).astype(elements.DTYPES[element])
        return self.random.integers(info.min, info.max, shape, endpoint=True,
                                    dtype=elements.DTYPES[element])

    # Text.
    def name(self):
        self.count += 1
        return f"%s{self.seed}_{self.count}"

    def constant(self, array, element):
        name = self.name()
        self.lines.append(f"{name} = stablehlo.constant {hex_of(array, element)}")
        return name

    def scalar(self, value, element):
        return self.constant(round_to(np.array(value), element), element)

    def given(self, array, element):
        """A constant or an argument of this value."""
        array = round_to(array, element)
        if self.chance(0.3):
            return self.constant(array, element)
        name = self.name()
        self.arguments.append((name, np.array(array), element))
        return name

    def input(self, shape, element, style="any"):
        return self.given(self.values(shape, element, style), element)

    def emit(self, text, count=1):
        """Adds an operation; returns the names of its results."""
        name = self.name()
        if count == 1:
            self.lines.append(f"{name} = {text}")
            return [name]
        self.lines.append(f"{name}:{count} = {text}" if count else text)
        return [f"{name}#{i}" for i in range(count)]

    def op(self, name, operands, types, result):
        """An operation in its short form, whose types are a function type."""
        types = ", ".join(text_of(*of) for of in types)
        return self.emit(f"stablehlo.{name} {operands} : ({types}) -> "
                         f"{text_of(*result)}")[0]

    def generic(self, name, operands, properties, types, results, regions=()):
        inputs = ", ".join(text_of(*of) for of in types)
        outputs = ", ".join(text_of(*of) for of in results)
        body = " (" + ", ".join(regions) + ")" if regions else ""
        properties = f" <{{{properties}}}>" if properties else ""
        return self.emit(f'"{name}"({", ".join(operands)}){properties}{body} : '
                         f"({inputs}) -> ({outputs})", len(results))

    def region(self, types, build):
        """Text of a region whose block has arguments of `types`. `build` gets their
        names and returns names and types of what the region returns."""
        outer, self.lines = self.lines, []
        names = [self.name() for _ in types]
        values, results = build(names)
        header = ", ".join(f"{n}: {text_of(*t)}" for n, t in zip(names, types))
        label = f"^bb0({header}):\n" if names else ""
        self.lines.append(returned("stablehlo.return", values, results))
        text = "{\n" + label + "\n".join(self.lines) + "\n}"
        self.lines = outer
        return text

    def output(self, name, shape, element, compare="eq"):
        """`compare` is "eq", a number of ulps, or a tolerance below 1."""
        self.outputs.append((name, shape, element, compare))


def returned(terminator, values, types):
    if not values:
        return terminator
    return (f"{terminator} {', '.join(values)} : " +
            ", ".join(text_of(*of) for of in types))


def array_of(numbers):
    return "array<i64" + (": " if len(numbers) else "") + ", ".join(
        str(int(n)) for n in numbers) + ">"


def list_of(numbers):
    return "[" + ", ".join(str(int(n)) for n in numbers) + "]"


def pairs_of(pairs):
    if not len(pairs):
        return "dense<> : tensor<0x2xi64>"
    return ("dense<[" + ", ".join(list_of(pair) for pair in pairs) +
            f"]> : tensor<{len(pairs)}x2xi64>")
