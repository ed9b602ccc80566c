#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Eight compilers share a kernel cache while one of them is killed.

  kernel_cache.py PW_RUN KILL_IN_WRITE

For each of several points in the writing of an entry: eight processes compile
at the same time with one new cache, and one more is killed at that point. The
others must give the bytes of a compilation without a cache, every entry that can be
seen must be whole, and what the killed one left behind must go away.
"""

import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile

KERNELS = 6  # that all programs have
OWN = 4      # that only the program of the killed process has: it must write
COMPILERS = 8
KILL_POINTS = ['1:0', '2:88', '3:1000', '4:1000000000',
               '1:rename', '3:rename', '2:renamed', '4:renamed']
HEADER = struct.Struct('<8sQ32sQ32s')


def program(constants):
    """Calls of kernels that differ in a constant, one after the other."""
    array = '!pw.array<8xf32, @s, [{"x"}]>'
    lines = ['pw.slice @s mesh <"x" = 2>']
    for constant in constants:
        lines.append(f'''
func.func private @f{constant}(%v: tensor<4xf32>) -> tensor<4xf32>
    attributes {{pw.local_view}} {{
  %c = arith.constant dense<{constant}.5> : tensor<4xf32>
  %r = arith.addf %v, %c : tensor<4xf32>
  return %r : tensor<4xf32>
}}''')
    lines.append(f'pw.program @main(%v: {array}) -> ({array}) {{')
    value = '%v'
    for i, constant in enumerate(constants):
        lines.append(f'  %{i} = pw.call @f{constant}({value}) : ({array}) -> {array}')
        value = f'%{i}'
    return '\n'.join(lines + [f'  pw.return {value} : {array}', '}', ''])


def preload(library):
    """The environment and folder in which a program loads a library first.

    The loader takes a blank in the name for its end, so the name has no folder.
    """
    folder, name = os.path.split(os.path.abspath(library))
    return {'LD_PRELOAD': f'./{name}'}, folder


def start(pw_run, source, plan, cache=None, env=None, cwd=None):
    command = [pw_run, str(source), '--topology=1x1x2', '--compile-only',
               '--explain-kernels', f'--emit-plan={plan}']
    if cache:
        command.append(f'--kernel-cache={cache}')
    environment = {**os.environ, **(env or {})}
    environment.pop('PATHWAYS_KERNEL_CACHE', None)
    return subprocess.Popen(command, env=environment, cwd=cwd, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(process, cached=None):
    """The process must succeed and say nothing; `cached`: kernels it found."""
    out, err = process.communicate(timeout=300)
    if process.returncode or err:
        sys.exit(f'error: exit status {process.returncode}: {err}')
    found = len(re.findall(r' cache ', out))
    if cached is not None and found != cached:
        sys.exit(f'error: {found} kernels were cached, expected {cached}:\n'
                 + out)


def check_entries(cache):
    """Every entry has its own key and its whole length."""
    entries = sorted(cache.glob('*.kernel'))
    for entry in entries:
        data = entry.read_bytes()
        magic, version, key, size, _ = HEADER.unpack_from(data)
        if (magic, version, key.hex(), size) != (
                b'PWKERNEL', 1, entry.stem, len(data) - HEADER.size):
            sys.exit(f'error: {entry} is broken')
    return len(entries)


def check_point(pw_run, library, folder, point, expected):
    cache = folder / 'cache'
    common, other = folder / 'common.mlir', folder / 'other.mlir'
    environment, cwd = preload(library)
    killed = start(pw_run, other, folder / 'killed.plan', cache,
                   {**environment, 'KILL_AT': point}, cwd)
    rest = [start(pw_run, common, folder / f'{i}.plan', cache)
            for i in range(COMPILERS)]
    killed.communicate(timeout=300)
    for process in rest:
        finish(process)
    if killed.returncode != -signal.SIGKILL:
        sys.exit(f'error: the compiler that was to be killed at {point} '
                 f'exited with {killed.returncode}')
    for i in range(COMPILERS):
        if (folder / f'{i}.plan').read_bytes() != expected:
            sys.exit(f'error: plan {i} differs when one is killed at {point}')

    # Of the one that was killed there are whole entries and, for each of its
    # threads that was writing, a temporary file, which stays as long as its
    # writer might be alive.
    whole = check_entries(cache)
    left = sorted(cache.glob('*.kernel.tmp'))
    renamed = point.endswith('renamed')
    if not 1 <= len(left) + renamed <= os.cpu_count():
        sys.exit(f'error: {len(left)} temporary files after a kill at {point}')
    finish(start(pw_run, common, folder / 'again.plan', cache), KERNELS)
    if (folder / 'again.plan').read_bytes() != expected:
        sys.exit(f'error: the plan from the cache differs after {point}')
    if sorted(cache.glob('*.kernel.tmp')) != left:
        sys.exit(f'error: a young temporary file was removed after {point}')
    for file in left:
        os.utime(file, (0, 0))
    # What it did not get to is compiled now.
    finish(start(pw_run, other, folder / 'other.plan', cache))
    if list(cache.glob('*.kernel.tmp')):
        sys.exit(f'error: an old temporary file is still there after {point}')
    if check_entries(cache) != KERNELS + OWN:
        sys.exit(f'error: {check_entries(cache)} entries after {point}, '
                 f'expected {KERNELS + OWN}')
    print(f'killed at {point}: {whole} whole entries, {len(left)} temporary')


def main():
    pw_run, library = (os.path.abspath(path) for path in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        for number, point in enumerate(KILL_POINTS):
            folder = top / str(number)
            folder.mkdir()
            (folder / 'common.mlir').write_text(program(range(KERNELS)))
            # Its own ones between those that it shares.
            (folder / 'other.mlir').write_text(program(
                [c for i in range(KERNELS) for c in [i, 100 + i][:1 + (i < OWN)]]))
            finish(start(pw_run, folder / 'common.mlir', folder / 'none.plan'), 0)
            check_point(pw_run, library, folder, point,
                        (folder / 'none.plan').read_bytes())
    return 0


if __name__ == '__main__':
    sys.exit(main())
