#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that clang-tidy finds nothing in the runtime half.

Usage: tidy.py COMPILE_COMMANDS TREE [--jobs N] FOLDER...
       tidy.py --self-test

Runs clang-tidy 22 with the .clang-tidy of the tree on the sources of the folders
that the build compiles, and exits with 1 if it says anything. The compiler half
is left out: MLIR's headers cost it a minute for each file.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

CLANG_TIDY = "clang-tidy-22"
# Of the compiler that the build has, which clang-tidy may not know.
NOISE = re.compile(r"^\d+ warnings? (generated|treated as errors?).*\n|"
                   r"^Suppressed .*\n|^Use -header-filter.*\n", re.MULTILINE)


def sources(commands, tree, folders):
    """The sources that the build compiles, in order."""
    with open(commands, encoding="utf-8") as file:
        entries = json.load(file)
    tops = [os.path.realpath(os.path.join(tree, folder)) + os.sep
            for folder in folders]
    found = {os.path.realpath(entry["file"]) for entry in entries}
    return sorted(path for path in found if path.startswith(tuple(tops)))


def check(path, commands):
    result = subprocess.run(
        [CLANG_TIDY, "--quiet", "--warnings-as-errors=*",
         "-p", os.path.dirname(os.path.abspath(commands)), path],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = NOISE.sub("", result.stdout).strip()
    if result.returncode != 0 and not said:
        said = f"{path}: {CLANG_TIDY} failed"
    return said


def run(commands, tree, folders, jobs):
    """How many files there are, and what was said."""
    paths = sources(commands, tree, folders)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        said = list(pool.map(lambda path: check(path, commands), paths))
    # A header is looked at with each file that includes it.
    return len(paths), sorted({text for text in said if text})


def self_test():
    with tempfile.TemporaryDirectory() as tree:
        def write(path, text):
            full = os.path.join(tree, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as file:
                file.write(text)
            return full
        write(".clang-tidy", "Checks: '-*,bugprone-suspicious-semicolon'\n"
                             "HeaderFilterRegex: '.*'\n")
        files = [write("a/good.cc", "int f() { return 1; }\n"),
                 write("a/bad.cc", "void f(int x) { if (x); }\n"),
                 write("a/header.cc", '#include "a/bad.h"\n'),
                 write("b/bad.cc", "void f(int x) { if (x); }\n")]
        write("a/bad.h", "inline void g(int x) { if (x); }\n")
        write("a/unbuilt.cc", "no source\n")
        commands = write("build/compile_commands.json", json.dumps(
            [{"directory": tree, "file": path,
              "command": f"clang++-22 -I {tree} -c {path}"} for path in files]))
        count, said = run(commands, tree, ["a"], 2)
    places = sorted(set(re.findall(r"a/\w+\.\w+:\d", "\n".join(said))))
    if count != 3 or places != ["a/bad.cc:1", "a/bad.h:1"]:
        print(f"got {count} files, {said}")
        return False
    return True


def main(arguments):
    if shutil.which(CLANG_TIDY) is None:
        print(f"{CLANG_TIDY} is not installed: its package has the same name")
        return 1
    if arguments[:1] == ["--self-test"]:
        return 0 if self_test() else 1
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commands")
    parser.add_argument("tree")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args(arguments)
    count, said = run(options.commands, options.tree, options.folders,
                      options.jobs)
    print("\n".join(said))
    if count == 0:
        print(f"{options.commands}: no sources of {', '.join(options.folders)}")
        return 1
    print(f"{count} files, {len(said)} with violations")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
