#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the timeline of a trace that `pw-run --trace` wrote, as SVG.

  scripts/render_timeline.py TRACE.json OUT.svg [--steps N | --from US --to US]
                             [--title TEXT]

A row for each scheduler, device and link, under the islands or, of several
processes, under these; gangs in a colour for each action,
waits pale, arrows of the first transfers. The same trace gives the same bytes.
Needs nothing but Python. --steps draws the first N; --from and --to are times of
the trace in microseconds. Without them it is all that the devices did. If events
were dropped, the picture says how many, and from when on it is complete.
"""

import argparse
import decimal
import html
import json
import sys

WIDTH, LABELS, ROW, GAP, TOP = 1200, 190, 22, 6, 74
MAX_ROWS = 64
MAX_ARROWS = 400
# Of well-distinguished hues; then they start over.
COLOURS = ["#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7",
           "#a463f2", "#97bbf5", "#9c6b4e", "#7a7f87", "#1b7f79", "#c2185b",
           "#8c9b2f", "#5d4b8c"]
WAIT, COLLECTIVE, LINK, GRANT = "#eceff3", "#20242c", "#b9c2cf", "#d7e3c6"


def fail(text):
    sys.exit(f"render_timeline.py: error: {text}")


def read(path):
    tracks, flows, processes = {}, {}, {}
    try:
        with open(path, encoding="utf-8") as file:
            trace = json.load(file, parse_float=decimal.Decimal)
        events = trace["traceEvents"]
        for e in events:
            if e["ph"] == "M" and e["name"] == "process_name":
                processes[e["pid"]] = e["args"]["name"]
            elif e["ph"] == "M" and e["name"] == "thread_name":
                tracks[e["tid"]] = {"heading": processes[e["pid"]],
                                    "name": e["args"]["name"], "slices": []}
        for e in events:
            if e["ph"] == "X":
                # What is drawn of each.
                _ = e["name"] + e["cat"], e["ts"] + e["dur"]
                if e["cat"] == "kernel":
                    _ = e["args"]["firing"]
                tracks[e["tid"]]["slices"].append(e)
            elif e["ph"] in ("s", "f") and e["name"] == "piece":
                _ = tracks[e["tid"]], e["ts"]
                flows.setdefault(e["id"], {})[e["ph"]] = e
        return trace.get("otherData", {}), tracks, flows
    except OSError as error:
        fail(f"cannot read '{path}': {error.strerror}")
    except (ValueError, LookupError, TypeError) as error:
        fail(f"'{path}' is not a trace: {error!r}")


def count(text):
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value


def time(text):
    try:
        value = decimal.Decimal(text)
    except decimal.InvalidOperation:
        raise ValueError(text) from None
    if not value.is_finite():
        raise ValueError(text)
    return value


def rows_of(tracks):
    """Rows to draw: (heading, label, kind, tracks).

    A heading has its schedulers first, then its devices. In a trace of several
    processes the schedulers are in another one than the devices.
    """
    headings, links = {}, {}
    for track in tracks.values():
        name = track["name"]
        schedulers, devices = headings.setdefault(track["heading"], ([], []))
        if any(e["cat"] == "scheduler" for e in track["slices"]):
            if not name[-1].isdigit():
                schedulers.append((track["heading"], name, "scheduler", [track]))
        elif any(e["cat"] == "link" for e in track["slices"]):
            words = name.split(" ")  # "dcn: a -> b", "dcn: a -> b 2"
            links.setdefault(" ".join(words[:4]), []).append(track)
        elif any(e["cat"] in ("kernel", "wait") for e in track["slices"]):
            devices.append((track["heading"], "/".join(name.split("/")[-2:]),
                            "device", [track]))
    rows = []
    for schedulers, devices in headings.values():
        rows += schedulers + devices
    for name, of in links.items():
        # The controller's are of launches, which are not the point here.
        if not name.startswith("control:"):
            rows.append(("links", name, "link", of))
    return rows


def nice_step(span, most):
    step = decimal.Decimal(1) / 1000
    while span / step > most:
        for factor in (2, decimal.Decimal(5) / 2, 2):
            step *= factor
            if span / step <= most:
                break
    return step


def number(value):
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return text if text != "-0" else "0"


def dropped_text(facts):
    """What the trace lacks; empty if it has everything."""
    dropped = facts.get("events_dropped", "0")
    if dropped == "0":
        return ""
    return (f"{dropped} older events were dropped: complete from "
            f"{facts.get('complete_from_us', '?')} us on")


def render(facts, tracks, flows, begin, end, steps, title):
    rows = rows_of(tracks)
    left_out = max(0, len(rows) - MAX_ROWS)
    rows = rows[:MAX_ROWS]
    ran = [e for row in rows if row[2] == "device"
           for track in row[3] for e in track["slices"] if e["cat"] == "kernel"]
    if not ran:
        dropped = dropped_text(facts)
        fail("the trace has no device that ran anything" +
             (f"; {dropped}" if dropped else ""))
    if steps:
        first = min(e["args"]["firing"] for e in ran)
        shown = [e for e in ran if e["args"]["firing"] < first + steps]
        begin = min(e["ts"] for e in shown)
        end = max(e["ts"] + e["dur"] for e in shown)
    begin = min(e["ts"] for e in ran) if begin is None else begin
    end = max(e["ts"] + e["dur"] for e in ran) if end is None else end
    if end <= begin:
        fail(f"the trace has no kernel from {begin} us to {end} us")
    scale = (WIDTH - LABELS - 16) / (end - begin)

    def x(time):
        return LABELS + (min(max(time, begin), end) - begin) * scale

    names = []  # of gangs, in order of appearance in the plan's queue
    for e in sorted(ran, key=lambda e: (e["args"].get("firing", 0), e["ts"])):
        base = e["name"]
        if e["args"].get("firing") is not None and base not in names:
            if "step" not in e["args"]:
                names.append(base)
    colour = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(names)}

    body, y = [], TOP
    place = {}  # of a device's row, by its name
    heading = None
    for row_heading, label, kind, of in rows:
        if row_heading != heading:
            heading = row_heading
            y += 8
            body.append(f'<text x="8" y="{y + 13}" class="h">'
                        f'{html.escape(heading)}</text>')
            y += 20
        body.append(f'<text x="20" y="{y + 15}">{html.escape(label)}</text>')
        body.append(f'<line x1="{LABELS}" y1="{y + ROW}" x2="{WIDTH - 16}" '
                    f'y2="{y + ROW}" class="r"/>')
        for track in of:
            if kind == "device":
                place[track["name"]] = y + ROW / 2
            for e in track["slices"]:
                e_end = e["ts"] + e["dur"]
                if e_end < begin or e["ts"] > end or (
                        e["dur"] == 0 and kind != "scheduler"):
                    continue
                top, height, fill = y, ROW - 2, None
                if kind == "scheduler":
                    if e["name"] != "granted":
                        continue
                    fill, height, top = GRANT, ROW - 10, y + 5
                elif kind == "link":
                    if e["name"] not in ("wire", "flight") and any(
                            "wire" == s["name"] for s in track["slices"]):
                        continue
                    fill, height, top = LINK, ROW - 10, y + 5
                elif e["cat"] == "wait" and e["name"].startswith("wait: "):
                    if e["name"] == "wait: others":
                        fill, height = WAIT, ROW - 12
                        top = y + 5
                    else:
                        fill, height, top = WAIT, ROW - 14, y + 6
                elif e["cat"] == "kernel" and e["name"] in colour:
                    fill = colour[e["name"]]
                elif e["cat"] == "collective":
                    fill, height, top = COLLECTIVE, 3, y + ROW - 5
                if fill is None:
                    continue
                width = max(decimal.Decimal("0.4"), x(e_end) - x(e["ts"]))
                text = f'{e["name"]}, {number(e["dur"])} us'
                args = e.get("args", {})
                if "firing" in args:
                    text += f', step {args.get("step_index", args["firing"])}'
                opacity = ' opacity="0.6"' if kind == "link" else ""
                body.append(
                    f'<rect x="{number(x(e["ts"]))}" y="{number(top)}" '
                    f'width="{number(width)}" height="{height}" '
                    f'fill="{fill}"{opacity}>'
                    f'<title>{html.escape(text)}</title></rect>')
        y += ROW
    if left_out:
        y += ROW
        body.append(f'<text x="20" y="{y}">and {left_out} more rows</text>')

    arrows = []
    for flow in flows.values():
        if "s" not in flow or "f" not in flow or len(arrows) >= MAX_ARROWS:
            continue
        ends = [(tracks[flow[p]["tid"]]["name"].rsplit(" ", 1)[0],
                 flow[p]["ts"]) for p in "sf"]
        if any(name not in place or not begin <= time <= end
               for name, time in ends):
            continue
        (a, t0), (b, t1) = ends
        arrows.append(f'<line x1="{number(x(t0))}" y1="{number(place[a])}" '
                      f'x2="{number(x(t1))}" y2="{number(place[b])}" class="a"/>')

    axis, step = [], nice_step(end - begin, 12)
    tick = decimal.Decimal(0)
    while tick <= end - begin:
        at = number(x(begin + tick))
        axis.append(f'<line x1="{at}" y1="{TOP}" x2="{at}" y2="{y}" class="g"/>'
                    f'<text x="{at}" y="{TOP - 4}" class="t">'
                    f'{number(tick)} us</text>')
        tick += step

    y += 16
    legend, at, line = [], 8, y
    entries = [(name, colour[name]) for name in names]
    entries += [("waits", WAIT), ("collective", COLLECTIVE), ("granted", GRANT),
                ("message", LINK)]
    for name, fill in entries:
        width = 26 + 7 * len(name)
        if at + width > WIDTH - 8:
            at, line = 8, line + 20
        legend.append(f'<rect x="{at}" y="{line}" width="12" height="12" '
                      f'fill="{fill}"/><text x="{at + 17}" y="{line + 11}">'
                      f'{html.escape(name)}</text>')
        at += width + 6
    height = line + 28
    world = {"sim": "simulation, virtual time",
             "threads": "threads, real time"}.get(facts.get("world"), "")
    said = ", ".join(part for part in (
        facts.get("programs", "").split(" (")[0], facts.get("topology", ""),
        world, dropped_text(facts)) if part)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
        f'height="{height}" viewBox="0 0 {WIDTH} {height}">',
        "<style>text{font:12px sans-serif;fill:#20242c}.h{font-weight:bold}"
        ".t{font-size:10px;text-anchor:middle;fill:#5a6270}"
        ".r{stroke:#eef0f3}.g{stroke:#d9dde3;stroke-dasharray:2 3}"
        ".a{stroke:#20242c;stroke-width:.6;opacity:.35}</style>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="8" y="22" style="font-size:16px;font-weight:bold">'
        f'{html.escape(title)}</text>',
        f'<text x="8" y="42">{html.escape(said)}</text>',
        *axis, *body, *arrows, *legend, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trace", metavar="TRACE.json")
    parser.add_argument("out", metavar="OUT.svg")
    parser.add_argument("--steps", type=count, metavar="N")
    parser.add_argument("--from", dest="begin", type=time, metavar="US")
    parser.add_argument("--to", dest="end", type=time, metavar="US")
    parser.add_argument("--title", default="What ran when")
    arguments = parser.parse_args()
    if arguments.steps and (arguments.begin, arguments.end) != (None, None):
        parser.error("argument --steps: not allowed with --from or --to")
    facts, tracks, flows = read(arguments.trace)
    svg = render(facts, tracks, flows, arguments.begin, arguments.end,
                 arguments.steps, arguments.title)
    try:
        with open(arguments.out, "w", encoding="utf-8") as file:
            file.write(svg)
    except OSError as error:
        fail(f"cannot write '{arguments.out}': {error.strerror}")


if __name__ == "__main__":
    main()
