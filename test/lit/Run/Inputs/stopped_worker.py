# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stops a worker that waits for its controller's name.

stopped_worker.py PW-NODE CONTROLLER
"""

import subprocess
import sys

worker = subprocess.Popen([sys.argv[1], "worker", "--host=host0", f"--connect={sys.argv[2]}"],
                          stderr=subprocess.PIPE, text=True)
for line in worker.stderr:
    if "waiting for it" in line:
        break
worker.terminate()
_, said = worker.communicate(timeout=300)
print(f"ended with {worker.returncode} and said {said!r}")
