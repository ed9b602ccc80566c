#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the schedules of docs/schedules.md on 4 slices with 8 micro-batches, as SVG.

  scripts/render_schedules.py PW_RUN FOLDER

Compiles a pipeline of examples/schedules with each schedule, runs it in a simulation in
which a forward call takes 1 s, a whole backward call 2 s and each half of one 1 s, and
draws the trace as FOLDER/NAME.svg. The same compiler gives the same bytes.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

SLICES, BATCHES = 4, 8
# Arguments of examples/schedules/generate.
SCHEDULES = {
    "gpipe": [],
    "1f1b": [],
    "eager-1f1b": [],
    "zb-h1": ["--split"],
    "zb-h2": ["--split"],
    "interleaved": ["--chunks=2", "--layout=loop"],
    "zbv": ["--chunks=2", "--layout=vee", "--split"],
    "dualpipe-v": ["--chunks=2", "--layout=vee", "--split"],
}
COSTS = {"F": 1, "B": 2, "I": 1, "W": 1}
KINDS = {"F": "forward", "B": "backward", "I": "first half", "W": "second half"}
# Of the first stage of a slice, and of the second one.
COLOURS = {"F": ("#4269d0", "#97bbf5"), "B": ("#3ca951", "#9fdcab"),
           "I": ("#1b7f79", "#6cc5b0"), "W": ("#d9822b", "#f3c98b")}
UNIT, ROW, LEFT, TOP = 17, 20, 56, 24


def fail(text):
    sys.exit(f"render_schedules.py: error: {text}")


def run(*command):
    done = subprocess.run([str(part) for part in command], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        fail(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stdout


def read_cells(path):
    """The cells of each slice: label, micro-batch, begin and end in seconds."""
    events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    kernels = [e for e in events if e["ph"] == "X" and e["cat"] == "kernel"]
    rows, counts = [[] for _ in range(SLICES)], {}
    for event in sorted(kernels, key=lambda e: e["ts"]):
        slice_, _, label = event["name"].partition(".")
        label = label.partition("[")[0].partition(".")[0]
        if not (slice_.startswith("s") and slice_[1:].isdigit() and label[-1:] in COSTS):
            continue
        begin = round(event["ts"] / 1e6)
        # In all schedules the calls of a stage come in the order of the micro-batches.
        counts[label] = counts.get(label, -1) + 1
        rows[int(slice_[1:])].append(
            (label, counts[label], begin, begin + COSTS[label[-1]]))
    for row in rows:
        for before, after in zip(row, row[1:]):
            if after[2] < before[3]:
                fail(f"{path}: {after} begins before {before} ends")
    if any(count != BATCHES - 1 for count in counts.values()):
        fail(f"{path}: has other calls than expected: {counts}")
    return rows


def draw(name, rows):
    seconds = max(row[-1][3] for row in rows)
    kinds = [kind for kind in KINDS if any(cell[0][-1] == kind for cell in rows[0])]
    width, height = LEFT + seconds * UNIT + 8, TOP + len(rows) * ROW + 26
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="8" y="16" font-size="12">{name}: {seconds} s</text>',
    ]
    for number, row in enumerate(rows):
        y = TOP + number * ROW
        lines.append(f'<text x="8" y="{y + 14}">slice {number}</text>')
        lines.append(f'<rect x="{LEFT}" y="{y}" width="{seconds * UNIT}" '
                     f'height="{ROW - 2}" fill="#eceff3"/>')
        first = min(int(label[:-1]) for label, *_ in row)
        for label, batch, begin, end in row:
            second = int(label[:-1]) != first
            x, wide = LEFT + begin * UNIT, (end - begin) * UNIT
            lines.append(
                f'<g><title>{label}{batch}</title><rect x="{x}" y="{y}" '
                f'width="{wide - 1}" height="{ROW - 2}" '
                f'fill="{COLOURS[label[-1]][second]}"/><text x="{x + wide / 2:g}" '
                f'y="{y + 13}" text-anchor="middle" '
                f'fill="{"#20242c" if second else "#ffffff"}">{batch}</text></g>')
    x, y = LEFT, TOP + len(rows) * ROW + 6
    stages = (0, 1) if len({label[:-1] for label, *_ in rows[0]}) > 1 else (0,)
    for kind in kinds:
        for stage in stages:
            lines.append(f'<rect x="{x}" y="{y}" width="12" height="12" '
                         f'fill="{COLOURS[kind][stage]}"/>')
            text = f"{kind} {KINDS[kind]}" + (f", {'first second'.split()[stage]} stage"
                                              if len(stages) > 1 else "")
            lines.append(f'<text x="{x + 16}" y="{y + 10}">{text}</text>')
            x += 24 + 6 * len(text)
    # The legend may be wider than the picture.
    wide = max(width, x)
    text = "\n".join(lines + ["</svg>"]) + "\n"
    return text.replace(f'width="{width}"', f'width="{wide}"').replace(
        f"0 0 {width} ", f"0 0 {wide} ")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    pw_run, out = sys.argv[1], pathlib.Path(sys.argv[2])
    tree = pathlib.Path(__file__).resolve().parent.parent
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        program, trace = pathlib.Path(folder, "p.mlir"), pathlib.Path(folder, "t.json")
        for name, arguments in SCHEDULES.items():
            program.write_text(
                run(tree / "examples" / "schedules" / "generate", SLICES, BATCHES,
                    "--rows=1", "--width=1", *arguments), encoding="utf-8")
            run(pw_run, program, f"--topology={SLICES}x1x1", "--world=sim",
                "--costs-only", f"--schedule={name}", f"--trace={trace}",
                *(f"--cost=*{kind}={time}s" for kind, time in COSTS.items()
                  if name_has(kind, arguments)))
            (out / f"{name}.svg").write_text(draw(name, read_cells(trace)),
                                             encoding="utf-8")


def name_has(kind, arguments):
    """Whether the program that `arguments` generate has calls of this kind."""
    return kind == "F" or (kind == "B") != ("--split" in arguments)


if __name__ == "__main__":
    main()
