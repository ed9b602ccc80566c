#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the commands of a Markdown file and compares what they print.

Every block fenced as ```sh is run by bash, in order, from the top of the tree,
in a scratch copy of the environment where $OUT is an empty folder and
build/release/bin stands for the tools under test. A ```text block right after
it must appear in what was printed: its lines in order, where a line "..." skips
any number of lines. A block whose first line is "# fails: N" must exit with N.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```(\w*)\s*$")


def blocks(text):
    """Yields (language, first line number, body) of each fenced block."""
    language, start, body = None, 0, []
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if fence and language is None:
            language, start, body = fence.group(1), number + 1, []
        elif fence:
            yield language, start, "\n".join(body)
            language = None
        elif language is not None:
            body.append(line)


def first_missing(expected, printed):
    """The first expected line that `printed` lacks in order, or None."""
    lines = [line.rstrip() for line in printed.splitlines()]
    at, skipping = 0, True
    for want in (line.rstrip() for line in expected.splitlines()):
        if want == "...":
            skipping = True
            continue
        if skipping:
            while at < len(lines) and lines[at] != want:
                at += 1
        if at >= len(lines) or lines[at] != want:
            return want
        at, skipping = at + 1, False
    return None


def run(path, root, bin_dir, timeout):
    failures, count, printed = [], 0, None
    with tempfile.TemporaryDirectory() as out:
        environment = dict(os.environ, OUT=out, PW_RUN=f"{bin_dir}/pw-run")
        for language, line, body in blocks(path.read_text()):
            where = f"{path}:{line}"
            if language == "sh":
                count += 1
                want = re.match(r"# fails: (\d+)$", body.splitlines()[0])
                command = body.replace("build/release/bin", bin_dir)
                result = subprocess.run(
                    ["bash", "-euo", "pipefail", "-c", command], cwd=root,
                    env=environment, stdin=subprocess.DEVNULL, text=True,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                    timeout=timeout)
                printed = result.stdout
                code = int(want.group(1)) if want else 0
                if result.returncode != code:
                    failures.append(f"{where}: exit code {result.returncode}, "
                                    f"expected {code}\n{command}\n{printed}")
            elif language == "text" and printed is not None:
                missing = first_missing(body, printed)
                if missing is not None:
                    failures.append(f"{where}: not printed: {missing!r}\n"
                                    f"--- printed\n{printed}")
                printed = None
            else:
                printed = None
    return count, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--root", required=True, type=pathlib.Path)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--timeout", type=float, default=120)
    arguments = parser.parse_args()
    failed = False
    for path in arguments.files:
        count, failures = run(path.resolve(), arguments.root, arguments.bin,
                              arguments.timeout)
        print(f"{path}: {count} command blocks, {len(failures)} failures")
        for failure in failures:
            print(failure)
        # A file without commands means that its fences were renamed.
        failed = failed or bool(failures) or count == 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
