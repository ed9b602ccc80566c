# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that attempts of a recovered run which fail alike take alike.

Usage: equal_attempts.py FOLDER COMMAND...

Runs the command, a run in the simulation that loses whatever it tries, with more and
more losses allowed, and compares the virtual times that each more takes.
"""

import json
import pathlib
import subprocess
import sys


def seconds(folder, command, losses):
    """When the last event of the run was, in virtual time."""
    trace = pathlib.Path(folder, f"losses{losses}.json")
    run = subprocess.run([*command, f"--max-losses={losses}", f"--trace={trace}"],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert f"{losses + 1} losses after step 0" in run.stderr, run.stderr
    events = json.loads(trace.read_text())["traceEvents"]
    return max(event["ts"] for event in events if "ts" in event) / 1e6


def main():
    folder, command = sys.argv[1], sys.argv[2:]
    times = [seconds(folder, command, losses) for losses in (1, 2, 3, 4)]
    attempts = [later - sooner for sooner, later in zip(times, times[1:])]
    print("attempts took", *(f"{attempt:.0f} s" for attempt in attempts))
    print("alike" if max(attempts) < 1.5 * min(attempts) else "not alike")


if __name__ == "__main__":
    main()
