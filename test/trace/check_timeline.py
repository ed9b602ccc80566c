#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws docs/train-timeline.svg again, and compares.

  check_timeline.py PW_RUN TREE [--write]

--write replaces the picture. Also draws runs of every world, and checks what the
scripts that draw say of files that are none of theirs.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree


WORLDS = [["--world=threads"], ["--world=sim"], ["--processes"], ["--processes=2"]]


def check_worlds(pw_run, tree, folder, run):
    """Draws a run of each world, with room for all events and for few.

    The names of the files have blanks. Returns the number of failures.
    """
    failures = 0

    def fail(what):
        nonlocal failures
        print(f"FAILED {what}")
        failures += 1

    program = folder / "a program.mlir"
    program.write_bytes((tree / "examples" / "tutorial" / "softmax.mlir").read_bytes())
    trace, drawn = folder / "a trace.json", folder / "a picture.svg"
    for world in WORLDS:
        for events in ([], ["--trace-events=256"]):
            what = " ".join(world + events)
            done = run(pw_run, program, "--topology=2x2x2", *world, *events,
                       "--steps=40", "--input=x=ramp", f"--trace={trace}",
                       f"--output=sums=@{folder / 'the sums.npy'}")
            if done.returncode:
                fail(f"{what}: {done.stdout}")
                continue
            done = run(sys.executable, tree / "scripts" / "render_timeline.py", trace,
                       drawn)
            if done.returncode:
                fail(f"{what}: {done.stdout}")
                continue
            texts = [text.text for text in xml.etree.ElementTree.parse(drawn).iter(
                "{http://www.w3.org/2000/svg}text")]
            devices = [text for text in texts if "/device" in text]
            if not events and len(devices) != 4:
                fail(f"{what}: has rows of {devices}, expected 4 devices")
            if not events and not any(text.endswith("scheduler") for text in texts):
                fail(f"{what}: has no row of a scheduler")
            if any("events were dropped: complete from" in text
                   for text in texts) != bool(events):
                fail(f"{what}: does not say what was dropped, or says so for nothing")
    return failures


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
        failures += check_worlds(pw_run, tree, pathlib.Path(folder), run)
        nothing = pathlib.Path(folder, "nothing")
        empty = pathlib.Path(folder, "empty.json")
        empty.write_text('{"traceEvents":[]}', encoding="utf-8")
        torn = pathlib.Path(folder, "torn.json")
        torn.write_text('{"traceEvents":[{"ph":"X","tid":1}]}', encoding="utf-8")
        loose = pathlib.Path(folder, "loose.dot")
        loose.write_text('label="s";\na0 [label="x", shape=box, tooltip="t"];\n'
                         'a0 -> a7 [tooltip="data"];\n', encoding="utf-8")
        for script, code, want, *given in (
                ("render_timeline.py", 1, "No such file", nothing, drawn),
                ("render_timeline.py", 1, "is not a trace", picture, drawn),
                ("render_timeline.py", 1, "is not a trace", torn, drawn),
                ("render_timeline.py", 1, "no device that ran", empty, drawn),
                ("render_timeline.py", 1, "Is a directory", trace, folder),
                ("render_timeline.py", 1, "the trace has no kernel from 9 us to 1 us",
                 trace, drawn, "--from=9", "--to=1"),
                ("render_timeline.py", 2, "--steps: invalid count value: '0'",
                 trace, drawn, "--steps=0"),
                ("render_timeline.py", 2, "--from: invalid time value: 'soon'",
                 trace, drawn, "--from=soon"),
                ("render_timeline.py", 2, "--to: invalid time value: 'nan'",
                 trace, drawn, "--to=nan"),
                ("render_timeline.py", 2, "--steps: not allowed with",
                 trace, drawn, "--steps=1", "--from=0"),
                ("render_graph.py", 1, "No such file", nothing, drawn),
                ("render_graph.py", 1, "has no actions", trace, drawn),
                ("render_graph.py", 1, "has an edge from a0 to a7", loose, drawn),
                ("demo_summary.py", 1, "usage: demo_summary.py FOLDER"),
                ("demo_summary.py", 1, f"'{nothing}/loss.npy': No such file",
                 nothing)):
            done = run(sys.executable, scripts / script, *given)
            if done.returncode != code or want not in done.stdout:
                print(f"FAILED {script} {given}: exit {done.returncode}, expected "
                      f"{code} and '{want}': {done.stdout}")
                failures += 1
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
