#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that clang-tidy finds nothing in the runtime half.

Usage: tidy.py COMPILE_COMMANDS TREE [--jobs N] [--checks CHECKS] FOLDER...
       tidy.py --self-test

Runs clang-tidy 22 with the .clang-tidy of the tree on the sources of the folders
that the build compiles, and exits with 1 if it says anything. --checks chooses
others than the .clang-tidy does. The compiler half is left out but for the few
checks of `scripts/check --all`: with all checks MLIR's headers cost it a minute
for each file.

Sources of one folder are looked at together, since most of the time goes into the
headers that they share. Those that clash with others, say by a name of both, are
looked at in smaller parties.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import build_commands

CLANG_TIDY = "clang-tidy-22"
# Files that are looked at together: more keep the other processors waiting.
LARGEST = 20
# Of the compiler that the build has, which clang-tidy may not know.
NOISE = re.compile(r"^\d+ warnings? (generated|treated as errors?).*\n|"
                   r"^Suppressed .*\n|^Use -header-filter.*\n", re.MULTILINE)


def parties(commands, tree, folders):
    """The build's commands for the sources of a folder with the same flags."""
    tops = tuple(os.path.realpath(os.path.join(tree, folder)) + os.sep
                 for folder in folders)
    found = {}  # by source: some are compiled for more than one target
    for command in build_commands.read(commands):
        if command.source.startswith(tops):
            found.setdefault(command.source, command)
    alike = collections.defaultdict(list)
    for path in sorted(found):
        alike[os.path.dirname(path), found[path].flags].append(found[path])
    return [party[i:i + LARGEST]
            for party in alike.values() for i in range(0, len(party), LARGEST)]


def check(party, tree, checks=None):
    """What is said of sources that are compiled alike."""
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "together.cc")
        with open(path, "w", encoding="utf-8") as file:
            for command in party:
                file.write(f'#include "{command.source}"'
                           "  // NOLINT(bugprone-suspicious-include)\n")
        with open(os.path.join(place, "compile_commands.json"), "w",
                  encoding="utf-8") as file:
            json.dump([{"directory": party[0].folder, "file": path,
                        "arguments": [*party[0].flags, "-c", path]}], file)
        result = subprocess.run(
            [CLANG_TIDY, "--quiet", "--warnings-as-errors=*",
             "--experimental-custom-checks",
             "--config-file=" + os.path.join(tree, ".clang-tidy"),
             *([f"--checks={checks}"] if checks else []), "-p", place, path],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = NOISE.sub("", result.stdout).strip()
    if "[clang-diagnostic-error" in said and len(party) > 1:
        middle = len(party) // 2
        return (check(party[:middle], tree, checks) +
                check(party[middle:], tree, checks))
    if result.returncode != 0 and not said:
        said = f"{party[0].source}: {CLANG_TIDY} failed"
    return [said] if said else []


def run(commands, tree, folders, jobs, checks=None):
    """How many files there are, and what was said."""
    todo = sorted(parties(commands, tree, folders), key=len, reverse=True)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        said = pool.map(lambda party: check(party, tree, checks), todo)
        # A header is looked at with each party that includes it.
        return sum(map(len, todo)), sorted({text for texts in said
                                            for text in texts})


# Each "bad" line is to be found by the check for ranges, and no other line.
RANGES = """
#include <memory>
#include <optional>
#include <string>
#include <vector>
struct Handle { int *begin() const; int *end() const; };
struct Owner {
    std::vector<int> numbers;
    Handle view;
    const std::vector<int> &get() const { return numbers; }
    std::vector<int> copy() const { return numbers; }
    Handle handle() const { return view; }
};
Owner owner();
Owner *pointer();
Handle handle(const std::string &name);
std::optional<Owner> perhaps();
std::optional<std::vector<int>> list();
std::unique_ptr<Owner> unique();
void use(int);
void f() {
    for (int number : *list()) use(number);          // bad
    for (int number : list().value()) use(number);   // bad
    for (int number : perhaps()->numbers) use(number);  // bad
    for (int number : unique()->numbers) use(number);  // bad
    for (int number : owner().get()) use(number);    // bad
    for (int number : owner().handle()) use(number);  // bad
    for (int number : handle("a name")) use(number);  // bad
    for (int number : owner().numbers) use(number);
    for (int number : owner().copy()) use(number);
    for (int number : perhaps()->copy()) use(number);
    for (int number : pointer()->get()) use(number);
    auto named = list();
    for (int number : *named) use(number);
    for (int number : std::vector<int>(*named)) use(number);
    for (int number : named ? owner().copy() : *list()) use(number);
    for (std::string text : {std::string("a"), std::string("b")}) use(text[0]);
}
"""


def ranges_self_test():
    """Whether the check of the real .clang-tidy finds what it is to find."""
    with tempfile.TemporaryDirectory() as place:
        os.mkdir(os.path.join(place, "lib"))
        source = os.path.join(place, "lib", "ranges.cc")
        with open(source, "w", encoding="utf-8") as file:
            file.write(RANGES)
        flags = ("clang++-22", "-std=c++20")
        tree = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
        said = check([build_commands.Command(source, place, flags)], tree,
                     "-*,custom-range-of-temporary")
    found = sorted({int(line) for line in
                    re.findall(r"ranges\.cc:(\d+):\d+: error", "".join(said))})
    wanted = [number for number, line in enumerate(RANGES.split("\n"), 1)
              if "// bad" in line]
    if found != wanted:
        print(f"got ranges in lines {found}, expected {wanted}: {said}")
    return found == wanted


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
                 write("a/clash.cc", "int f() { if (true); return 1; }\n"),
                 write("a/header.cc", '#include "a/bad.h"\n'),
                 write("b/bad.cc", "void f(int x) { if (x); }\n")]
        # As CMake has several compiled as one.
        one = write("a/one.cc", "void h(int x) { if (x); }\n")
        files.append(write("build/unity_0_cxx.cxx",
                           f'/* {one} */\n#include "{one}"\n'))
        write("a/bad.h", "inline void g(int x) { if (x); }\n")
        write("a/unbuilt.cc", "no source\n")
        commands = write("build/compile_commands.json", json.dumps(
            [{"directory": tree, "file": path,
              "command": f"clang++-22 -I {tree} -c {path}"} for path in files]))
        count, said = run(commands, tree, ["a"], 2)
    places = sorted(set(re.findall(r"a/\w+\.\w+:\d", "\n".join(said))))
    if count != 5 or places != ["a/bad.cc:1", "a/bad.h:1", "a/clash.cc:1",
                                "a/one.cc:1"]:
        print(f"got {count} files, {said}")
        return False
    return True


def main(arguments):
    if shutil.which(CLANG_TIDY) is None:
        print(f"{CLANG_TIDY} is not installed: its package has the same name")
        return 1
    if arguments[:1] == ["--self-test"]:
        return 0 if self_test() and ranges_self_test() else 1
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commands")
    parser.add_argument("tree")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--checks")
    options = parser.parse_args(arguments)
    count, said = run(options.commands, options.tree, options.folders,
                      options.jobs, options.checks)
    print("\n".join(said))
    if count == 0:
        print(f"{options.commands}: no sources of {', '.join(options.folders)}")
        return 1
    print(f"{count} files, {len(said)} with violations")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
