#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kills workers, and their client, at random points of a run.

Usage: kills.py PW_RUN [--kills=N] [--seed=S] [--ucx]

Trains examples/train in four processes and kills one of the workers, or the client,
when it has gone to sleep so many times: a point of its work, not of the clock. When
a worker is killed the client ends with an error that names a host of it, or had
ended well; one that recovers ends well, with the parameters of an undisturbed run. When
the client is killed its workers go. Either way no process is left, and no socket. The
seed is printed.
"""

import argparse
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

from running_cluster import LIMIT

# Whatever call hears of it names a host, and what became of it.
SAID = re.compile(r"(?=.*host[0-3])(?=.*(gone|signal 9|went|gives up|no answer))")


def children(pid):
    try:
        return [
            int(child)
            for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
            for child in (task / "children").read_text().split()
        ]
    except OSError:
        return []


def sleeps(pid):
    """How often a process has gone to sleep; None: it has ended."""
    total, found = 0, False
    try:
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            status = (task / "status").read_text()
            if "State:\tZ" in status:
                return None
            total += int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", status, re.M)[1])
            found = True
    except (OSError, TypeError):
        pass
    return total if found else None


def await_that(what, condition):
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(what)
        os.sched_yield()


def addresses(pid):
    """The sockets that a worker was told of: its own and its controller's."""
    try:
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except OSError:
        return set()
    return {word.partition("unix:")[2] for word in words if "=unix:@" in word}


def sockets():
    return {
        line.split()[-1] for line in pathlib.Path("/proc/net/unix").read_text().splitlines()
    }


RESULTS = ["w0", "b0", "w1", "b1"]


def train(pw_run, example, processes, transport, options=()):
    data = example / "data"
    return subprocess.Popen(
        [pw_run, example / "program.mlir", "--topology=2x2x2", f"--processes={processes}",
         f"--transport={transport}", "--steps=56", f"--input=images=@{data}/images.npy",
         f"--input=labels=@{data}/labels.npy", f"--input=w0=@{data}/w0.npy",
         "--input=b0=zeros", f"--input=w1=@{data}/w1.npy", "--input=b1=zeros", *options],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )


def kill_one(pw_run, example, rng, transports, expected):
    """Returns what was wrong, or None; and whether the kill came in time."""
    victim_is_client = rng.random() < 0.3
    recovers = not victim_is_client and rng.random() < 0.5
    options = []
    if recovers:
        options = [f"--recover={rng.choice(['retry', 'rebind'])}",
                   f"--checkpoint-every={rng.choice([1, 4, 16])}"]
        options += [f"--expected={name}=@{expected}/{name}.npy" for name in RESULTS]
    client = train(pw_run, example, rng.choice([2, 4]), rng.choice(transports), options)
    workers = []
    wanted = rng.randint(1, 2)

    def started():
        workers[:] = children(client.pid)
        return len(workers) >= wanted or client.poll() is not None

    await_that("workers", started)
    victim = client.pid if victim_is_client or not workers else rng.choice(workers)
    point = int(10 ** rng.uniform(0, 3.3))
    await_that("the point", lambda: (lambda n: n is None or n >= point)(sleeps(victim)))
    workers = sorted(set(workers) | set(children(client.pid)))
    used = set().union(*map(addresses, workers))
    try:
        os.kill(victim, signal.SIGKILL)
    except ProcessLookupError:
        pass
    try:
        _, said = client.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        client.kill()
        return f"the client of a dead worker has not ended in {LIMIT} s", True
    for worker in workers:
        await_that(f"worker {worker} to go", lambda: sleeps(worker) is None)
    await_that(f"sockets {sorted(used)} to go", lambda: not used & sockets())
    if client.returncode == 0:
        return None, "pw-run: lost: " in said
    if recovers:
        return f"exit {client.returncode} with {' '.join(options[:2])}: {said}", True
    if victim == client.pid:
        return (None if client.returncode == -9 else f"exit {client.returncode}"), True
    if client.returncode != 5 or not SAID.search(said):
        return f"exit {client.returncode}: {said}", True
    return None, True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pw_run")
    parser.add_argument("--kills", type=int, default=15)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--ucx", action="store_true", help="it is installed")
    options = parser.parse_args()
    seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
    example = pathlib.Path(__file__).resolve().parents[2] / "examples" / "train"
    transports = ["sockets"] + ["shm", "tcp"] * options.ucx
    failures = in_time = 0
    expected = tempfile.TemporaryDirectory()
    train(options.pw_run, example, 2, "sockets",
          [f"--output={name}=@{expected.name}/{name}.npy" for name in RESULTS]).communicate()
    print(f"seed {seed}, {options.kills} kills")
    for number in range(options.kills):
        try:
            wrong, hit = kill_one(options.pw_run, example, random.Random(f"{seed}/{number}"),
                                  transports, expected.name)
        except TimeoutError as late:
            wrong, hit = f"{late} took more than {LIMIT} s", True
        in_time += hit
        if wrong:
            print(f"kill {number} of seed {seed}: {wrong}")
            failures += 1
    print(f"{in_time} of {options.kills} came before the end, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
