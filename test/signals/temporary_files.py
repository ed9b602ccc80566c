#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that are ended by a signal leave no temporary file behind.

  temporary_files.py PW_RUN PW_OPT KILL_IN_WRITE

Ends pw-run while the files that it is to write are open, and compilers while
they write to a cache of kernels, by signals that can be caught; and has them
write to a pipe that nobody reads and to files that may not grow.
"""

import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile

SIGNALS = [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM]
PROGRAM = '''
pw.slice @s mesh <"x" = 2>
func.func private @f(%v: tensor<4xf32>) -> tensor<4xf32>
    attributes {pw.local_view} {
  %r = arith.addf %v, %v : tensor<4xf32>
  return %r : tensor<4xf32>
}
pw.program @main(%v: !pw.array<8xf32, @s, [{"x"}]>)
    -> (!pw.array<8xf32, @s, [{"x"}]>) {
  %0 = pw.call @f(%v) : (!pw.array<8xf32, @s, [{"x"}]>)
      -> !pw.array<8xf32, @s, [{"x"}]>
  pw.return %0 : !pw.array<8xf32, @s, [{"x"}]>
}
'''


def limit(file_bytes=None):
    """Called in a child before it starts. Nobody needs its core."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if file_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    # As a shell has it; Python ignores these two.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f'error: {what}: got {got!r}, expected {wanted!r}')


def left_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob('*')
                  if path.is_file())


def outputs(pw_run, folder, end):
    """Ends pw-run by the signal `end` while its outputs are open."""
    process = subprocess.Popen(
        [pw_run, '-', '--topology=1x1x2', '--compile-only',
         f'--emit-plan={folder}/a.plan', f'--dump-graph={folder}/a.dot'],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, preexec_fn=limit)
    # More than a pipe holds: it is read only once the files are open.
    process.stdin.write(b'// text\n' * (1 << 18))
    process.stdin.flush()
    expect('files while pw-run reads', len(left_in(folder)), 2)
    process.send_signal(end)
    expect(f'exit of pw-run after {end.name}', process.wait(timeout=300), -end)
    process.stdin.close()
    expect(f'files after {end.name}', left_in(folder), [])


def closed_pipe(pw_run, program, folder):
    read, write = os.pipe()
    os.close(read)
    process = subprocess.run(
        [pw_run, str(program), '--topology=1x1x2', '--input=v=1',
         '--emit-plan-text=-', '--output=0=-', f'--trace={folder}/a.json'],
        stdout=write, stderr=subprocess.DEVNULL, preexec_fn=limit, check=False,
        timeout=300)
    os.close(write)
    expect('exit with a closed pipe', process.returncode, -signal.SIGPIPE)
    expect('files with a closed pipe', left_in(folder), [])


def no_room(pw_run, program, folder):
    process = subprocess.run(
        [pw_run, str(program), '--topology=1x1x2', '--compile-only',
         f'--emit-plan={folder}/a.plan'], stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: limit(100), check=False, timeout=300)
    expect('exit without room', process.returncode, 2)
    expect('message without room', process.stderr,
           f"pw-run: error: cannot write '{folder}/a.plan': File too large\n")
    expect('files without room', left_in(folder), [])
    process = subprocess.run(
        [pw_run, str(program), '--topology=1x1x2', '--compile-only',
         f'--kernel-cache={folder}/cache'], stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: limit(100), check=False, timeout=300)
    expect('exit without room for kernels', process.returncode, 0)
    if not process.stderr.rstrip().endswith("/cache': File too large"):
        sys.exit(f'error: without room for kernels: {process.stderr}')
    expect('files without room for kernels', left_in(folder), [])


def cache(command, library, folder, end):
    """Ends a compiler by the signal `end` in its first write to a cache."""
    process = subprocess.run(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        preexec_fn=limit, check=False, timeout=300,
        # The loader takes a blank in the name for its end.
        cwd=os.path.dirname(library),
        env={**os.environ, 'LD_PRELOAD': './' + os.path.basename(library), 'KILL_AT': '1:8',
             'KILL_BY': str(int(end))})
    expect(f'exit of {command[0]} after {end.name}', process.returncode, -end)
    expect(f'files of {command[0]} after {end.name}', left_in(folder), [])


def main():
    pw_run, pw_opt, library = (os.path.abspath(path) for path in sys.argv[1:4])
    os.environ.pop('PATHWAYS_KERNEL_CACHE', None)
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        program, folder = top / 'a.mlir', top / 'out'
        program.write_text(PROGRAM)
        folder.mkdir()
        for end in SIGNALS:
            outputs(pw_run, folder, end)
            cache([pw_run, str(program), '--topology=1x1x2', '--compile-only',
                   f'--kernel-cache={folder}/cache'], library, folder, end)
        for end in (signal.SIGINT, signal.SIGTERM):
            cache([pw_opt, str(program), '--pw-compile=topology=1x1x2 '
                   f'kernel-cache={folder}/cache'], library, folder, end)
        closed_pipe(pw_run, program, folder)
        no_room(pw_run, program, folder)
    return 0


if __name__ == '__main__':
    sys.exit(main())
