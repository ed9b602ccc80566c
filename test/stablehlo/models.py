#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares models, run by pw-run, with the NumPy evaluator.

    models.py PW_OPT PW_RUN FOLDER [NAMES]

Runs each module of the folder on one device, and on a mesh of 8 devices on one island
and on two. A module without a mesh gets one, over which its last argument is cut. All
runs on the same mesh must have the same bits. NAMES is a glob of file names. Exits with
77 if NumPy or the folder is missing.
"""

import fnmatch
import pathlib
import re
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

SKIPPED = 77
TOLERANCE = 1e-4
ELIDED = "random:7"
# One device with memory for what eight devices hold.
BIG_DEVICE = "islands { hosts { devices { memory_bytes: 8589934592 } } }\n"
# Ways to run a module on 8 devices.
WAYS = [["--topology={folder}/big.textproto", "--oversubscribe"], ["--topology=1x1x8"],
        ["--topology=1x2x4", "--processes"], ["--topology=1x2x4", "--world=sim"],
        ["--topology=2x1x4", "--slices=all:0-1"]]
FIRST_LINE = re.compile(r"func.func public @main\((.*)\) -> ")
ARGUMENT = re.compile(r"%arg(\d+): tensor<([^>]*)>")


def main_types(text):
    """Types of the arguments of @main."""
    types = []
    for _, of in ARGUMENT.findall(FIRST_LINE.search(text).group(1)):
        *sizes, element = of.split("x")
        types.append((tuple(int(n) for n in sizes), element))
    return types


def value_of(random, shape, element):
    """Values with which activations keep their size."""
    if not elements.is_float(element):
        return random.integers(0, 8, shape).astype(elements.DTYPES[element])
    scale = 1 / np.sqrt(np.prod(shape[:-1])) if len(shape) == 2 else 0.1
    return elements.round_to(random.standard_normal(shape) * scale, element)


def with_mesh(text):
    """The text with a mesh of 8 devices, over which the last argument is cut along its
    largest dimension."""
    types = main_types(text)
    shape, _ = types[-1]
    cut = int(np.argmax(shape))
    dims = ", ".join('{"data"}' if d == cut else "{}" for d in range(len(shape)))
    text = text.replace("mhlo.num_partitions = 1", "mhlo.num_partitions = 8", 1)
    text = text.replace(' {mhlo.sharding = "{replicated}"}', "")
    text = re.sub(rf"(%arg{len(types) - 1}: tensor<[^>]*>)",
                  rf"\1 {{sdy.sharding = #sdy.sharding<@mesh, [{dims}]>}}", text, count=1)
    at = text.index("{\n", text.index("num_replicas")) + 2
    return text[:at] + '  sdy.mesh @mesh = <["data"=8]>\n' + text[at:]


def printed(pw_opt, path, *passes):
    done = subprocess.run([pw_opt, str(path), *passes], capture_output=True, text=True,
                          check=True)
    return done.stdout


class Model:
    def __init__(self, pw_opt, pw_run, path, folder):
        self.pw_run, self.folder = pw_run, folder
        self.text = path.read_text(encoding="utf-8")
        (folder / "big.textproto").write_text(BIG_DEVICE, encoding="utf-8")
        random = np.random.default_rng(7)
        inputs = [value_of(random, *of) for of in main_types(self.text)]
        np.savez(folder / "in.npz", **{str(i): v for i, v in enumerate(inputs)})
        generic = printed(pw_opt, path, f"--pw-fill-elided=values={ELIDED}",
                          "-mlir-print-op-generic",
                          "-mlir-print-elementsattrs-with-hex-if-larger=1")
        self.wanted, _ = evaluate.evaluate(generic, inputs)
        self.failed = 0

    def run(self, name, text, flags):
        """The bytes of the results, which are compared with the expected ones."""
        path, out = self.folder / "module.mlir", self.folder / "out.npz"
        flags = [flag.format(folder=self.folder) for flag in flags]
        path.write_text(text, encoding="utf-8")
        command = [self.pw_run, str(path), f"--input=@{self.folder}/in.npz",
                   f"--output=@{out}", *flags]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"{name} {' '.join(flags)}: FAILED\n{done.stdout}{done.stderr}")
            self.failed += 1
            return b""
        with np.load(out) as results:
            got = [results[key] for key in results.files]
        apart = max(np.abs(a - b.astype(np.float64)).max() if a.shape == b.shape
                    else np.inf for a, b in zip(got, self.wanted))
        is_right = apart <= TOLERANCE and len(got) == len(self.wanted)
        self.failed += not is_right
        print(f"{name} {' '.join(flags)}: {apart:.1e} apart"
              + ("" if is_right else ": FAILED"), flush=True)
        return b"".join(value.tobytes() for value in got)

    def check(self, name):
        elided = [f"--elided={ELIDED}"] if "__elided__" in self.text else []
        text = self.text
        if "num_partitions = 1 " in text:
            self.run(name, text, ["--topology=1x1x1"] + elided)
            text = with_mesh(text)
        bits = [self.run(name, text, way + elided) for way in WAYS]
        if any(other != bits[0] for other in bits):
            print(f"{name}: runs on one mesh differ: FAILED")
            self.failed += 1
        return self.failed


def main(arguments):
    if len(arguments) not in (3, 4):
        print(__doc__)
        return 2
    pw_opt, pw_run, folder, *names = arguments
    paths = [path for path in sorted(pathlib.Path(folder).glob("*.mlir"))
             if fnmatch.fnmatch(path.name, names[0] if names else "*")]
    if not paths:
        print(f"skipped: there are no modules in {folder}")
        return SKIPPED
    failed = 0
    for path in paths:
        with tempfile.TemporaryDirectory() as name:
            model = Model(pw_opt, pw_run, path, pathlib.Path(name))
            failed += model.check(path.stem)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
