#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sets the wall clock of processes of a cluster while they run.

Usage: wall_clock.py PW_RUN WALL_CLOCK_LIBRARY

Each process has a wall clock of its own (wall_clock.c), which is set by hours while its
monotonic clock goes on. Nobody may be taken for gone because of that: the controller's
clock is set back and forward, and all hosts keep their first life for twice the time
after which a silent process is lost. A client that waits
until the cluster has its hosts waits on when its clock is set. And who is gone must be
noticed: a worker is stopped when all clocks have just been set back.
"""

import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time

from running_cluster import RunningCluster, await_that, make_key

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
HOUR = 3600
LOST_AFTER = 5  # seconds
OPTIONS = ["--slow-after=1s", f"--lost-after={LOST_AFTER}s"]


class WallClock:
    """The wall clock of one process."""

    def __init__(self, library, folder, name):
        self.file = pathlib.Path(folder, name)
        self.file.write_bytes(struct.pack("q", 0))
        # What a command line begins with.
        self.machine = ["env", f"LD_PRELOAD={library}", f"WALL_CLOCK={self.file}"]

    def set_by(self, seconds):
        with open(self.file, "r+b", buffering=0) as file:
            file.write(struct.pack("q", seconds))


class Run:
    """One cluster of two workers, each process with a clock of its own."""

    def __init__(self, pw_run, library):
        self.pw_run, self.library = pw_run, library

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.key = make_key(self.folder.name)
        self.clocks = {name: WallClock(self.library, self.folder.name, name)
                       for name in ("controller", "host0", "host1", "client")}
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def cluster(self):
        return RunningCluster(
            pathlib.Path(self.pw_run).parent / "pw-node", "2x1x4", [["host0"], ["host1"]],
            self.key, options=OPTIONS,
            machines=[self.clocks[name].machine for name in ("controller", "host0", "host1")])

    def client(self, cluster):
        return subprocess.Popen(
            [*self.clocks["client"].machine, self.pw_run, EXAMPLES / "tutorial" / "softmax.mlir",
             f"--connect={cluster.address}", f"--key={self.key}", "--input=x=ramp"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def hosts(cluster):
    """The state and the life of the process of each host."""
    return {host["name"]: (process["state"], process["life"])
            for process in cluster.status()["processes"] for host in process.get("hosts", [])}


def check_ended(what, client, cluster):
    said, _ = client.communicate(timeout=60)
    assert client.returncode == 0, f"{what}: the client said\n{said}\nthe cluster\n{cluster.said()}"


def check_steps_of_the_controller(run):
    with run.cluster() as cluster:
        check_ended("before", run.client(cluster), cluster)
        before = hosts(cluster)
        assert len(before) == 2, before
        for hours in (-1, 1):
            run.clocks["controller"].set_by(hours * HOUR)
            # Clients would have the controller speak to workers, which hides that it
            # does not ask them any more.
            end = time.monotonic() + 2 * LOST_AFTER
            while time.monotonic() < end:
                cluster.status()
            check_ended(f"set by {hours} h", run.client(cluster), cluster)
            now = {name: life for name, (_, life) in hosts(cluster).items()}
            assert now == {name: life for name, (_, life) in before.items()}, \
                f"set by {hours} h: {before} became {now}\n{cluster.said()}"
    print("the controller's clock was set back and forward: nobody was taken for gone")


def check_a_worker_that_is_stopped(run):
    with run.cluster() as cluster:
        check_ended("before", run.client(cluster), cluster)
        for clock in run.clocks.values():
            clock.set_by(-HOUR)
        cluster.workers[1].send_signal(signal.SIGSTOP)
        await_that("a stopped worker to be taken for gone",
                   lambda: hosts(cluster)["host1"][0] == "gone")
        assert hosts(cluster)["host0"][0] == "up", hosts(cluster)
    print("all clocks were set back: a worker that was stopped was noticed")


def check_a_client_that_waits(run):
    with run.cluster() as cluster:
        for worker in cluster.workers:
            worker.send_signal(signal.SIGSTOP)
        cluster.restart_controller()
        client = run.client(cluster)
        # It says so when it has heard that it is to wait.
        lines = [client.stdout.readline()]
        assert "waiting" in lines[0], lines
        for hours in (1, -1, 0):
            run.clocks["client"].set_by(hours * HOUR)
            # Long enough that a client which looks at its clock has done so.
            for _ in range(5):
                cluster.status()
            if client.poll() is not None:
                check_ended(f"set by {hours} h", client, cluster)
                raise AssertionError("a client ran on no host")
        for worker in cluster.workers:
            worker.send_signal(signal.SIGCONT)
        check_ended("with hosts", client, cluster)
    print("a client's clock was set while it waited: it waited on")


def main():
    pw_run, library = sys.argv[1:3]
    for check in (check_steps_of_the_controller, check_a_worker_that_is_stopped,
                  check_a_client_that_waits):
        with Run(pw_run, library) as run:
            check(run)


if __name__ == "__main__":
    main()
