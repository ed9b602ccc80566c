# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Speaks to workers whose threads are all in a kernel that does not return.

busy_cluster.py PROGRAM KEY: the program of endless.mlir. Clients still join and
leave, for which each worker links to them, and the controller hears of all.
"""

import pathlib
import shutil
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "processes"))
from running_cluster import RunningCluster  # noqa: E402

program, key = sys.argv[1:]
options = ["--workers=1", "--stall-timeout=5s", "--slow-after=1m", "--lost-after=2m"]
with RunningCluster(shutil.which("pw-node"), "1x2x2", [["host0"], ["host1"]], key,
                    options) as cluster:
    client = ["pw-run", program, f"--connect={cluster.address}", f"--key={key}"]
    run = subprocess.Popen(["timeout", "300"] + client + ["--input=x=ramp"], stderr=subprocess.PIPE, text=True)
    busy = set()
    for line in run.stderr:  # warnings of what takes long
        busy |= {host for host in ("host0", "host1") if f"/{host}/" in line}
        if len(busy) == 2:
            break
    print("busy:", sorted(busy))
    for _ in range(3):
        joined = subprocess.run(client + ["--compile-only"], stderr=subprocess.PIPE, text=True)
        print("joined:", joined.returncode, joined.stderr)
    status = cluster.status()
    for process in status["processes"][:2]:
        print(process["hosts"][0]["name"], process["state"])
    print("program of", status["controller"]["programs"][0]["client"])
    run.terminate()
    run.communicate()
