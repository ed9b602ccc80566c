#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles every example, in every way that it can be cut, and fails where an op of a
# kernel is left to plain loops.
#
#   check_kernels.py PW_RUN

import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FLAGS = ["--compile-only", "--explain-kernels"]


def commands(pw_run, folder):
    for script in sorted(HERE.glob("*/run")):
        if script.parent.name == "schedules":
            continue
        ways = sorted(script.parent.glob("parallel/*.mlir"))
        for way in ways:
            yield [script, f"--parallel={way.stem}", "--steps=1", *FLAGS]
        if not ways:
            yield [script, *FLAGS]
    for flags in ([], ["--split"]):
        program = pathlib.Path(folder, f"pipeline{len(flags)}.mlir")
        with program.open("w") as file:
            generate = [sys.executable, HERE / "schedules" / "generate", "2", "3"]
            subprocess.run([*generate, *flags], stdout=file, check=True)
        yield [pw_run, program, "--topology=1x1x2", *FLAGS]
    for program in sorted(HERE.glob("tutorial/*.mlir")):
        yield [pw_run, program, "--topology=2x1x8", "--oversubscribe", *FLAGS]


def main():
    pw_run = os.path.abspath(sys.argv[1])
    failures = programs = ops = 0
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "PW_RUN": pw_run,
               "PATHWAYS_KERNEL_CACHE": os.path.join(folder, "kernels")}
        for command in commands(pw_run, folder):
            run = subprocess.run(command, env=env, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, check=False)
            what = " ".join(str(word) for word in command)
            counts = re.findall(r"^(\d+) ops?, (\d+) in plain loops$", run.stdout, re.M)
            programs += 1
            if run.returncode != 0 or len(counts) != 1:
                print(f"FAILED {what}: exit {run.returncode}\n{run.stdout}")
                failures += 1
                continue
            ops += int(counts[0][0])
            if int(counts[0][1]) > 0:
                print(f"FAILED {what}: plain loops")
                print("\n".join(line for line in run.stdout.splitlines()
                                if "plain loop: " in line))
                failures += 1
    print(f"{programs} programs, {ops} ops, {failures} failures")
    return 1 if failures or not ops else 0


if __name__ == "__main__":
    sys.exit(main())
