#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws docs/train-timeline.svg again, and compares.

  check_timeline.py PW_RUN TREE [--write]

--write replaces the picture. Also checks what the scripts that draw say of files
that are none of theirs.
"""

import os
import pathlib
import subprocess
import sys
import tempfile


def main():
    pw_run, tree = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    picture = tree / "docs" / "train-timeline.svg"
    scripts = tree / "scripts"

    def run(*command):
        return subprocess.run([str(c) for c in command], text=True, check=False,
                              env={**os.environ, "PW_RUN": pw_run},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        trace, drawn = pathlib.Path(folder, "t.json"), pathlib.Path(folder, "t.svg")
        # Virtual time: the same everywhere.
        for command in (
                [tree / "examples" / "train" / "run", "--world=sim",
                 "--topology=2x1x4", f"--trace={trace}"],
                [sys.executable, scripts / "render_timeline.py", trace, drawn,
                 "--steps=3", "--title=examples/train, the first three steps"]):
            done = run(*command)
            if done.returncode:
                print(f"FAILED {command}: {done.stdout}")
                return 1
        if "--write" in sys.argv:
            picture.write_bytes(drawn.read_bytes())
        elif picture.read_bytes() != drawn.read_bytes():
            print(f"FAILED {picture} is not what the example draws; "
                  "check_timeline.py --write replaces it")
            failures += 1
        nothing = pathlib.Path(folder, "nothing")
        empty = pathlib.Path(folder, "empty.json")
        empty.write_text('{"traceEvents":[]}', encoding="utf-8")
        for script, given, out, want in (
                ("render_timeline.py", nothing, drawn, "No such file"),
                ("render_timeline.py", picture, drawn, "is no trace"),
                ("render_timeline.py", empty, drawn, "no device that ran"),
                ("render_timeline.py", trace, folder, "Is a directory"),
                ("render_graph.py", nothing, drawn, "No such file"),
                ("render_graph.py", trace, drawn, "has no actions")):
            done = run(sys.executable, scripts / script, given, out)
            if done.returncode != 1 or want not in done.stdout:
                print(f"FAILED {script} {given}: exit {done.returncode}, expected "
                      f"'{want}': {done.stdout}")
                failures += 1
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
