#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that sources do not call what has brought a process down before.

Usage: forbidden_calls.py [--self-test] [TREE]

Each rule has a pattern, the folders that it is for, and the files that may do
so all the same, with the reason. Comments and strings are not looked at.
Prints one line per violation and exits with 1 if there is one.
"""

import os
import re
import sys

CXX = (".h", ".cc", ".cpp")
# Comments, strings and characters, none of which span lines here.
NO_CODE = re.compile(
    r'//.*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.){1,4}\'')

RULES = [
    {
        "name": "lookup",
        # `at` of a map throws for a key that a message has removed, and nobody
        # catches it.
        "pattern": re.compile(r"(?:\.|->)at\("),
        "instead": "use find, and say what happens when the key is gone",
        "folders": [
            "runtime/client", "runtime/controller", "runtime/node",
            "runtime/protocol", "runtime/scheduler", "runtime/store",
            "runtime/transport", "runtime/world",
        ],
        "allowed": {},
    },
    {
        "name": "wall clock",
        # When it is set, what is measured with it is late, or is over at once.
        # Waits of Abseil's are until a time of the wall clock underneath.
        "pattern": re.compile(
            r"absl::(?:Now|Time)\b|ToChronoTime|system_clock|system_timer|"
            r"deadline_timer|high_resolution_clock|"
            r"gettimeofday|timespec_get|CLOCK_REALTIME|CLOCK_TAI|"
            r"(?<![\w.>:])(?:std::|::)?time\((?:NULL|nullptr|0|&)|"
            r"With(?:Timeout|Deadline)\(|_timed(?:wait|lock)\b|"
            r"(?:mutex|cond)_clock\w+\(|TIMER_ABSTIME"),
        "instead": "use SteadyTime and WaitUntil (runtime/base/steady_time.h)",
        "folders": [
            "benchmarks", "examples", "include", "lib", "runtime", "tools",
            "unittests",
        ],
        "allowed": {
            # When a kept kernel was used last, and whether a file was left
            # behind, is in the times of files, which other processes see.
            "lib/Codegen/Object/CodeCache.cpp": "times of files",
        },
    },
]


def check_text(path, text):
    """Yields (line, what) for each forbidden call in a file."""
    for rule in RULES:
        if not any(path.startswith(folder + "/") for folder in rule["folders"]):
            continue
        if path in rule["allowed"]:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            found = rule["pattern"].search(NO_CODE.sub(" ", line))
            if found:
                yield number, (f"[{rule['name']}] '{found[0].strip()}': "
                               f"{rule['instead']}")


def check(tree):
    bad = files = 0
    used = set()
    for folder in sorted({f for rule in RULES for f in rule["folders"]}):
        for root, _, names in os.walk(os.path.join(tree, folder)):
            for name in sorted(names):
                if not name.endswith(CXX):
                    continue
                path = os.path.relpath(os.path.join(root, name), tree)
                if path in used:
                    continue
                used.add(path)
                files += 1
                with open(os.path.join(tree, path), encoding="utf-8") as file:
                    text = file.read()
                for line, what in check_text(path, text):
                    print(f"{path}:{line}: {what}")
                    bad += 1
    for rule in RULES:
        for path in rule["allowed"]:
            if path not in used:
                print(f"{path}: may [{rule['name']}], and is not there")
                bad += 1
    print(f"{files} files, {bad} violations")
    return 1 if bad else 0


def self_test():
    def lines(path, text):
        return [line for line, _ in check_text(path, text)]

    assert lines("runtime/controller/a.cc", "a;\nb = map.at(3);\n") == [2]
    assert lines("runtime/controller/a.cc", "b = map->at(key);\n") == [1]
    assert not lines("runtime/controller/a.cc", "// map.at(3)\nf(\"m.at(3)\");\n")
    assert not lines("runtime/executor/a.cc", "piece.at(firing);\n")
    for bad in ("absl::Now()", "absl::Time until;", "time(nullptr)", "::time(&t)",
                "std::chrono::system_clock::now()", "gettimeofday(&t, nullptr)",
                "clock_gettime(CLOCK_REALTIME, &t)", "n.WaitForNotificationWithTimeout(d)",
                "changed.wait_until(mutex, absl::ToChronoTime(t))",
                "pthread_cond_timedwait(c, m, &t)"):
        assert lines("runtime/node/a.cc", f"  x = {bad};\n") == [1], bad
    for good in ("absl::Duration d", "start_time(0)", "now.time(0)", "SteadyTime::Now()",
                 "clock_gettime(CLOCK_MONOTONIC, &t)", "absl::Timeout()"):
        assert not lines("runtime/node/a.cc", f"  x = {good};\n"), good
    assert not lines("lib/Codegen/Object/CodeCache.cpp", "system_clock::now();\n")
    print("ok")
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    return check(sys.argv[1] if sys.argv[1:] else ".")


if __name__ == "__main__":
    sys.exit(main())
