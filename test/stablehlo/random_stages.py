#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs random programs with stages, and the same programs without marks.

usage: random_stages.py PW_RUN [--first=SEED] [--count=N] [--keep=FOLDER]

The programs compute with integers, so both runs have the same bits. Operations,
calls and loops have random marks; functions contain marks of their own.
"""

import argparse
import pathlib
import random
import re
import subprocess
import sys
import tempfile

VECTOR, SCALAR = "tensor<4xi32>", "tensor<i32>"
BINARY = ["add", "subtract", "multiply", "maximum", "minimum", "xor"]


class Module:
    """The text of a random module."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.number = 0
        self.functions = []
        self.slices = [f"s{i}" for i in range(self.random.randint(1, 4))]
        self.labels = [None, None] + [f"{i}{d}" for i in range(2) for d in "FB"]
        self.share = self.random.choice([0.2, 0.5, 0.9])  # of marked operations

    def name(self):
        self.number += 1
        return f"%v{self.number}"

    def mark(self):
        if self.random.random() > self.share:
            return ""
        marks = []
        label = self.random.choice(self.labels)
        if label:
            marks.append(f'pw_label = "{label}"')
        if self.random.random() < 0.9:
            marks.append(f'pw_slice = "{self.random.choice(self.slices)}"')
        if not marks:
            return ""
        return " {mhlo.frontend_attributes = {" + ", ".join(marks) + "}}"

    def pick(self, values, wanted):
        found = [name for name, type in values if type == wanted]
        return self.random.choice(found[-6:]) if found else None

    def operation(self, values, depth):
        """Appends to `values` what a random operation computes; returns its lines."""
        kind = self.random.random()
        if kind < 0.12:
            result = self.name()
            values.append((result, SCALAR))
            number = self.random.randint(-9, 9)
            return [f"{result} = stablehlo.constant dense<{number}> : {SCALAR}"]
        if kind < 0.24 and (source := self.pick(values, SCALAR)):
            result = self.name()
            values.append((result, VECTOR))
            return [f"{result} = stablehlo.broadcast_in_dim {source}, dims = []{self.mark()} : ({SCALAR}) -> {VECTOR}"]
        if kind < 0.34 and (source := self.pick(values, VECTOR)):
            cut, result = self.name(), self.name()
            values.append((result, SCALAR))
            place = self.random.randint(0, 3)
            return [
                f"{cut} = stablehlo.slice {source} [{place}:{place + 1}]{self.mark()} : ({VECTOR}) -> tensor<1xi32>",
                f"{result} = stablehlo.reshape {cut} : (tensor<1xi32>) -> {SCALAR}",
            ]
        if kind < 0.44 and depth < 2:
            return self.call(values, depth)
        if kind < 0.5 and depth < 1:
            return self.loop(values, depth)
        type = self.random.choice([VECTOR, VECTOR, VECTOR, SCALAR])
        left, right = self.pick(values, type), self.pick(values, type)
        if not left:
            return []
        result = self.name()
        values.append((result, type))
        name = self.random.choice(BINARY)
        return [f"{result} = stablehlo.{name} {left}, {right}{self.mark()} : {type}"]

    def body(self, values, count, depth):
        lines = []
        for _ in range(count):
            lines += self.operation(values, depth)
        return lines

    def call(self, values, depth):
        left, right = self.pick(values, VECTOR), self.pick(values, VECTOR)
        function = f"f{len(self.functions)}"
        self.functions.append("")
        inner = [("%a", VECTOR), ("%b", VECTOR)]
        lines = self.body(inner, self.random.randint(1, 6), depth + 1)
        results = [self.pick(inner, VECTOR), self.pick(inner, VECTOR)]
        text = f"func.func private @{function}(%a: {VECTOR}, %b: {VECTOR}) -> ({VECTOR}, {VECTOR}) {{\n"
        text += "".join(f"  {line}\n" for line in lines)
        text += f"  return {results[0]}, {results[1]} : {VECTOR}, {VECTOR}\n}}\n"
        self.functions[int(function[1:])] = text
        made = []
        for _ in range(self.random.randint(1, 2)):
            result = self.name()
            values += [(f"{result}#0", VECTOR), (f"{result}#1", VECTOR)]
            made.append(
                f"{result}:2 = func.call @{function}({left}, {right}){self.mark()} : ({VECTOR}, {VECTOR}) -> ({VECTOR}, {VECTOR})"
            )
        return made

    def loop(self, values, depth):
        start, result = self.pick(values, VECTOR), self.name()
        zero, count = self.name(), self.random.randint(0, 3)
        i, x, n, p, one, j = (self.name() for _ in range(6))
        inner = values + [(x, VECTOR), (i, SCALAR)]
        lines = self.body(inner, self.random.randint(1, 4), depth + 1)
        last = self.pick(inner, VECTOR)
        values.append((f"{result}#1", VECTOR))
        return [
            f"{zero} = stablehlo.constant dense<0> : {SCALAR}",
            f"{result}:2 = stablehlo.while({i} = {zero}, {x} = {start}) : {SCALAR}, {VECTOR}",
            "cond {",
            f"{n} = stablehlo.constant dense<{count}> : {SCALAR}",
            f"{p} = stablehlo.compare LT, {i}, {n}, SIGNED : ({SCALAR}, {SCALAR}) -> tensor<i1>",
            f"stablehlo.return {p} : tensor<i1>",
            "} do {",
            *lines,
            f"{one} = stablehlo.constant dense<1> : {SCALAR}",
            f"{j} = stablehlo.add {i}, {one} : {SCALAR}",
            f"stablehlo.return {j}, {last} : {SCALAR}, {VECTOR}",
            "}",
        ]

    def text(self):
        arguments = self.random.randint(1, 4)
        values = [(f"%arg{i}", VECTOR) for i in range(arguments)]
        lines = self.body(values, self.random.randint(2, 30), 0)
        results = [self.pick(values, VECTOR) for _ in range(self.random.randint(1, 3))]
        if self.random.random() < 0.5:
            # A result takes the memory of an argument.
            aliased = self.random.randrange(arguments)
        else:
            aliased = None
        ports = [
            f"%arg{i}: {VECTOR}" + (" {tf.aliasing_output = 0 : i32}" if i == aliased else "")
            for i in range(arguments)
        ]
        types = ", ".join([VECTOR] * len(results))
        text = f"func.func public @main({', '.join(ports)}) -> ({types}) {{\n"
        text += "".join(f"  {line}\n" for line in lines)
        text += f"  return {', '.join(results)} : {types}\n}}\n"
        return text + "".join(self.functions), arguments, len(results)


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def try_seed(pw_run, seed, folder):
    """Returns a message, or None if both runs agree."""
    text, arguments, results = Module(seed).text()
    marked, plain = folder / f"{seed}.mlir", folder / f"{seed}-plain.mlir"
    marked.write_text(text)
    plain.write_text(re.sub(r" \{mhlo.frontend_attributes = [^}]*\}\}", "", text))
    inputs = [f"--input=arg{i}=random:{seed + i}" for i in range(arguments)]
    files = [folder / f"{seed}-{i}.npy" for i in range(results)]
    stores = [f"--output=result{i}=@{file}" for i, file in enumerate(files)]
    code, output = run([pw_run, plain, "--topology=1x1x1", *inputs, *stores])
    if code != 0:
        return "without marks: " + output
    wanted = [f"--expected=result{i}=@{file}" for i, file in enumerate(files)]
    topology = ["--topology=2x1x1", "--oversubscribe"]
    code, output = run([pw_run, marked, *topology, *inputs, *wanted])
    return None if code == 0 else output


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pw_run")
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or pathlib.Path(temporary)
        folder.mkdir(exist_ok=True)
        for seed in range(options.first, options.first + options.count):
            message = try_seed(options.pw_run, seed, folder)
            if message is not None:
                failed += 1
                print(f"seed {seed}: {message}")
    print(f"{options.count - failed} of {options.count} programs agree")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
