#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every module of a folder with pw-run and counts those that pass.

A module passes if pw-run exits with 0: it compiles, runs, and its checks hold.
Each failure is one line with the first line of the error. A summary groups the
failures by the kind of error. Exits with 77 if the folder does not exist.

    run.py PW_RUN FOLDER [NAMES] [--jobs=N] [-- FLAGS OF PW_RUN]

NAMES is a glob of file names, such as 'reduce_*'; ".mlir" may be left out.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import pathlib
import re
import subprocess
import sys

SKIPPED = 77

# What differs between errors of one kind: quoted names, types, numbers.
VARIABLE = [
    (re.compile(r"^\S*?:\d+:\d+: "), ""),
    (re.compile(r"\S+\.mlir"), "FILE"),
    (re.compile(r"!?(tensor|vector|memref|pw\.array)<[^>]*>+"), r"\1<..>"),
    (re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?"), "N"),
]


def kind_of(error):
    for pattern, replacement in VARIABLE:
        error = pattern.sub(replacement, error)
    return error[:110]


def first_error(process):
    """The line that says why pw-run failed."""
    lines = process.stderr.splitlines() + process.stdout.splitlines()
    for sign in ("error:", "[FAILED]", "Assertion", "LLVM ERROR"):
        for line in lines:
            if sign in line:
                return line.strip()
    return lines[0].strip() if lines else f"exit code {process.returncode}"


def run(pw_run, path, flags, timeout):
    """Returns None if the module passes, else the error."""
    try:
        process = subprocess.run([pw_run, str(path), *flags],
                                 capture_output=True, text=True,
                                 errors="replace", timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return f"did not end within {timeout} s"
    if process.returncode == 0:
        return None
    error = first_error(process).replace(str(path), path.name)
    if process.returncode < 0:
        return f"signal {-process.returncode}: {error}"
    return error


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("pw_run")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="?", default="*")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--timeout", type=float, default=120,
                        help="seconds for a module")
    parser.add_argument("--expect", type=int, default=None, metavar="N",
                        help="succeed if at least N modules pass; default: all")
    parser.add_argument("--quiet", action="store_true",
                        help="print only the summary")
    args, flags = parser.parse_known_args()
    flags = [flag for flag in flags if flag != "--"]

    if not args.folder.is_dir():
        print(f"skipped: there is no folder {args.folder}")
        return SKIPPED
    paths = [path for path in sorted(args.folder.glob("*.mlir"))
             if any(fnmatch.fnmatch(name, args.names)
                    for name in (path.name, path.stem))]
    if not paths:
        print(f"no module of {args.folder} is named {args.names}")
        return 1

    failed = {}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        errors = pool.map(
            lambda path: run(args.pw_run, path, flags, args.timeout), paths)
        for path, error in zip(paths, errors):
            if error is None:
                continue
            failed[path.name] = error
            if not args.quiet:
                print(f"{path.name}: {error[:300]}", flush=True)

    kinds = collections.Counter(kind_of(error) for error in failed.values())
    for kind, count in kinds.most_common():
        print(f"{count:5} x {kind}")
    passed = len(paths) - len(failed)
    print(f"{passed} of {len(paths)} passed")
    expected = len(paths) if args.expect is None else args.expect
    return 0 if passed >= expected else 1


if __name__ == "__main__":
    sys.exit(main())
