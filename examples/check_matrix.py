#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs an example on several topologies, on threads, in several processes and in the
# simulation, with parallel and sequential dispatch, and fails unless every run succeeds with the
# same bytes in every result.
#
#   check_matrix.py PW_RUN EXAMPLE RESULT...

import os
import pathlib
import subprocess
import sys
import tempfile

TOPOLOGIES = ["1x1x1", "1x1x8", "2x1x4", "2x2x2"]
MODES = [
    ["--world=threads"],
    ["--world=threads", "--dispatch=sequential"],
    *(["--world=sim", f"--seed={seed}"] for seed in (0, 1, 2022)),
    ["--world=sim", "--dispatch=sequential", "--host-work=100us"],
    ["--processes"],
    ["--processes=2", "--dispatch=sequential"],
]


def has_hosts_for(mode, topology):
    islands, hosts, _ = map(int, topology.split("x"))
    return mode[0] != "--processes=2" or islands * hosts >= 2


def main():
    pw_run, example, results = sys.argv[1], sys.argv[2], sys.argv[3:]
    script = pathlib.Path(__file__).resolve().parent / example / "run"
    first = None
    runs = failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for topology in TOPOLOGIES:
            for mode in MODES:
                if not has_hosts_for(mode, topology):
                    continue
                runs += 1
                flags = [f"--topology={topology}", "--oversubscribe", *mode]
                what = f"{example} {' '.join(flags)}"
                files = {name: pathlib.Path(folder, f"{name}.npy") for name in results}
                outputs = [f"--output={name}=@{path}" for name, path in files.items()]
                run = subprocess.run(
                    [script, *flags, *outputs],
                    env={**os.environ, "PW_RUN": pw_run},
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
                last = (run.stdout.splitlines() or [""])[-1]
                if run.returncode != 0 or not last.startswith("[SUCCESS]"):
                    print(f"FAILED {what}: exit {run.returncode}")
                    print(run.stdout + run.stderr)
                    failures += 1
                    continue
                got = {name: path.read_bytes() for name, path in files.items()}
                if first is None:
                    first, first_what = got, what
                for name in results:
                    if got[name] != first[name]:
                        print(f"FAILED {what}: '{name}' differs from {first_what}")
                        failures += 1
                for path in files.values():
                    path.unlink()
    print(f"{example}: {runs} runs, {failures} failures")
    return 1 if failures or first is None else 0


if __name__ == "__main__":
    sys.exit(main())
