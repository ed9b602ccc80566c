# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ends the controller of a worker whose parent lives on.

quiet_worker.py PW-NODE SOCKET
"""

import os
import pathlib
import subprocess
import sys

pw_node, socket = sys.argv[1:]
pathlib.Path(socket).unlink(missing_ok=True)
controller = subprocess.Popen(
    [pw_node, "controller", "--topology=1x1x1", f"--listen=unix:{socket}"],
    stderr=subprocess.PIPE, text=True)
parent, _ = pipe = os.pipe()
# The worker looks at descriptor 3, which bash makes of its standard input.
worker = subprocess.Popen(
    ["bash", "-c", 'exec "$0" worker "$@" 3<&0', pw_node, "--end-with-parent", "--host=host0",
     f"--connect=unix:{socket}", f"--listen=unix:{socket}.worker"],
    stdin=parent, stderr=subprocess.PIPE, text=True)
for line in controller.stderr:
    if "all 1 hosts have joined" in line:
        break
controller.terminate()
controller.communicate()
_, said = worker.communicate()
for end in pipe:
    os.close(end)
print(f"ended with {worker.returncode} and said {said!r}")
