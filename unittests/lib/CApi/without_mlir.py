#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that plans run without the compiler and MLIR.

  without_mlir.py libpathways.so libpathways_proto.so CLIENT PLAN

Copies the first two libraries to a folder of their own, where the third one is
missing, and runs the client there, which expects that it cannot compile.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


def main():
    execute, proto, client, plan = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        for library in (execute, proto):
            name = pathlib.Path(library).name
            # libpathways.so.1.0.0 is found as libpathways.so.1.
            shutil.copy(library, pathlib.Path(folder) / name.rsplit('.', 2)[0])
        # The client's own path to its library comes after this one.
        environment = dict(os.environ, LD_LIBRARY_PATH=folder, LD_DEBUG='libs',
                           LD_DEBUG_OUTPUT=f'{folder}/loaded')
        done = subprocess.run([client, plan, 'plans-only'], env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        loaded = ''.join(log.read_text(encoding='utf-8', errors='replace')
                         for log in pathlib.Path(folder).glob('loaded.*'))
    print(done.stdout, end='')
    wrong = []
    if done.returncode != 0:
        wrong.append(f'the client ended with {done.returncode}')
    if f'{folder}/libpathways.so.1' not in loaded:
        wrong.append('the client did not load the copy of libpathways.so.1')
    calls = [line.split('calling init: ')[-1] for line in loaded.splitlines()
             if 'calling init: ' in line]
    wrong += [f'{library} was loaded' for library in calls
              if 'MLIR' in library or 'pathways_compile' in library]
    for line in wrong:
        print(f'error: {line}')
    return bool(wrong)


if __name__ == '__main__':
    sys.exit(main())
