# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the build compiles each source, for checks that do so too."""

import json
import os
import re
import shlex

# In a file of CMake's that has several sources compiled as one.
INCLUDED = re.compile(r'^#include "(.*)"$', re.MULTILINE)


class Command:
    """How one source is compiled.

    source: its real path; folder: where the compiler is called; flags: with the
    compiler, but without the source and what is made of it.
    """

    def __init__(self, source, folder, flags):
        self.source = source
        self.folder = folder
        self.flags = flags


def read(path):
    """Those of a compile_commands.json, one by one where several are compiled as one."""
    with open(path, encoding="utf-8") as file:
        entries = json.load(file)
    commands = []
    for entry in entries:
        flags = flags_of(entry)
        sources = [entry["file"]]
        if re.fullmatch(r"unity_\d+_\w+\.\w+", os.path.basename(entry["file"])):
            with open(entry["file"], encoding="utf-8") as file:
                sources = INCLUDED.findall(file.read())
        commands += [Command(os.path.realpath(source), entry["directory"], flags)
                     for source in sources]
    return commands


def flags_of(entry):
    words = shlex.split(entry["command"])
    return tuple(word for before, word in zip([""] + words, words)
                 if before != "-o" and word not in ("-o", "-c", entry["file"]))
