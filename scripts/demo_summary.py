#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Says what scripts/demo did, from what it left in a folder.

  scripts/demo_summary.py FOLDER

Reads loss.npy, accuracy.npy and stats.json there, and writes summary.md.
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples" / "train"))
from report import read_floats  # noqa: E402

PLACES = 5  # of the critical path

FILES = [
    ("trace.json", "what happened when. Open https://ui.perfetto.dev, press "
     "\"Open trace file\" (it stays on your machine); a row for each device's "
     "queue, link and scheduler, arrows from the launch to the kernels and from "
     "sends to receives"),
    ("timeline.svg", "the same as a picture, a few steps; any browser shows it"),
    ("graph.svg", "the plan: what runs on which slice of devices, in which order; "
     "graph.dot is for Graphviz"),
    ("stats.json", "all numbers below, and more"),
    ("loss.npy, accuracy.npy", "for NumPy, one number for each step"),
]


def ms(ns):
    return f"{ns / 1e6:.2f} ms"


def table(heading, rows):
    lines = ["| " + " | ".join(heading) + " |",
             "|" + "|".join(["---"] + ["--:"] * (len(heading) - 1)) + "|"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: demo_summary.py FOLDER")
    try:
        write_summary(pathlib.Path(sys.argv[1]))
    except OSError as error:
        sys.exit(f"demo_summary.py: error: '{error.filename}': {error.strerror}")


def write_summary(folder):
    loss = read_floats(folder / "loss.npy")
    right = read_floats(folder / "accuracy.npy")
    stats = json.loads((folder / "stats.json").read_text(encoding="utf-8"))
    costs, time = stats["costs"], stats["time"]
    launch, wall = costs["launch_ns"], time["wall_ns"]
    devices = [d for d in costs["devices"] if d["busy_ns"] or d["wait_ns"]]
    is_virtual = "virtual_ns" in stats["run"]
    steps = stats["run"]["steps"]
    eight = range(len(right) - 8, len(right))
    lines = [
        "# What the demo did",
        "",
        "It trained a small classifier of handwritten digits (examples/train) on "
        f"{len(devices)} devices, "
        + ("in a simulation, whose time is virtual: " if is_virtual else
           "which are threads of this machine: ")
        + "the front half of the network on one slice of them, the back half on "
        "another, the images of a step split over the devices of each. The "
        "program names no device; the compiler placed it and inserted the "
        "transfers.",
        "",
        f"* {steps} steps in {ms(launch)}"
        f"{' of virtual time' if is_virtual else ''}: "
        f"{steps / (launch / 1e9):.0f} steps per second.",
        f"* The loss went from {loss[0]:.3f} to {loss[-1]:.3f}; of the images of "
        f"the last 8 steps, which it had never seen, it read "
        f"{sum(right[i] for i in eight) / 8:.1%} right.",
        "* Every loss, and the parameters at the end, agree with a training in "
        "NumPy without any sharding.",
        "",
        "## What lies here",
        "",
        *[f"* `{name}`: {what}." for name, what in FILES],
        "",
        "docs/tracing.md says what is what in the trace.",
        "",
        "## How busy the devices were",
        "",
    ]
    lines += table(
        ["device", "busy", "its queue waited", "utilization"],
        [[d["name"], ms(d["busy_ns"]), ms(d["wait_ns"]),
          f"{d['busy_ns'] / max(launch, 1):.1%}"] for d in devices])
    lines += ["", "The critical path is the chain of firings that waited for each "
              "other, up to the last one. What is between them is messages and, "
              "on threads, waiting for a processor: these kernels are tiny.", ""]
    if time["events_dropped"]:
        lines += [f"It covers only the last {ms(wall)}: "
                  f"{time['events_dropped']} older events were dropped, and "
                  "a larger --trace-events keeps more.", ""]
    path = time["critical_path"][:PLACES]
    lines += table(["action", "firings", "time", "of all"],
                   [[p["action"], str(p["firings"]), ms(p["ns"]),
                     f"{p['share']:.1%}"] for p in path] +
                   [["between them", "", ms(time["between_ns"]),
                     f"{time['between_ns'] / max(wall, 1):.1%}"]])
    lines += ["", "## Step by step", ""]
    lines += table(["step", "loss", "read right"],
                   [[str(i + 1), f"{loss[i]:.3f}", f"{right[i]:.1%}"]
                    for i in range(len(loss))])
    (folder / "summary.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
