# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# peaks.py DRY STATS: compares the peak bytes of devices in the output of
# --dry-run with those in the JSON of --stats, for a cluster of one island.

import json
import re
import sys

with open(sys.argv[1]) as file:
    rows = re.findall(r"^island0 +device (\d+)(?:-(\d+))? +(\d+)", file.read(), re.M)
with open(sys.argv[2]) as file:
    devices = json.load(file)["devices"]
expected = {}
for first, last, peak in rows:
    for device in range(int(first), int(last or first) + 1):
        expected[device] = int(peak)
got = {i: d["peak_bytes"] for i, d in enumerate(devices) if d["peak_bytes"] > 0}
if expected != got:
    sys.exit(f"--dry-run says {expected}, the run {got}")
print(len(got), "devices agree")
