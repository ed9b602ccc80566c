#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares random regions of pw.manual, run by pw-run, with NumPy.

    random_manual.py PW_RUN [--seed=S] [--count=N]

Case S is made of the seed S alone: a mesh of up to 8 shards, manual axes, shardings of
operands and results over all axes, and operations and collectives on one shard, in
loops and in regions inside of each other. NumPy computes each shard along the manual
axes. PATHWAYS_TEST_SEED sets the seed, and PATHWAYS_TEST_ALL makes more cases the
default. Exits with 77 if NumPy is missing.
"""

import argparse
import itertools
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

MOST_ROWS = 20


def type_of(shape):
    return "tensor<" + "".join(f"{size}x" for size in shape) + "i32>"


def list_of(axes):
    return "[" + ", ".join(f'"{axis}"' for axis in axes) + "]"


class Value:
    """A tensor in a region: its name, its shape, and its elements on each shard."""

    def __init__(self, name, shards):
        self.name = name
        self.shards = {place: np.asarray(shard).astype(np.int32)
                       for place, shard in shards.items()}
        self.shape = next(iter(self.shards.values())).shape
        self.type = type_of(self.shape)


class Case:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.mesh = {axis: self.random.choice([1, 2, 2, 3]) for axis in "xyz"}
        while math.prod(self.mesh.values()) > 8:
            self.mesh[self.random.choice("xyz")] = 1
        self.manual = self.some("xyz", 0.5) or ["x"]
        self.free = [axis for axis in "xyz" if axis not in self.manual]
        self.places = list(itertools.product(
            *[range(self.mesh[axis]) for axis in self.manual]))
        self.lines, self.values, self.count = [], [], 0

    def some(self, axes, chance):
        """Some of the axes, in any order."""
        taken = [axis for axis in axes if self.random.random() < chance]
        self.random.shuffle(taken)
        return taken

    def blocks(self, axes):
        return math.prod(self.mesh[axis] for axis in axes)

    def new(self):
        self.count += 1
        return self.count

    # Layouts

    def sharding(self, firsts, others):
        """Text that cuts each dimension over the axes of `firsts`, then over some of
        `others`, and may leave it open."""
        dims = [list(axes) for axes in firsts]
        for axis in self.some(others, 0.4):
            self.random.choice(dims).append(axis)
        lists = ["{" + ", ".join([f'"{axis}"' for axis in axes] +
                                 ["?"] * self.random.randrange(2)) + "}" for axes in dims]
        return "[" + ", ".join(lists) + "]"

    def manual_cut(self):
        """The manual axes that cut each of two dimensions."""
        dims = [[], []]
        for axis in self.some(self.manual, 0.7):
            self.random.choice(dims).append(axis)
        return dims

    def number(self, place, axes):
        """The number of a shard along axes, major first."""
        number = 0
        for axis in axes:
            number = number * self.mesh[axis] + place[self.manual.index(axis)]
        return number

    def block_of(self, shape, cut, place):
        """The slices of a whole array that a shard has."""
        slices = []
        for size, axes in zip(shape, cut):
            block, at = size // self.blocks(axes), self.number(place, axes)
            slices.append(slice(at * block, (at + 1) * block))
        return tuple(slices)

    def groups(self, axes):
        """For each group along the axes, its places by rank."""
        groups = {}
        for place in self.places:
            key = tuple(number for axis, number in zip(self.manual, place)
                        if axis not in axes)
            groups.setdefault(key, {})[self.number(place, axes)] = place
        return [[group[rank] for rank in sorted(group)] for group in groups.values()]

    # Operations

    def emit(self, text, shards):
        """Adds a line, in which # is a number of its own."""
        number = self.new()
        self.lines.append(text.replace("#", str(number)))
        self.values.append(Value(f"%v{number}", shards))

    def elementwise(self, value):
        other = self.random.choice([v for v in self.values if v.shape == value.shape])
        name, combine = self.random.choice([("addi", np.add), ("muli", np.multiply),
                                            ("subi", np.subtract)])
        self.emit(f"%v# = arith.{name} {value.name}, {other.name} : {value.type}",
                  {p: combine(value.shards[p], other.shards[p]) for p in self.places})

    def transpose(self, value):
        turned = type_of(value.shape[::-1])
        self.emit(f"%e# = tensor.empty() : {turned}\n"
                  f"%v# = linalg.transpose ins({value.name} : {value.type}) "
                  f"outs(%e# : {turned}) permutation = [1, 0]",
                  {p: value.shards[p].T for p in self.places})

    def matmul(self, value):
        fitting = [v for v in self.values if v.shape[0] == value.shape[1]]
        if not fitting:
            return
        other = self.random.choice(fitting)
        result = type_of((value.shape[0], other.shape[1]))
        self.emit(f"%z# = arith.constant dense<0> : {result}\n"
                  f"%v# = linalg.matmul ins({value.name}, {other.name} : {value.type}, "
                  f"{other.type}) outs(%z# : {result}) -> {result}",
                  {p: value.shards[p] @ other.shards[p] for p in self.places})

    def reduce(self, value):
        dim = self.random.randrange(2)
        sums = type_of(value.shape[:dim] + value.shape[dim + 1:])
        self.emit(f"%z# = arith.constant dense<0> : {sums}\n"
                  f"%s# = linalg.reduce {{ arith.addi }} ins({value.name} : {value.type})"
                  f" outs(%z# : {sums}) dimensions = [{dim}]\n"
                  f"%e# = tensor.empty() : {value.type}\n"
                  f"%v# = linalg.broadcast ins(%s# : {sums}) outs(%e# : {value.type}) "
                  f"dimensions = [{dim}]",
                  {p: np.broadcast_to(
                      value.shards[p].sum(axis=dim, keepdims=True, dtype=np.int32),
                      value.shape) for p in self.places})

    def constrain(self, value):
        if any(f"pw.constrain {value.name} " in line for line in self.lines):
            return
        self.emit(f"%v# = pw.constrain {value.name} "
                  f"{self.sharding([[], []], self.free)} : {value.type}", value.shards)

    def index(self, value):
        axis = self.random.choice(self.manual)
        self.emit(f'%i# = pw.shard_index "{axis}" : index\n'
                  "%c# = arith.index_cast %i# : index to i32\n"
                  f"%e# = tensor.splat %c# : {value.type}\n"
                  f"%v# = arith.addi {value.name}, %e# : {value.type}",
                  {p: value.shards[p] + self.number(p, [axis]) for p in self.places})

    def axes(self):
        axes = self.some(self.manual, 0.7) or self.manual[:1]
        return axes, self.groups(axes)

    def summed(self, value, groups):
        return {p: sum(value.shards[q] for q in group) for group in groups for p in group}

    def all_reduce(self, value):
        axes, groups = self.axes()
        self.emit(f"%v# = pw.all_reduce {value.name} add over {list_of(axes)} : "
                  f"{value.type}", self.summed(value, groups))

    def all_gather(self, value):
        axes, groups = self.axes()
        dim = self.random.randrange(2)
        shape = list(value.shape)
        shape[dim] *= len(groups[0])
        if shape[dim] > MOST_ROWS:
            return
        self.emit(f"%v# = pw.all_gather {value.name} dim {dim} over {list_of(axes)} : "
                  f"{value.type} -> {type_of(shape)}",
                  {p: np.concatenate([value.shards[q] for q in group], axis=dim)
                   for group in groups for p in group})

    def reduce_scatter(self, value):
        axes, groups = self.axes()
        dim, size = self.random.randrange(2), len(groups[0])
        if value.shape[dim] % size != 0:
            return
        shape = list(value.shape)
        shape[dim] //= size
        total = self.summed(value, groups)
        self.emit(f"%v# = pw.reduce_scatter {value.name} add dim {dim} over "
                  f"{list_of(axes)} : {value.type} -> {type_of(shape)}",
                  {p: np.split(total[p], size, axis=dim)[rank]
                   for group in groups for rank, p in enumerate(group)})

    def all_to_all(self, value):
        axes, groups = self.axes()
        split, concat = self.random.randrange(2), self.random.randrange(2)
        size = len(groups[0])
        if value.shape[split] % size != 0:
            return
        shape = list(value.shape)
        shape[split] //= size
        shape[concat] *= size
        self.emit(f"%v# = pw.all_to_all {value.name} split {split} concat {concat} over "
                  f"{list_of(axes)} : {value.type} -> {type_of(shape)}",
                  {p: np.concatenate([np.split(value.shards[q], size, axis=split)[rank]
                                      for q in group], axis=concat)
                   for group in groups for rank, p in enumerate(group)})

    def permute(self, value):
        axes, groups = self.axes()
        shift = self.random.randint(-2, 2)
        self.emit(f"%v# = pw.permute {value.name} shift {shift} over {list_of(axes)} wrap "
                  f": {value.type}",
                  {p: value.shards[group[(rank - shift) % len(group)]]
                   for group in groups for rank, p in enumerate(group)})

    def loop(self, value):
        axes, groups = self.axes()
        self.emit("%b# = arith.constant 0 : index\n%o# = arith.constant 1 : index\n"
                  "%t# = arith.constant 2 : index\n"
                  f"%v# = scf.for %i# = %b# to %t# step %o# iter_args(%w# = {value.name}) "
                  f"-> {value.type} {{\n"
                  f"%s# = pw.all_reduce %w# add over {list_of(axes)} : {value.type}\n"
                  f"%n# = arith.addi %s#, {value.name} : {value.type}\n"
                  f"scf.yield %n# : {value.type}\n}}", self.twice(value, groups))

    def twice(self, value, groups):
        first = self.summed(value, groups)
        once = Value("", {p: first[p] + value.shards[p] for p in self.places})
        second = self.summed(once, groups)
        return {p: second[p] + value.shards[p] for p in self.places}

    def inner(self, value):
        """A region over the other axes in this one."""
        if not self.free:
            return
        over = self.some(self.free, 0.7) or self.free[:1]
        size = self.blocks(over)
        if value.shape[0] % size != 0:
            return
        block = type_of((value.shape[0] // size, value.shape[1]))
        cut = "[{" + ", ".join(f'"{axis}"' for axis in over) + "}, {}]"
        self.emit(f"%v# = pw.manual({value.name}) over {list_of(over)} in [{cut}] out "
                  f"[[{{}}, {{}}]] (%b#: {block}) {{\n"
                  f"%g# = pw.all_gather %b# dim 0 over {list_of(over)} : {block} -> "
                  f"{value.type}\npw.yield %g# : {value.type}\n"
                  f"}} : ({value.type}) -> {value.type}", value.shards)

    # Programs

    def array(self, shape):
        return ("!pw.array<" + "x".join(map(str, shape)) + "xi32, @s, " +
                self.sharding([[], []], "xyz") + ">")

    def make(self):
        """Returns the text, the operands and the expected result."""
        shape = (self.random.randint(1, 5), self.random.randint(1, 5))
        operands, ins = [], []
        for number in range(self.random.randint(1, 3)):
            cut = self.manual_cut()
            whole = tuple(size * self.blocks(axes) for size, axes in zip(shape, cut))
            operand = np.array([[self.random.randint(-9, 9) for _ in range(whole[1])]
                                for _ in range(whole[0])], np.int32)
            operands.append(operand)
            ins.append(self.sharding(cut, self.free))
            self.values.append(Value(f"%a{number}", {
                p: operand[self.block_of(whole, cut, p)] for p in self.places}))
        arguments = ", ".join(f"{v.name}: {v.type}" for v in self.values)
        steps = [self.elementwise, self.elementwise, self.transpose, self.matmul,
                 self.reduce, self.constrain, self.index, self.all_reduce,
                 self.all_gather, self.reduce_scatter, self.all_to_all, self.permute,
                 self.loop, self.inner]
        for _ in range(self.random.randint(2, 9)):
            self.random.choice(steps)(self.random.choice(self.values[-4:]))
        # A result is equal along manual axes that do not cut it.
        cut = self.manual_cut()
        rest = [axis for axis in self.manual if axis not in cut[0] + cut[1]]
        last = self.values[-1]
        if rest:
            self.emit(f"%v# = pw.all_reduce {last.name} add over {list_of(rest)} : "
                      f"{last.type}", self.summed(last, self.groups(rest)))
            last = self.values[-1]
        whole = tuple(size * self.blocks(axes) for size, axes in zip(last.shape, cut))
        expected = np.zeros(whole, np.int32)
        for place in self.places:
            expected[self.block_of(whole, cut, place)] = last.shards[place]
        return self.text(operands, ins, arguments, last, self.sharding(cut, self.free),
                         expected), operands, expected

    def text(self, operands, ins, arguments, last, out, expected):
        names = [f"%x{number}" for number in range(len(operands))]
        types = [type_of(operand.shape) for operand in operands]
        arrays = [self.array(operand.shape) for operand in operands]
        result, array = type_of(expected.shape), self.array(expected.shape)
        mesh = ", ".join(f'"{axis}" = {size}' for axis, size in self.mesh.items())

        def typed(kinds):
            return ", ".join(f"{name}: {kind}" for name, kind in zip(names, kinds))

        return "\n".join([
            f"pw.slice @s mesh <{mesh}>",
            f"func.func private @f({typed(types)}) -> {result} {{",
            f"%r = pw.manual({', '.join(names)}) over {list_of(self.manual)} in "
            f"[{', '.join(ins)}] out [{out}] ({arguments}) {{",
            *self.lines,
            f"pw.yield {last.name} : {last.type}",
            f"}} : ({', '.join(types)}) -> {result}",
            f"return %r : {result}\n}}",
            f'pw.program @p({typed(arrays)}) -> ({array} {{pw.name = "r"}}) {{',
            f"%0 = pw.call @f({', '.join(names)}) : ({', '.join(arrays)}) -> {array}",
            f"pw.return %0 : {array}\n}}", ""])


def run(pw_run, seed, folder):
    """Returns what is wrong with a case, or nothing, and its text."""
    case = Case(seed)
    with np.errstate(over="ignore"):
        text, operands, expected = case.make()
    path = folder / "program.mlir"
    path.write_text(text, encoding="utf-8")
    np.save(folder / "r.npy", expected)
    command = [pw_run, str(path), f"--topology=1x1x{math.prod(case.mesh.values())}",
               f"--expected=r=@{folder / 'r.npy'}"]
    for number, operand in enumerate(operands):
        np.save(folder / f"x{number}.npy", operand)
        command.append(f"--input=x{number}=@{folder / f'x{number}.npy'}")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    output = done.stdout + done.stderr
    return (output if done.returncode != 0 else ""), text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pw_run")
    parser.add_argument("--seed", type=int,
                        default=int(os.environ.get("PATHWAYS_TEST_SEED", "1")))
    parser.add_argument("--count", type=int,
                        default=1000 if "PATHWAYS_TEST_ALL" in os.environ else 60)
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.seed, options.seed + options.count):
            wrong, text = run(options.pw_run, seed, pathlib.Path(folder))
            if wrong:
                failed += 1
                print(f"seed {seed}:\n{text}{wrong}")
    print(f"{options.count - failed} of {options.count} cases pass, from seed "
          f"{options.seed}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
