#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the pipelines of this folder in many orders.

    check.py PW_RUN [--orders=N] [--seed=S]

Schedules of halves also run programs of whole backward calls, which the compiler splits,
and some programs run their forward calls again.
Each schedule runs on threads, in processes and in the simulation, with the values of
NumPy and the bits of the order of the text. Then N random orders, a few swaps away from
1f1b, run with the same bits if they can run, and are refused with a true circle if not.
At last, simulated steps take as long as the costs of their calls and links say. Exits
with 77 if NumPy is missing.
"""

import argparse
import itertools
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

try:
    import training
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import pipeline
from pipeline import SPLIT, VEE

SLICES, BATCHES = 3, 6

# Flags of a program, and its schedules.
PROGRAMS = [
    ([], ["gpipe", "1f1b", "eager-1f1b", "zb-h1", "zb-h2"]),
    (["--split"], ["zb-h1", "zb-h2", "auto"]),
    (["--recompute"], ["1f1b", "zb-h1"]),
    (["--recompute", "--split"], ["zb-h2"]),
    (["--chunks=2"], ["interleaved"]),
    (["--chunks=2", "--layout=vee"], ["zbv", "dualpipe-v"]),
    (["--chunks=2", "--layout=vee", "--split"], ["zbv", "dualpipe-v"]),
]
WHOLE = ("gpipe", "1f1b", "eager-1f1b", "interleaved")
WAYS = [
    [f"--topology=1x1x{SLICES}"],
    [f"--topology={SLICES}x1x1", "--world=sim", "--seed=7"],
    [f"--topology=1x{SLICES}x1", "--processes"],
]
# Name, slices, micro-batches, and milliseconds of a stage: F, I and W, and of a link.
# The first two are models of 1.5 and 14.6 billion parameters as measured by Qi et al.,
# "Zero Bubble Pipeline Parallelism", table 4.
PROFILES = [
    ("1.5B", 8, 24, 18.522, 18.086, 9.337, 0.601),
    ("14.6B", 16, 48, 11.347, 11.248, 8.132, 0.377),
    ("unit", 4, 8, 10, 10, 10, 0),
    ("uneven", 4, 8, 9, 13, 7, 0.5),
    ("one", 1, 1, 10, 10, 10, 1),
    ("one batch", 8, 1, 10, 11, 12, 1),
    ("few batches", 8, 3, 10, 11, 12, 1),
]
# Nanoseconds in a simulation for a millisecond of these: times are a hundred times as
# long, so that what messages and dispatch take, about a microsecond for each transfer,
# does not show.
SCALE = 100_000_000


def parse_flags(slices, batches, flags):
    parser = argparse.ArgumentParser()
    pipeline.add_arguments(parser)
    training.add_arguments(parser)
    args = parser.parse_args([str(slices), str(batches), *flags])
    return pipeline.finish(parser, args)


def generate(slices, batches, flags):
    return pipeline.generate(parse_flags(slices, batches, flags))


class Trainer:
    """Runs one program. `bits` are those of its results in the order of the text."""

    def __init__(self, pw_run, folder, flags):
        args = parse_flags(SLICES, BATCHES, flags)
        folder.mkdir()
        self.command = [pw_run, *training.write(args, folder)]
        names = ["losses", *(f"w{i}" for i in range(SLICES * args.chunks))]
        self.outputs = {name: folder / f"{name}.npy" for name in names}
        self.runs = 0
        self.bits = None
        self.bits = self.expect(["--topology=1x1x1", "--oversubscribe"])

    def run(self, flags):
        """What a run prints, and the bytes of its results, or None if it fails."""
        self.runs += 1
        outputs = [f"--output={name}=@{path}" for name, path in self.outputs.items()]
        done = subprocess.run(
            [*self.command, *outputs, *flags],
            capture_output=True,
            text=True,
            check=False,
        )
        text = done.stdout + done.stderr
        if done.returncode != 0:
            return text, None
        return text, [path.read_bytes() for path in self.outputs.values()]

    def expect(self, flags):
        text, got = self.run(flags)
        if got is None or self.bits not in (None, got):
            problem = "fails" if got is None else "has other bits"
            sys.exit(f"FAILED {' '.join(flags)}: {problem}\n{text}")
        return got


def check_schedules(pw_run, folder):
    """The schedules by name. Returns the trainer of the first program."""
    trainers = []
    order = folder / "order.csv"
    for number, (flags, schedules) in enumerate(PROGRAMS):
        trainer = Trainer(pw_run, folder / str(number), flags)
        trainers.append(trainer)
        for schedule, way in itertools.product(schedules, WAYS):
            trainer.expect([*way, f"--schedule={schedule}"])
        if number == 0:
            trainer.expect([*WAYS[0], "--schedule=1f1b", f"--emit-order={order}"])
        elif "--split" in flags and "--chunks=2" not in flags:
            # An order of whole backward calls, for a program with halves.
            trainer.expect([*WAYS[0], f"--schedule=@{order}"])
        if "--chunks=2" not in flags and trainer.bits != trainers[0].bits:
            sys.exit(f"FAILED {' '.join(flags)}: has other bits than whole calls")
    return trainers[0], sum(trainer.runs for trainer in trainers)


def needs(cell):
    """The cells whose results a cell reads. Some of them may not be in the loop."""
    stage, kind, batch = cell
    if kind == "F":
        yield (stage - 1, "F", batch)
        return
    if kind == "W":
        yield (stage, "I", batch)
    else:
        yield (stage, "F", batch)
        yield (stage + 1, kind, batch)
    if kind != "I":
        yield (stage, kind, batch - 1)  # adds to what this one gave


def run_rows(rows):
    """The cells that can run with each row in its order, each after those that it
    needs: the number of its row, the cell, and the cells that it needs."""
    cells = {cell for row in rows for cell in row}
    done = set()
    places = [0] * len(rows)
    progress = True
    while progress:
        progress = False
        for index, row in enumerate(rows):
            while places[index] < len(row):
                cell = row[places[index]]
                before = cells.intersection(needs(cell))
                if not before <= done:
                    break
                yield index, cell, before
                done.add(cell)
                places[index] += 1
                progress = True


def is_live(rows):
    """True if all cells can run."""
    return sum(1 for _ in run_rows(rows)) == sum(map(len, rows))


def parse(cell):
    stage, kind, batch = re.fullmatch(r"(\d+)([FBIW])(\d+)", cell).groups()
    return int(stage), kind, int(batch)


def read_order(path):
    lines = path.read_text().splitlines()
    return [[parse(cell) for cell in line.split(",")] for line in lines]


def is_circle(text, rows):
    """True if `text` names cells that each have to run before the next one."""
    found = re.search(r"deadlock: (.*)", text)
    if not found:
        return False
    cells = [parse(cell) for cell in found.group(1).split(" -> ")]
    places = {cell: (i, j) for i, row in enumerate(rows) for j, cell in enumerate(row)}
    return (
        len(cells) > 1
        and cells[0] == cells[-1]
        and all(
            before in needs(after)
            or (
                places[before][0] == places[after][0]
                and places[before][1] < places[after][1]
            )
            for before, after in itertools.pairwise(cells)
        )
    )


def check_orders(trainer, folder, count, seed):
    """Random orders. Returns how many could run."""
    rng = random.Random(seed)
    path = folder / "swapped.csv"
    good = read_order(folder / "order.csv")
    live = 0
    for _ in range(count):
        rows = [list(row) for row in good]
        for _ in range(rng.randint(1, 4)):
            row = rng.choice(rows)
            i = rng.randrange(len(row) - 1)
            j = rng.choice([i + 1, rng.randrange(len(row))])
            row[i], row[j] = row[j], row[i]
        lines = (",".join(f"{s}{k}{b}" for s, k, b in row) + "\n" for row in rows)
        path.write_text("".join(lines))
        flags = [*WAYS[0], f"--schedule=@{path}"]
        if is_live(rows):
            live += 1
            trainer.expect(flags)
            continue
        text, got = trainer.run(flags)
        if got is not None or not is_circle(text, rows):
            sys.exit(f"FAILED order of seed {seed}:\n{path.read_text()}{text}")
    return live


def step_of(rows, costs, hop):
    """Nanoseconds from the first begin to the last end, and the longest such time of
    one slice. `costs` are those of a stage and kind."""
    slice_of = {cell: index for index, row in enumerate(rows) for cell in row}
    ends, begins, free = {}, {}, [0] * len(rows)
    for index, cell, before in run_rows(rows):
        arrivals = [ends[c] + hop * (slice_of[c] != index) for c in before]
        begin = max([free[index], *arrivals])
        begins.setdefault(index, begin)
        free[index] = ends[cell] = begin + costs[cell[:2]]
    return max(free), max(free[index] - begin for index, begin in begins.items())


def costs_of(command):
    """The costs that a simulation prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line[:1] == "{"]
    if done.returncode != 0 or not lines:
        sys.exit(f"FAILED {command}:\n{done.stdout}{done.stderr}")
    return json.loads(lines[-1])["costs"]


def check_times(pw_run, folder):
    """Simulated steps. Returns how many there were."""
    runs = 0
    everything = os.environ.get("PATHWAYS_TEST_ALL")
    for name, slices, batches, forward, to_input, to_weight, link in PROFILES:
        if slices * batches > 200 and not everything:
            continue
        machines = folder / "machines.textproto"
        island = "islands { hosts { devices {} } }\n"
        seconds = link * SCALE / 1e9 or 1e-9
        links = f"dcn {{ bytes_per_second: 1e15 latency_seconds: {seconds} }}\n"
        machines.write_text(island * slices + links)
        for schedule in SPLIT + WHOLE:
            chunks = 2 if schedule in (*VEE, "interleaved") else 1
            if batches < 2 * slices and schedule in VEE or (
                batches % slices and schedule == "interleaved"
            ):
                continue
            flags = [f"--chunks={chunks}", "--rows=1", "--width=1"]
            flags += ["--layout=vee"] if schedule in VEE else []
            flags += ["--split"] if schedule in SPLIT else []
            program = folder / "times.mlir"
            program.write_text(generate(slices, batches, flags))
            costs = {"F": forward, "I": to_input, "W": to_weight}
            costs["B"] = to_input + to_weight
            ns = {kind: round(ms * SCALE / chunks) for kind, ms in costs.items()}
            kinds = "FIW" if schedule in SPLIT else "FB"
            given = {f"*{kind}": ns[kind] for kind in kinds}
            if name == "uneven":
                given["1F"] = 2 * ns["F"]
            order = folder / "times.csv"
            command = [pw_run, program, "--world=sim", "--costs-only", "--stats=json"]
            command += [f"--topology={machines}", "--links=cost"]
            command += [f"--schedule={schedule}", f"--emit-order={order}"]
            command += [f"--cost={label}={time}ns" for label, time in given.items()]
            got = costs_of(command)
            runs += 1
            rows = read_order(order)
            of_stage = {
                (stage, kind): given.get(f"{stage}{kind}", given[f"*{kind}"])
                for stage in range(slices * chunks)
                for kind in kinds
            }
            step, span = step_of(rows, of_stage, round(link * SCALE))
            busy = batches * sum(of_stage.values())
            bubble = 1 - busy / slices / step
            if (
                abs(got["step_ns"] - step) > 1e-5 * step
                or abs(got["bubble"] - bubble) > 5e-5
            ):
                sys.exit(
                    f"FAILED {name} {schedule}: step {got['step_ns']}, not {step}, "
                    f"bubble {got['bubble']}, not {bubble}"
                )
            text = f"step {step / SCALE:.4f} ms, bubble {bubble:.4f}"
            if schedule in ("zb-h2", "zbv"):
                # Where all stages are alike, a step takes this after the one before.
                period = costs_of([*command, "--steps=4"])["period_ns"]
                runs += 1
                is_alike = name in ("1.5B", "14.6B", "unit")
                if not (span * (1 - 1e-5) * is_alike < period < span * (1 + 1e-5)):
                    sys.exit(f"FAILED {name} {schedule}: period {period}, not {span}")
                text += f", of the period {1 - busy / slices / period:.4f}"
            print(f"{name:12} {schedule:12} {text}")
    return runs


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pw_run")
    parser.add_argument(
        "--orders",
        type=int,
        default=2000 if os.environ.get("PATHWAYS_TEST_ALL") else 200,
    )
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    args = parser.parse_args()
    print(f"seed {args.seed}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        trainer, runs = check_schedules(args.pw_run, folder)
        live = check_orders(trainer, folder, args.orders, args.seed)
        times = check_times(args.pw_run, folder)
    print(f"{times} simulated steps that take as long as the costs of calls say")
    print(f"{runs} runs, and {live} of {args.orders} random orders, with the same bits")


if __name__ == "__main__":
    main()
