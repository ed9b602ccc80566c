# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# schedule_rows.py FILE CHECK...: checks the tables of pw-run --explain-schedules. A check is
# one of
#   NAME:step=MS;bubble=FRACTION  the step to 1e-5, the bubble to 4 digits
#   NAME:period_bubble=FRACTION   the bubble of the period to 4 digits
#   NAME:costs=JSON               step and period as in the file of pw-run --stats=@JSON
#   NAME:kept=STAGE/BYTES,...     bytes that the device of each stage keeps

import json
import re
import sys

times, kept = {}, {}
for line in open(sys.argv[1]):
    row = re.match(
        r"(\S+) +([\d.]+) ms +([\d.]+) ms +([\d.]+) +([\d.]+) +(\d+) +(\d+) +(\d+)", line
    )
    if row:
        times[row[1]] = [float(x) for x in row.groups()[1:5]]
    row = re.match(
        r"(\S+) +island(\d+)/host\d+/device0(?: to island(\d+)/\S+)? +(\d+) +(\d+) +(\d+) +(\d+)",
        line,
    )
    if row:
        for stage in range(int(row[2]), int(row[3] or row[2]) + 1):
            kept.setdefault(row[1], {})[stage] = int(row[7])

for check in sys.argv[2:]:
    name, *facts = check.split(":", 1)
    for fact in facts[0].split(";"):
        what, value = fact.split("=")
        step, period, bubble, period_bubble = times[name]
        if what == "step":
            assert abs(step / float(value) - 1) < 1e-5, (check, step)
        elif what == "bubble":
            assert abs(bubble - float(value)) < 0.6e-4, (check, bubble)
        elif what == "period_bubble":
            assert abs(period_bubble - float(value)) < 0.6e-4, (check, period_bubble)
        elif what == "costs":
            lines = [line for line in open(value) if line[0] == "{"]
            costs = json.loads(lines[0])["costs"]
            assert round(step * 1e6) == costs["step_ns"], (check, step, costs)
            assert round(period * 1e6) == costs["period_ns"], (check, period, costs)
        elif what == "kept":
            for part in value.split(","):
                stage, bytes = part.split("/")
                assert kept[name][int(stage)] == int(bytes), (check, kept[name])
        else:
            sys.exit(f"schedule_rows.py: unknown check '{check}'")
