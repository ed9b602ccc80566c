#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that a lock that is not taken fails the build.

Usage: missing_lock.py COMPILE_COMMANDS TREE FILE...

Compiles each file, named as in TREE, with the flags of the build: as it is,
which must work, and once for each of its MutexLock lines without that line,
which must fail by clang's thread safety analysis.
"""

import os
import re
import subprocess
import sys

import build_commands

LOCK = re.compile(r"^\s*MutexLock \w+\(&[^;]*\);\n", re.MULTILINE)
WANTED = "[-Werror,-Wthread-safety-"


def compile_text(flags, folder, source, text):
    """What the compiler says of `text`, found where `source` lies; '': nothing."""
    result = subprocess.run(
        flags + ["-I", os.path.dirname(source), "-fsyntax-only", "-x", "c++", "-"],
        cwd=folder, input=text, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)
    return result.stdout if result.returncode != 0 else ""


def check_file(commands, tree, path):
    """The number of locks of a file, and what is wrong, line by line."""
    source = os.path.join(tree, path)
    found = [c for c in commands if c.source == os.path.realpath(source)]
    if not found:
        return 0, [f"{path}: is not in the build"]
    flags, folder = list(found[0].flags), found[0].folder
    with open(source, encoding="utf-8") as file:
        text = file.read()
    said = compile_text(flags, folder, source, text)
    if said:
        return 0, [f"{path}: does not compile as it is: {said}"]
    wrong = []
    locks = list(LOCK.finditer(text))
    for lock in locks:
        without = text[:lock.start()] + "\n" + text[lock.end():]
        said = compile_text(flags, folder, source, without)
        if WANTED not in said:
            line = text.count("\n", 0, lock.start()) + 1
            wrong.append(f"{path}:{line}: got {said!r} without "
                         f"'{lock[0].strip()}', expected {WANTED}")
    return len(locks), wrong


def main(arguments):
    commands = build_commands.read(arguments[0])
    total, wrong = 0, []
    for path in arguments[2:]:
        count, what = check_file(commands, arguments[1], path)
        if count == 0 and not what:
            what = [f"{path}: takes no lock"]
        total += count
        wrong += what
    for line in wrong:
        print(line)
    print(f"{total} locks, {len(wrong)} that nobody would miss")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
