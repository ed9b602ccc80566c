#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts comments that open with a fragment or a bare wh-clause.

Usage: comments.py [--write | --list FOLDER... | --sample N SEED | --self-test] [TREE]

A comment is a whole sentence that names its subject, or a noun phrase (CONTRIBUTING.md,
"Language"). A comment that opens with one of the words below mostly is neither, so the
counts of each folder may only fall: comment_counts.txt, beside this file, has the limit of
each. The check prints each folder that has more, with those comments, and exits with 1
then. It also names each folder that has fewer; --write writes all limits anew. --list
prints the counted comments of folders, and --sample prints N comments drawn by the seed,
whatever they open with.

Comments of at least 25 characters count, and the titles of files; licence blocks do not.
Comment lines that follow each other are one comment.
"""

import collections
import os
import random
import re
import sys

SHORTEST = 25
TOPS = ("benchmarks", "examples", "include", "lib", "runtime", "tools", "unittests")
SOURCES = (".h", ".cc", ".cpp", ".c", ".inc")
# These words open a fragment whose subject stands in another comment.
FRAGMENTS = {"of", "as", "likewise", "those", "that", "and", "also", "else", "or", "their",
             "by", "without", "behind", "beside", "neither"}
# These words open a clause without a main clause.
CLAUSES = {"what", "who", "where", "how", "which", "why", "whether", "whose"}
# These open a fragment unless a full clause follows.
OPENERS = {"in", "for", "from", "when", "to", "on", "with", "both", "its"}
# A full clause has one of these, or stands behind a comma or a colon.
FINITE = re.compile(r"\b(is|are|was|were|has|have|had|does|do|did|can|cannot|may|might|must|"
                    r"will|would|should|could|\w+n't)\b|[,:] \S+ \S+ ")
LIMITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "comment_counts.txt")


def comments(text):
    """The comments of a source, as (line, text)."""
    found, lines, start, column = [], [], 0, None
    for number, line in enumerate(text.splitlines() + [""], 1):
        match = re.match(r"^(\s*)//[/!]*<?\s?(.*)$", line)
        if match and lines and column not in (None, len(match[1])):
            found.append((start, lines))  # it ended behind code
            lines, column = [], None
        if match:
            if not lines:
                start = number
            lines.append(match[2].strip())
            continue
        if lines:
            found.append((start, lines))
            lines, column = [], None
        trailing = re.search(r"[;,{}()\w]\s+(//+<?\s(.*))$", line)
        is_text = trailing and line.count('"', 0, trailing.start()) % 2 == 1
        if trailing and not is_text and not line.startswith("#"):
            # Lines below it in the same column continue it.
            start, lines, column = number, [trailing[2].strip()], trailing.start(1)
    for start, lines in found:
        # The rest of a block with a title and the licence describes the file.
        if lines[0].startswith("===-") and "-===" in lines[0]:
            title = re.search(r" - (.*?)\s*-*(\*- C\+\+ -\*-*)?===", lines[0])
            if title:
                yield start, title[1]
            body = []
            for rule, line in enumerate(lines):
                if line.startswith("===---"):
                    body = lines[rule + 1:]
                    break
            lines = body
            if lines and lines[-1].startswith("===---"):
                lines = lines[:-1]
        joined = " ".join(line for line in lines if line).strip()
        if len(joined) >= SHORTEST and not joined.startswith(
                ("===", "NOLINT", "clang-format", "namespace", "RUN:", "CHECK")):
            yield start, joined


def is_fragment(text):
    """Whether a comment opens as none should."""
    words = re.findall(r"[A-Za-z']+", text[:40])
    if not words or not text[0].isalpha():
        return False
    first = words[0].lower()
    if first in FRAGMENTS or first in CLAUSES or text.lower().startswith("the same"):
        return True
    if first not in OPENERS:
        return False
    sentence = re.split(r"\.(?:\s|$)", text, maxsplit=1)[0]
    return not FINITE.search(sentence)


def sources(tree):
    for top in TOPS:
        for folder, folders, names in os.walk(os.path.join(tree, top)):
            folders.sort()
            for name in sorted(names):
                if name.endswith(SOURCES):
                    path = os.path.join(folder, name)
                    yield os.path.relpath(path, tree).replace(os.sep, "/")


def all_comments(tree):
    """All comments of a tree, as (path, line, text)."""
    for path in sources(tree):
        with open(os.path.join(tree, path), encoding="utf-8") as file:
            for line, text in comments(file.read()):
                yield path, line, text


def count(tree):
    """Of each folder, how many comments it has, and those that count."""
    totals, counted = collections.Counter(), collections.defaultdict(list)
    for path, line, text in all_comments(tree):
        folder = os.path.dirname(path)
        totals[folder] += 1
        if is_fragment(text):
            counted[folder].append((path, line, text))
    return totals, counted


def read_limits():
    limits = {}
    with open(LIMITS, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words and not line.startswith("#"):
                limits[words[0]] = int(words[1])
    return limits


def write_limits(totals, counted):
    with open(LIMITS, "w", encoding="utf-8") as file:
        file.write("# Comments of each folder that may open with a fragment or a bare "
                   "wh-clause, and all\n# comments of it. comments.py --write writes "
                   "this file; the numbers only fall.\n")
        for folder in sorted(totals):
            file.write(f"{folder} {len(counted[folder])} {totals[folder]}\n")


def show(found, out=sys.stdout):
    for path, line, text in found:
        print(f"{path}:{line}: {text}", file=out)


def check(tree):
    """Whether each folder has as many as its limit says."""
    totals, counted = count(tree)
    limits = read_limits()
    is_fine = True
    for folder in sorted(set(totals) | set(limits)):
        has, limit = len(counted[folder]), limits.get(folder, 0)
        if has > limit:
            show(counted[folder])
            print(f"{folder}: {has} comments open with a fragment or a bare wh-clause, "
                  f"expected at most {limit}")
        elif has < limit:
            print(f"{folder}: {has} comments open with a fragment or a bare wh-clause, "
                  f"and the limit is still {limit}; run comments.py --write")
        is_fine = is_fine and has <= limit
    return is_fine


PLANTED = [
    ("// Of one that is fresh, no values are there.", True),
    ("/// What holds memory that others wait for.", True),
    ("//   The same for the arguments of a launch.", True),
    ("// In a simulation without kernels of any kind.", True),
    ("// In a simulation, the caller turns the clock.", False),
    ("// Returns the values of the launch, or nothing.", False),
    ("// Of few.", False),
    ("int a = 0;  // of the values that are there still", True),
    ("int a = 0;  // bytes of the values that are there", False),
    ("#endif  // WHO_KNOWS_WHICH_FILE_THIS_IS_H_", False),
    ('const char* a = "http://of-the-values-that-are-there";', False),
    ("//===- a.h - The contents of this file ---===//\n//\n// Part of the "
     "Pathways project.\n//\n//===------===//\n//\n// Whoever reads this knows it.",
     False),
    ("//===- a.h - What it is ---*- C++ -*-===//", True),
    ("//===- a.h - The file ---===//\n//\n// Part of the Pathways project.\n//\n"
     "//===------===//\n//\n// Who reads this knows nothing yet.", True),
]


def self_test():
    is_fine = True
    for text, is_bad in PLANTED:
        got = any(is_fragment(comment) for _, comment in comments(text))
        if got != is_bad:
            print(f"{text!r}: expected {is_bad}, got {got}")
            is_fine = False
    return is_fine


def main(arguments):
    if arguments[:1] == ["--self-test"]:
        return 0 if self_test() else 1
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    if arguments[:1] == ["--write"]:
        write_limits(*count(here))
        return 0
    if arguments[:1] == ["--list"]:
        _, counted = count(here)
        for folder in arguments[1:]:
            show(counted[folder.rstrip("/")])
        return 0
    if arguments[:1] == ["--sample"]:
        size, seed = map(int, arguments[1:3])
        show(random.Random(seed).sample(list(all_comments(here)), size))
        return 0
    return 0 if check(arguments[0] if arguments else here) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
