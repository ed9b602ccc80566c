#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures classes, and holds them to limits.

Usage: class_sizes.py [--write | --table N | --self-test] [TREE]

A class of runtime, lib, include or tools has at most 600 lines and at most 40 methods, and
an interface at most 16 virtual functions. class_sizes.txt, beside this file, names the
classes that are larger, each with its numbers; these may only fall, and no class may be
added. The check prints each class that breaks a limit, and exits with 1 then. --write
writes lower numbers and drops classes that have become small enough. --table prints the N
largest classes.

The lines of a class are those of its body and of all definitions of its members outside of
it. Its methods are the functions that its body declares, constructors, destructors and
operators among them; classes inside it are measured by themselves.
"""

import argparse
import collections
import contextlib
import io
import os
import re
import sys

TOPS = ("include", "lib", "runtime", "tools")
SOURCES = (".h", ".cc", ".cpp")
MOST = {"lines": 600, "methods": 40, "virtuals": 16}
LIMITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "class_sizes.txt")

TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|R\"(\w*)\(.*?\)\1\"|\"(?:\\.|[^\"\\\n])*\"|"
                   r"(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*'", re.S)
OPENS_CLASS = re.compile(r"(?<!enum )\b(?:class|struct)\s+(?:alignas\([^)]*\)\s*)?"
                         r"(?:[A-Z_]+(?:\([^)]*\))?\s+)?(\w+)\s*(?:final\s*)?(?::[^;{}()]*)?$")
DEFINES = re.compile(r"\b((?:\w+::)+)(~?\w+|operator[^\s\w]{1,3}|operator \w+)\s*\(")


def blank(match):
    """A comment or literal as as many lines of nothing."""
    return " " + "\n" * match[0].count("\n")


def strip(text):
    """The code of a source: no comments, literals or preprocessor lines."""
    text = TOKEN.sub(blank, text)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)


def without_templates(text):
    """A declaration without what stands between angle brackets."""
    while True:
        shorter = re.sub(r"(?<!operator)<[^<>]*>", "", text)
        if shorter == text:
            return text
        text = shorter


def is_method(statement):
    """Whether a statement of a class declares a function."""
    statement = re.sub(r"\b(?:public|private|protected)\s*:(?!:)", "", statement)
    if re.match(r"\s*(friend|using|static_assert|typedef|enum|class|struct|union)\b", statement):
        return False
    text = without_templates(statement)
    text = re.sub(r"\b(?:ABSL|LLVM|MLIR)_?\w*\([^()]*(?:\([^()]*\)[^()]*)*\)", "", text)
    text = re.sub(r"\b(?:alignas|decltype|noexcept|explicit|requires)\s*\([^()]*\)", "", text)
    head = re.split(r"(?<![=!<>(])=(?!=)", text, maxsplit=1)[0] if "operator" not in text else text
    return re.search(r"(~?\b\w+|operator\s*\S+)\s*\(", head) is not None


class Size:
    """The numbers of one class."""

    def __init__(self):
        self.lines = self.methods = self.virtuals = 0
        self.has_body = False
        self.files = set()

    def numbers(self):
        return {name: getattr(self, name) for name in MOST}


def measure_text(text, path, sizes):
    """Adds what a source has of each class. Names have their outer classes: A::B."""
    code = strip(text)
    # Blocks that are open: the class, or None, and the line and place of its brace.
    open_blocks, start, line = [], 0, 1
    for match in re.finditer(r"[{};\n]", code):
        mark = match[0]
        if mark == "\n":
            line += 1
            continue
        statement = code[start:match.start()]
        inside = open_blocks[-1] if open_blocks else None
        if mark == "{":
            # An initializer in braces, or in a parameter list, goes on with its statement.
            opened = OPENS_CLASS.search(statement.strip())
            name, defined, counts = None, None, False
            if opened and "=" not in statement.split(opened[1])[0]:
                outer = [block["name"] for block in open_blocks if block["name"]]
                name = "::".join(outer[-1:] + [opened[1]])
            elif inside is None or inside["is_namespace"]:
                found = DEFINES.search(without_templates(statement))
                if found:
                    defined = found[1][:-2]
            elif inside["name"]:
                counts = is_method(statement)
            begin = line - statement.lstrip().count("\n")
            is_namespace = re.search(r"\b(namespace(\s+[\w:]+)?|extern)\s*$",
                                     statement.strip()) is not None
            open_blocks.append({"name": name, "defined": defined, "begin": begin,
                                "method": counts, "is_namespace": is_namespace,
                                "is_virtual": "virtual " in statement,
                                "text": statement})
            start = match.end()
        elif mark == "}":
            if not open_blocks:
                continue
            block = open_blocks.pop()
            name = block["name"] or block["defined"]
            if name:
                sizes[name].has_body |= block["name"] is not None
                sizes[name].lines += line - block["begin"] + 1
                sizes[name].files.add(path)
            if block["method"]:
                owner = sizes[open_blocks[-1]["name"]]
                owner.methods += 1
                owner.virtuals += block["is_virtual"]
            start = match.end()
        else:
            if inside and inside["name"] and is_method(statement):
                sizes[inside["name"]].methods += 1
                sizes[inside["name"]].virtuals += "virtual " in statement
            start = match.end()


def measure(tree):
    """The size of each class of a tree."""
    sizes = collections.defaultdict(Size)
    for top in TOPS:
        for folder, folders, names in os.walk(os.path.join(tree, top)):
            folders.sort()
            for name in sorted(names):
                if name.endswith(SOURCES):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as file:
                        measure_text(file.read(), os.path.relpath(path, tree), sizes)
    # The others are namespaces in front of the names of functions.
    return {name: size for name, size in sizes.items() if size.has_body}


def read_limits():
    limits = {}
    with open(LIMITS, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words and not line.startswith("#"):
                limits[words[0]] = dict(zip(MOST, map(int, words[1:])))
    return limits


def write_limits(limits):
    with open(LIMITS, "w", encoding="utf-8") as file:
        file.write("# Classes over a limit of class_sizes.py: lines, methods and virtual "
                   "functions. The\n# numbers only fall, and no class is added; "
                   "class_sizes.py --write lowers them.\n")
        for name in sorted(limits):
            file.write(f"{name} {' '.join(str(limits[name][kind]) for kind in MOST)}\n")


def is_large(numbers):
    return any(numbers[kind] > most for kind, most in MOST.items())


def check(sizes, limits):
    """Prints what is too large, and returns whether nothing is."""
    is_fine = True
    for name, size in sorted(sizes.items()):
        for kind, has in size.numbers().items():
            most = max(MOST[kind], limits.get(name, {}).get(kind, 0))
            if has > most:
                print(f"{name}: {has} {kind}, expected at most {most}")
                is_fine = False
    for name, limit in sorted(limits.items()):
        numbers = sizes[name].numbers() if name in sizes else None
        if numbers is None or not is_large(numbers):
            print(f"{name} is within the limits now; run class_sizes.py --write")
        elif any(numbers[kind] < limit[kind] for kind in MOST):
            print(f"{name} is smaller than class_sizes.txt says; run class_sizes.py --write")
    return is_fine


def print_table(sizes, count):
    rows = sorted(sizes.items(), key=lambda item: (-item[1].lines, item[0]))
    print("| class | lines | files | methods | virtual functions |")
    print("| --- | --: | --: | --: | --: |")
    for name, size in rows[:count]:
        print(f"| `{name}` | {size.lines} | {len(size.files)} | {size.methods} | "
              f"{size.virtuals} |")


PLANTED = """
namespace n {
// class Comment { void F(); };
enum class Kind { kOne, kTwo };
class Big final : public Base {
 public:
  explicit Big(int a) : a_(a), b_{a} {}
  virtual ~Big() = default;
  virtual int Get(std::function<void(int)> call) const = 0;
  bool operator==(const Big& other) const { return a_ == other.a_; }
  struct Inner {
    void Call();
    int value = Make(3);
  };

 private:
  friend void Other();
  using Call = void(int);
  std::function<int(int)> call_;
  int b_ ABSL_GUARDED_BY(mutex_) = Count("{");
  std::vector<int> c_ = {1, 2};
  int a_;
};
int Big::Get(std::function<void(int)> call) const {
  if (a_ > 0) {
    return 1;
  }
  return 2;
}
void Big::Inner::Call() {}
}  // namespace n
"""


def self_test():
    sizes = collections.defaultdict(Size)
    measure_text(PLANTED, "planted.h", sizes)
    got = {name: (size.lines, size.methods, size.virtuals) for name, size in sizes.items()}
    expected = {"Big": (25, 4, 2), "Big::Inner": (5, 1, 0)}
    is_fine = got == expected
    if not is_fine:
        print(f"expected {expected}, got {got}")
    large = Size()
    large.lines = MOST["lines"] + 1
    with contextlib.redirect_stdout(io.StringIO()):
        passes = check({"Large": large}, {})
        fails = not check({"Large": large}, {"Large": large.numbers()})
    if passes or fails:
        print("a class over a limit passes, or one with an exception does not")
        is_fine = False
    return is_fine


def main():
    parser = argparse.ArgumentParser()
    options = parser.add_mutually_exclusive_group()
    options.add_argument("--write", action="store_true")
    options.add_argument("--table", type=int, metavar="N")
    options.add_argument("--self-test", action="store_true")
    parser.add_argument("tree", nargs="?", default=".")
    given = parser.parse_args()
    if given.self_test:
        return 0 if self_test() else 1
    sizes = measure(given.tree)
    if not sizes:
        parser.error(f"no classes in '{given.tree}'")
    if given.table is not None:
        print_table(sizes, given.table)
        return 0
    limits = read_limits()
    if given.write:
        kept = {}
        for name, limit in limits.items():
            numbers = sizes[name].numbers() if name in sizes else None
            if numbers is not None and is_large(numbers):
                kept[name] = {kind: min(limit[kind], numbers[kind]) for kind in MOST}
        write_limits(kept)
    return 0 if check(sizes, read_limits()) else 1


if __name__ == "__main__":
    sys.exit(main())
