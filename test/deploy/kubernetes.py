#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the pods of deploy/kubernetes as processes of this machine.

Usage: kubernetes.py PW_RUN [--pw-node=FILE]

Each pod has its volumes as Kubernetes lays them out, a Secret's and a ConfigMap's files
behind links, and runs its init containers and then its container, with the arguments
and the environment that its manifest says; as the manifest's user, where this is run by
root. Names of pods and mount paths are replaced: all listen on loopback. The controller
and the workers come together, the client's program has the results that it has in one
process; a worker that is killed, or told to end, is a failure of its pod, and another
pod with the same index takes its place.
"""

import argparse
import os
import pathlib
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/processes"))

from kills import children  # noqa: E402
from running_cluster import LIMIT, await_that  # noqa: E402

MANIFESTS = ROOT / "deploy/kubernetes"
PROGRAM = ROOT / "examples/tutorial/softmax.mlir"
IMAGE = re.compile(r"^pathways-(\w+):[\d.]+$")


def read_manifests():
    """All objects, by kind and name."""
    found = {}
    for path in sorted(MANIFESTS.rglob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text()):
            found[document["kind"], document["metadata"]["name"]] = document
    return found


def read_entry_points():
    """What a container runs whose manifest gives no command, by image."""
    text = (ROOT / "deploy/Dockerfile").read_text()
    stages = re.findall(r"^FROM \S+ AS (\w+)\n(.*?)(?=^FROM|\Z)", text, re.M | re.S)
    return {name: re.findall(r'ENTRYPOINT \["([\w-]+)"\]', body)[0]
            for name, body in stages if "ENTRYPOINT" in body}


class Site:
    """What a Kubernetes cluster would give to pods."""

    def __init__(self, place, pw_run, pw_node):
        self.place, self.manifests = place, read_manifests()
        self.entry_points = read_entry_points()
        bins = place / "bin"
        bins.mkdir()
        for tool in (pw_run, pw_node):
            (bins / tool.name).symlink_to(tool)
        self.path = f"{bins}:/usr/local/bin:/usr/bin:/bin"
        self.files = {"pathways-key": {"key": secrets.token_hex(32) + "\n"},
                      "pathways-program": {PROGRAM.name: PROGRAM.read_text()}}
        for (kind, name), manifest in self.manifests.items():
            if kind == "ConfigMap":
                self.files[name] = manifest["data"]
        controller = self.manifests["StatefulSet", "pathways-controller"]
        service = self.manifests["Service", controller["spec"]["serviceName"]]
        port = service["spec"]["ports"][0]["port"]
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            address = "127.0.0.1:%d" % probe.getsockname()[1]
        name = f"{controller['metadata']['name']}-0.{service['metadata']['name']}:{port}"
        self.names = {name: address, f"0.0.0.0:{port}": address}
        for key, value in service["spec"]["selector"].items():
            assert controller["spec"]["template"]["metadata"]["labels"][key] == value
        # As root: as the user that pods are, if that one may reach the tools.
        self.switches_user = os.geteuid() == 0 and subprocess.run(
            ["test", "-x", pw_node, "-a", "-x", pw_run, "-a", "-r", PROGRAM],
            user=65532, group=65532).returncode == 0
        self.pods = 0


class Pod:
    """One pod of a manifest, from its init containers on. `index`: of an indexed Job."""

    def __init__(self, site, manifest, index=None):
        self.site, self.spec = site, manifest["spec"]["template"]["spec"]
        site.pods += 1
        self.place = site.place / f"{manifest['metadata']['name']}-{site.pods}"
        self.place.mkdir()
        user = self.spec["securityContext"]
        self.user = (user["runAsUser"], user["runAsGroup"], user["fsGroup"])
        self.index = index
        self.volumes = {volume["name"]: self.make_volume(volume)
                        for volume in self.spec["volumes"]}
        used = {mount["name"] for part in ("initContainers", "containers")
                for container in self.spec[part] for mount in container["volumeMounts"]}
        assert used == set(self.volumes), f"mounted {used}, there are {set(self.volumes)}"
        for container in self.spec["initContainers"]:
            with self.start(container) as process:
                said, _ = process.communicate(timeout=LIMIT)
            assert process.returncode == 0, f"{container['name']}: {said}"
        (container,) = self.spec["containers"]
        self.log = self.place / "log"
        self.process = self.start(container, self.log)

    def make_volume(self, volume):
        folder = self.place / volume["name"]
        folder.mkdir()
        if "emptyDir" in volume:
            self.give(folder, 0o2777)
            return folder
        source = volume.get("secret") or volume["configMap"]
        # Kubernetes lets the group read what is mounted where there is an fsGroup.
        mode = source.get("defaultMode", 0o644) | 0o440
        behind = folder / "..2026"
        behind.mkdir()
        (folder / "..data").symlink_to(behind.name)
        for name, text in self.site.files[source.get("secretName") or source["name"]].items():
            (behind / name).write_text(text)
            self.give(behind / name, mode)
            (folder / name).symlink_to(f"..data/{name}")
        return folder

    def give(self, path, mode):
        """To root, and to the pod's group."""
        if self.site.switches_user:
            os.chown(path, 0, self.user[2])
        path.chmod(mode)

    def fill(self, text, container):
        for name, address in self.site.names.items():
            text = text.replace(name, address)
        for mount in container["volumeMounts"]:
            text = re.sub(rf"(?<!\w){re.escape(mount['mountPath'])}(?=/)",
                          str(self.volumes[mount["name"]]), text)
        return text

    def words(self, container):
        image = IMAGE.match(container["image"])[1]
        command = container.get("command", [self.site.entry_points[image]])
        return [self.fill(word, container) for word in [*command, *container.get("args", [])]]

    def environment(self, container):
        index = {} if self.index is None else {"JOB_COMPLETION_INDEX": str(self.index)}
        said = {each["name"]: self.fill(each["value"], container)
                for each in container.get("env", [])}
        return {"PATH": self.site.path, **index, **said}

    def start(self, container, log=None, words=None):
        as_user = {}
        if self.site.switches_user:
            as_user = dict(user=self.user[0], group=self.user[1], extra_groups=[self.user[2]])
        # A session of its own: all that it has started can be ended.
        return subprocess.Popen(
            words or self.words(container), env=self.environment(container), cwd="/",
            stdin=subprocess.DEVNULL, stdout=log.open("w") if log else subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, start_new_session=True, **as_user)

    def said(self):
        return self.log.read_text()

    def exit_code(self):
        return self.process.wait(timeout=LIMIT)

    def end(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


def hosts_of(site, pod):
    """The state of each host, asked as the controller's container would."""
    (container,) = pod.spec["containers"]
    address = next(iter(site.names.values()))
    with pod.start(container, words=["pw-node", "status", f"--connect={address}"]) as asked:
        said, _ = asked.communicate(timeout=LIMIT)
    rows = re.findall(r"^\d+ +(\w+) +(\w+) ", said, re.M)
    return {host: state for host, state in rows if host.startswith("host")}


def check_key(pod):
    """The Secret itself is no key file; what the init container makes of it is one."""
    (init,), (container,) = pod.spec["initContainers"], pod.spec["containers"]
    secret = pod.fill("/secret/key", init)
    with pod.start(container, words=["pw-node", "status", "--connect=127.0.0.1:1",
                                     f"--key={secret}"]) as asked:
        said, _ = asked.communicate(timeout=LIMIT)
    assert asked.returncode == 2 and ("belongs to user" in said or "by others" in said), said
    mode = os.stat(pod.volumes["key"] / "key").st_mode & 0o7777
    assert mode == 0o400, oct(mode)


def run_client(site, pods):
    pods.append(Pod(site, site.manifests["Job", "pathways-softmax"]))
    code = pods[-1].exit_code()
    assert code == 0, f"the client: exit {code}: {pods[-1].said()}"
    return pods[-1].said()


def alone(site, pods, pw_run):
    """What the client's program says in one process."""
    topology = site.place / "cluster.textproto"
    topology.write_text(site.files["pathways-topology"]["cluster.textproto"])
    words = [word for word in pods[-1].words(pods[-1].spec["containers"][0])[1:]
             if not word.startswith("--connect=")]
    return subprocess.run(
        [pw_run, *words, f"--topology={topology}", "--oversubscribe"], check=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT).stdout


def exercise(site, pw_run, pods):
    controller = Pod(site, site.manifests["StatefulSet", "pathways-controller"])
    pods.append(controller)
    job = site.manifests["Job", "pathways-worker"]
    count = job["spec"]["completions"]
    assert job["spec"]["parallelism"] == count and job["spec"]["completionMode"] == "Indexed"
    workers = []
    for index in range(count):
        workers.append(Pod(site, job, index))
        pods.append(workers[-1])
    names = [f"host{index}" for index in range(count)]
    await_that(f"all {count} hosts", lambda: f"all {count} hosts have joined" in controller.said())
    await_that("all to be up",
               lambda: hosts_of(site, controller) == dict.fromkeys(names, "up"))
    check_key(controller)
    first = run_client(site, pods)
    expected = alone(site, pods, pw_run)
    assert "sums" in expected and first == expected, f"{first}\nexpected\n{expected}"

    for index, end in ((count - 1, signal.SIGKILL), (0, signal.SIGTERM)):
        pod = workers[index]
        if end == signal.SIGTERM:
            pod.process.send_signal(end)  # as Kubernetes, to the first process
        else:
            (worker,) = children(pod.process.pid)
            os.kill(worker, end)
        assert pod.exit_code() == 1, f"a worker by {end.name}: exit {pod.process.returncode}"
        await_that("the host to be gone",
                   lambda: hosts_of(site, controller).get(names[index]) != "up")
        pods.append(Pod(site, job, index))
        await_that("the host to be back",
                   lambda: hosts_of(site, controller) == dict.fromkeys(names, "up"))
        assert run_client(site, pods) == expected
    controller.process.send_signal(signal.SIGTERM)
    assert controller.exit_code() == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pw_run", type=pathlib.Path)
    parser.add_argument("--pw-node", type=pathlib.Path, help="default: beside pw-run")
    options = parser.parse_args()
    pw_run = options.pw_run.resolve()
    pw_node = (options.pw_node or pw_run.parent / "pw-node").resolve()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # and ends what it has started
    pods = []
    place = pathlib.Path(tempfile.mkdtemp(prefix="pathways-"))
    place.chmod(0o755)
    try:
        site = Site(place, pw_run, pw_node)
        exercise(site, pw_run, pods)
    except BaseException:
        for pod in pods:
            print(f"-- {pod.place.name}\n{pod.said()}")
        raise
    finally:
        for pod in pods:
            pod.end()
        shutil.rmtree(place)
    user = "the manifests' user" if site.switches_user else "its own user"
    print(f"{len(pods)} pods ran, each as {user}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
