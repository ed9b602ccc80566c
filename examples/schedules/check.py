#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the pipelines of this folder in many orders.

    check.py PW_RUN [--orders=N] [--seed=S]

Each schedule runs on threads, in processes and in the simulation, with the values of
NumPy and the bits of the order of the text. Then N random orders, a few swaps away from
1f1b, run with the same bits if they can run, and are refused with a true circle if not.
Exits with 77 if NumPy is missing.
"""

import argparse
import itertools
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

SLICES, BATCHES = 3, 6

# Flags of a program, and its schedules.
PROGRAMS = [
    ([], ["gpipe", "1f1b", "eager-1f1b"]),
    (["--split"], ["zb-h1", "zb-h2"]),
    (["--chunks=2"], ["interleaved"]),
    (["--chunks=2", "--layout=vee", "--split"], ["zbv", "dualpipe-v"]),
]
WAYS = [
    [f"--topology=1x1x{SLICES}"],
    [f"--topology={SLICES}x1x1", "--world=sim", "--seed=7"],
    [f"--topology=1x{SLICES}x1", "--processes"],
]


class Trainer:
    """Runs one program. `bits` are those of its results in the order of the text."""

    def __init__(self, pw_run, folder, flags):
        parser = argparse.ArgumentParser()
        pipeline.add_arguments(parser)
        training.add_arguments(parser)
        args = parser.parse_args([str(SLICES), str(BATCHES), *flags])
        pipeline.finish(parser, args)
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
    return trainers[0], sum(trainer.runs for trainer in trainers)


def needs(cell):
    """The cells whose results a cell reads, or None for a cell outside of the loop."""
    stage, kind, batch = cell
    if kind == "F":
        yield (stage - 1, "F", batch)
    else:
        yield (stage, "F", batch)
        yield (stage + 1, "B", batch)
        yield (stage, "B", batch - 1)  # adds to what this one gave


def is_live(rows):
    """True if the cells can run with each row in its order."""
    cells = {cell for row in rows for cell in row}
    done = set()
    places = [0] * len(rows)
    progress = True
    while progress:
        progress = False
        for index, row in enumerate(rows):
            while places[index] < len(row) and all(
                cell in done or cell not in cells for cell in needs(row[places[index]])
            ):
                done.add(row[places[index]])
                places[index] += 1
                progress = True
    return len(done) == len(cells)


def parse(cell):
    stage, kind, batch = re.fullmatch(r"(\d+)([FB])(\d+)", cell).groups()
    return int(stage), kind, int(batch)


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
    good = [
        [parse(cell) for cell in line.split(",")]
        for line in (folder / "order.csv").read_text().splitlines()
    ]
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
    print(f"{runs} runs, and {live} of {args.orders} random orders, with the same bits")


if __name__ == "__main__":
    main()
