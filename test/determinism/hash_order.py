#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is written does not depend on where things lie in memory.

  hash_order.py PW_RUN PW_OPT WHERE_THINGS_LIE

Containers that hash are walked in an order that follows from addresses: keys
are pointers, or the seed of the hash is one. Each process has other addresses,
so every example is compiled, reported on and simulated by several, whose output
must be the same bytes. (LLVM can also walk its own containers backwards, but only
where it was built for that.) WHERE_THINGS_LIE is a program whose output does
depend on it: where it does not, this machine moves nothing and shows nothing.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

# Number of processes that compile each example.
PROCESSES = 4 if 'PATHWAYS_TEST_ALL' in os.environ else 2
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / 'examples'
# In each of these, devices and slices enough for every example.
TOPOLOGY = '2x2x4'
# A kernel of theirs never returns, and a simulation runs kernels.
ENDLESS = ['stuck']
# The script of this one makes arrays with NumPy, and its program is generated.
GENERATED = 'schedules'
# Of a kernel's compilation, the time it took.
TIMES = re.compile(rb'\d+\.\d+$', re.MULTILINE)


def output(command):
    done = subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, timeout=300)
    return done.returncode, done.stdout


def written(pw_run, pw_opt, program, folder):
    """All that is written of a program, by name."""
    names = ['a.plan', 'a.mlir', 'a.dot']
    code, said = output(
        [pw_run, program, f'--topology={TOPOLOGY}', '--oversubscribe', '--dry-run',
         '--explain-placement', '--explain-shardings', '--explain-reshard',
         '--explain-kernels',
         *(f'--{option}={folder}/{name}' for option, name in
           zip(('emit-plan', 'emit-plan-text', 'dump-graph'), names))])
    if code != 0:
        sys.exit(f'error: {program}: {said.decode()}')
    result = {name: (folder / name).read_bytes() for name in names}
    result['report'] = TIMES.sub(b'', said)
    code, result['passes'] = output(
        [pw_opt, program,
         f'--pw-compile=topology={TOPOLOGY} oversubscribe=true',
         '--mlir-disable-threading', '--mlir-print-ir-after-all'])
    if code != 0:
        sys.exit(f'error: {program}: {result["passes"].decode()}')
    return result


def simulated(pw_run, script):
    """The trace and the statistics of a simulation, with the hash of its events."""
    done = subprocess.run(
        [str(script), '--world=sim', '--seed=5', f'--topology={TOPOLOGY}',
         '--oversubscribe', '--stats=json', '--trace=-'],
        env={**os.environ, 'PW_RUN': pw_run}, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, check=False, timeout=300)
    if done.returncode != 0:
        sys.exit(f'error: {script}: {done.stdout.decode()}')
    return {'simulation': done.stdout}


def compare(what, make):
    """Calls make() for several processes; a message for each difference."""
    first = make()
    for _ in range(PROCESSES - 1):
        other = make()
        for name, data in first.items():
            if other[name] == data:
                continue
            lines = zip(data.splitlines(), other[name].splitlines())
            at = next((pair for pair in lines if pair[0] != pair[1]), None)
            yield f'{what}: {name} differs from process to process: {at}'
            return


def main():
    pw_run, pw_opt, where = (os.path.abspath(path) for path in sys.argv[1:4])
    if len({output([where]) for _ in range(8)}) < 2:
        print('this machine gives all processes the same addresses: '
              'nothing can be seen')
        return 1
    failures = []
    with tempfile.TemporaryDirectory() as name:
        programs = sorted(path for path in EXAMPLES.glob('*/*.mlir')
                          if not (path.parent / 'parallel').exists())
        # Some have what they are put together of.
        for way in sorted(EXAMPLES.glob('*/parallel/data2xtensor2.mlir')):
            whole = pathlib.Path(name) / f'{way.parents[1].name}.mlir'
            whole.write_text(way.read_text() +
                             (way.parents[1] / 'program.mlir').read_text())
            programs.append(whole)
        pipeline = pathlib.Path(name) / f'{GENERATED}.mlir'
        pipeline.write_bytes(subprocess.run(
            [sys.executable, EXAMPLES / GENERATED / 'generate', '2', '3', '--split'],
            stdout=subprocess.PIPE, check=True).stdout)
        programs.append(pipeline)
        for program in programs:
            failures += compare(f'{program.parent.name}/{program.name}', lambda p=program: written(
                pw_run, pw_opt, str(p), pathlib.Path(name)))
        for script in sorted(EXAMPLES.glob('*/run')):
            # Plans have names of files, and these are in a new folder each time.
            if ((script.parent / 'parallel').exists() or
                    script.parent.name in [*ENDLESS, GENERATED]):
                continue
            failures += compare(script.relative_to(EXAMPLES),
                                lambda s=script: simulated(pw_run, s))
    for failure in failures:
        print(f'FAILED {failure}')
    print(f'{len(programs)} programs, {len(failures)} failures')
    return 1 if failures or not programs else 0


if __name__ == '__main__':
    sys.exit(main())
