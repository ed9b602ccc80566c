#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the glossary speaks of what there is.

Usage: glossary.py [--self-test] [TREE]

In docs/glossary.md words are in order, each once, and every name in the last
column stands in a source of the runtime or of the Python package. Prints one
line per violation and exits with 1 if there is one.
"""

import os
import re
import sys

PAGE = "docs/glossary.md"
FOLDERS = ("runtime", "python")
SOURCES = (".h", ".cc", ".proto", ".py")
ROW = re.compile(r"\| ([^|]+) \| ([^|]+) \| ([^|]+) \|")


def names_of(tree):
    """All identifiers in the sources of the runtime and of the Python package."""
    names = set()
    for top in FOLDERS:
        for folder, _, files in os.walk(os.path.join(tree, top)):
            for name in files:
                if not name.endswith(SOURCES):
                    continue
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    names.update(re.findall(r"[A-Za-z_]\w*", file.read()))
    return names


def check(text, names):
    """What is wrong with the page, as (line, what)."""
    last = ""
    rows = 0
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("|") or line.startswith(("| word ", "| ---")):
            continue
        match = ROW.fullmatch(line)
        if not match:
            yield number, "expected three columns: word, meaning, names"
            continue
        rows += 1
        word = match[1]
        if word == last:
            yield number, f"'{word}' is there twice"
        elif word < last:
            yield number, f"'{word}' stands behind '{last}'"
        last = word
        code = re.findall(r"`([^`]+)`", match[3])
        if not code:
            yield number, f"'{word}' has no name in the code"
        for name in code:
            if name not in names:
                yield number, f"'{word}': no source has '{name}'"
    if rows == 0:
        yield 1, "has no words"


def self_test():
    head = "| word | is | in the code |\n| --- | --- | --- |\n"
    cases = [
        ("| a | one | `A`, `B` |\n| b | two | `B` |\n", []),
        ("", ["has no words"]),
        ("| b | two | `B` |\n| a | one | `A` |\n", ["'a' stands behind 'b'"]),
        ("| a | one | `A` |\n| a | two | `A` |\n", ["'a' is there twice"]),
        ("| a | one | none |\n", ["'a' has no name in the code"]),
        ("| a | one | `A`, `C` |\n",
         ["'a': no source has 'C'"]),
        ("| a | one |\n", ["expected three columns: word, meaning, names",
                           "has no words"]),
    ]
    failed = 0
    for rows, want in cases:
        got = [what for _, what in check(head + rows, {"A", "B"})]
        if got != want:
            print(f"{rows!r}: got {got}, expected {want}")
            failed += 1
    print(f"{len(cases)} cases, {failed} failed")
    return 1 if failed else 0


def main(arguments):
    if arguments[:1] == ["--self-test"]:
        return self_test()
    tree = arguments[0] if arguments else "."
    with open(os.path.join(tree, PAGE), encoding="utf-8") as file:
        found = list(check(file.read(), names_of(tree)))
    for line, what in found:
        print(f"{PAGE}:{line}: {what}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
