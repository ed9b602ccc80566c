#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a corpus of what libFuzzer found.

Usage: keep.py PROGRAM CORPUS FOUND [--files=60] [--bytes=200000]

PROGRAM is a target of the preset `fuzz`. Of the inputs in the folders CORPUS and
FOUND, leaves in CORPUS those that together reach most: in turn the one that adds
the most code that is reached, with an eye on its size, then the most of what
libFuzzer tells apart, until there are so many files, or bytes. Of two that reach
the same, what was in CORPUS stays. Files are named by their hash.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile


def reached(program, corpus, found, work):
    """Of each input: its path, and the code and the features that it reaches and
    none before it does."""
    control = os.path.join(work, "control")
    into = os.path.join(work, "into")
    shutil.copytree(corpus, into)
    subprocess.run([program, "-merge=1", f"-merge_control_file={control}", into,
                    found], check=True, timeout=600,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(control, encoding="utf-8") as file:
        lines = file.read().splitlines()
    # How many files there are, how many of them from `into`, and which.
    count = int(lines[0])
    inputs = [(path, set(), set()) for path in lines[2:2 + count]]
    for line in lines[2 + count:]:
        kind, number, *numbers = line.split()
        if kind in ("COV", "FT"):
            inputs[int(number)][1 if kind == "COV" else 2].update(numbers)
    return inputs


def choose(inputs, files, size):
    """The paths of those that reach most."""
    sizes = {path: os.path.getsize(path) for path, *_ in inputs}
    chosen = []
    for which in (1, 2):
        best = sorted(((len(one[which]) / (sizes[one[0]] + 2000), one[0])
                       for one in inputs if one[which]), reverse=True)
        for _, path in best:
            if (path not in chosen and len(chosen) < files and
                    sizes[path] <= size):
                chosen.append(path)
                size -= sizes[path]
    return chosen


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("corpus")
    parser.add_argument("found")
    parser.add_argument("--files", type=int, default=60)
    parser.add_argument("--bytes", type=int, default=200_000)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as work:
        inputs = reached(os.path.abspath(options.program), options.corpus,
                         options.found, work)
        kept = os.path.join(work, "kept")
        os.makedirs(kept)
        for path in choose(inputs, options.files, options.bytes):
            with open(path, "rb") as file:
                name = hashlib.sha1(file.read()).hexdigest()
            shutil.copyfile(path, os.path.join(kept, name))
        names = os.listdir(kept)
        for name in os.listdir(options.corpus):
            os.remove(os.path.join(options.corpus, name))
        for name in names:
            shutil.copyfile(os.path.join(kept, name),
                            os.path.join(options.corpus, name))
    print(f"{len(names)} of {len(inputs)} inputs")


if __name__ == "__main__":
    main(sys.argv[1:])
