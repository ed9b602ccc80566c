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

With --python=PYTHON, blocks fenced as ```python are run as well, all of a file in one
interpreter, whose errors have the lines of the file. A block whose first line is
"# raises: NAME" must raise that exception, and its message counts as printed.
"""

import argparse
import json
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


# Runs blocks: a line of JSON in, a line of JSON out.
INTERPRETER = """
import contextlib, io, json, sys
answers, names = sys.stdout, {"__name__": "__main__"}
for line in sys.stdin:
    path, start, body = json.loads(line)
    printed, raised = io.StringIO(), ""
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(chr(10) * (start - 1) + body, path, "exec"), names)
        except Exception as error:
            raised = type(error).__name__
            print(f"{raised}: {error}")
    print(json.dumps([printed.getvalue(), raised]), file=answers, flush=True)
"""


class Interpreter:
    """Runs the Python blocks of a file, in a process that starts with the first one."""

    def __init__(self, python, root, environment):
        self.python, self.root, self.environment = python, root, environment
        self.process = None

    def run(self, path, start, body):
        """Returns what a block printed, and the exception that it raised, or ""."""
        if self.process is None:
            self.process = subprocess.Popen(
                [self.python, "-c", INTERPRETER], cwd=self.root, env=self.environment,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdin.write(json.dumps([path, start, body]) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            return "", f"end of the interpreter with {self.process.wait()}"
        return json.loads(answer)

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
            self.process.stdout.close()


def run(path, root, bin_dir, timeout, python=None):
    failures, count, printed = [], 0, None
    with tempfile.TemporaryDirectory() as out:
        environment = dict(os.environ, OUT=out, PW_RUN=f"{bin_dir}/pw-run")
        interpreter = Interpreter(python, root, environment)
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
            elif language == "python" and python:
                count += 1
                want = re.match(r"# raises: (\w+)$", body.splitlines()[0])
                name = os.path.relpath(path, root)
                printed, raised = interpreter.run(name, line, body)
                if raised != (want.group(1) if want else ""):
                    failures.append(f"{where}: raised {raised or 'nothing'}, expected "
                                    f"{want.group(1) if want else 'nothing'}\n{printed}")
            elif language == "text" and printed is not None:
                missing = first_missing(body, printed)
                if missing is not None:
                    failures.append(f"{where}: not printed: {missing!r}\n"
                                    f"--- printed\n{printed}")
                printed = None
            else:
                printed = None
        interpreter.close()
    return count, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--root", required=True, type=pathlib.Path)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--python", help="interpreter for blocks of Python")
    parser.add_argument("--needs", default="",
                        help="packages that Python needs; without them the test is skipped")
    parser.add_argument("--timeout", type=float, default=120)
    arguments = parser.parse_args()
    if arguments.needs:
        needed = [arguments.python, "-c", f"import {arguments.needs}"]
        if subprocess.run(needed, stderr=subprocess.DEVNULL, check=False).returncode:
            print(f"{arguments.python} lacks one of {arguments.needs}")
            return 77
    failed = False
    for path in arguments.files:
        count, failures = run(path.resolve(), arguments.root, arguments.bin,
                              arguments.timeout, arguments.python)
        print(f"{path}: {count} command blocks, {len(failures)} failures")
        for failure in failures:
            print(failure)
        # A file without commands means that its fences were renamed.
        failed = failed or bool(failures) or count == 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
