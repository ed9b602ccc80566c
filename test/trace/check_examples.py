#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Traces the examples in both worlds, and checks what comes out.

  check_examples.py PW_RUN EXAMPLES

With either dispatch. Each trace keeps the rules of validate.py, those of a simulation are the same
bytes for the same seed, and a trace with room for few events says what it
dropped and is good, too.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# Example, topology, devices of its slices.
RUNS = [
    ("golden", "2x1x4", 6),
    ("golden", "1x1x1", 1),
    ("pipeline", "2x1x4", 8),
    ("pipeline", "2x2x2", 8),
    ("train", "2x1x4", 8),
    ("train", "2x2x2", 8),
]
WORLDS = [["--world=threads"], ["--world=sim", "--seed=1"],
          ["--world=sim", "--seed=2022"],
          ["--world=sim", "--seed=3", "--dispatch=sequential"],
          ["--world=threads", "--dispatch=sequential"]]


def run(command, **arguments):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, check=False, **arguments)
    if done.returncode:
        print(f"FAILED {' '.join(map(str, command))}: exit {done.returncode}\n"
              f"{done.stdout}")
    return done.returncode == 0


def main():
    pw_run, examples = sys.argv[1], pathlib.Path(sys.argv[2])
    failures = traces = 0
    with tempfile.TemporaryDirectory() as folder:
        def trace(example, path, *flags):
            nonlocal failures, traces
            traces += 1
            good = run([examples / example / "run", "--oversubscribe",
                        f"--trace={path}", *flags],
                       env={**os.environ, "PW_RUN": pw_run})
            failures += not good
            return good

        def validate(path, *flags):
            nonlocal failures
            failures += not run([sys.executable, HERE / "validate.py", *flags,
                                 path])

        for example, topology, devices in RUNS:
            for world in WORLDS:
                path = pathlib.Path(folder, "trace.json")
                flags = [f"--topology={topology}", *world]
                if not trace(example, path, *flags):
                    continue
                validate(path, f"--devices={devices}")
                if world[0] != "--world=sim":
                    continue
                again = pathlib.Path(folder, "again.json")
                if (trace(example, again, *flags) and
                        path.read_bytes() != again.read_bytes()):
                    print(f"FAILED {example} {flags}: two runs, two traces")
                    failures += 1
        for world in WORLDS[:2]:
            path = pathlib.Path(folder, "few.json")
            if trace("train", path, *world, "--trace-events=1000"):
                validate(path, "--min-dropped=1000", "--devices=8")
        # The controller's process is one more.
        for example, processes, dispatch in (("train", 4, "parallel"),
                                             ("pipeline", 3, "sequential")):
            path = pathlib.Path(folder, "processes.json")
            if trace(example, path, "--topology=2x2x2",
                     f"--processes={processes}", f"--dispatch={dispatch}"):
                validate(path, f"--processes={processes + 1}", "--devices=8")
                if example == "pipeline":
                    validate(path, "--self-test")
        path = pathlib.Path(folder, "broken.json")
        if trace("pipeline", path, "--world=sim"):
            validate(path, "--processes=0")
            validate(path, "--self-test")
    print(f"{traces} traces, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
