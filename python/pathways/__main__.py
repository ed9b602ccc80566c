# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m pathways"""

import sys

from pathways._command_line import main

if __name__ == "__main__":
    sys.exit(main())
