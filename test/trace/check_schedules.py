#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the pictures of docs/schedules again, and compares.

  check_schedules.py PW_RUN TREE [--write]

--write replaces the pictures.
"""

import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree


def main():
    pw_run, tree = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    pictures, failures = tree / "docs" / "schedules", 0
    script = tree / "scripts" / "render_schedules.py"
    if "--write" in sys.argv:
        return subprocess.run([sys.executable, script, pw_run, pictures],
                              check=False).returncode
    text = (tree / "docs" / "schedules.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, script, pw_run, folder], check=False)
        if done.returncode:
            return done.returncode
        drawn = {path.name: path for path in pathlib.Path(folder).iterdir()}
        stored = {path.name for path in pictures.iterdir()}
        if stored != set(drawn):
            print(f"FAILED {pictures} has {sorted(stored)}, expected {sorted(drawn)}")
            failures += 1
        for name, path in sorted(drawn.items()):
            xml.etree.ElementTree.parse(path)
            if f"(schedules/{name})" not in text:
                print(f"FAILED docs/schedules.md does not show {name}")
                failures += 1
            if name in stored and (pictures / name).read_bytes() != path.read_bytes():
                print(f"FAILED {pictures / name} is not what the compiler's schedule "
                      "draws; check_schedules.py --write replaces it")
                failures += 1
    print(f"{len(drawn)} pictures, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
