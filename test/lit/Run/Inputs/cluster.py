# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cluster.py --topology=T --key=FILE COMMAND...: runs the commands, one after the
# other, while a cluster with a worker for each host runs, whose address stands
# where they say ADDRESS, and the file of what its processes say where they say LOG. Fails as the first of them does.

import argparse
import pathlib
import shlex
import shutil
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "processes"))
from running_cluster import RunningCluster  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("--topology", required=True)
parser.add_argument("--key", required=True)
parser.add_argument("--controller-option", action="append", default=[])
parser.add_argument("commands", nargs="+")
options = parser.parse_args()
islands, hosts, _ = map(int, options.topology.split("x"))
workers = [[f"host{i}"] for i in range(islands * hosts)]
with RunningCluster(shutil.which("pw-node"), options.topology, workers, options.key,
                    options.controller_option) as cluster:
    for command in options.commands:
        command = command.replace("ADDRESS", cluster.address)
        command = command.replace("LOG", shlex.quote(cluster.log.name))
        code = subprocess.run(command, shell=True).returncode
        if code != 0:
            print(cluster.said())
            sys.exit(code)
