# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A test that has namespaces of its own, where the system makes them."""

import os
import subprocess
import sys

SKIPPED = 77


def isolate(flags, probe):
    """Starts this program again, in the namespaces that `flags` of unshare say; returns there.

    Exits 77, and says why, where `probe`, a line for the shell, fails in such ones.
    """
    if os.environ.get("PATHWAYS_ISOLATED"):
        return
    unshare = ["unshare", *flags]
    if os.geteuid() != 0:
        unshare.insert(1, "--map-root-user")
    able = subprocess.run([*unshare, "sh", "-c", probe], capture_output=True, text=True)
    if able.returncode != 0:
        print(f"no such namespaces here: {able.stderr.strip()}")
        sys.exit(SKIPPED)
    os.environ["PATHWAYS_ISOLATED"] = "1"
    os.execvp(unshare[0], [*unshare, sys.executable, *sys.argv])
