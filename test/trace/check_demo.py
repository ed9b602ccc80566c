#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs scripts/demo in both worlds, and looks at what it leaves.

  check_demo.py PW_RUN TREE
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent


def main():
    pw_run, tree = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    failures, times = [], {}
    # With room in the trace for all events, and for a few of the last steps.
    for world, events in (("threads", []), ("sim", []), ("threads", ["--trace-events=1000"]),
                          ("sim", ["--trace-events=1000"])):
        with tempfile.TemporaryDirectory(prefix="a demo ") as folder:
            def check(what, good):
                if not good:
                    failures.append(f"{world} {events}: {what}")

            done = subprocess.run(
                [tree / "scripts" / "demo", f"--world={world}", *events], text=True,
                env={**os.environ, "PW_RUN": pw_run, "DEMO_OUT": folder},
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            if done.returncode:
                print(done.stdout)
                return 1
            out = pathlib.Path(folder)
            check("does not say where the summary is",
                  f"{folder}/summary.md" in done.stdout)
            summary = (out / "summary.md").read_text(encoding="utf-8")
            for name in re.findall(r"^\* `([^`]+)`:", summary, re.MULTILINE):
                for one in name.split(", "):
                    check(f"{one} is not there", (out / one).stat().st_size > 0)
            check("does not tell the virtual time",
                  ("of virtual time" in summary) == (world == "sim"))
            check("has not every step",
                  len(re.findall(r"^\| \d+ \|", summary, re.MULTILINE)) == 56)
            check("has not every device", len(re.findall(
                r"^\| island\d/host\d/device\d ", summary, re.MULTILINE)) == 8)
            stats = json.loads((out / "stats.json").read_text(encoding="utf-8"))
            launch = stats["costs"]["launch_ns"]
            check("does not tell the time of all steps",
                  f"* 56 steps in {launch / 1e6:.2f} ms" in summary)
            check("does not say what was dropped, or says so for nothing",
                  ("older events were dropped" in summary) == bool(events))
            if world == "sim" and times.setdefault("launch", launch) != launch:
                check(f"takes {launch} ns with events dropped, {times['launch']} ns "
                      "without", False)
            for picture, least in (("timeline.svg", 50), ("graph.svg", 30)):
                root = xml.etree.ElementTree.parse(out / picture).getroot()
                rects = root.findall("{http://www.w3.org/2000/svg}rect")
                check(f"{picture} has {len(rects)} rectangles",
                      len(rects) > least)
            picture = (out / "timeline.svg").read_text(encoding="utf-8")
            check("the picture does not say what was dropped, or says so for nothing",
                  ("older events were dropped" in picture) == bool(events))
            valid = subprocess.run(
                [sys.executable, HERE / "validate.py", "--devices=8",
                 out / "trace.json"], check=False)
            check("the trace is not good", valid.returncode == 0)
    for failure in failures:
        print(f"FAILED {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
