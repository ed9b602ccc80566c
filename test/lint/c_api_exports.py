#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks what the libraries of the C API export.

  c_api_exports.py ROOT libpathways.so libpathways_compile.so

Each must export the functions of its list in lib/CApi and nothing else, and the list of
libpathways.so must be that of the functions which CApi.h declares; those that the first
version of the header declares must stay. The first library must not need MLIR.
"""

import pathlib
import re
import subprocess
import sys


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def exported(library):
    lines = run('nm', '--dynamic', '--defined-only', library).splitlines()
    return {line.split()[-1].split('@')[0] for line in lines}


def declares(header):
    code = re.sub(r'//.*', '', header.read_text(encoding='utf-8'))
    return set(re.findall(r'\b(pw_\w+)\(', code))


def listed(path):
    return set(re.findall(r'^\s+(pw_\w+);', path.read_text(encoding='utf-8'), re.M))


def main():
    root, execute, compiler = pathlib.Path(sys.argv[1]), *sys.argv[2:]
    declared = declares(root / 'include/pathways/CApi.h')
    lists = {library: listed(root / 'lib/CApi' / name) for library, name in (
        (execute, 'exports.map'), (compiler, 'compile_exports.map'))}
    wrong = [f'lib/CApi/exports.map and CApi.h differ in {name}'
             for name in sorted(declared ^ lists[execute])]
    wrong += [f'CApi.h no longer declares {name}' for name in
              sorted(declares(root / 'unittests/lib/CApi/frozen/CApi.h') - declared)]
    for library, names in lists.items():
        wrong += [f'{library} has no {name}' for name in sorted(names - exported(library))]
        wrong += [f'{library} also exports {name}'
                  for name in sorted(exported(library) - names)]
    needed = run('readelf', '--dynamic', '--wide', execute)
    wrong += [f'{execute} needs {name}'
              for name in re.findall(r'NEEDED.*\[(libMLIR[^\]]*)\]', needed)]
    for line in wrong:
        print(f'error: {line}')
    return bool(wrong)


if __name__ == '__main__':
    sys.exit(main())
