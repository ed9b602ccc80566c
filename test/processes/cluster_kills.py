#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kills processes of a cluster that goes on running, and replaces them.

Usage: cluster_kills.py PW_RUN [--kills=N] [--controller-kills=N] [--stops=N] [--seed=S]

A cluster of four hosts runs examples/train for one client, while a worker or a client
is killed when it has gone to sleep so many times: a point of its work, not of the
clock. A client whose worker dies ends with an error that names a host of it; a worker
that starts in its place is let in, with one life more; what a dead client had is given
back; and then a program has the bits that it has in one process. When the controller
is killed clients say so, and workers join the next one. A worker that is stopped for 15
seconds is lost, and harmless when it goes on (only with --stops: it takes as long).
Meanwhile another client launches a program on the second island, over and over: it sees
the bits of its first launch whoever dies, but for those whom it needs, and how long it
waited for any is printed. The seed is printed.
"""

import argparse
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile

from kills import LIMIT, SAID, sleeps
from running_cluster import RunningCluster, await_that, make_key

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
TOPOLOGY = "2x2x2"
HOSTS = [["host0"], ["host1"], ["host2"], ["host3"]]
# What a client says that has lost its controller.
GONE = re.compile("the controller at .* is gone|cannot dial")


def train(pw_run, where, output):
    data = EXAMPLES / "train" / "data"
    return subprocess.Popen(
        [pw_run, EXAMPLES / "train" / "program.mlir", *where, "--steps=56",
         f"--input=images=@{data}/images.npy", f"--input=labels=@{data}/labels.npy",
         f"--input=w0=@{data}/w0.npy", "--input=b0=zeros", f"--input=w1=@{data}/w1.npy",
         "--input=b1=zeros", f"--output=loss=@{output}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


class Bystander:
    """A client that needs the hosts of the second island alone (bystander.cpp)."""

    NAME = "bystander"
    NEEDS = (2, 3)

    def __init__(self, pw_run, cluster):
        self.process = subprocess.Popen(
            [pathlib.Path(pw_run).parent / self.NAME, cluster.address, cluster.key],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        await_that("its first launch", lambda: self.longest() is not None)

    def longest(self):
        """Of the launches since it was asked last, in us; None: there were none."""
        try:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        said = re.match(r"launches (\d+) longest_us (\d+)", self.process.stdout.readline())
        if said is None:
            raise AssertionError(f"the other client: {self.process.communicate()[1]}")
        return int(said[2]) if int(said[1]) else None

    def end(self):
        """What it said last."""
        try:
            return self.process.communicate(timeout=LIMIT)[1]
        finally:
            self.process.kill()


class Campaign:
    def __init__(self, pw_run, folder, cluster):
        self.pw_run, self.folder, self.cluster = pw_run, folder, cluster
        self.here = [f"--connect={cluster.address}", f"--key={cluster.key}"]
        self.expected = self.bits([f"--topology={TOPOLOGY}"])
        self.bystander = Bystander(pw_run, cluster)
        self.pauses = []
        self.bits(self.here)
        self.unharmed = self.bystander.longest() or 0

    def bits(self, where):
        """What training gives there; raises with what was said if it fails."""
        output = self.folder / "loss.npy"
        output.unlink(missing_ok=True)
        run = train(self.pw_run, where, output)
        _, said = run.communicate(timeout=LIMIT)
        if run.returncode != 0:
            raise AssertionError(f"exit {run.returncode}: {said}")
        return output.read_bytes()

    def up(self):
        return [p for p in self.cluster.status()["processes"]
                if p["hosts"] and p["state"] in ("up", "slow")]

    def is_whole(self):
        return len(self.up()) == len(HOSTS)

    def is_empty(self):
        status = self.cluster.status()
        controller = status["controller"]
        if controller is None:
            return False
        left = [p["client"] for p in controller["programs"]] + \
            [c["name"] for c in controller["clients"]]
        processes = sum(not p["hosts"] for p in status["processes"])
        return set(left) <= {Bystander.NAME} and processes == bool(left)

    def look_at_bystander(self, harmed, what):
        """It has gone on; or, if it was harmed, said by what, and there is another one."""
        if not harmed:
            self.pauses.append(self.bystander.longest() or 0)
            return
        said = self.bystander.end()
        if self.bystander.process.returncode != 1 or not (SAID.search(said) or GONE.search(said)):
            raise AssertionError(f"the other client after {what}: {said}")

    def after(self, what, harms=False):
        """The cluster is as if nothing had been."""
        self.look_at_bystander(harms, what)
        await_that("all workers", self.is_whole)
        await_that("nothing to be left", self.is_empty)
        if harms:
            self.bystander = Bystander(self.pw_run, self.cluster)
        if self.bits(self.here) != self.expected:
            raise AssertionError(f"other bits after {what}")

    def kill(self, rng):
        """Whether it came before the end of the run."""
        client = train(self.pw_run, self.here, self.folder / "killed.npy")
        index = rng.randrange(len(HOSTS))
        worker = self.cluster.workers[index]
        is_client = rng.random() < 0.3
        victim = client if is_client else worker
        point = (0 if is_client else sleeps(worker.pid)) + int(10 ** rng.uniform(0, 2))
        await_that("the point", lambda: client.poll() is not None
                   or (sleeps(victim.pid) or point) >= point)
        victim.kill()
        _, said = client.communicate(timeout=LIMIT)
        hit = client.returncode != 0
        if is_client:
            if hit and client.returncode != -signal.SIGKILL:
                raise AssertionError(f"client: exit {client.returncode}: {said}")
        else:
            worker.wait()
            self.cluster.workers[index] = self.cluster.start_worker(HOSTS[index])
            if hit and (client.returncode != 5 or not SAID.search(said)):
                raise AssertionError(f"{HOSTS[index]}: exit {client.returncode}: {said}")
        self.after("a client's death" if is_client else f"the death of {HOSTS[index]}",
                   harms=not is_client and index in Bystander.NEEDS)
        return hit

    def kill_controller(self, rng):
        client = train(self.pw_run, self.here, self.folder / "killed.npy")
        point = sleeps(self.cluster.controller.pid) + int(10 ** rng.uniform(0, 2))
        await_that("the point", lambda: client.poll() is not None
                   or (sleeps(self.cluster.controller.pid) or point) >= point)
        self.cluster.restart_controller()
        _, said = client.communicate(timeout=LIMIT)
        if client.returncode not in (0, 5) or client.returncode == 5 and \
                not GONE.search(said):
            raise AssertionError(f"controller: exit {client.returncode}: {said}")
        self.after("the controller's death", harms=True)
        return client.returncode != 0

    def stop(self, rng):
        """A worker that is stopped until it is lost, and goes on."""
        worker = rng.choice(self.cluster.workers)
        worker.send_signal(signal.SIGSTOP)
        await_that("it to be lost", lambda: not self.is_whole())
        worker.send_signal(signal.SIGCONT)
        self.after("a long stop", harms=self.cluster.workers.index(worker) in Bystander.NEEDS)
        return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pw_run")
    parser.add_argument("--kills", type=int, default=8)
    parser.add_argument("--controller-kills", type=int, default=2)
    parser.add_argument("--stops", type=int, default=0)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--ucx", action="store_true", help="it is installed")
    options = parser.parse_args()
    seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
    print(f"seed {seed}")
    failures = in_time = 0
    kinds = ["kill"] * options.kills + ["kill_controller"] * options.controller_kills + \
        ["stop"] * options.stops
    random.Random(seed).shuffle(kinds)
    with tempfile.TemporaryDirectory() as folder, RunningCluster(
        pathlib.Path(options.pw_run).parent / "pw-node", TOPOLOGY, HOSTS, make_key(folder),
    ) as cluster:
        campaign = Campaign(options.pw_run, pathlib.Path(folder), cluster)
        for number, kind in enumerate(kinds):
            try:
                in_time += getattr(campaign, kind)(random.Random(f"{seed}/{number}"))
            except (AssertionError, TimeoutError, subprocess.TimeoutExpired) as wrong:
                print(f"{kind} {number} of seed {seed}: {wrong}\n{cluster.said()}")
                failures += 1
                break  # what comes next would begin in the middle
        if not failures:
            print(f"the other client waited for a launch {max(campaign.pauses, default=0) / 1e3:.1f} ms at "
                  f"the longest, {campaign.unharmed / 1e3:.1f} ms beside a run that nobody ends")
            if campaign.bystander.end():
                failures += 1
    print(f"{in_time} of {len(kinds)} came before the end, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
