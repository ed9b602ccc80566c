#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that traces keep the rules of docs/tracing.md.

  validate.py [--devices N] [--min-dropped N] [--processes N] TRACE.json...
  validate.py --self-test TRACE.json

Prints what is wrong, and exits with 1 if anything is. --devices: so many devices
must have run something. --processes: the trace is of so many, and arrows go from
one to another. --self-test breaks a good trace in every way that a rule
forbids, and fails unless each is found.
"""

import argparse
import copy
import decimal
import json
import re
import sys

# Members that each kind of event has, beside "ph", "pid" and "name".
FIELDS = {
    "X": {"tid": int, "ts": decimal.Decimal, "dur": decimal.Decimal, "cat": str,
          "args": dict},
    "s": {"tid": int, "ts": decimal.Decimal, "id": int, "cat": str},
    "f": {"tid": int, "ts": decimal.Decimal, "id": int, "cat": str, "bp": str},
    "C": {"ts": decimal.Decimal, "args": dict},
    "i": {"tid": int, "ts": decimal.Decimal, "cat": str, "s": str},
    "M": {"tid": int, "args": dict},
}
CATEGORIES = {"client", "run", "scheduler", "submit", "wait", "kernel",
              "collective", "send", "recv", "feed", "fetch", "link"}
FLOWS = {"launch", "grant", "piece"}
FACTS = ("producer", "world", "seed", "workers", "topology", "programs",
         "events", "events_dropped", "complete_from_us")
DEVICE = re.compile(r"^[^ ]+/[^ ]+/device\d+$")
ALL = object()


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_float=decimal.Decimal)


class Checker:
    def __init__(self, trace):
        self.trace = trace
        self.found = []

    def say(self, rule, index, text):
        at = "" if index is None else f"event {index}: "
        self.found.append((rule, at + text))

    def run(self, devices=0, min_dropped=0, processes=None):
        events = self.trace.get("traceEvents")
        facts = self.trace.get("otherData")
        if not isinstance(events, list) or not isinstance(facts, dict):
            self.say("form", None, "no 'traceEvents' list or no 'otherData'")
            return self.found
        for fact in FACTS:
            if not isinstance(facts.get(fact), str):
                self.say("facts", None, f"'{fact}' is not told")
        if facts.get("world") not in ("threads", "sim"):
            self.say("facts", None, f"unknown world '{facts.get('world')}'")
        events = [(i, e) for i, e in enumerate(events) if self.fields(i, e)]
        self.clocks(facts.get("clocks"), processes)
        self.names(events)
        self.tracks(events)
        self.flows(events, processes)
        self.counters(events)
        self.devices(events, devices)
        dropped = facts.get("events_dropped", "0")
        if not dropped.isdigit() or int(dropped) < min_dropped:
            self.say("dropped", None, f"{dropped} events were dropped, expected "
                     f"at least {min_dropped}")
        elif (int(dropped) > 0) != any(e["ph"] == "i" for _, e in events):
            self.say("dropped", None, f"{dropped} events were dropped, and the "
                     "timeline does not say so, or says so for nothing")
        return self.found

    def fields(self, i, event):
        if not isinstance(event, dict) or event.get("ph") not in FIELDS:
            self.say("fields", i, f"no event: {str(event)[:80]}")
            return False
        want = {**FIELDS[event["ph"]], "pid": int, "name": str}
        for field, kind in want.items():
            value = event.get(field)
            if kind is decimal.Decimal and isinstance(value, int):
                value = decimal.Decimal(value)
            if not isinstance(value, kind) or isinstance(value, bool):
                self.say("fields", i, f"'{field}' is {value!r}, expected "
                         f"{kind.__name__}")
                return False
            if kind is decimal.Decimal and value < 0:
                self.say("fields", i, f"'{field}' is {value}, expected 0 or more")
                return False
        if event["ph"] == "X" and event["cat"] not in CATEGORIES:
            self.say("fields", i, f"unknown category '{event['cat']}'")
        return True

    def clocks(self, clocks, expected):
        """The error of the clock of each process, in us; no clocks: there is one
        process."""
        self.errors = {}
        if not isinstance(clocks, list):
            return self.say("clocks", None, "'clocks' is no list")
        for clock in clocks:
            numbers = [clock.get(name) if isinstance(clock, dict) else None
                       for name in ("process", "offset_ns", "error_ns")]
            if (any(not isinstance(n, int) for n in numbers) or numbers[0] < 0 or
                    numbers[2] < 0):
                self.say("clocks", None, f"no clock: {clock}")
            elif numbers[0] in self.errors:
                self.say("clocks", None, f"a second clock of {numbers[0]}")
            else:
                self.errors[numbers[0]] = decimal.Decimal(numbers[2]) / 1000
        if len(self.errors) == 1:
            self.say("clocks", None, "a clock of one process, which needs none")
        if expected is not None and len(self.errors) != expected:
            self.say("clocks", None, f"{len(self.errors)} clocks, expected "
                     f"{expected}")

    def error(self, a, b):
        """How much earlier than `a` its effect `b` may seem."""
        if a["pid"] == b["pid"]:
            return 0
        return sum(self.errors.get(e["pid"], 0) for e in (a, b))

    def names(self, events):
        self.processes, self.threads = {}, {}
        for i, e in events:
            if e["ph"] != "M":
                continue
            if e["name"] == "process_name":
                known, key = self.processes, e["pid"]
            elif e["name"] == "thread_name":
                known, key = self.threads, (e["pid"], e["tid"])
            else:
                continue
            if key in known:
                self.say("tracks", i, f"a second name for {key}")
            known[key] = e["args"].get("name")
        for i, e in events:
            if e["ph"] != "M" and e["pid"] not in self.processes:
                self.say("tracks", i, f"unknown process {e['pid']}")
            elif (e["ph"] in "Xsf" and (e["pid"], e["tid"]) not in self.threads):
                self.say("tracks", i, f"unknown track {e['pid']}, {e['tid']}")

    def tracks(self, events):
        """Time does not go back on a track, and slices nest."""
        last, open_slices = {}, {}
        for i, e in events:
            if e["ph"] not in "Xsf":
                continue
            track = (e["pid"], e["tid"])
            if e["ts"] < last.get(track, 0):
                self.say("time", i, f"at {e['ts']}, after {last[track]}")
            last[track] = e["ts"]
            stack = open_slices.setdefault(track, [])
            while stack and stack[-1] <= e["ts"] and e["ph"] == "X":
                stack.pop()
            if e["ph"] != "X":
                if not stack or stack[-1] < e["ts"]:
                    self.say("flows", i, "a flow outside of any slice")
                continue
            end = e["ts"] + e["dur"]
            if stack and end > stack[-1]:
                self.say("nesting", i, f"'{e['name']}' ends at {end}, what it is "
                         f"in at {stack[-1]}")
            stack.append(end)

    def flows(self, events, processes):
        starts, ends = {}, {}
        for i, e in events:
            if e["ph"] not in "sf":
                continue
            if e["name"] not in FLOWS:
                self.say("flows", i, f"unknown flow '{e['name']}'")
            known = starts if e["ph"] == "s" else ends
            if e["id"] in known:
                self.say("flows", i, f"flow {e['id']} has a second "
                         f"{'start' if e['ph'] == 's' else 'end'}")
            known[e["id"]] = (i, e)
        for flow, (i, e) in sorted(starts.items()):
            if flow not in ends:
                self.say("flows", i, f"flow {flow} has no end")
            elif (ends[flow][1]["ts"] + self.error(e, ends[flow][1]) <
                  e["ts"]):
                self.say("flows", i, f"flow {flow} ends at "
                         f"{ends[flow][1]['ts']}, before its start at {e['ts']}")
            elif ends[flow][1]["name"] != e["name"]:
                self.say("flows", i, f"flow {flow} changes its name")
        for flow, (i, e) in sorted(ends.items()):
            if flow not in starts:
                self.say("flows", i, f"flow {flow} has no start")
        crossing = {e["name"] for flow, (_, e) in starts.items()
                    if flow in ends and e["pid"] != ends[flow][1]["pid"]}
        if processes and not crossing:
            self.say("flows", None, "no flow goes to another process")

    def counters(self, events):
        last = {}
        for i, e in events:
            if e["ph"] != "C":
                continue
            key = (e["pid"], e["name"])
            if e["ts"] < last.get(key, 0):
                self.say("time", i, f"'{e['name']}' at {e['ts']}, after "
                         f"{last[key]}")
            last[key] = e["ts"]
            for name, value in e["args"].items():
                if not isinstance(value, int) or value < 0:
                    self.say("counters", i, f"'{e['name']}': {name} is {value}")
            if not e["args"]:
                self.say("counters", i, f"'{e['name']}' has no value")

    def devices(self, events, expected):
        """Every device to which something was submitted ran something."""
        ran = {(e["pid"], e["tid"]) for _, e in events if e["ph"] == "X"}
        names = {name for key, name in self.threads.items() if key in ran}
        used = {name.split(" ")[0] for name in self.threads.values()
                if isinstance(name, str) and DEVICE.match(name.split(" ")[0])}
        did = {name for name in used
               if name in names or name + " transfers" in names}
        for name in sorted(used - did):
            self.say("devices", None, f"{name} has a track and did nothing")
        if len(did) < expected:
            self.say("devices", None, f"{len(did)} devices did something, "
                     f"expected {expected}")


def mutations(trace):
    """Yields (rule, what was done, trace): each breaks that rule."""
    def change(rule, what, find, edit, at=0):
        broken = copy.deepcopy(trace)
        events = broken["traceEvents"]
        matching = [i for i, e in enumerate(events) if find is ALL or find(e)]
        if not matching:
            sys.exit(f"error: the trace has nothing to break for '{what}'")
        edit(events, matching[at])
        return rule, what, broken

    def without(field):
        def edit(events, i):
            del events[i][field]
        return edit

    def put(field, value):
        def edit(events, i):
            events[i][field] = value
        return edit

    def of(ph, **fields):
        return lambda e: e["ph"] == ph and all(
            e.get(k) == v for k, v in fields.items())

    for ph, fields in FIELDS.items():
        if ph == "i":
            continue
        for field in ["pid", *fields]:
            if field == "bp" and ph == "s":
                continue
            yield change("fields", f"'{ph}' without '{field}'", of(ph),
                         without(field))
    yield change("fields", "unknown kind", of("X"), put("ph", "Q"))
    yield change("fields", "unknown category", of("X"), put("cat", "other"))
    yield change("fields", "negative duration", of("X"),
                 put("dur", decimal.Decimal(-1)))
    yield change("tracks", "unknown track", of("X"), put("tid", 10**6))
    yield change("tracks", "unknown process", of("C"), put("pid", 10**6))
    yield change("tracks", "track named twice", of("M", name="thread_name"),
                 lambda events, i: events.insert(i, dict(events[i])))
    long = lambda e: (e["ph"] == "X" and e["cat"] == "kernel" and e["dur"] > 0)

    def overlap(events, i):
        end = events[i]["ts"] + events[i]["dur"]
        later = next(e for e in events[i + 1:]
                     if long(e) and e["tid"] == events[i]["tid"] and
                     e["ts"] >= end)
        events[i]["dur"] = later["ts"] + later["dur"] / 2 - events[i]["ts"]

    yield change("nesting", "slice that ends in the next", long, overlap)

    def swap(events, i):
        later = next(j for j in range(i + 1, len(events))
                     if events[j]["ph"] == "X" and
                     events[j]["tid"] == events[i]["tid"] and
                     events[j]["ts"] > events[i]["ts"])
        events[i], events[later] = events[later], events[i]

    yield change("time", "slices in the wrong order", long, swap)
    yield change("flows", "flow without end", of("f"),
                 lambda events, i: events.pop(i))
    yield change("flows", "flow without start", of("s"),
                 lambda events, i: events.pop(i))
    yield change("flows", "flow with two ends", of("f"),
                 lambda events, i: events.insert(i, dict(events[i])))
    yield change("flows", "flow with two starts", of("s"),
                 lambda events, i: events.insert(i, dict(events[i])))
    yield change("flows", "unknown flow", of("s"), put("name", "other"))

    def backwards(events, i):
        start = events[i]
        end = next(e for e in events if e["ph"] == "f" and e["id"] == start["id"])
        # The two change places; time is then wrong on their tracks, too.
        for field in ("pid", "tid", "ts"):
            start[field], end[field] = end[field], start[field]
    ends = {e["id"]: e["ts"] for e in trace["traceEvents"] if e["ph"] == "f"}
    yield change("flows", "flow that ends before it starts",
                 lambda e: e["ph"] == "s" and ends.get(e["id"], 0) > e["ts"],
                 backwards)
    yield change("counters", "negative counter", of("C"),
                 lambda events, i: events[i].update(args={"bytes": -1}))
    yield change("counters", "counter without a value", of("C"),
                 put("args", {}))
    yield change("time", "counter that goes back", of("C"),
                 lambda events, i: events.append(
                     {**events[i], "ts": decimal.Decimal("0")}), -1)
    broken = copy.deepcopy(trace)
    name = next(e for e in broken["traceEvents"]
                if e["name"] == "thread_name" and DEVICE.match(e["args"]["name"]))
    names = {name["tid"]} | {
        e["tid"] for e in broken["traceEvents"] if e["name"] == "thread_name" and
        e["args"]["name"] == name["args"]["name"] + " transfers"}
    broken["traceEvents"] = [
        e for e in broken["traceEvents"]
        if e["ph"] not in "Xsf" or e["tid"] not in names]
    yield "devices", "device that did nothing", broken
    for fact in FACTS:
        broken = copy.deepcopy(trace)
        del broken["otherData"][fact]
        yield "facts", f"no '{fact}'", broken
    broken = copy.deepcopy(trace)
    broken["otherData"]["events_dropped"] = "7"
    yield "dropped", "drops that the timeline does not show", broken
    for what, clocks in (
            ("no clocks", None), ("no list of clocks", {}),
            ("clock of one process", [{"process": 0, "offset_ns": 0,
                                       "error_ns": 0}]),
            ("clock without an error", [{"process": 0, "offset_ns": 0}]),
            ("negative error", [{"process": 0, "offset_ns": 0,
                                 "error_ns": -1}]),
            ("process with two clocks", 2 * [{"process": 0, "offset_ns": 0,
                                              "error_ns": 1}])):
        broken = copy.deepcopy(trace)
        broken["otherData"]["clocks"] = clocks
        yield "clocks", what, broken
    if trace["otherData"]["clocks"]:
        yield change("flows", "flow that is earlier than its clocks allow",
                     lambda e: e["ph"] == "f" and e["name"] == "grant",
                     put("ts", decimal.Decimal(0)))
    yield "form", "no events", {"otherData": {}}


def self_test(trace):
    count = failures = 0
    found = Checker(trace).run()
    for rule, text in found[:5]:
        print(f"the trace to be broken is not good: {rule}: {text}")
        failures += 1
    for rule, what, broken in mutations(trace):
        count += 1
        if not any(got == rule for got, _ in Checker(broken).run()):
            print(f"not found: {rule}: {what}")
            failures += 1
    if not any(rule == "devices" for rule, _ in Checker(trace).run(10**6)):
        print("not found: too few devices")
        failures += 1
    if not any(rule == "dropped" for rule, _ in Checker(trace).run(0, 10**9)):
        print("not found: too few dropped events")
        failures += 1
    if not any(rule == "clocks" for rule, _ in Checker(trace).run(0, 0, 10**6)):
        print("not found: too few clocks")
        failures += 1
    print(f"{count + 3} broken traces, {failures} failures")
    return failures == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("traces", nargs="+", metavar="TRACE.json")
    parser.add_argument("--devices", type=int, default=0)
    parser.add_argument("--min-dropped", type=int, default=0)
    parser.add_argument("--processes", type=int)
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    good = True
    for path in arguments.traces:
        trace = load(path)
        if arguments.self_test:
            good = self_test(trace) and good
            continue
        found = Checker(trace).run(arguments.devices, arguments.min_dropped,
                                   arguments.processes)
        for rule, text in found[:20]:
            print(f"{path}: {rule}: {text}")
        print(f"{path}: {len(trace.get('traceEvents', []))} events, "
              f"{len(found)} faults")
        good = good and not found
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
