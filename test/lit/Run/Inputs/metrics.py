# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# metrics.py LOG: prints the page that a controller with that log serves its figures on.

import pathlib
import re
import sys
import urllib.request

log = pathlib.Path(sys.argv[1]).read_text()
address = re.search(r"metrics on (http://\S+)", log).group(1)
print(urllib.request.urlopen(address, timeout=30).read().decode(), end="")
