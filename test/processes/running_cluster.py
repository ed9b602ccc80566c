# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A cluster of pw-node processes, for tests."""

import json
import pathlib
import secrets
import subprocess
import tempfile
import time

# Seconds in which anything has to happen: many times what it takes on a machine that is
# slow, or busy with other work. Other tests that start processes have it as well.
LIMIT = 300


def await_that(what, condition):
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {LIMIT} s for {what}")
        time.sleep(0.01)


def make_key(folder):
    """A file in the folder with a key that no other cluster has."""
    path = pathlib.Path(folder, "key")
    path.touch(mode=0o600)
    path.write_text(secrets.token_hex(32))
    return path


class RunningCluster:
    """A controller on TCP and a worker for each of `workers`, lists of hosts.

    `key`: a file; every process has it. `options`: of the controller; `worker_options`: of
    each worker. `machines`: what the command lines of the controller and of each worker
    begin with. Leaving the context ends all of them.
    """

    def __init__(self, pw_node, topology, workers, key, options=(), worker_options=None,
                 listen="127.0.0.1:0", machines=None):
        self.pw_node, self.key = str(pw_node), str(key)
        self.topology, self.hosts, self.options = topology, workers, options
        self.worker_options = worker_options or [[] for _ in workers]
        self.listen = listen
        self.machines = machines or [[] for _ in range(1 + len(workers))]

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self.folder.name)
        self.log = open(folder / "log", "w+")
        self.processes = []
        self.file = folder / "address"
        self.start_controller(self.listen)
        self.workers = [self.start_worker(hosts) for hosts in self.hosts]
        await_that("all hosts", lambda: self.status()["controller"] is not None)
        return self

    def __exit__(self, *_):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        self.log.close()
        self.folder.cleanup()

    def start(self, machine, *arguments):
        process = subprocess.Popen(
            [*machine, self.pw_node, *arguments, f"--key={self.key}"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.processes.append(process)
        return process

    def start_controller(self, address):
        self.controller = self.start(
            self.machines[0], "controller", f"--topology={self.topology}", f"--listen={address}",
            f"--write-address={self.file}", *self.options)
        await_that("the controller",
                   lambda: self.file.exists() or self.controller.poll() is not None)
        self.address = self.file.read_text().strip()

    def restart_controller(self):
        """Kills it, and starts another one where it was."""
        self.controller.kill()
        self.controller.wait()
        self.file.unlink()
        self.start_controller(self.address)

    def start_worker(self, hosts):
        number = self.hosts.index(hosts)
        return self.start(
            self.machines[1 + number], "worker", f"--connect={self.address}",
            *(f"--host={host}" for host in hosts), *self.worker_options[number])

    def status(self):
        """What pw-node status says, as status.proto has it."""
        said = subprocess.run(
            [*self.machines[0], self.pw_node, "status", "--json", f"--connect={self.address}", f"--key={self.key}"],
            stdout=subprocess.PIPE, stderr=self.log, text=True, timeout=LIMIT)
        status = json.loads(said.stdout) if said.returncode == 0 else {}
        return {"controller": None, "processes": [], **status}

    def said(self):
        """What all its processes have said so far."""
        self.log.flush()
        return pathlib.Path(self.log.name).read_text()
