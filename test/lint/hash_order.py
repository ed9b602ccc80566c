#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds loops over hash tables, whose order differs from run to run.

Usage: hash_order.py [--self-test] [TREE]

The order of a hash table may decide nothing that anyone sees: no message, no line of an
error, no byte of a plan. So a range-based loop over one says why its order does not matter,
in a comment right above it that has the words "any order". The check prints each loop
without, and exits with 1 then.

A table is known by its name: one that is declared in the same file, above the loop, or a
member, whose name ends with an underscore, of a class in the same folder. Tables that a
function returns are not seen.
"""

import os
import re
import sys

TOPS = ("include", "lib", "runtime", "tools")
SOURCES = (".h", ".cc", ".cpp")
TABLE = re.compile(r"\b(?:absl::(?:flat|node)_hash_(?:map|set)|std::unordered_(?:map|set)|"
                   r"(?:llvm::)?(?:DenseMap|DenseSet|StringMap|StringSet|SmallPtrSet|"
                   r"SmallDenseMap|SmallDenseSet))<")
NAME = re.compile(r"\s*&?\s*(\w+)\s*(?:[;={(,)]|ABSL_)")
LOOP = re.compile(r"\bfor \((?:const )?[\w:&* ,\[\]<>]+? : \*?(?:(?:this|\w+)(?:->|\.)"
                  r"(?=\w+_\)))?(\w+)\)")


def tables(text):
    """The names that a source declares as hash tables, each with the place of the first."""
    found = {}
    for match in TABLE.finditer(text):
        depth, at = 1, match.end()
        while depth and at < len(text):
            depth += {"<": 1, ">": -1}.get(text[at], 0)
            at += 1
        name = NAME.match(text, at)
        if name:
            found.setdefault(name[1], at)
    return found


def loops(text, members=()):
    """The loops over tables without a comment, as (line, loop)."""
    own, place, comment = tables(text), 0, ""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        is_comment = line.lstrip().startswith("//")
        whole = line
        if line.count("(") > line.count(")") and number + 1 < len(lines):
            whole = line + " " + lines[number + 1].strip()
        match = LOOP.search(whole) if "for (" in line else None
        if match:
            is_table = match[1] in members or own.get(match[1], place) < place
            if is_table and "any order" not in comment.lower():
                yield number + 1, whole.strip()
        comment = comment + " " + line if is_comment else ""
        place += len(line) + 1


def sources(tree):
    for top in TOPS:
        for folder, folders, names in os.walk(os.path.join(tree, top)):
            folders.sort()
            found = {}
            for name in sorted(names):
                if name.endswith(SOURCES):
                    with open(os.path.join(folder, name), encoding="utf-8") as file:
                        found[name] = file.read()
            yield os.path.relpath(folder, tree), found


def check(tree):
    count = 0
    for folder, found in sources(tree):
        members = {name for text in found.values() for name in tables(text)
                   if name.endswith("_")}
        for source, text in found.items():
            for line, loop in loops(text, members):
                print(f"{folder}/{source}:{line}: the order of a hash table differs from run "
                      f"to run: {loop}")
                count += 1
    print(f"{count} violations")
    return count == 0


PLANTED = """
absl::flat_hash_map<int, std::vector<int>> seen_;
std::map<int, int> sorted_;
llvm::StringMap<int> names;
for (const auto& [a, b] : seen_) Send(a);
for (const auto& [a, b] : sorted_) Send(a);
// The sum is the same in any order.
for (const auto& [a, b] : seen_) sum += a;
for (auto &entry :
     names)
  print(entry);
"""


def self_test():
    got = [line for line, _ in loops(PLANTED)]
    if got != [5, 9]:
        print(f"expected the loops of lines 5 and 9, got {got}")
    return got == [5, 9]


def main(arguments):
    if arguments == ["--self-test"]:
        return 0 if self_test() else 1
    return 0 if check(arguments[0] if arguments else ".") else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
