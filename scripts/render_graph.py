#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the graph of a plan that `pw-run --dump-graph` wrote, as SVG.

  scripts/render_graph.py PLAN.dot OUT.svg

A column for each slice, actions from top to bottom in the order in which they
run; data goes along the arrows. Credits, which run back, and reuse of memory are
left out: `dot -Tsvg`, where Graphviz is installed, draws all. The same file gives
the same bytes. Needs nothing but Python.
"""

import argparse
import html
import re
import sys

COLUMN, BOX, HEIGHT, ROW, TOP = 300, 220, 24, 34, 70
# By the shapes of the file.
KINDS = {"box": ("gang", "#cfe0f7"), "rarrow": ("send", "#f7dcc6"),
         "larrow": ("recv", "#f7dcc6"), "invhouse": ("feed", "#d7ecd0"),
         "house": ("fetch", "#d7ecd0")}
TEXT = r'"((?:[^"\\]|\\.)*)"'
CLUSTER = re.compile(r"^\s*label=" + TEXT + ";")
NODE = re.compile(r"^\s*a(\d+) \[label=" + TEXT + r", shape=(\w+), tooltip=" +
                  TEXT + r"\];")
EDGE = re.compile(r"^\s*a(\d+) -> a(\d+) \[.*tooltip=" + TEXT + r"\];")


def unquote(text):
    return re.sub(r"\\(.)", r"\1", text.replace("\\n", " "))


def fail(text):
    sys.exit(f"render_graph.py: error: {text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph", metavar="PLAN.dot")
    parser.add_argument("out", metavar="OUT.svg")
    arguments = parser.parse_args()
    try:
        with open(arguments.graph, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError as error:
        fail(f"cannot read '{arguments.graph}': {error.strerror}")
    slices, nodes, edges = [], {}, []
    for line in lines:
        if match := CLUSTER.match(line):
            slices.append(unquote(match[1]))
        elif match := NODE.match(line):
            nodes[int(match[1])] = (len(slices) - 1, unquote(match[2]), match[3],
                                    unquote(match[4]))
        elif match := EDGE.match(line):
            kind = match[3].split(" ")[0]
            if kind in ("data", "control"):
                edges.append((int(match[1]), int(match[2]), kind))
    if not nodes or not slices:
        fail(f"'{arguments.graph}' has no actions; pw-run --dump-graph writes such "
             "files")
    for a, b, _ in edges:
        if a not in nodes or b not in nodes:
            fail(f"'{arguments.graph}' has an edge from a{a} to a{b}, which are not "
                 "both actions there")

    def middle(action):
        column = nodes[action][0]
        return 20 + column * COLUMN + BOX / 2, TOP + order[action] * ROW

    order = {action: i for i, action in enumerate(sorted(nodes))}
    width = 20 + len(slices) * COLUMN
    height = TOP + len(nodes) * ROW + 20
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
           f'height="{height}" viewBox="0 0 {width} {height}">',
           "<style>text{font:12px sans-serif;fill:#20242c}"
           ".h{font-weight:bold}path{fill:none;stroke:#5a6270;stroke-width:1.1}"
           "</style>",
           '<defs><marker id="m" viewBox="0 0 8 8" refX="7" refY="4" '
           'markerWidth="7" markerHeight="7" orient="auto">'
           '<path d="M0 0 L8 4 L0 8 z" style="fill:#5a6270;stroke:none"/>'
           "</marker></defs>",
           f'<rect width="{width}" height="{height}" fill="#ffffff"/>']
    for i, name in enumerate(slices):
        svg.append(f'<text x="{20 + i * COLUMN}" y="30" class="h">'
                   f"{html.escape(name)}</text>")
    for a, b, kind in edges:
        (xa, ya), (xb, yb) = middle(a), middle(b)
        dash = ' style="stroke-dasharray:4 3"' if kind == "control" else ""
        if nodes[a][0] == nodes[b][0]:
            # Along the side, further out for those that go further.
            out = 10 + min(60, 5 * abs(order[b] - order[a]))
            x = xa + BOX / 2
            path = (f"M{x} {ya + HEIGHT / 2} C{x + out} {ya + HEIGHT / 2} "
                    f"{x + out} {yb + HEIGHT / 2} {x + 1} {yb + HEIGHT / 2}")
        else:
            side = 1 if xb > xa else -1
            x0, x1 = xa + side * BOX / 2, xb - side * (BOX / 2 + 1)
            path = (f"M{x0} {ya + HEIGHT / 2} C{x0 + side * 40} "
                    f"{ya + HEIGHT / 2} {x1 - side * 40} {yb + HEIGHT / 2} "
                    f"{x1} {yb + HEIGHT / 2}")
        svg.append(f'<path d="{path}" marker-end="url(#m)"{dash}/>')
    for action, (_, name, shape, where) in sorted(nodes.items()):
        x, y = middle(action)
        kind, fill = KINDS.get(shape, ("action", "#eeeeee"))
        shown = name if len(name) <= 30 else name[:27] + "..."
        svg.append(f'<rect x="{x - BOX / 2}" y="{y}" width="{BOX}" '
                   f'height="{HEIGHT}" rx="{3 if kind == "gang" else 12}" '
                   f'fill="{fill}" stroke="#5a6270"><title>{html.escape(where)}'
                   f'</title></rect><text x="{x}" y="{y + 16}" '
                   f'text-anchor="middle">{html.escape(shown)}</text>')
    svg.append("</svg>\n")
    try:
        with open(arguments.out, "w", encoding="utf-8") as file:
            file.write("\n".join(svg))
    except OSError as error:
        fail(f"cannot write '{arguments.out}': {error.strerror}")


if __name__ == "__main__":
    main()
