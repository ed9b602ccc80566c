#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that clang-format would change no C++ source.

Usage: format.py [--self-test | --fix] [TREE]

Versions of clang-format differ in what they do, so it is this one: 22. Prints
one line per place that it would change and exits with 1 if there is one. With
--fix, formats instead.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

CLANG_FORMAT = "clang-format-22"
CXX = (".h", ".cc", ".cpp")
SKIPPED = {"build", "out"}
PLACE = re.compile(r"^(.*?):(\d+):\d+: error: .*\[-Wclang-format-violations\]$",
                   re.MULTILINE)


def sources(tree):
    """All C++ sources of a tree, in order."""
    for folder, folders, names in os.walk(tree):
        top = os.path.samefile(folder, tree)
        folders[:] = sorted(
            f for f in folders
            if not (top and f in SKIPPED) and f not in (".git", "__pycache__"))
        for name in sorted(names):
            if name.endswith(CXX):
                yield os.path.relpath(os.path.join(folder, name), tree)


def check_tree(tree, fixing=False):
    """What would change, as (path, line), and the number of files read."""
    paths = list(sources(tree))
    if not paths:
        return [], 0
    flags = ["-i"] if fixing else ["-n", "--Werror"]
    result = subprocess.run([CLANG_FORMAT, *flags, *paths], cwd=tree, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    found = [(path, int(line)) for path, line in PLACE.findall(result.stdout)]
    if result.returncode != 0 and not found:
        raise RuntimeError(f"{CLANG_FORMAT} failed: {result.stdout}")
    return found, len(paths)


def self_test():
    files = {
        ".clang-format": "BasedOnStyle: LLVM\n",
        "runtime/.clang-format": "BasedOnStyle: Google\n",
        # The folder decides: these two differ in one space.
        "lib/good.cpp": "class A {\npublic:\n  int a;\n};\n",
        "runtime/bad.cc": "class A {\npublic:\n  int a;\n};\n",
        "runtime/good.cc": "class A {\n public:\n  int a;\n};\n",
        "lib/bad.h": "int  a;\n",
        "build/bad.h": "int  a;\n",
        "data.txt": "int  a;\n",
    }
    with tempfile.TemporaryDirectory() as tree:
        for path, text in files.items():
            full = os.path.join(tree, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as file:
                file.write(text)
        found, count = check_tree(tree)
        check_tree(tree, fixing=True)
        left, _ = check_tree(tree)
    want = [("lib/bad.h", 1), ("runtime/bad.cc", 1)]
    good = True
    if found != want or count != 4:
        print(f"got {found} of {count} files, expected {want} of 4")
        good = False
    if left:
        print(f"--fix left {left}")
        good = False
    return good


def main(arguments):
    if shutil.which(CLANG_FORMAT) is None:
        print(f"{CLANG_FORMAT} is not installed: its package has the same name")
        return 1
    if arguments[:1] == ["--self-test"]:
        return 0 if self_test() else 1
    fixing = arguments[:1] == ["--fix"]
    if fixing:
        arguments = arguments[1:]
    tree = arguments[0] if arguments else os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "..", "..")
    found, count = check_tree(tree, fixing)
    for path, line in found:
        print(f"{path}:{line}: {CLANG_FORMAT} would change this; "
              "test/lint/format.py --fix does")
    if count == 0:
        print(f"{tree}: no sources found")
        return 1
    print(f"{count} files, {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
