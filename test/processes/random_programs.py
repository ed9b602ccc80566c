#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs random programs in one process and in several, and compares the bits.

Usage: random_programs.py PW_RUN [--programs=N] [--seed=S] [--ucx] [--ways=WAY,...]

A program moves values between random slices and shardings, computes on shards,
and reduces over axes; one of four with arrays of up to 6 MB. Calls donate some of what
they read, some arguments are carried from step to step, and some bodies read the number
of the step. It runs on threads of one process, with more and fewer steps in flight, in a
simulation, step by step with the carried values stored in between, in pieces with
checkpoints in between, in a simulation in which it loses a host, as a run that ends in
the middle and another one that resumes it, in a process for each host, again with the profile of
that, and in two that share the hosts, which speak sockets, and UCX where that is installed, over links of which some
delay, double, reorder and lose messages; every result must have the same bytes. The
seed is printed; a program that fails is printed whole. --ways runs these alone.
"""

import argparse
import math
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

from running_cluster import LIMIT, RunningCluster, make_key

TOPOLOGY = "2x2x2"
STEPS = 5
MODES = {
    "one": [],
    "alone": ["--steps-in-flight=1"],
    "ahead": ["--steps-in-flight=4"],
    "sim": ["--world=sim"],
    "apart": [],  # a launch for each step
    "pieces": [],  # --recover
    "lossy": ["--world=sim"],
    "resumed": [],
    "hosts": ["--processes"],
    "two": ["--processes=2"],
    "sequential": ["--processes=3", "--dispatch=sequential"],
    "cluster": [],  # --connect
    "chaos": ["--processes"],
}
UCX_MODES = {
    "shm": ["--processes=3", "--transport=shm"],
    "tcp": ["--processes", "--transport=tcp"],
    "chaos_shm": ["--processes=3", "--transport=shm"],
}
# Of those ways whose links delay, double, reorder and lose messages.
CHAOS = (
    "--chaos=delay=0.3,duplicate=0.3,reorder=0.3,drop=0.3,longest-delay=1ms,"
    "retry=2ms,seed={}"
)


class Value:
    def __init__(self, name, shape, mesh, cut):
        self.name, self.shape, self.mesh, self.cut = name, shape, mesh, cut

    def type(self):
        dims = "x".join(map(str, self.shape))
        cut = ", ".join("{" + ", ".join(f'"{a}"' for a in axes) + "}" for axes in self.cut)
        return f"!pw.array<{dims}xf32, @{self.mesh.name}, [{cut}]>"

    def shard(self):
        """The shape of a shard: the last ones may have less of it."""
        sizes = [math.prod(self.mesh.axes[a] for a in axes) for axes in self.cut]
        return [-(-d // s) for d, s in zip(self.shape, sizes)]

    def is_even(self):
        sizes = [math.prod(self.mesh.axes[a] for a in axes) for axes in self.cut]
        return all(d % s == 0 for d, s in zip(self.shape, sizes))


class Mesh:
    def __init__(self, name, axes, apart):
        self.name, self.axes, self.apart = name, axes, apart

    def text(self):
        axes = ", ".join(f'"{a}" = {n}' for a, n in self.axes.items())
        apart = f" apart_from [@{self.apart}]" if self.apart else ""
        return f"pw.slice @{self.name} mesh <{axes}>{apart}"


class Program:
    def __init__(self, rng):
        self.rng = rng
        self.functions, self.lines, self.donated, self.count = [], [], [], 0
        # Some move pieces that are too large to be copied (docs/protocol.md).
        self.scale = rng.choice([1, 1, 1, 101])
        self.meshes = []
        for i in range(rng.randint(1, 3)):
            axes = rng.choice([{"a": 4}, {"a": 2, "b": 2}, {"a": 2}, {"a": 1}, {"b": 3}])
            apart = rng.choice([None, self.meshes[-1].name]) if self.meshes else None
            self.meshes.append(Mesh(f"s{i}", axes, apart))
        self.values = []
        self.arguments = [self.fresh("x0"), self.fresh("x1")]
        self.values += self.arguments
        for _ in range(rng.randint(2, 9)):
            rng.choice([self.move, self.move, self.compute, self.add, self.reduce])()
        self.results = rng.sample(self.values[2:], min(3, len(self.values) - 2))
        self.carried = {}  # by argument: its next value is the result with that number
        for argument in self.arguments:
            if rng.random() < 0.6:
                self.carry(argument)

    def carry(self, argument):
        """From a result of its own: what is made of it, of another, or it itself."""
        same = [v for v in self.values if v.shape == argument.shape]
        following = [v for v in same if v.type() == argument.type() and v != argument]
        source = self.rng.choice(following or same)
        self.carried[argument.name] = len(self.results)
        self.results.append(self.move(source, argument.mesh, argument.cut))

    def cut_for(self, mesh, rank):
        """Axes of the mesh, each for one dimension or none."""
        cut = [[] for _ in range(rank)]
        for axis in self.rng.sample(list(mesh.axes), len(mesh.axes)):
            dim = self.rng.randint(-1, rank - 1)
            if dim >= 0:
                cut[dim].append(axis)
        return cut

    def fresh(self, name):
        rank = self.rng.randint(1, 2)
        shape = [self.rng.choice([1, 3, 4, 5, 8, 12]) * self.scale ** (3 - rank)
                 for _ in range(rank)]
        mesh = self.rng.choice(self.meshes)
        return Value(name, shape, mesh, self.cut_for(mesh, len(shape)))

    def new(self, shape, mesh, cut):
        self.count += 1
        value = Value(f"v{self.count}", shape, mesh, cut)
        self.values.append(value)
        return value

    def move(self, source=None, mesh=None, cut=None):
        source = source or self.rng.choice(self.values)
        mesh = mesh or self.rng.choice(self.meshes)
        cut = self.cut_for(mesh, len(source.shape)) if cut is None else cut
        target = Value("", source.shape, mesh, cut)
        if target.type() == source.type():
            return source
        target = self.new(source.shape, mesh, cut)
        self.lines.append(
            f"  %{target.name} = pw.reshard %{source.name} : {source.type()} -> {target.type()}"
        )
        return target

    def call(self, inputs, result, body):
        name = f"f{len(self.functions)}"
        local = [f"tensor<{'x'.join(map(str, v.shard()))}xf32>" for v in inputs]
        out = f"tensor<{'x'.join(map(str, result.shard()))}xf32>"
        parameters = ", ".join(f"%p{i}: {t}" for i, t in enumerate(local))
        self.functions.append(
            f"func.func private @{name}({parameters}) -> {out} attributes {{pw.local_view}} {{\n"
            + "\n".join("  " + line for line in body(out)) + f"\n  return %r : {out}\n}}"
        )
        arguments = ", ".join(f"%{v.name}" for v in inputs)
        types = ", ".join(v.type() for v in inputs)
        # Where it is no last use, or helps nobody, the compiler says so; only to
        # donate twice is an error.
        donated = ""
        if self.rng.random() < 0.4 and inputs[0] not in self.donated:
            self.donated.append(inputs[0])
            donated = f" donate(%{inputs[0].name})"
        self.lines.append(
            f"  %{result.name} = pw.call @{name}({arguments}){donated} : ({types})"
            f" -> {result.type()}"
        )

    def compute(self):
        source = self.rng.choice(self.values)
        if not source.is_even():
            return
        factor = self.rng.choice(["0.5", "1.25", "-3.0"])
        if self.rng.random() < 0.5:
            return self.count_steps(source, factor)
        result = self.new(source.shape, source.mesh, source.cut)
        self.call([source], result, lambda t: [
            f"%c = arith.constant dense<{factor}> : {t}",
            f"%m = arith.mulf %p0, %c : {t}",
            f"%r = arith.addf %m, %p0 : {t}",
        ])

    def count_steps(self, source, factor):
        self.call([source], self.new(source.shape, source.mesh, source.cut), lambda t: [
            f"%c = arith.constant dense<{factor}> : {t}",
            f"%m = arith.mulf %p0, %c : {t}",
            "%n = pw.step_index : index",
            "%i = arith.index_cast %n : index to i32",
            "%f = arith.sitofp %i : i32 to f32",
            f"%s = tensor.splat %f : {t}",
            f"%r = arith.addf %m, %s : {t}",
        ])

    def add(self):
        left = self.rng.choice(self.values)
        others = [v for v in self.values if v.shape == left.shape]
        right = self.move(self.rng.choice(others), left.mesh, left.cut)
        if not left.is_even():
            return
        result = self.new(left.shape, left.mesh, left.cut)
        self.call([left, right], result, lambda t: [f"%r = arith.subf %p0, %p1 : {t}"])

    def reduce(self):
        """Over the axes that cut one dimension: what is left is one shard of it."""
        source = self.rng.choice(self.values)
        cut = [i for i, axes in enumerate(source.cut) if axes]
        if not cut or not source.is_even():
            return
        dim = self.rng.choice(cut)
        axes = ", ".join(f'"{a}"' for a in source.cut[dim])
        shape = list(source.shape)
        shape[dim] = source.shard()[dim]
        result = self.new(
            shape, source.mesh, [[] if i == dim else c for i, c in enumerate(source.cut)]
        )
        self.call([source], result, lambda t: [
            f"%r = pw.all_reduce %p0 add over [{axes}] : {t}"
        ])

    def text(self):
        arguments = ", ".join(
            f"%{v.name}: {v.type()}" + (
                f" {{pw.carried = {self.carried[v.name]} : i64}}" if v.name in self.carried else ""
            ) for v in self.arguments
        )
        types = ", ".join(
            f'{v.type()} {{pw.name = "y{i}"}}' for i, v in enumerate(self.results)
        )
        returned = ", ".join(f"%{v.name}" for v in self.results)
        return "\n\n".join([
            "\n".join(m.text() for m in self.meshes),
            *self.functions,
            "\n".join([
                f"pw.program @p({arguments}) -> ({types}) {{",
                *self.lines,
                f"  pw.return {returned} : {', '.join(v.type() for v in self.results)}",
                "}",
            ]),
        ]) + "\n"


def outcome(pw_run, path, program, mode, folder, seed):
    """The exit code, what was said, and the bytes of each result."""
    files = [pathlib.Path(folder, f"y{i}.npy") for i in range(len(program.results))]
    inputs = {"x0": "random:1", "x1": "ramp"}
    cuts = pathlib.Path(folder, "cuts")
    shutil.rmtree(cuts, ignore_errors=True)
    if mode == "resumed" and STEPS > 1:
        # It does only some of the steps.
        launch(pw_run, path, ["--checkpoint-every=2", f"--checkpoint-dir={cuts}"], inputs, [],
               1 + seed % (STEPS - 1))
    for step in range(STEPS if mode == "apart" else 1):
        for file in files:
            file.unlink(missing_ok=True)
        flags = flags_of(mode, program, folder, seed)
        if mode == "apart":
            flags.append(f"--first-step={step}")
        run = launch(pw_run, path, flags, inputs, files, 1 if mode == "apart" else STEPS)
        for argument, result in program.carried.items():
            kept = pathlib.Path(folder, f"{argument}.npy")
            if files[result].exists():
                kept.write_bytes(files[result].read_bytes())
            inputs[argument] = f"@{kept}"
    return run.returncode, run.stderr, [f.read_bytes() for f in files if f.exists()]


def flags_of(mode, program, folder, seed):
    rng = random.Random(f"{mode}/{seed}")
    recovery = [f"--recover={rng.choice(['retry', 'rebind'])}",
                f"--checkpoint-every={rng.randint(1, STEPS)}"]
    if mode == "pieces":
        return recovery + rng.choice([[], ["--processes=2"], ["--world=sim"]])
    if mode == "lossy":
        faults = pathlib.Path(folder, "faults.textproto")
        faults.write_text(
            f"faults {{ at_control: {rng.randint(1, 120)} crash {{ host: 'host{rng.randrange(4)}'"
            " noticed_after_seconds: 1e-4 restart_after_seconds: 0.01 } }\n")
        return MODES[mode] + recovery + [f"--faults={faults}", f"--seed={seed}"]
    if mode == "resumed":
        return ["--checkpoint-every=2", f"--checkpoint-dir={pathlib.Path(folder, 'cuts')}", "--resume"]
    return MODES[mode] + ([CHAOS.format(seed)] if mode.startswith("chaos") else [])


def launch(pw_run, path, flags, inputs, files, steps):
    is_cluster = any(flag.startswith("--connect") for flag in flags)
    return subprocess.run(
        [pw_run, path, "--oversubscribe", f"--steps={steps}",
         *(f"--input={name}={value}" for name, value in inputs.items()),
         *(["--topology=" + TOPOLOGY] if not is_cluster else []), *flags,
         *(f"--output=y{i}=@{file}" for i, file in enumerate(files))],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=LIMIT,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pw_run")
    parser.add_argument("--programs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--ucx", action="store_true", help="it is installed")
    parser.add_argument("--ways", type=lambda text: text.split(","), default=None)
    options = parser.parse_args()
    ucx = []
    if options.ucx:
        MODES.update(UCX_MODES)
        # For clients they listen elsewhere besides, without being told.
        ucx = ["--listen=ucx:127.0.0.1:0", "--ucx=tcp"]
    seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
    print(f"seed {seed}, {options.programs} programs")
    failures = ran = 0
    with tempfile.TemporaryDirectory() as folder, RunningCluster(
        pathlib.Path(options.pw_run).parent / "pw-node", TOPOLOGY,
        [["host0", "host2"], ["host1"], ["host3"]], make_key(folder),
        worker_options=[ucx, ucx, []],
    ) as cluster:
        profile = pathlib.Path(folder, "p.profile")
        MODES["hosts"] = ["--processes", f"--profile-out={profile}"]
        MODES["measured"] = [f"--profile={profile}"]
        MODES["cluster"] = [f"--connect={cluster.address}", f"--key={cluster.key}"]
        ways = options.ways or list(MODES)[1:]
        path = pathlib.Path(folder, "program.mlir")
        for number in range(options.programs):
            program = Program(random.Random(f"{seed}/{number}"))
            if not program.results:
                continue
            path.write_text(program.text())
            expected = outcome(options.pw_run, path, program, "one", folder, number)
            if expected[0] != 0:
                # Whatever one process refuses is not what this is about, but
                # nothing here should be refused.
                print(f"program {number} of seed {seed}: {expected[1]}\n{program.text()}")
                failures += 1
                continue
            ran += 1
            for mode in ways:
                got = outcome(options.pw_run, path, program, mode, folder, number)
                if got[0] != 0 or got[2] != expected[2]:
                    print(f"program {number} of seed {seed}, {mode}: exit {got[0]}, "
                          f"{'other bits' if got[0] == 0 else got[1]}\n{program.text()}")
                    failures += 1
    print(f"{ran} programs in {len(ways)} ways more, {failures} failures")
    return 1 if failures or ran == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
