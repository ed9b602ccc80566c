#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares docs/stablehlo-ops.md with the dialects and with what the importer does.

    ops_page.py ROOT PW_RUN

Each operation of the dialects has one row on the page. What pw-run --explain-import
prints for random modules, and for the examples, must be in the row of the operation.
Exits with 77 if NumPy is missing.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import random_modules
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

DIALECTS = ("stablehlo", "chlo", "check", "sdy", "mpmd")
HEADING = re.compile(r"^### `([\w.]+)`", re.MULTILINE)
QUOTED = re.compile(r"`([\w.]+)`")
# The page does not name these.
COMMON = {"arith.constant", "tensor.empty", "tensor.extract", "linalg.fill",
          "linalg.index", "none", "pw.call", "pw.reshard"}
SEEDS = range(1, 481, 40)


def rows_of(page):
    """What each operation becomes, by name."""
    rows, columns = {}, []
    for line in page.split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| operation"):
            columns = [cell.strip(" |") for cell in cells]
        elif line.startswith("| `"):
            became = dict(zip(columns, cells)).get("becomes", "")
            for name in QUOTED.findall(cells[0]):
                rows.setdefault(name, []).append(set(QUOTED.findall(became)))
    return rows


def explained(pw_run, path):
    """Pairs of an operation and one that it became."""
    done = subprocess.run([pw_run, str(path), "--topology=1x1x8", "--compile-only",
                           "--explain-import"], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        print(done.stderr)
        sys.exit(1)
    for line in done.stdout.split("\n")[1:]:
        parts = line.split(None, 2)
        for entry in parts[2].split(", ") if len(parts) == 3 else []:
            yield parts[0], entry.split()[-1]


def main(arguments):
    if len(arguments) != 2:
        print(__doc__)
        return 2
    root, pw_run = pathlib.Path(arguments[0]), arguments[1]
    page = (root / "docs" / "stablehlo-ops.md").read_text(encoding="utf-8")
    rows, wrong = rows_of(page), []
    known = set()
    for dialect in DIALECTS:
        text = (root / "docs" / "dialects" / f"{dialect}.md").read_text(encoding="utf-8")
        known.update(HEADING.findall(text))
    wrong += [f"{name} has no row" for name in sorted(known - set(rows))]
    wrong += [f"{name} is no operation" for name in sorted(set(rows) - known)]
    wrong += [f"{name} has {len(row)} rows" for name, row in sorted(rows.items())
              if len(row) > 1]
    pairs = set()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "module.mlir")
        for start in SEEDS:
            cases = [random_modules.make_case(seed, None)
                     for seed in range(start, start + SEEDS.step)]
            path.write_text(random_modules.module_of(cases), encoding="utf-8")
            pairs.update(explained(pw_run, path))
    for path in sorted((root / "examples" / "stablehlo").glob("*.mlir")):
        pairs.update(explained(pw_run, path))
    for name, became in sorted(pairs):
        listed = rows.get(name, [set()])[0] | COMMON
        if name in rows and became not in listed and not became.startswith("arith.") and (
                became.split(".")[0] not in listed):
            wrong.append(f"{name} becomes {became}, which its row does not say")
    for message in wrong:
        print(message)
    print(f"{len(rows)} operations, {len(pairs)} pairs, {len(wrong)} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
