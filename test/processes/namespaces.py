#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a cluster on three machines' networks that are slow, and that break.

Usage: namespaces.py PW_RUN [--programs=N] [--seed=S] [--rate=MBIT] [--ucx] [--breaks]

Three network namespaces, each with a worker, one of them with the controller and the
clients too, on a bridge in a namespace of their own; `tbf` caps what each may send. The
examples and random programs have the bits there that they have in one process: by
sockets, by UCX over TCP, and while links delay, double, reorder and lose messages. What
goes over a network is no faster than its cap. With --breaks a machine's link goes down
without a word, and then the way between two workers, while both still reach the
controller: each time the run that needs it ends with an error that names a host, long
before the stall timeout, and when the network is whole again, so is the cluster. The seed
is printed. Exits 77 where the system does not let it make namespaces. Nothing is left when
it ends, however it does.
"""

import argparse
import contextlib
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

import random_programs
from isolation import isolate
from running_cluster import LIMIT, RunningCluster, await_that, make_key

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
TOPOLOGY = "3x1x2"
HOSTS = [["host0"], ["host1"], ["host2"]]

# A value that goes from machine to machine in each step: so many bytes.
MOVED = 2 << 20
TYPE = f"!pw.array<{MOVED // 4}xf32, @%s, [{{\"x\"}}]>"
A, B, C = (TYPE % name for name in "abc")
MOVE = f"""
pw.slice @a mesh <"x" = 2>
pw.slice @b mesh <"x" = 2> apart_from [@a]
pw.slice @c mesh <"x" = 2> apart_from [@a, @b]
pw.program @move(%x: {A}) -> ({C} {{pw.name = "y"}}) {{
  %z = pw.reshard %x : {A} -> {B}
  %y = pw.reshard %z : {B} -> {C}
  pw.return %y : {C}
}}
"""


def ip(*arguments, machine=()):
    subprocess.run([*machine, "ip", *arguments], check=True)


class Network:
    """Machines 10.77.0.1 and so on, of which each sends `rate` Mbit per second."""

    def __init__(self, count, rate):
        self.rate = rate
        ip("link", "set", "lo", "up")
        ip("link", "add", "bridge", "type", "bridge")
        ip("link", "set", "bridge", "up")
        self.machines = [self.add(n) for n in range(count)]

    def add(self, n):
        holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        own = os.readlink("/proc/self/ns/net")
        await_that("a namespace",
                   lambda: os.readlink(f"/proc/{holder.pid}/ns/net") != own)
        machine = ["nsenter", f"--net=/proc/{holder.pid}/ns/net"]
        ip("link", "add", f"port{n}", "type", "veth", "peer", "name", "eth0",
           "netns", str(holder.pid))
        ip("link", "set", f"port{n}", "master", "bridge", "up")
        ip("link", "set", "lo", "up", machine=machine)
        ip("address", "add", f"{self.address(n)}/24", "dev", "eth0", machine=machine)
        ip("link", "set", "eth0", "up", machine=machine)
        subprocess.run(
            [*machine, "tc", "qdisc", "add", "dev", "eth0", "root", "tbf",
             "rate", f"{self.rate}mbit", "burst", "64kb", "latency", "100ms"], check=True)
        return machine

    @staticmethod
    def address(n):
        return f"10.77.0.{n + 1}"

    def sent(self, n):
        """Bytes that a machine has put on the network."""
        said = subprocess.run(
            [*self.machines[n], "cat", "/proc/net/dev"], stdout=subprocess.PIPE, text=True,
            check=True)
        return int(re.search(r"eth0:\s*(?:\d+\s+){8}(\d+)", said.stdout).group(1))

    @contextlib.contextmanager
    def without_link(self, n):
        ip("link", "set", "eth0", "down", machine=self.machines[n])
        yield
        ip("link", "set", "eth0", "up", machine=self.machines[n])

    @contextlib.contextmanager
    def without_way(self, one, other):
        """What they send each other vanishes."""
        ways = [(one, other), (other, one)]
        for here, there in ways:
            ip("route", "add", "blackhole", self.address(there), machine=self.machines[here])
        yield
        for here, there in ways:
            ip("route", "del", "blackhole", self.address(there), machine=self.machines[here])


class Campaign:
    def __init__(self, pw_run, folder, network, seed):
        self.pw_run, self.folder = str(pathlib.Path(pw_run).resolve()), pathlib.Path(folder)
        self.network, self.seed = network, seed
        self.programs = []  # name, arguments, and the results' names
        self.expected = {}

    def add_examples(self):
        tutorial = EXAMPLES / "tutorial"
        data = EXAMPLES / "train" / "data"
        self.add("softmax", [tutorial / "softmax.mlir", "--input=x=random:7", "--steps=5"],
                 ["y", "sums"])
        self.add("train", [
            EXAMPLES / "train" / "program.mlir", "--steps=56",
            f"--input=images=@{data}/images.npy", f"--input=labels=@{data}/labels.npy",
            f"--input=w0=@{data}/w0.npy", "--input=b0=zeros",
            f"--input=w1=@{data}/w1.npy", "--input=b1=zeros"], ["loss"])
        move = self.folder / "move.mlir"
        move.write_text(MOVE)
        self.add("move", [move, "--input=x=ramp", "--steps=4"], ["y"])

    def add_random(self, count):
        for number in range(count):
            program = random_programs.Program(random.Random(f"{self.seed}/{number}"))
            if not program.results:
                continue
            path = self.folder / f"random{number}.mlir"
            path.write_text(program.text())
            self.add(f"random {number}", [
                path, "--input=x0=random:1", "--input=x1=ramp", "--steps=2"],
                [f"y{i}" for i in range(len(program.results))])

    def add(self, name, arguments, results):
        self.programs.append((name, [*arguments, "--oversubscribe"], results))
        run, bits = self.run(arguments + ["--oversubscribe", f"--topology={TOPOLOGY}"], results)
        if run.returncode != 0:
            raise AssertionError(f"{name} in one process: {run.stderr}")
        self.expected[name] = bits

    def run(self, arguments, results, machine=()):
        files = [self.folder / f"{result}.npy" for result in results]
        for file in files:
            file.unlink(missing_ok=True)
        run = subprocess.run(
            [*machine, self.pw_run, *arguments,
             *(f"--output={r}=@{file}" for r, file in zip(results, files))],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=LIMIT)
        return run, [file.read_bytes() for file in files if file.exists()]

    def start(self, key, worker_options=None, options=()):
        network = self.network
        return RunningCluster(
            pathlib.Path(self.pw_run).parent / "pw-node", TOPOLOGY, HOSTS, key,
            options=options, worker_options=worker_options,
            listen=f"{network.address(0)}:0", machines=[network.machines[0], *network.machines])

    def here(self, cluster):
        return [f"--connect={cluster.address}", f"--key={cluster.key}"]

    def check(self, cluster, way, programs=None):
        for name, arguments, results in programs or self.programs:
            run, bits = self.run([*arguments, *self.here(cluster)], results,
                                 self.network.machines[0])
            if run.returncode != 0 or bits != self.expected[name]:
                raise AssertionError(f"{name}, {way}: exit {run.returncode}: "
                                     f"{run.stderr or 'other bits'}")

    def compare(self, key, way, worker_options=None):
        with self.start(key, worker_options) as cluster:
            try:
                self.check(cluster, way)
                self.measure(cluster, way)
            except (AssertionError, TimeoutError, subprocess.TimeoutExpired) as wrong:
                raise AssertionError(f"{wrong}\n{cluster.said()}") from wrong
        print(f"{way}: {len(self.programs)} programs have the same bits")

    def measure(self, cluster, way):
        """How fast the network is, by what the machines have sent."""
        steps = 8
        before = [self.network.sent(n) for n in range(3)]
        begin = time.monotonic()
        run, _ = self.run([self.folder / "move.mlir", "--input=x=ramp", f"--steps={steps}",
                           *self.here(cluster)], ["y"], self.network.machines[0])
        seconds = time.monotonic() - begin
        if run.returncode != 0:
            raise AssertionError(f"move, {way}: {run.stderr}")
        most = max(self.network.sent(n) - before[n] for n in range(3))
        if most < steps * MOVED:
            raise AssertionError(f"{most} bytes crossed the network, {way}, in {steps} steps "
                                 f"of {MOVED}")
        rate = most * 8e-6 / seconds
        print(f"{way}: {rate:.0f} Mbit/s of at most {self.network.rate}")
        if rate > 1.2 * self.network.rate:
            raise AssertionError("the network has no cap")

    def lose(self, cluster, what, broken):
        """A run while the network breaks: ends with an error; and what is said then."""
        before = self.network.sent(0)
        run = subprocess.Popen(
            [*self.network.machines[0], self.pw_run, self.folder / "move.mlir",
             "--input=x=ramp", "--steps=100000000", *self.here(cluster)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        await_that("values to go", lambda: self.network.sent(0) > before + 8 * MOVED
                   or run.poll() is not None)
        with broken:
            begin = time.monotonic()
            _, said = run.communicate(timeout=LIMIT)
            seconds = time.monotonic() - begin
        if run.returncode != 5 or not re.search("host[0-2]", said) or seconds > 60:
            raise AssertionError(f"{what}: exit {run.returncode}: {said}")
        print(f"{what}: after {seconds:.1f} s: {said.splitlines()[-1]}")
        await_that("the cluster to be whole", lambda: len(
            [p for p in cluster.status()["processes"] if p["hosts"] and p["state"] == "up"]) == 3)
        self.check(cluster, f"after: {what}", self.programs[:3])

    def breaks(self, key, way, worker_options=None):
        network = self.network
        with self.start(key, worker_options, ["--lost-after=4s", "--stall-timeout=10m"]) as cluster:
            try:
                self.lose(cluster, f"{way}, a machine's link is down", network.without_link(1))
                self.lose(cluster, f"{way}, no way between two workers",
                          network.without_way(1, 2))
            except (AssertionError, TimeoutError, subprocess.TimeoutExpired) as wrong:
                raise AssertionError(f"{wrong}\n{cluster.said()}") from wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pw_run")
    parser.add_argument("--programs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--rate", type=int, default=200)
    parser.add_argument("--ucx", action="store_true", help="it is installed")
    parser.add_argument("--breaks", action="store_true", help="takes up to a minute more")
    options = parser.parse_args()
    isolate(["--net", "--fork", "--pid", "--kill-child", "--mount-proc"],
            "ip link add name probe type veth && tc qdisc add dev lo root tbf rate 1mbit "
            "burst 10kb latency 1ms")
    seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
    print(f"seed {seed}, {options.programs} random programs")
    with tempfile.TemporaryDirectory() as folder:
        network = Network(3, options.rate)
        campaign = Campaign(options.pw_run, folder, network, seed)
        try:
            campaign.add_examples()
            campaign.add_random(options.programs)
            key = make_key(folder)
            ways = {"sockets": None}
            if options.ucx:
                ways["UCX"] = [
                    [f"--listen=ucx:{network.address(n)}:0", f"--listen={network.address(n)}:0",
                     "--ucx=tcp"] for n in range(3)]
            for way, worker_options in ways.items():
                campaign.compare(key, way, worker_options)
                if options.breaks:
                    campaign.breaks(key, way, worker_options)
            chaos = random_programs.CHAOS.format(seed)
            campaign.compare(key, "chaos", [[chaos]] * 3)
        except AssertionError as wrong:
            print(wrong)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
