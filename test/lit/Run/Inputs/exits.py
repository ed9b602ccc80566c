# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# exits.py CODE COMMAND...: runs the command and succeeds when it exits with
# exactly CODE, so that a crash is not taken for a refusal.

import subprocess
import sys

code = subprocess.run(sys.argv[2:]).returncode
if code != int(sys.argv[1]):
    sys.exit(f"exits.py: expected exit code {sys.argv[1]}, got {code}")
