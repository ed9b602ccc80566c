#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs random programs with loops and branches, and compares the bits with those of the
same programs written without them.

Usage: random_loops.py PW_RUN [--programs=N] [--seed=S] [--first=I] [--keep=FOLDER]
                       [--simulate]

A program has nested loops, loops that end early, branches, pipelines with labels and
schedules or files of orders, calls that run again, transfers between slices, and functions
that read the number of the iteration. The generator (loop_programs.py) prints it twice:
with these, and unrolled. The unrolled text runs on threads. The text with loops runs
on threads, with more and fewer steps in flight, in the simulation, in a simulation with
faults that loses a host and recovers, and every fourth program also in processes; with
--simulate, only in simulations, of which three have faults. Every result must have the
same bytes. A file of orders is some swaps from one that can run; if the model
of the generator says that it cannot run, the compiler must refuse it with a circle. The
seed is printed; a program that fails is printed whole, in both forms.
"""

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

from loop_programs import Program

LIMIT = 120
TOPOLOGY = "2x2x2"


def draw_faults(rng):
    """Text of faults: a lost host that returns, and others that cost only time."""
    hosts = [f"host{i}" for i in range(4)]
    faults = [f"crash {{ host: '{rng.choice(hosts)}' noticed_after_seconds: 1e-4 "
              "restart_after_seconds: 0.01 }"]
    for _ in range(rng.randint(0, 2)):
        island, host, device = (rng.randrange(2) for _ in range(3))
        rates = "{ duplicate: 0.1 delay: 0.1 reorder: 0.1 }"
        faults.append(rng.choice([
            f"pause {{ host: '{rng.choice(hosts)}' }}",
            f"slow_device {{ device: 'island{island}/host{2 * island + host}/device{device}' "
            "factor: 20 }",
            f"slow_link {{ some: '{rng.choice(hosts)}' latency_factor: 10 }}",
            f"bad_link {{ messages {rates} controls {rates} }}",
        ]))
    return "".join(
        f"faults {{ at_control: {rng.randint(1, 150)} "
        + ("" if fault.startswith("crash") else f"for_seconds: {rng.choice([1e-4, 1e-2])} ")
        + fault + " }\n" for fault in faults)


def launch(command):
    """The exit code, and what was said."""
    try:
        run = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return -1, f"no end within {LIMIT} s"
    return run.returncode, run.stderr


class Check:
    """The runs of one program."""

    def __init__(self, pw_run, seed, number, folder, simulate):
        self.pw_run, self.number, self.folder = pw_run, number, folder
        self.simulate = simulate
        self.program = Program.draw(seed, number)
        self.rng = random.Random(f"{seed}/{number}/ways")
        self.wrong, self.runs = [], 0
        self.loops = 0  # those that the plan has
        self.is_refused = False

    def execute(self, path, flags):
        """The exit code, what was said, and the bytes of each result."""
        files = [self.folder / f"y{i}.npy" for i in range(len(self.program.results))]
        for file in files:
            file.unlink(missing_ok=True)
        self.runs += 1
        code, error = launch(
            [self.pw_run, path, f"--topology={TOPOLOGY}", "--oversubscribe",
             f"--steps={self.program.steps}",
             *(f"--input=x{i}=random:{i + 1}" for i in range(len(self.program.arguments))),
             "--input=true=true", "--input=false=false", *flags,
             *(f"--output=y{i}=@{file}" for i, file in enumerate(files))])
        return code, error, [f.read_bytes() for f in files if f.exists()]

    def ways(self, text, plan):
        rng = self.rng
        yield "sim", plan, ["--world=sim", f"--seed={self.number}"]
        for number in range(3 if self.simulate else 1):
            faults = self.folder / f"faults{number}.textproto"
            faults.write_text(draw_faults(rng))
            yield "faults", text, [
                "--world=sim", f"--seed={self.number + number}", f"--faults={faults}",
                f"--recover={rng.choice(['retry', 'rebind'])}",
                f"--checkpoint-every={rng.randint(1, self.program.steps)}"]
        if self.simulate:
            return
        yield "threads", plan, []
        yield "in flight", text, [f"--steps-in-flight={rng.choice([1, 3, 4])}"]
        if self.number % 4 == 0:
            yield "processes", plan, [rng.choice(["--processes", "--processes=2"])]

    def run(self):
        paths = [self.folder / name for name in ("rolled.mlir", "unrolled.mlir")]
        for path, is_rolled in zip(paths, (True, False)):
            path.write_text(self.program.text(is_rolled, self.folder))
        plan, table = self.folder / "rolled.plan", self.folder / "rolled.txt"
        code, error = launch([self.pw_run, paths[0], f"--topology={TOPOLOGY}",
                              "--oversubscribe", "--compile-only", f"--emit-plan={plan}",
                              f"--emit-plan-text={table}"])
        if self.program.order_is_live is False:
            self.is_refused = True
            if code != 3 or "deadlock: " not in error:
                self.wrong.append("the order cannot run, but was not refused with a "
                                  f"circle: exit {code}, {error}")
            return
        if code != 0:
            self.wrong.append(f"compiling: exit {code}, {error}")
            return
        self.loops = table.read_text().count("\n    plan.loop ")
        code, error, expected = self.execute(paths[1], [])
        if code != 0:
            self.wrong.append(f"unrolled: exit {code}, {error}")
            return
        for way, path, flags in self.ways(paths[0], plan):
            code, error, got = self.execute(path, flags)
            if code != 0 or got != expected:
                self.wrong.append(
                    f"{way} ({' '.join(flags)}): exit {code}, "
                    f"{error if code else 'other bits'}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pw_run")
    parser.add_argument("--programs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--first", type=int, default=0, help="number of the first program")
    parser.add_argument("--keep", type=pathlib.Path, help="keep the files of failures here")
    parser.add_argument("--simulate", action="store_true", help="run in simulations only")
    options = parser.parse_args()
    seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
    print(f"seed {seed}, {options.programs} programs", flush=True)
    failures = runs = loops = with_loops = refused = 0
    for number in range(options.first, options.first + options.programs):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            if options.keep:
                folder = options.keep / f"{seed}-{number}"
                folder.mkdir(parents=True, exist_ok=True)
            check = Check(options.pw_run, seed, number, folder, options.simulate)
            check.run()
            runs += check.runs
            loops += check.loops
            with_loops += check.loops > 0
            refused += check.is_refused
            for message in check.wrong:
                print(f"program {number} of seed {seed}, {message}")
            if check.wrong:
                for is_rolled, what in ((True, "with loops"), (False, "unrolled")):
                    print(f"// {what}\n{check.program.text(is_rolled, folder)}")
                failures += 1
            elif options.keep:
                for file in folder.iterdir():
                    file.unlink()
                folder.rmdir()
            sys.stdout.flush()
    print(f"{options.programs} programs, {runs} runs, {failures} failures; the plans of "
          f"{with_loops} have loops, {loops} in all; {refused} orders were refused")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
