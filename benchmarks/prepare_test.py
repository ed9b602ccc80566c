#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""benchmarks/run works the first time, whatever the machine has.

Runs it in a copy of what it needs of the tree, with stand-ins for the programs
that install, configure and build, which write down how they are called.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALL = ['cluster_bench', 'collective_bench', 'compile_bench', 'dispatch_bench',
       'kernel_bench', 'launch_bench', 'loops_bench', 'onetbb_bench',
       'partition_bench', 'process_bench', 'pw-run', 'python_module', 'queues_bench', 'share_bench',
       'sim_bench', 'values_bench']

# What is installed and which targets are configured are files of these names.
STAND_INS = {
    'dpkg-query': '[ -e "$STATE/installed/${@: -1}" ] && echo ii',
    'apt-get': '''
      for name in "$@"; do
        case $name in update|install|-*) ;; *) touch "$STATE/installed/$name" ;; esac
      done''',
    'cmake': '''
      echo "cmake" >>"$STATE/calls"
      mkdir -p build/release && touch build/release/build.ninja
      echo PATHWAYS_BENCHMARKS:BOOL=ON >build/release/CMakeCache.txt
      cd "$STATE/targets"
      touch cluster_bench collective_bench compile_bench dispatch_bench launch_bench
      touch loops_bench partition_bench
      touch pw-run python_module queues_bench share_bench sim_bench values_bench
      [ ! -e ../installed/libucx-dev ] || touch process_bench
      [ ! -e ../installed/libtbb-dev ] || touch onetbb_bench
      [ ! -e ../installed/libopenblas-dev ] || touch kernel_bench''',
    'ninja': '''
      [ -e build/release/build.ninja ] || exit 1
      shift 2
      kind=build
      case $1 in -t) kind=query; shift 2 ;; -n) kind=plan; shift ;; esac
      for target in "$@"; do
        [ -e "$STATE/targets/$target" ] || { echo "unknown target $target" >&2; exit 1; }
      done
      [ $kind != build ] || echo "build $*" >>"$STATE/calls"
      echo "to do"''',
    'id': 'echo 0',
}


def run(tree, names):
    """benchmarks/run, up to where it would run the first program."""
    state = tree / 'state'
    (state / 'calls').write_text('')
    done = subprocess.run(
        [sys.executable, str(tree / 'benchmarks' / 'run'), '--small', *names],
        env={**os.environ, 'STATE': str(state),
             'PATH': f'{state / "bin"}:{os.environ["PATH"]}'},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if 'No such file or directory' not in done.stdout.splitlines()[-1]:
        sys.exit(f'error: {names}: was not built: {done.stdout}')
    return (state / 'calls').read_text().splitlines()


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f'error: {what}: got {got}, expected {wanted}')


def main():
    with tempfile.TemporaryDirectory() as name:
        tree = pathlib.Path(name)
        for path in ('benchmarks/run', 'benchmarks/performance.py', 'scripts/common.sh'):
            (tree / path).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / path, tree / path)
        state = tree / 'state'
        for folder in ('bin', 'installed', 'targets'):
            (state / folder).mkdir(parents=True)
        for program, text in STAND_INS.items():
            file = state / 'bin' / program
            file.write_text('#!/usr/bin/env bash\n' + text + '\n')
            file.chmod(0o755)
        build_all = 'build ' + ' '.join(ALL)
        # Nothing is there.
        expect('fresh', run(tree, []), ['cmake', build_all])
        expect('again', run(tree, []), [build_all])
        # Built before, by scripts/demo say, without what benchmarks compare with.
        for target in ('onetbb_bench', 'kernel_bench'):
            (state / 'targets' / target).unlink()
        for package in ('libtbb-dev', 'libopenblas-dev'):
            (state / 'installed' / package).unlink()
        expect('without packages', run(tree, []), ['cmake', build_all])
        # Whichever it is that is missing.
        for target in ALL:
            (state / 'targets' / target).unlink()
            expect(f'without {target}', run(tree, []), ['cmake', build_all])
        expect('one', run(tree, ['trace']), ['build dispatch_bench'])
    return 0


if __name__ == '__main__':
    sys.exit(main())
