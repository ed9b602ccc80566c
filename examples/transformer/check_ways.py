#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Trains in every way that parallel/ has. Each run compares the loss of each step with
# that of NumPy; what comes out of one way is the same bits on threads, in two
# processes, in the simulation and on one device that plays all, and the losses of two
# ways differ by less than 1e-4 of their size, also where one of the annotations is
# left out. Programs differ in 30 lines at most, but for that with micro-batches.
#
#   check_ways.py PW_RUN [STEPS]
#
# With the 100 steps that the text is for, the loss has to fall by more than a third.

import os
import pathlib
import subprocess
import sys
import tempfile

import report

HERE = pathlib.Path(__file__).resolve().parent
WAYS = sorted(path.stem for path in (HERE / "parallel").glob("*.mlir"))
RESULTS = ["loss", "token", "wqkv3"]
WORLDS = [
    [],
    ["--world=sim", "--seed=7"],
    ["--topology=1x1x1", "--oversubscribe", "--dispatch=sequential"],
    ["--processes=2"],
]
# A way, and the types whose sharding it can do without.
FEWER = {"data2xtensor2": ["chars", "wqkv", "win", "head"]}
MOST_LINES = 30
# It has other shapes, and loops.
WITH_MICROBATCHES = "stages2"
TOLERANCE = 1e-4
LONG = 100


def hosts(way):
    """Two, for two processes."""
    return {"one": "1x2x1", "data2": "1x2x1", "stages2": "2x1x1"}.get(way, "1x2x2")


def run(pw_run, way, steps, flags, folder):
    """The bytes of the results, or nothing where it failed."""
    if "--processes=2" in flags:
        flags = [*flags, f"--topology={hosts(way)}"]
    files = {name: folder / f"{name}.npy" for name in RESULTS}
    done = subprocess.run(
        [HERE / "run", f"--parallel={way}", f"--steps={steps}", *flags,
         *(f"--output={name}=@{path}" for name, path in files.items())],
        env={**os.environ, "PW_RUN": pw_run,
             "PATHWAYS_KERNEL_CACHE": str(folder / "kernels")},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )
    last = (done.stdout.splitlines() or [""])[-1]
    if done.returncode != 0 or not last.startswith("[SUCCESS]"):
        print(f"FAILED {way} {flags}: exit {done.returncode}\n{done.stdout}")
        return None
    return {name: path.read_bytes() for name, path in files.items()}


def check_difference(way, other):
    lines = subprocess.run(
        [HERE / "run", "--diff", way, other],
        stdout=subprocess.PIPE, text=True, check=True,
    ).stdout.splitlines()
    if 0 < len(lines) <= MOST_LINES:
        return 0
    print(f"FAILED {way} and {other} differ in {len(lines)} lines")
    return 1


def check_losses(losses, steps):
    failures = 0
    first_way, first = next(iter(losses.items()))
    for way, got in losses.items():
        worst = max(abs(a - b) / abs(b) for a, b in zip(got, first))
        print(f"{way}: loss {got[0]:.4f} to {got[-1]:.4f}, at most {worst:.1e} of it "
              f"from {first_way}")
        if worst > TOLERANCE:
            print(f"FAILED {way}: expected at most {TOLERANCE}")
            failures += 1
        end = sum(got[-10:]) / 10
        if steps == LONG and end > got[0] * 2 / 3:
            print(f"FAILED {way}: fell to {end:.4f} only")
            failures += 1
    return failures


def main():
    pw_run = sys.argv[1]
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    failures = runs = 0
    losses = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for way in WAYS:
            if way not in ("one", WITH_MICROBATCHES):
                failures += check_difference("one", way)
            results = None
            for flags in WORLDS if steps < LONG else WORLDS[:1]:
                got = run(os.path.abspath(pw_run), way, steps, flags, folder)
                runs += 1
                if got is None:
                    failures += 1
                    continue
                if results is None:
                    results = got
                    losses[way] = report.read_floats(folder / "loss.npy")
                for result in RESULTS:
                    if got[result] != results[result]:
                        print(f"FAILED {way} {flags}: '{result}' has other bits")
                        failures += 1
        for way, types in FEWER.items():
            for written in types:
                name = f"{way} without {written}"
                runs += 1
                if run(os.path.abspath(pw_run), way, steps,
                       [f"--without={written}"], folder) is None:
                    failures += 1
                else:
                    losses[name] = report.read_floats(folder / "loss.npy")
    if losses:
        failures += check_losses(losses, steps)
    print(f"{len(WAYS)} ways, {runs} runs, {failures} failures")
    return 1 if failures or not losses else 0


if __name__ == "__main__":
    sys.exit(main())
