#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the table of error codes, and writes its page.

Usage: error_codes.py [--self-test | --fix] [TREE]

Codes of runtime/base/error_codes.def rise, each is raised by a source and
expected by a test, and docs/errors.md is what the table says. Prints one line
per violation and exits with 1 if there is one. With --fix, writes the page.
"""

import os
import re
import sys

TABLE = "runtime/base/error_codes.def"
PAGE = "docs/errors.md"
GROUPS = {
    1: "Programs",
    2: "Placement, topologies and plans",
    3: "Memory, and sharing it",
    4: "Devices, hosts and links",
    5: "Data and files",
    6: "Handles and calls",
    7: "Clusters and connections",
    8: "Simulation",
}
SOURCES = ("include", "lib", "runtime", "tools")
TESTS = ("test", "unittests")
# These speak of codes, but provoke none.
NO_PROOF = {"test/lint/error_codes.py", "test/lit/Run/explain.test",
            "unittests/runtime/base/error_codes_test.cc",
            "unittests/tools/pw-run/options_test.cc"}
STRING = r'"(?:[^"\\]|\\.)*"'
STRINGS = rf"({STRING}(?:\s*{STRING})*)"
ENTRY = re.compile(rf"^PATHWAYS_ERROR\((\w+),\s*(\w+),\s*{STRINGS},\s*{STRINGS},"
                   rf"\s*{STRINGS}\)", re.MULTILINE)
HEAD = """<!-- Written by `ninja error-doc` from runtime/base/error_codes.def. -->
# Error codes

A message that ends with a code, such as `[PW3101]`, has its cause and its cure here;
`pw-run --explain=PW3101` prints them, and `pw-run --explain=all` lists all codes. In the
C++ API `Error::getId()` is the code. A number keeps its meaning for ever. Messages
without a code are about the use of a command line or a function, or are bugs of ours.
"""


def read(text):
    """Entries of a table, as (number, enumerator, title, cause, cure)."""
    entries = []
    for match in ENTRY.finditer(text):
        texts = ["".join(part[1:-1] for part in re.findall(STRING, match[i]))
                 .replace('\\"', '"') for i in (3, 4, 5)]
        entries.append((match[1], match[2], *texts))
    return entries


def page_of(entries):
    lines = [HEAD]
    group = 0
    for number, _, title, cause, cure in entries:
        if int(number) // 1000 != group:
            group = int(number) // 1000
            lines.append(f"## {group}000: {GROUPS[group]}\n")
        lines.append(f"### PW{number}\n\n**{title}.**\n\n{cause}\n\n"
                     f"*Cure:* {cure}\n")
    return "\n".join(lines)


def check(text, raised, expected, page):
    """What is wrong, as (path, what)."""
    entries = read(text)
    if len(entries) != len(re.findall(r"^PATHWAYS_ERROR\(", text, re.MULTILINE)):
        yield TABLE, "an entry is not a number, a name and three strings"
        return
    last = 0
    names = set()
    for number, name, *texts in entries:
        if not re.fullmatch(r"[1-8]\d{3}", number):
            yield TABLE, f"'{number}' is not a number from 1000 to 8999"
            return
        if int(number) <= last:
            yield TABLE, f"{number} stands behind {last}"
        last = int(number)
        if name in names:
            yield TABLE, f"'{name}' is there twice"
        names.add(name)
        if texts[0].endswith(".") or not all(
                t.endswith((".", ".)")) for t in texts[1:]):
            yield TABLE, (f"{number}: expected a title without a full stop, and "
                          "sentences")
        if name not in raised:
            yield TABLE, f"{number}: no source raises ErrorId::{name}"
        if number not in expected:
            yield TABLE, f"{number}: no test expects PW{number}"
    if not entries:
        yield TABLE, "has no codes"
    for number in sorted(expected - {entry[0] for entry in entries}):
        yield TABLE, f"a test expects PW{number}, which is not there"
    if page != page_of(entries):
        yield PAGE, "is not what the table says; `ninja error-doc` writes it"


def words_of(tree, roots, pattern, skipped):
    """All that matches in the files below some folders."""
    found = set()
    for root in roots:
        for folder, folders, names in os.walk(os.path.join(tree, root)):
            folders[:] = [f for f in folders if f not in ("__pycache__", "corpus")]
            for name in names:
                full = os.path.join(folder, name)
                if os.path.relpath(full, tree).replace(os.sep, "/") in skipped:
                    continue
                with open(full, encoding="utf-8", errors="replace") as file:
                    found.update(re.findall(pattern, file.read()))
    return found


def self_test():
    one = 'PATHWAYS_ERROR(1001, kA, "A", "B \\"b\\"."\n  " C.", "D.")\n'
    two = 'PATHWAYS_ERROR(2001, kB, "A", "B.", "C.")\n'
    both = (HEAD + "\n## 1000: Programs\n\n### PW1001\n\n**A.**\n\nB \"b\". C.\n\n"
            "*Cure:* D.\n\n## 2000: Placement, topologies and plans\n\n### PW2001\n\n"
            "**A.**\n\nB.\n\n*Cure:* C.\n")
    ok = ({"kA", "kB"}, {"1001", "2001"})
    cases = [
        (one + two, *ok, both, []),
        (one + two, {"kA"}, ok[1], both, ["2001: no source raises ErrorId::kB"]),
        (one + two, ok[0], {"1001"}, both, ["2001: no test expects PW2001"]),
        (one + two, ok[0], ok[1] | {"3001"}, both,
         ["a test expects PW3001, which is not there"]),
        (one + two, *ok, "", ["is not what the table says; `ninja error-doc` "
                              "writes it"]),
        (two + one, *ok, page_of(read(two + one)), ["1001 stands behind 2001"]),
        (one + two.replace("kB", "kA"), *ok, both, ["'kA' is there twice"]),
        (one + two.replace("2001", "9001"), *ok, both,
         ["'9001' is not a number from 1000 to 8999"]),
        (one + two.replace("C.", "C"), *ok, both.replace("C.\n", "C\n"),
         ["2001: expected a title without a full stop, and sentences",
          "is not what the table says; `ninja error-doc` writes it"]),
        (one + two.replace('"A", ', ""), *ok, both,
         ["an entry is not a number, a name and three strings"]),
        ("", set(), set(), page_of([]), ["has no codes"]),
    ]
    failed = 0
    for text, raised, expected, page, want in cases:
        got = [what for _, what in check(text, raised, expected, page)]
        if got != want:
            print(f"{text!r}: got {got}, expected {want}")
            failed += 1
    print(f"{len(cases)} cases, {failed} failed")
    return 1 if failed else 0


def main(arguments):
    if arguments[:1] == ["--self-test"]:
        return self_test()
    fixing = arguments[:1] == ["--fix"]
    tree = arguments[fixing] if len(arguments) > fixing else "."
    with open(os.path.join(tree, TABLE), encoding="utf-8") as file:
        table = file.read()
    path = os.path.join(tree, PAGE)
    if fixing:
        with open(path, "w", encoding="utf-8") as file:
            file.write(page_of(read(table)))
    page = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            page = file.read()
    raised = words_of(tree, SOURCES, r"\bErrorId::(k\w+)", set())
    expected = words_of(tree, TESTS, r"\bPW(\d{4})\b", NO_PROOF)
    found = list(check(table, raised, expected, page))
    for name, what in found:
        print(f"{name}: {what}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
