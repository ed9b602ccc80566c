# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# early_client.py FOLDER COMMAND...: runs the command, with --connect, before a cluster
# of two hosts has its worker, which comes when the command has said on its standard
# error for whom it waits. Prints that, and what follows; ends as the command does.

import subprocess
import sys

folder, *command = sys.argv[1:]
address = f"unix:{folder}/socket"
nodes = []


def start(*arguments):
    nodes.append(subprocess.Popen(["pw-node", *arguments], stderr=subprocess.PIPE, text=True))


try:
    start("controller", "--topology=2x1x4", f"--listen={address}")
    nodes[0].stderr.readline()  # it listens
    with subprocess.Popen([*command, f"--connect={address}"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as client:
        print(client.stderr.readline(), end="")
        start("worker", f"--connect={address}", "--host=host0", "--host=host1")
        out, err = client.communicate()
        print(err, out, sep="")
finally:
    for node in nodes:
        node.kill()
        node.wait()
sys.exit(client.returncode)
