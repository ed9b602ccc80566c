#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that sources carry the licence and that guards spell their path.

Usage: headers.py [--self-test | --fix] [TREE]

Every source names the licence in its first lines. C++ opens with a line of 80
columns that names the file. A guard is the path in capitals: without
`include/` in the compiler, with a trailing underscore in the runtime.
Prints one line per violation and exits with 1 if there is one. With --fix,
first brings first lines that are too short or too long to 80 columns.
"""

import os
import re
import sys
import tempfile

LICENCE = [
    "Part of the Pathways project, under the Apache License v2.0 with LLVM",
    "Exceptions. See LICENSE for license information.",
    "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception",
]
CXX = (".h", ".cc", ".cpp")
OTHERS = (".td", ".proto", ".py", ".sh")
# Scripts have no ending; they are known by their first line.
SKIPPED = {"build", "out"}
FIRST = re.compile(r"(//===- \S+ (?:- .*\S )?)-+((?:\*- C\+\+ -\*-)?===//)")
COMMENT = re.compile(r"^\s*(//|#|\*)?\s?")


def guard_of(path):
    words = path.split("/")
    is_google = words[0] == "runtime" or words[:2] in (
        ["unittests", "runtime"], ["tools", "pw-run"], ["tools", "pw-node"], ["tools", "flags"])
    if words[0] == "include":
        words = words[1:]
    guard = re.sub(r"[^A-Za-z0-9]", "_", "/".join(words)).upper()
    return guard + "_" if is_google else guard


def check_file(path, text):
    """What is wrong with a file, line by line, as (line, what)."""
    lines = text.splitlines()
    head = [COMMENT.sub("", line).rstrip() for line in lines[:12]]
    start = next((i for i, line in enumerate(head) if line == LICENCE[0]), None)
    if start is None or head[start:start + 3] != LICENCE:
        yield 1, "does not name the licence in its first lines"
    if path.endswith(CXX):
        name = os.path.basename(path)
        first = lines[0] if lines else ""
        if not (first.startswith(f"//===- {name} ") and FIRST.fullmatch(first)):
            yield 1, (f"first line is '{first}', "
                      f"expected '//===- {name} - ... ---===//'")
        elif len(first) != 80:
            yield 1, f"first line has {len(first)} columns, expected 80"
        # clang-format puts what was too long there.
        if lines and lines[1:2] != ["//"]:
            yield 2, "what follows the first line is not '//'"
    if path.endswith(".h"):
        want = guard_of(path)
        for number, line in enumerate(lines, 1):
            match = re.match(r"#ifndef (\w+)", line)
            if not match:
                continue
            after = lines[number] if number < len(lines) else ""
            # What is private to lib/ may name the project too.
            if path.startswith("lib/") and match[1] == f"PATHWAYS_{want}":
                want = match[1]
            if match[1] != want or after != f"#define {want}":
                yield number, f"guard is '{match[1]}', expected '{want}'"
            break
        else:
            yield 1, f"has no guard, expected '{want}'"


def is_source(tree, path):
    if path.endswith(CXX + OTHERS):
        return True
    if "." in os.path.basename(path):
        return False
    with open(os.path.join(tree, path), "rb") as file:
        return file.read(2) == b"#!"


def fix(text):
    """`text` with a first line of 80 columns, where it is one and has room."""
    first, newline, rest = text.partition("\n")
    match = FIRST.fullmatch(first)
    if not match:
        return text
    dashes = 80 - len(match[1]) - len(match[2])
    return match[1] + "-" * max(dashes, 1) + match[2] + newline + rest


def check_tree(tree, fixing=False):
    """All violations, as (path, line, what), and the number of files read."""
    found = []
    count = 0
    for folder, folders, names in os.walk(tree):
        top = os.path.samefile(folder, tree)
        folders[:] = sorted(
            f for f in folders
            if not (top and f in SKIPPED) and f not in (".git", "__pycache__"))
        for name in sorted(names):
            full = os.path.join(folder, name)
            path = os.path.relpath(full, tree).replace(os.sep, "/")
            if not os.path.isfile(full) or not is_source(tree, path):
                continue
            count += 1
            with open(full, encoding="utf-8") as file:
                text = file.read()
            if fixing and path.endswith(CXX) and fix(text) != text:
                text = fix(text)
                with open(full, "w", encoding="utf-8") as file:
                    file.write(text)
            found += [(path, *violation) for violation in check_file(path, text)]
    return found, count


def cxx_head(name, is_header=False):
    tail = "*- C++ -*-===//" if is_header else "===//"
    first = f"//===- {name} - Text "
    first += "-" * (80 - len(first) - len(tail)) + tail
    return first + "\n//\n" + "".join(f"// {line}\n" for line in LICENCE)


def planted():
    """Path, text, and a piece of the message wanted, or None."""
    plain = "".join(f"# {line}\n" for line in LICENCE)
    guard = "#ifndef {0}\n#define {0}\n#endif\n"
    yield "runtime/a/good.cc", cxx_head("good.cc"), None
    yield "runtime/a/bare.cc", cxx_head("bare.cc").replace("SPDX", "XPDS"), "licence"
    yield "runtime/a/empty.cc", "", "licence"
    yield "runtime/a/name.cc", cxx_head("other.cc"), "first line is"
    yield "runtime/a/wide.cc", cxx_head("wide.cc").replace("--=", "---=", 1), "81 columns"
    yield ("runtime/a/wrapped.cc",
           cxx_head("wrapped.cc").replace("\n", "\n//---===//\n", 1),
           "what follows")
    yield ("runtime/a/good.h",
           cxx_head("good.h", True) + guard.format("RUNTIME_A_GOOD_H_"), None)
    yield ("runtime/a/guard.h",
           cxx_head("guard.h", True) + guard.format("RUNTIME_A_GUARD_H"),
           "expected 'RUNTIME_A_GUARD_H_'")
    yield "runtime/a/none.h", cxx_head("none.h", True), "no guard"
    yield ("include/pathways/X/Good.h",
           cxx_head("Good.h", True) + guard.format("PATHWAYS_X_GOOD_H"), None)
    yield ("include/pathways/X/Bad.h",
           cxx_head("Bad.h", True) + guard.format("INCLUDE_PATHWAYS_X_BAD_H"),
           "expected 'PATHWAYS_X_BAD_H'")
    for name, guard_name in (("Good.h", "LIB_X_GOOD_H"),
                             ("Fine.h", "PATHWAYS_LIB_X_FINE_H")):
        yield (f"lib/X/{name}",
               cxx_head(name, True) + guard.format(guard_name), None)
    yield ("lib/X/Bad.h",
           cxx_head("Bad.h", True) + guard.format("X_BAD_H"),
           "guard is 'X_BAD_H', expected 'LIB_X_BAD_H'")
    yield ("tools/pw-run/good.h",
           cxx_head("good.h", True) + guard.format("TOOLS_PW_RUN_GOOD_H_"), None)
    yield "scripts/good", "#!/bin/sh\n" + plain, None
    yield "scripts/bad", "#!/bin/sh\n", "licence"
    yield "scripts/data", "no script\n", None
    yield "test/good.py", plain, None
    yield "test/bad.py", "", "licence"
    yield "runtime/a/bad.proto", "syntax = 'proto3';\n", "licence"
    yield "build/bad.py", "", None


def self_test():
    files = list(planted())
    with tempfile.TemporaryDirectory() as tree:
        for path, text, _ in files:
            full = os.path.join(tree, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as file:
                file.write(text)
        found, _ = check_tree(tree)
        fixed, _ = check_tree(tree, fixing=True)
    good = True
    if {path for path, _, _ in found} - {path for path, _, _ in fixed} != {
            "runtime/a/wide.cc"}:
        print(f"--fix left {fixed}")
        good = False
    for path, _, want in files:
        got = [what for where, _, what in found if where == path]
        if want is None and got or want is not None and not any(
                want in what for what in got):
            print(f"{path}: got {got}, expected {want!r}")
            good = False
    return good


def main(arguments):
    if arguments[:1] == ["--self-test"]:
        return 0 if self_test() else 1
    fixing = arguments[:1] == ["--fix"]
    if fixing:
        arguments = arguments[1:]
    tree = arguments[0] if arguments else os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "..", "..")
    found, count = check_tree(tree, fixing)
    for path, line, what in found:
        print(f"{path}:{line}: {what}")
    if count == 0:
        print(f"{tree}: no sources found")
        return 1
    print(f"{count} files, {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
