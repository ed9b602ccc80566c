#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the files which the pages name exist.

Usage: links.py [--self-test] [TREE]

Looks at all pages (*.md) for relative links, and for paths from the top of the tree in
backticks, as `runtime/world/world.h`, where {h,cc} stands for two files and * for any
text. Prints one line per violation and exits with 1 if there is one.
"""

import glob
import os
import re
import sys
import tempfile

TOPS = ("benchmarks", "cmake", "deploy", "docs", "examples", "include", "lib", "runtime",
        "scripts", "test", "tools", "unittests")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
PATH = re.compile(r"`((?:" + "|".join(TOPS) + r")/[\w./*{},-]*)`")
LEFT_OUT = ("build", ".git", "data")
# Names that stand for files which a reader makes.
PLACEHOLDER = re.compile(r"\bmy_|NAME|FILE|DIR|FOLDER")


def pages(tree):
    for folder, folders, names in os.walk(tree):
        folders[:] = sorted(set(folders) - set(LEFT_OUT))
        for name in sorted(names):
            if name.endswith(".md"):
                yield os.path.relpath(os.path.join(folder, name), tree)


def exists(tree, path):
    """Whether all files that a path with {a,b} and * stands for exist."""
    match = re.fullmatch(r"([^{]*)\{([^}]*)\}(.*)", path)
    if match:
        return all(exists(tree, match[1] + part + match[3])
                   for part in match[2].split(","))
    return bool(glob.glob(os.path.join(glob.escape(tree), path)))


def check(tree):
    found, count = [], 0
    for page in pages(tree):
        with open(os.path.join(tree, page), encoding="utf-8") as file:
            text = file.read()
        count += 1
        for number, line in enumerate(text.splitlines(), 1):
            for target in LINK.findall(line):
                if "://" in target or target.startswith("mailto:"):
                    continue
                path = os.path.normpath(os.path.join(os.path.dirname(page), target))
                if not os.path.exists(os.path.join(tree, path)):
                    found.append((page, number, f"there is no '{target}'"))
            for path in PATH.findall(line):
                if not PLACEHOLDER.search(path) and not exists(tree, path):
                    found.append((page, number, f"there is no '{path}'"))
    return found, count


# The text of a page and how many of its paths are wrong.
PLANTED = [
    ("See [the page](docs/a.md) and `runtime/a.{h,cc}`.", 0),
    ("See [the page](docs/b.md#part).", 1),
    ("See `runtime/b.h` and `runtime/a.{h,md}`.", 2),
    ("See `runtime/*.cc`, `std/a.h`, [it](https://x.y/z) and `tools/my_tool.cc`.", 0),
    ("See `runtime/*.py`.", 1),
]


def self_test():
    is_fine = True
    for text, wrong in PLANTED:
        with tempfile.TemporaryDirectory() as tree:
            for path in ("docs/a.md", "runtime/a.h", "runtime/a.cc"):
                os.makedirs(os.path.join(tree, os.path.dirname(path)), exist_ok=True)
                open(os.path.join(tree, path), "w", encoding="utf-8").close()
            with open(os.path.join(tree, "page.md"), "w", encoding="utf-8") as file:
                file.write(text)
            found, _ = check(tree)
        if len(found) != wrong:
            print(f"{text!r}: found {found}, expected {wrong}")
            is_fine = False
    return is_fine


def main(arguments):
    if arguments[:1] == ["--self-test"]:
        return 0 if self_test() else 1
    tree = arguments[0] if arguments else os.path.dirname(
        os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    found, count = check(tree)
    for page, number, what in found:
        print(f"{page}:{number}: {what}")
    print(f"{count} pages, {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
