#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares random modules of StableHLO, run by pw-run, with the NumPy evaluator.

    random_modules.py PW_OPT PW_RUN [--seed=S] [--count=N] [-- FLAGS OF PW_RUN]

Case S is made of the seed S alone: one operation, or a few, with random attributes,
shapes, element types and values. Several cases make a module, whose checks have the
expected values. A case that fails is run on its own and printed as a module, which
--keep=FOLDER also stores. PATHWAYS_TEST_SEED sets the seed, and PATHWAYS_TEST_ALL
makes more cases the default. Exits with 77 if NumPy is missing.
"""

import argparse
import collections
import concurrent.futures
import functools
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

import elements
import evaluate
import generic_form
import random_elementwise
import random_products
import random_regions
from generic_form import hex_of
from random_case import Case, returned, text_of

GENERATORS = [generator for part in (random_elementwise, random_regions, random_products)
              for generator in part.GENERATORS]
HEADER = ("module @random attributes {{mhlo.num_partitions = {} : i32, "
          "mhlo.num_replicas = 1 : i32}} {{\n")
MESH = 'sdy.mesh @mesh = <["x"=2, "y"=2]>\n'


class Failure(Exception):
    """What went wrong, and the text of the module."""

    text = property(lambda self: self.args[1])

    def __str__(self):
        return self.args[0]


def make_case(seed, only):
    case = Case(seed)
    choices = [g for g in GENERATORS if only in (None, g[0].__name__.strip("_"))]
    weights = np.cumsum([weight for _, weight in choices])
    at = int(np.searchsorted(weights, case.below(int(weights[-1])), side="right"))
    generate = choices[at][0]
    generate(case)
    case.kind = case.kind or generate.__name__.strip("_")
    return case


def check_of(case, number, output, want, bits_first):
    """Lines that compare an output with its expected value."""
    name, shape, element, how = output
    kind, expected = text_of(shape, element), f"%e{case.seed}_{number}"
    lines = []
    if how == "eq" and bits_first and elements.is_float(element) and (
            not np.isnan(want).any()):
        # Bits tell apart the zeros.
        whole = f"ui{elements.width(element)}"
        bits = f"%b{case.seed}_{number}"
        lines.append(f"{bits} = stablehlo.bitcast_convert {name} : ({kind}) -> "
                     f"{text_of(shape, whole)}")
        name, want, element = bits, elements.to_bits(want, element), whole
        kind = text_of(shape, element)
    lines.append(f"{expected} = stablehlo.constant {hex_of(want, element)}")
    if how == "eq":
        lines.append(f"check.expect_eq {name}, {expected} : {kind}")
    elif how >= 1:
        # A printer leaves out 3, the default.
        units = f", max_ulp_difference = {how}" if how != 3 else ""
        lines.append(f"check.expect_close {name}, {expected}{units} : {kind}, {kind}")
    else:
        lines.append(f"check.expect_almost_eq {name}, {expected}, tolerance = {how:e} : "
                     f"{kind}")
    return lines


def sharding_of(case, number, array):
    """Cuts each axis of the mesh along a random dimension of an argument, or none."""
    random = np.random.default_rng([case.seed, number])
    dims = [[] for _ in array.shape]
    for axis in ("x", "y"):
        at = int(random.integers(-1, max(len(dims), 1)))
        if 0 <= at < len(dims) and array.shape[at] >= 2 * 2 ** len(dims[at]):
            dims[at].append(f'"{axis}"')
    parts = ", ".join("{" + ", ".join(dim) + "}" for dim in dims)
    return f" {{sdy.sharding = #sdy.sharding<@mesh, [{parts}]>}}"


def module_of(cases, wanted=None, all_constant=False, has_mesh=False):
    """The text of a module. Without the wanted values, it returns its outputs."""
    lines, arguments, outputs, functions = [], [], [], []
    for case in cases:
        functions += case.functions
        for number, (name, array, element) in enumerate(case.arguments):
            if all_constant:
                lines.append(f"{name} = stablehlo.constant {hex_of(array, element)}")
                continue
            sharding = sharding_of(case, number, array) if has_mesh else ""
            arguments.append(f"{name}: {text_of(array.shape, element)}{sharding}")
        lines += case.lines
        outputs += case.outputs
        if wanted is not None:
            for number, (output, want) in enumerate(zip(case.outputs,
                                                        wanted[case.seed])):
                lines += check_of(case, number, output, want, case.seed % 2 == 0)
    results = [] if wanted is not None else [(o[1], o[2]) for o in outputs]
    lines.append(returned("return", [o[0] for o in outputs] if results else [], results))
    result_text = ", ".join(text_of(*of) for of in results)
    header = HEADER.format(4) + MESH if has_mesh else HEADER.format(1)
    return (header + f"func.func public @main({', '.join(arguments)}) -> ({result_text}) "
            "{\n" + "\n".join(lines) + "\n}\n" + "\n".join(functions) + "\n}\n")


def save(path, array, element):
    if element == "bf16":
        bits = elements.to_bits(array, element)
        np.save(path, np.frombuffer(bits.tobytes(), "V2").reshape(array.shape))
    else:
        np.save(path, np.asarray(array, order="C"))


class Runner:
    def __init__(self, pw_opt, pw_run, flags, timeout, has_mesh=False):
        self.pw_opt, self.pw_run, self.flags = pw_opt, pw_run, flags
        self.timeout, self.has_mesh = timeout, has_mesh

    def expect(self, cases):
        """The values of all outputs, by seed."""
        text = module_of(cases)
        try:
            generic, = generic_form.normalize(self.pw_opt, [text])
        except generic_form.ParseError as error:
            raise Failure(f"pw-opt: {error}", text) from None
        results, _ = evaluate.evaluate(generic, [array for case in cases
                                                 for _, array, _ in case.arguments])
        wanted = {}
        for case in cases:
            count = len(case.outputs)
            wanted[case.seed], results = results[:count], results[count:]
            for value, (_, shape, element, _) in zip(wanted[case.seed], case.outputs):
                if value.shape != shape or value.dtype != elements.DTYPES[element]:
                    raise Failure(f"evaluator: {value.shape} of {value.dtype}, expected "
                                  f"{text_of(shape, element)}", text)
        return wanted

    def run(self, cases, wanted, all_constant=False):
        text = module_of(cases, wanted, all_constant, self.has_mesh)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "module.mlir")
            path.write_text(text, encoding="utf-8")
            command = [self.pw_run, str(path), *self.flags]
            if not all_constant:
                number = 0
                for case in cases:
                    for _, array, element in case.arguments:
                        file = pathlib.Path(folder, f"{number}.npy")
                        save(file, array, element)
                        command.append(f"--input=arg{number}=@{file}")
                        number += 1
            try:
                done = subprocess.run(command, capture_output=True, text=True,
                                      errors="replace", check=False,
                                      timeout=self.timeout)
            except subprocess.TimeoutExpired:
                raise Failure(f"did not end within {self.timeout} s", text) from None
        if done.returncode != 0:
            lines = (done.stderr + done.stdout).splitlines()
            signs = ("error:", "[FAILED]", "Assertion", "LLVM ERROR")
            message = next((line for sign in signs for line in lines if sign in line),
                           lines[0] if lines else "")
            raise Failure(f"exit code {done.returncode}: {message.strip()}", text)

    def on_its_own(self, cases, failure):
        """The failure of a module without arguments, if that fails too."""
        if self.has_mesh:
            return failure
        try:
            self.run(cases, self.expect(cases), all_constant=True)
        except Failure as other:
            return other
        return failure

    def failures(self, cases):
        """Cases that fail, with what went wrong."""
        try:
            self.run(cases, self.expect(cases))
            return []
        except Failure as failure:
            if len(cases) == 1:
                return [(cases[0], self.on_its_own(cases, failure))]
        failed = sum((self.failures([case]) for case in cases), [])
        if not failed:
            # Only together do they fail.
            try:
                self.run(cases, self.expect(cases))
            except Failure as failure:
                return [(cases[0], failure)]
        return failed


def run_group(runner, only, seeds):
    """The kinds of the cases, and the seed, kind and error of those that fail."""
    cases = [make_case(seed, only) for seed in seeds]
    failed = runner.failures(cases)
    return ([case.kind for case in cases],
            [(case.seed, case.kind, failure) for case, failure in failed])


def write_modules(runner, args):
    """Writes a module for each generator, with a few short cases."""
    args.write.mkdir(parents=True, exist_ok=True)
    for generate, weight in GENERATORS:
        name = generate.__name__.strip("_")
        cases = [make_case(seed, name) for seed in range(args.seed, args.seed + 100)]
        cases.sort(key=lambda case: max(1000, len(module_of([case], all_constant=True))))
        cases = cases[:2 + weight // 2]
        text = module_of(cases, runner.expect(cases), all_constant=True)
        (args.write / f"{name}.mlir").write_text(text, encoding="utf-8")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("pw_opt")
    parser.add_argument("pw_run")
    everything = bool(os.environ.get("PATHWAYS_TEST_ALL"))
    parser.add_argument("--seed", type=int, default=int(
        os.environ.get("PATHWAYS_TEST_SEED", random.randrange(1 << 30))))
    parser.add_argument("--count", type=int, default=5000 if everything else 200)
    parser.add_argument("--group", type=int, default=20, help="cases in a module")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--only", help="name of the only generator")
    parser.add_argument("--mesh", action="store_true",
                        help="cut arguments over a mesh of 2 x 2 devices")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for failed cases")
    parser.add_argument("--write", type=pathlib.Path,
                        help="write self-checking modules to this folder; run none")
    parser.add_argument("--timeout", type=float, default=200)
    args, flags = parser.parse_known_args()
    runner = Runner(args.pw_opt, args.pw_run, [f for f in flags if f != "--"],
                    args.timeout, args.mesh)
    if args.write:
        return write_modules(runner, args)
    print(f"seeds {args.seed} to {args.seed + args.count - 1}", flush=True)

    end = args.seed + args.count
    groups = [range(start, min(start + args.group, end))
              for start in range(args.seed, end, args.group)]
    kinds, failed = collections.Counter(), 0
    with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        for names, failures in pool.map(functools.partial(run_group, runner, args.only),
                                        groups):
            kinds.update(names)
            for seed, name, failure in failures:
                failed += 1
                print(f"seed {seed}, {name}: {failure}", flush=True)
                if args.keep:
                    args.keep.mkdir(parents=True, exist_ok=True)
                    path = args.keep / f"{seed}.mlir"
                    path.write_text(failure.text, encoding="utf-8")
                elif failed <= 3:
                    print(failure.text)
    print(f"{args.count} cases of {len(kinds)} kinds, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
