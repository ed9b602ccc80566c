#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the wheel of the Python package from a build tree, without a network.

  build_wheel.py BUILD OUT

BUILD is a build tree with the targets python_module and pw-node. The wheel in the folder
OUT has the package, its extension module, the libraries of the C API and pw-node, stripped.
Equal contents are equal bytes: the order of files and their times are fixed. Its name has
the platform linux_x86_64 and no tag of manylinux, because LLVM, MLIR, abseil, protobuf,
hwloc and OpenSSL are those of the system. Prints the path of the wheel.
"""

from __future__ import annotations

import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python/pathways"
SOURCES = (".py", ".pyi", ".typed")
# The libraries need these packages of Debian 12 and apt.llvm.org.
EXTERNAL = (
    "libllvm22",
    "libmlir-22 (only to compile programs)",
    "libabsl20220623",
    "libprotobuf32",
    "libhwloc15",
    "libssl3",
    "zlib1g",
)


def build_option(build: pathlib.Path, name: str) -> str:
    """Returns a variable of the cache of CMake."""
    found = re.search(
        rf"^{name}:\w+=(.*)$", (build / "CMakeCache.txt").read_text("utf-8"), re.MULTILINE
    )
    if not found:
        raise SystemExit(f"error: {build} has no {name}")
    return found[1]


def soname(library: pathlib.Path) -> str:
    """Returns the name that the loader looks for; that of the file if it has none."""
    text = subprocess.run(
        ["readelf", "-d", library], check=True, capture_output=True, text=True
    ).stdout
    found = re.search(r"\(SONAME\).*\[(.*)\]", text)
    return found[1] if found else library.name


def binaries(build: pathlib.Path, stage: pathlib.Path) -> Iterator[tuple[str, pathlib.Path]]:
    """Installs what is compiled, and yields names in the wheel and files."""
    command = ["cmake", "--install", build, "--component", "wheel", "--strip"]
    done = subprocess.run(
        [*command, "--prefix", stage], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        raise SystemExit(f"error: cmake --install failed\n{done.stdout}")
    for path in (stage / "pathways").iterdir():
        if not path.is_symlink():
            yield f"pathways/{soname(path)}", path


def sources() -> Iterator[tuple[str, pathlib.Path]]:
    for path in PACKAGE.rglob("*"):
        name = path.relative_to(PACKAGE.parent)
        hidden = any(part.startswith(".") or part == "__pycache__" for part in name.parts)
        if path.suffix in SOURCES and not hidden:
            yield name.as_posix(), path


def metadata(version: str) -> str:
    return "".join(
        f"{line}\n"
        for line in (
            "Metadata-Version: 2.1",
            "Name: pathways",
            f"Version: {version}",
            "Summary: Programs over sharded arrays, on the devices of a cluster",
            "License: Apache-2.0 WITH LLVM-exception",
            "License-File: LICENSE",
            "Requires-Python: >=3.11",
            "Requires-Dist: numpy>=1.24,<2",
            "Provides-Extra: torch",
            "Requires-Dist: torch>=1.13; extra == 'torch'",
            *(f"Requires-External: {name}" for name in EXTERNAL),
        )
    )


def write_wheel(path: pathlib.Path, info: str, files: dict[str, tuple[bytes, int]]) -> None:
    """Writes files with modes, and the record of their hashes as the last one."""
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:

        def add(name: str, data: bytes, mode: int) -> None:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = (0o100000 | mode) << 16
            wheel.writestr(entry, data)

        # The metadata comes last, as the format recommends.
        for name in sorted(files, key=lambda name: (name.startswith(info), name)):
            data, mode = files[name]
            add(name, data, mode)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
            record.append(f"{name},sha256={digest.decode().rstrip('=')},{len(data)}\n")
        record.append(f"{info}/RECORD,,\n")
        add(f"{info}/RECORD", "".join(record).encode(), 0o644)


def main() -> int:
    if len(sys.argv) != 3:
        print(f"error: usage: {sys.argv[0]} BUILD OUT", file=sys.stderr)
        return 2
    build, out = (pathlib.Path(given).resolve() for given in sys.argv[1:])
    if not (build / "CMakeCache.txt").exists():
        print(f"error: '{build}' is no build tree", file=sys.stderr)
        return 2
    version = build_option(build, "CMAKE_PROJECT_VERSION")
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    tag = f"cp311-abi3-{platform}"
    info = f"pathways-{version}.dist-info"
    files = {name: (path.read_bytes(), 0o644) for name, path in sources()}
    with tempfile.TemporaryDirectory() as stage:
        for name, path in binaries(build, pathlib.Path(stage)):
            files[name] = (path.read_bytes(), 0o755)
    files[f"{info}/METADATA"] = (metadata(version).encode(), 0o644)
    files[f"{info}/LICENSE"] = ((ROOT / "LICENSE").read_bytes(), 0o644)
    files[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: pathways\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
        0o644,
    )
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"pathways-{version}-{tag}.whl"
    # A wheel is there completely or not at all.
    part = path.with_suffix(".part")
    try:
        write_wheel(part, info, files)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
