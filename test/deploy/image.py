#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares deploy/Dockerfile with what is built and with Debian.

Usage: image.py BUILD_DIRECTORY

Images are not built: that takes a daemon. Instead `cmake --install` writes what the
recipe copies, and every file that it copies has to be there; what an image's programs
load comes from exactly the packages that the image names, each of which Debian's lists
have; and from where it is installed pw-node finds what it needs for UCX.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
INSTALLED = "/opt/pathways/"


def run(*words, check=True):
    return subprocess.run(words, check=check, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=120).stdout


def read_stages(text):
    """Of each image but the one that builds: packages, files copied, and from what."""
    stages = {}
    for base, name, body in re.findall(
            r"^FROM (\S+) AS (\w+)\n(.*?)(?=^FROM|\Z)", text, re.M | re.S):
        body = body.replace("\\\n", " ")
        packages = set(" ".join(re.findall(r"--no-install-recommends([^&]*)", body)).split())
        copied = [word for line in re.findall(r"^COPY --from=build (.*)$", body, re.M)
                  for word in line.split()[:-1]]
        stages[name] = {"base": base, "packages": packages, "copied": copied}
    return stages


def needed(path):
    """The libraries that a program says it needs, and where they are here."""
    names = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", path))
    found = dict(re.findall(r"^\s*(\S+) => (\S+) ", run("ldd", path), re.M))
    return [found[name] for name in names if name in found]


def packages_of(libraries):
    """Debian's packages that have them."""
    # A folder that is a link has another name in the package; so may the library.
    names = {library: [str(pathlib.Path(library).resolve()), library, f"/usr{library}"]
             for library in libraries}
    said = run("dpkg", "-S", *sorted(set(sum(names.values(), []))), check=False)
    owners = {path: package.split(":")[0]
              for package, path in re.findall(r"^(\S+): (/.*)$", said, re.M)}
    found = set()
    for library, all_names in names.items():
        (owner, *_) = [owners[name] for name in all_names if name in owners] or [library]
        found.add(owner)
    return found


def main():
    if not shutil.which("dpkg"):
        print("not a Debian: nothing to compare with")
        return 0
    stages = read_stages((ROOT / "deploy/Dockerfile").read_text())
    assert set(stages) == {"build", "node", "client"}, stages
    wrong = []
    with tempfile.TemporaryDirectory() as place:
        run("cmake", "--install", sys.argv[1], "--prefix", place)
        for name in ("node", "client"):
            stage = stages[name]
            # On top of what its base has.
            there = stages.get(stage["base"], {"packages": set()})["packages"]
            libraries = set()
            for file in stage["copied"]:
                path = pathlib.Path(place, file.removeprefix(INSTALLED))
                if file.startswith(INSTALLED) and path.is_file():
                    libraries |= set(needed(path))
                else:
                    wrong.append(f"{name}: {file} is not what cmake --install writes")
            loaded = packages_of(libraries) if libraries else set()
            for package in sorted(loaded - there - stage["packages"]):
                wrong.append(f"{name}: {package} is loaded, and not installed")
            for package in sorted(stage["packages"] - loaded):
                wrong.append(f"{name}: {package} is installed, and not loaded")
            known = run("apt-cache", "show", *sorted(stage["packages"]), check=False)
            for package in sorted(stage["packages"]):
                if f"Package: {package}\n" not in known:
                    wrong.append(f"{name}: Debian has no package {package}")
        if pathlib.Path(place, "bin/libpathways_ucx.so").exists():
            said = run(f"{place}/bin/pw-node", "worker", "--connect=127.0.0.1:1",
                       "--trust-loopback", "--listen=ucx:127.0.0.1:0", "--listen=127.0.0.1:0",
                       "--ucx=tcp", "--host=h", "--wait=10ms", check=False)
            if "cannot dial" not in said:  # which comes after it listens
                wrong.append(f"pw-node has no UCX where it is installed: {said}")
    print("\n".join(wrong) or "the images have what their programs load")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
