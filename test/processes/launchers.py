#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Clusters started by mpirun and by Slurm, one worker of which is killed.

Usage: launchers.py PW_RUN [--pw-node=FILE] [--mpirun] [--slurm] [--ucx] [--log=FILE]

Without --mpirun and --slurm, both. A cluster of four hosts is started as
docs/clusters.md says, and trains examples/train for a client: the loss has the bits
that it has in one process. Then a worker is killed: the others live on, the launcher
ends none of them, and what needs its host is refused, until the launcher has started
it again. When the launcher has ended the cluster no process is left, no socket and no
shared memory. Slurm's daemons are this script's own, with a folder of their own. All of
it runs in a network namespace that has loopback alone, since mpirun listens everywhere.
With --ucx workers send arrays to each other over it. --log writes what was run and said
as a page of docs.
"""

import argparse
import fcntl
import getpass
import os
import pathlib
import re
import shlex
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import textwrap

from cluster_kills import EXAMPLES
from running_cluster import LIMIT, RunningCluster, await_that, make_key

ROOT = EXAMPLES.parent
TOPOLOGY = "2x2x2"
HOSTS = ["host0", "host1", "host2", "host3"]
VICTIM = "host2"
UCX = ["--listen=ucx:127.0.0.1:0", "--listen=127.0.0.1:0", "--ucx=shm"]
RANK = re.compile(r"^(?:OMPI_COMM_WORLD_RANK|SLURM_PROCID)=(\d+)$", re.M)
SHARED = pathlib.Path("/dev/shm")
ALONE = "PATHWAYS_TEST_ALONE"


def leave_the_network():
    """Starts this again where there is no network but loopback."""
    if ALONE not in os.environ:
        os.environ[ALONE] = "1"
        command = ["unshare", "--net", *["--map-root-user"] * (os.geteuid() != 0)]
        os.execvp(command[0], [*command, sys.executable, *sys.argv])
    set_address, get_flags, set_flags, is_up = 0x8916, 0x8913, 0x8914, 1
    with socket.socket() as any_socket:
        asked = fcntl.ioctl(any_socket, get_flags, struct.pack("16sH14x", b"lo", 0))
        flags = struct.unpack("16sH14x", asked)[1]
        fcntl.ioctl(any_socket, set_flags, struct.pack("16sH14x", b"lo", flags | is_up))
        # Slurm looks no name up where 127.0.0.1 is the only address.
        fcntl.ioctl(any_socket, set_address, struct.pack(
            "16sHH4s8x", b"lo:1", socket.AF_INET, 0, socket.inet_aton("127.0.0.2")))


def read_words(pid, name):
    """The command line or the environment of a process; none: it is gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/{name}").read_text(errors="replace").split("\0")
    except OSError:
        return []


def processes_of(folder):
    """Command lines by number: whose words, or variables, say the folder."""
    found = {}
    for path in pathlib.Path("/proc").iterdir():
        if not path.name.isdigit() or int(path.name) == os.getpid():
            continue
        words = read_words(path.name, "cmdline")
        if any(str(folder) in word for word in words + read_words(path.name, "environ")):
            found[int(path.name)] = [word for word in words if word]
    return found


def workers_of(folder):
    """The process of each host."""
    found = {}
    for pid, words in processes_of(folder).items():
        if len(words) > 1 and words[0].endswith("pw-node") and words[1] == "worker":
            rank = RANK.search("\n".join(read_words(pid, "environ")))
            for word in words:
                if word.startswith("--host="):
                    found[word[7:].replace("%r", rank[1] if rank else "")] = pid
    return found


def unused_segments():
    """Shared memory that no process has, by name."""
    names = {path.name for path in SHARED.iterdir() if path.is_file()}
    for path in pathlib.Path("/proc").glob("[0-9]*/maps"):
        try:
            names -= set(re.findall(rf"{SHARED}/(\S+)", path.read_text()))
        except OSError:
            pass
    for line in pathlib.Path("/proc/sysvipc/shm").read_text().splitlines()[1:]:
        if line.split()[6] == "0":
            names.add(f"SysV {line.split()[1]}")
    return names


def named_sockets(folder):
    return [line for line in pathlib.Path("/proc/net/unix").read_text().splitlines()
            if str(folder) in line]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Log:
    """What was run and said, without the names of this machine."""

    def __init__(self):
        self.lines, self.scrubbed = [], [(socket.gethostname(), "machine0")]

    def write(self, text):
        for name, shown in self.scrubbed:
            text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", shown, text)
        print(text, flush=True)
        self.lines += text.split("\n")

    def say(self, text):
        self.write(textwrap.fill(text, 88) + "\n")

    def show(self, words, output="", end=""):
        """A command, as words or as text."""
        command = words if isinstance(words, str) else " ".join(
            word if "%" in word else shlex.quote(word) for word in map(str, words))
        lines = textwrap.wrap(f"$ {command}{end}", 88, subsequent_indent="    ",
                              break_long_words=False, break_on_hyphens=False)
        text = " \\\n".join(lines) + f"\n{output}"
        self.write(f"```text\n{text.rstrip()}\n```\n")


class Launched(RunningCluster):
    """A cluster that a launcher has started, in a folder that all its processes know."""

    def __init__(self, options, log, place):
        super().__init__(options.pw_node, TOPOLOGY, [HOSTS], make_key(place))
        self.place, self.record = pathlib.Path(place), log
        self.listen = UCX if options.ucx else []
        self.environment = {
            **os.environ, "PATHWAYS_KEY": self.key, "TMPDIR": str(place),
            "PATH": ":".join([str(pathlib.Path(options.pw_node).resolve().parent),
                              str(pathlib.Path(options.pw_run).resolve().parent),
                              os.environ["PATH"]])}
        for name in ("PATHWAYS_HOST", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"):
            self.environment.pop(name, None)

    def __enter__(self):
        try:
            return super().__enter__()
        except BaseException:
            print(self.everything_said())
            self.__exit__()
            raise

    def __exit__(self, *what):
        for pid in processes_of(self.place):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        super().__exit__(*what)

    def begin(self, words, shown=True):
        """A process that goes on."""
        if shown:
            self.record.show(words, end=" &")
        self.processes.append(subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            env=self.environment, cwd=ROOT))
        return self.processes[-1]

    def call(self, words, expected=0, shown=True):
        """What a process that ends has said."""
        ended = subprocess.run(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, timeout=LIMIT, env=self.environment, cwd=ROOT)
        if shown:
            self.record.show(words, ended.stdout)
        if ended.returncode != expected:
            raise AssertionError(
                f"{words[0]}: exit {ended.returncode}, expected {expected}: {ended.stdout}")
        return ended.stdout

    def show_status(self):
        self.call(["pw-node", "status", f"--connect={self.address}"])

    def everything_said(self):
        return self.said()


class MpirunCluster(Launched):
    launcher = "mpirun"

    def __init__(self, *arguments):
        super().__init__(*arguments)
        # As root, with more processes than cores, and over loopback.
        self.environment.update(
            OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
            OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_oob_tcp_if_include="lo")
        self.launchers = []

    def mpirun(self, count, host):
        self.launchers.append(self.begin(
            ["mpirun", "--enable-recovery", "--bind-to", "none", "--map-by", "node",
             "-x", "PATHWAYS_CONTROLLER", "-x", "PATHWAYS_KEY", "-n", str(count),
             "pw-node", "worker", f"--host={host}", *self.listen]))

    def start_controller(self, address):
        self.call(["mpirun", "--version"])
        super().start_controller(address)
        self.environment["PATHWAYS_CONTROLLER"] = self.address
        self.record.show(
            f"export PATHWAYS_CONTROLLER={self.address} PATHWAYS_KEY={self.key}")
        self.record.show(
            f"pw-node controller --topology={TOPOLOGY} --listen=$PATHWAYS_CONTROLLER &")

    def start_worker(self, hosts):
        self.mpirun(len(hosts), "host%r")

    def start_again(self, host):
        self.mpirun(1, host)

    def is_running(self):
        return self.launchers[0].poll() is None

    def end(self):
        """Asks the launcher to, and waits."""
        for launcher in self.launchers:
            launcher.terminate()
        self.record.show("kill $(jobs -p); wait")
        for launcher in self.launchers:
            launcher.wait(timeout=LIMIT)
        self.controller.terminate()
        if self.controller.wait(timeout=LIMIT) != 0:
            raise AssertionError(f"the controller ended with {self.controller.returncode}")
        self.record.say("What they said meanwhile:")
        self.record.write(f"```text\n{self.said().rstrip()}\n```\n")


class SlurmCluster(Launched):
    """With Slurm's own daemons, as one node; the job has the controller, too."""

    launcher = "Slurm"
    job = None

    def start_slurm(self):
        place, user = self.place, getpass.getuser()
        ports = free_port(), free_port()
        (place / "munge.key").touch(mode=0o600)
        (place / "munge.key").write_bytes(os.urandom(1024))
        for name in ("state", "spool"):
            (place / name).mkdir()
        (place / "slurm.conf").write_text(f"""
            ClusterName=pathways
            SlurmctldHost={socket.gethostname()}(127.0.0.1)
            SlurmctldPort={ports[0]}
            SlurmdPort={ports[1]}
            SlurmUser={user}
            SlurmdUser={user}
            AuthType=auth/munge
            CredType=cred/munge
            AuthInfo=socket={place}/munge.socket
            # One machine, which it says has more cores; without cgroups.
            NodeName=node0 NodeHostname={socket.gethostname()} NodeAddr=127.0.0.1 CPUs=8
            SlurmdParameters=config_overrides
            PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
            CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
            ProctrackType=proctrack/linuxproc
            TaskPlugin=task/none
            MpiDefault=none
            SelectType=select/cons_tres
            SelectTypeParameters=CR_CPU
            SwitchType=switch/none
            JobAcctGatherType=jobacct_gather/none
            AccountingStorageType=accounting_storage/none
            MailProg=/bin/true
            ReturnToService=2
            KillWait=30
            StateSaveLocation={place}/state
            SlurmdSpoolDir={place}/spool
            SlurmctldPidFile={place}/slurmctld.pid
            SlurmdPidFile={place}/slurmd.pid
            """)
        self.environment["SLURM_CONF"] = str(place / "slurm.conf")
        self.environment["PATH"] += ":/usr/sbin"
        self.daemons = [
            self.begin(["munged", "--foreground", "--force", f"--socket={place}/munge.socket",
                        f"--key-file={place}/munge.key", f"--pid-file={place}/munge.pid",
                        f"--log-file={place}/munge.log", f"--seed-file={place}/munge.seed"],
                       shown=False)]
        await_that("munged", lambda: (place / "munge.socket").exists())
        self.daemons += [self.begin(["slurmctld", "-D", "-c"], shown=False),
                         self.begin(["slurmd", "-D", "-N", "node0"], shown=False)]
        sinfo = ["sinfo", "--noheader", "--format=%T"]
        await_that("Slurm", lambda: "idle" in subprocess.run(
            sinfo, capture_output=True, text=True, env=self.environment, timeout=LIMIT).stdout)

    def start_controller(self, address):
        self.start_slurm()
        self.call(["srun", "--version"])
        self.call(["sinfo"])
        self.address = f"127.0.0.1:{free_port()}"
        self.environment["PATHWAYS_CONTROLLER"] = self.address
        self.record.show(
            f"export PATHWAYS_CONTROLLER={self.address} PATHWAYS_KEY={self.key}")
        said = self.call(
            ["sbatch", f"--ntasks={len(HOSTS)}", f"--ntasks-per-node={len(HOSTS)}",
             f"--output={self.place}/slurm-%j.out", "deploy/slurm.sbatch",
             TOPOLOGY, *self.listen])
        self.job = re.search(r"\d+", said)[0]

    def start_worker(self, hosts):
        pass  # the job has

    def start_again(self, host):
        self.begin(["srun", f"--jobid={self.job}", "--overlap", "--ntasks=1", "--mpi=none",
                    "--cpu-bind=none", "pw-node", "worker", f"--host={host}", *self.listen])

    def jobs(self):
        return self.call(["squeue", "--noheader", "--format=%i %T"], shown=False)

    def is_running(self):
        self.call(["squeue", "--steps"])
        return self.jobs().split() == [self.job, "RUNNING"]

    def end(self):
        self.call(["scancel", self.job])
        await_that("the job's end", lambda: not self.jobs())
        output = self.place / f"slurm-{self.job}.out"
        self.record.show(["cat", output], output.read_text())
        for daemon in reversed(self.daemons):
            daemon.terminate()
            daemon.wait(timeout=LIMIT)

    def everything_said(self):
        outputs = sorted(self.place.glob("slurm-*.out"))
        return self.said() + "".join(path.read_text() for path in outputs)


class Exercise:
    """What is done with a cluster, whoever has started it."""

    def __init__(self, pw_run, cluster):
        self.pw_run, self.cluster, self.record = pw_run, cluster, cluster.record

    def train(self, where, expected=0, shown=True):
        """The bytes of the loss, or what was said of why there are none."""
        data = "examples/train/data"
        output = self.cluster.place / "loss.npy"
        output.unlink(missing_ok=True)
        words = [self.pw_run, "examples/train/program.mlir", *where, "--steps=56",
                 f"--input=images=@{data}/images.npy", f"--input=labels=@{data}/labels.npy",
                 f"--input=w0=@{data}/w0.npy", "--input=b0=zeros",
                 f"--input=w1=@{data}/w1.npy", "--input=b1=zeros", f"--output=loss=@{output}"]
        said = self.cluster.call(words, expected=expected, shown=shown)
        return output.read_bytes() if expected == 0 else said

    def train_on_cluster(self, expected=0):
        return self.train([f"--connect={self.cluster.address}", f"--key={self.cluster.key}"],
                          expected)

    def hosts(self, what):
        """The state, or the life, of each host's process."""
        return {host["name"]: process[what] for process in self.cluster.status()["processes"]
                for host in process["hosts"]}

    def run(self):
        cluster, record = self.cluster, self.record
        record.say("All hosts have joined.")
        cluster.show_status()
        record.say("The training has the bits on it that it has in one process.")
        alone = self.train([f"--topology={TOPOLOGY}"])
        together = self.train_on_cluster()
        assert together == alone, "other bits on the cluster"
        before = workers_of(cluster.place)
        assert sorted(before) == HOSTS, f"expected a worker for each host, got {before}"

        record.say(f"The worker of {VICTIM} is killed. The others live on, and {cluster.launcher} "
                   "goes on; what needs the host is refused.")
        os.kill(before[VICTIM], signal.SIGKILL)
        record.show(["kill", "-9", str(before[VICTIM])])
        await_that("the death to be seen", lambda: self.hosts("state").get(VICTIM) not in ("up", "slow"))
        cluster.show_status()
        refused = self.train_on_cluster(expected=5)
        assert VICTIM in refused, f"expected a word of {VICTIM}, got {refused}"
        assert cluster.is_running(), f"{cluster.launcher} has ended"
        left = workers_of(cluster.place)
        assert left == {h: p for h, p in before.items() if h != VICTIM}, f"{left} of {before}"

        record.say(f"{cluster.launcher} starts it again, and all is as before.")
        cluster.start_again(VICTIM)
        await_that("the host to be back", lambda: self.hosts("state").get(VICTIM) == "up")
        cluster.show_status()
        assert self.hosts("life") == {host: 1 + (host == VICTIM) for host in HOSTS}, self.hosts("life")
        assert self.train_on_cluster() == alone, "other bits after the death"
        after = workers_of(cluster.place)
        assert after == {**before, VICTIM: after[VICTIM]}, f"{after}, before {before}"
        assert after[VICTIM] != before[VICTIM]

        record.say("The end. No process is left, no socket and no shared memory.")
        cluster.end()


def exercise(kind, options, log):
    shared = unused_segments()
    with tempfile.TemporaryDirectory(prefix="pathways-") as place:
        log.scrubbed += [(place, "$DIR")]
        with kind(options, log, place) as cluster:
            try:
                Exercise("pw-run", cluster).run()
                await_that("all processes to end", lambda: not processes_of(place))
            except BaseException:
                print(cluster.everything_said())
                raise
        assert not named_sockets(place), named_sockets(place)
        sockets = [str(path) for path in pathlib.Path(place).rglob("*") if path.is_socket()]
        assert not sockets, sockets
        await_that("shared memory to go", lambda: unused_segments() <= shared)
        sessions = list(pathlib.Path(place).glob("ompi.*"))
        assert not sessions, sessions


HEADER = """# Clusters that launchers started: a log

`test/processes/launchers.py --log=docs/launchers-log.md` has written it;
[clusters](clusters.md) says what the commands mean. All ran on one machine, on loopback,
in the folder `$DIR`.
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pw_run")
    parser.add_argument("--pw-node", help="default: beside pw-run")
    parser.add_argument("--mpirun", action="store_true")
    parser.add_argument("--slurm", action="store_true")
    parser.add_argument("--ucx", action="store_true", help="workers speak it")
    parser.add_argument("--log", type=pathlib.Path)
    options = parser.parse_args()
    if not options.pw_node:
        options.pw_node = pathlib.Path(options.pw_run).parent / "pw-node"
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # and ends what it has started
    if os.geteuid() != 0 and not options.mpirun:
        parser.error("Slurm's daemons have to be root's: be it, or say --mpirun")
    leave_the_network()
    both = options.mpirun == options.slurm
    kinds = [MpirunCluster] * (both or options.mpirun) + [SlurmCluster] * (both or options.slurm)
    log = Log()
    for kind in kinds:
        log.write(f"## {kind.launcher}\n")
        exercise(kind, options, log)
    if options.log:
        options.log.write_text("\n".join([HEADER, *log.lines]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
